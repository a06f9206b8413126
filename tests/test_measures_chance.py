"""Chance levels and ceilings by name: equal to every ranking there is, over thousands of small worlds."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest

from chunkers.errors import UsageError
from chunkers.sizes import Ruler
from evaluation.measures import aggregate, evaluate, parse_measure, uncovered
from evaluation.measures import ceiling as ceiling_search
from evaluation.measures.arrivals import Arrivals, _most
from evaluation.measures.ceiling import ceilings
from evaluation.measures.chance import chance, closed_form
from evaluation.measures.random_rankings import _random_order, simulated
from evaluation.types import Answer, Case, SearchSpace, TextCase, TextSpan

IDS = ["a", "b", "c", "d", "e", "f"]
LABELS = "ndcg ndcg_exp precision precision_returned recall hit mrr map ap_capped".split()
TEXT = "naurc recall precision ndcg_text iou".split()
WORLDS = 2000


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(("cutoff", "depth"), [(3, 6), (5, 4), (1, 6)])
def test_closed_forms_are_exact(label: str, cutoff: int, depth: int) -> None:
    """The closed form is the mean over every ranking there is, and the ceiling the best of them."""
    measure = parse_measure(f"{label}@{cutoff}")
    grades: dict[str, float] = {"a": 2, "b": 1, "c": 1, "d": 0}
    rankings = sorted(set(permutations(IDS, depth)))
    scores = evaluate([measure], [Case(str(i), r, grades) for i, r in enumerate(rankings)])
    values = [row[measure.name] for row in scores.values()]
    space = SearchSpace(np.zeros((6, 3), np.int64), {}, depth=depth)
    case = Case("q", [], grades, space=space)
    assert closed_form(measure, case, population=6, depth=depth) == pytest.approx(np.mean(values), abs=1e-9)
    levels = [parse_measure(f"{level}({measure.name})") for level in ("chance", "ceiling")]
    row = evaluate(levels, [case])["q"]
    assert list(row.values()) == pytest.approx([np.mean(values), max(values)], abs=1e-9)


def random_world(rng: np.random.Generator, *, overlap: bool = False) -> tuple[Case, list[TextSpan], list[int]]:
    """Return a case over a file and a half, its chunks in order, and their headers."""
    lengths = [int(rng.integers(4, 13)), int(rng.integers(0, 5))]
    chunks = []
    for file, length in enumerate(lengths):
        cuts = sorted({0, length, *rng.integers(0, length + 1, 2).tolist()})
        for start, end in pairwise(cuts):
            chunks.append(TextSpan(file, start, min(length, end + int(rng.integers(0, 4)) * overlap)))
    starts = [np.flatnonzero(rng.random(length) < 0.8) for length in lengths]
    gold = []
    for _ in range(int(rng.integers(1, 4))):
        file = int(rng.integers(2)) if lengths[1] else 0
        begin = int(rng.integers(lengths[file]))
        gold.append(TextSpan(file, begin, int(rng.integers(begin + 1, lengths[file] + 1))))
    headers = rng.integers(0, 3, len(chunks)).tolist() if rng.random() < 0.3 else [0] * len(chunks)
    rulers = [Ruler(begins) for begins in starts]
    sizes = [rulers[span.file].count(span.start, span.end) for span in chunks]
    space = SearchSpace(
        np.array(chunks), {"tokens": np.array(sizes)}, {"tokens": np.array(headers)} if any(headers) else {}
    )
    case = Case("q", [], None, TextCase([], gold, {"tokens": rulers}), space=space)
    return case, chunks, headers


def every_score(name: str, case: Case, chunks: list[TextSpan], headers: list[int]) -> np.ndarray:
    """Return the scores of all rankings of the chunks."""
    assert case.text is not None
    cases = []
    for number, order in enumerate(permutations(range(len(chunks)))):
        results = [chunks[i] for i in order]
        text = replace(case.text, results=results, headers={"tokens": [headers[i] for i in order]})
        cases.append(replace(case, query_id=str(number), ranking=[str(i) for i in order], text=text, space=None))
    return np.array([row[name] for row in evaluate([parse_measure(name)], cases).values()])


def test_text_levels_are_exact_over_all_rankings() -> None:
    """2,000 worlds with headers, cut gold and all sizes of budget: chance is the mean, the ceiling the maximum."""
    rng = np.random.default_rng(1)
    for number in range(WORLDS):
        case, chunks, headers = random_world(rng)
        name = f"{TEXT[number % len(TEXT)]}@{int(rng.integers(1, 20))}tok"
        values = every_score(name, case, chunks, headers)
        row = evaluate([parse_measure(f"chance({name})"), parse_measure(f"ceiling({name})")], [case])["q"]
        assert list(row.values()) == pytest.approx([values.mean(), values.max()], abs=1e-9), (name, case)


def test_ceilings_of_overlapping_chunks_are_exact() -> None:
    """400 worlds of overlapping chunks, with text read again for free or charged."""
    rng = np.random.default_rng(2)
    for number in range(400):
        case, chunks, headers = random_world(rng, overlap=True)
        charged = "(charge_duplicates=true)" if number % 2 else ""
        name = f"{TEXT[number % len(TEXT)]}@{int(rng.integers(1, 20))}tok{charged}"
        values = every_score(name, case, chunks, headers)
        assert ceilings(parse_measure(name), [case])[0] == pytest.approx(values.max(), abs=1e-9), (name, case)


def test_chance_of_overlapping_chunks_is_simulated() -> None:
    """Within four standard errors of the mean over all rankings, and the same at every call."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        case, chunks, headers = random_world(rng, overlap=True)
        values = every_score("naurc@6tok", case, chunks, headers)
        level = chance(parse_measure("naurc@6tok"), case)
        assert level == pytest.approx(values.mean(), abs=4 * float(values.std()) / math.sqrt(400) + 1e-9)
        assert level == chance(parse_measure("naurc@6tok"), case)


def test_a_simulated_level_is_the_mean_of_every_ranking_drawn() -> None:
    """Scoring only the rankings that hold gold, and one for all others, changes no bit of the mean over them all."""
    rng = np.random.default_rng(7)
    for number in range(60):
        case, chunks, headers = random_world(rng, overlap=number % 2 == 0)
        text, space = case.text, case.space
        assert text is not None
        assert space is not None
        grades: list[dict[str, float]] = [{str(rng.integers(9)): 1.0, str(rng.integers(9)): 2.0} for _ in range(2)]
        answers = [Answer(each, [span]) for each, span in zip(grades, text.gold, strict=False)]
        case = replace(case, grades=grades[0] | grades[1], answers=answers if number % 3 else ())
        name = f"{TEXT[number % len(TEXT)]}@{int(rng.integers(1, 9))}tok"
        costs = space.costs("tokens")
        drawn, orders = [], np.random.default_rng(0)
        for draw in range(50):
            order = orders.permutation(len(chunks))
            order = order[: int(np.searchsorted(np.cumsum(costs[order]) / space.folds, int(name[-4:-3]))) + 1]
            own = [headers[i] for i in order]
            read = replace(text, results=[chunks[i] for i in order], headers={"tokens": own})
            drawn.append(replace(case, query_id=str(draw), text=read, space=None))
        values = [row[name] for row in evaluate([parse_measure(name)], drawn).values()]
        assert simulated(parse_measure(name), case, draws=50) == float(np.mean(values))
        label = f"{LABELS[number % len(LABELS)]}@3"
        judged = list(dict.fromkeys(item for each in answers for item in each.grades or ())) if case.answers else None
        judged = judged or list(case.grades or ())
        population, places = max(len(chunks), len(judged)), np.random.default_rng(0)
        drawn = []
        for draw in range(50):
            chosen = places.choice(population, size=min(population, 3), replace=False)
            ids = [judged[i] if i < len(judged) else f"other {i}" for i in chosen]
            drawn.append(replace(case, query_id=str(draw), ranking=ids, space=None))
        values = [row[label] for row in evaluate([parse_measure(label)], drawn).values()]
        assert simulated(parse_measure(label), case, draws=50) == float(np.mean(values))


def test_beyond_the_search_the_ceiling_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every order cannot be tried, the densest chunks first reach the best score or come close below it."""
    rng = np.random.default_rng(4)
    gaps = []
    for number in range(300):
        case, _, _ = random_world(rng)
        measure = parse_measure(f"{TEXT[number % len(TEXT)]}@{int(rng.integers(2, 20))}tok")
        exact = ceilings(measure, [case])[0]
        monkeypatch.setattr(ceiling_search, "EXACT", 0)
        gaps.append(exact - ceilings(measure, [case])[0])
        monkeypatch.undo()
    assert min(gaps) >= -1e-9
    assert np.mean(gaps) < 0.02


def test_the_densest_chunk_is_read_first_and_not_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chunk of 20 units with 10 of gold and one of 9 with 8, nine units show the most in the second."""
    gold, chunks = [TextSpan(0, 10, 20), TextSpan(0, 20, 28)], [TextSpan(0, 0, 20), TextSpan(0, 20, 29)]
    space = SearchSpace(np.array(chunks), {"tokens": np.array([20, 9])})
    case = Case("q", [], None, TextCase([], gold, {"tokens": [Ruler(np.arange(29))]}), space=space)
    monkeypatch.setattr(ceiling_search, "EXACT", 0)
    assert ceilings(parse_measure("recall@9tok"), [case])[0] == pytest.approx(8 / 18)


def test_many_chunks_are_as_exact_as_few() -> None:
    """Over 3,000 chunks the quadrature agrees with the mean reading: each unit is read with probability B/N."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(20, 400, 3000)
    arrivals = Arrivals(sizes, 4000)
    x = np.arange(arrivals.budget)
    distinct, counts = np.unique(sizes, return_counts=True)
    read = sum(
        count * float(np.minimum(size, 4000 - x) @ arrivals.before(int(size)))
        for size, count in zip(distinct, counts, strict=True)
    )
    assert read == pytest.approx(4000, rel=1e-9)


def test_small_chunks_by_the_thousand_do_not_underflow() -> None:
    """20,000 chunks of one unit: what is read before one is uniform over all places."""
    before = Arrivals(np.ones(20_000, dtype=np.int64), 4000).before(1)
    np.testing.assert_allclose(before, 1 / 20_000, rtol=1e-6)


def test_normalised_is_0_at_chance_and_1_at_the_ceiling() -> None:
    """Over all rankings the normalised mean is 0 and the best is 1; where chance is perfect nothing can be said."""
    case, chunks, headers = random_world(np.random.default_rng(8))
    assert case.text is not None
    cases = []
    for number, order in enumerate(permutations(range(len(chunks)))):
        text = replace(case.text, results=[chunks[i] for i in order], headers={"tokens": [headers[i] for i in order]})
        cases.append(replace(case, query_id=str(number), text=text))
    values = [
        row["normalised(naurc@6tok)"] for row in evaluate([parse_measure("normalized(naurc@6tok)")], cases).values()
    ]
    assert np.mean(values) == pytest.approx(0, abs=1e-9)
    assert max(values) == pytest.approx(1, abs=1e-9)
    everything = parse_measure("normalised(recall@1000tok)")
    assert math.isnan(evaluate([everything], cases[:1])["0"][everything.name])


def test_levels_take_over_the_meaning_of_their_measure() -> None:
    """Name, unit, budget and words; levels of what has none are refused."""
    level = parse_measure("Chance(naurc@4k_tokens)")
    assert (level.name, level.unit, level.budget) == ("chance(naurc@4000tok)", "share", 4000)
    assert level.needs == {"text", "space"}
    assert parse_measure(level.name) == level
    assert level.words.startswith("what a random ranking of the same chunks reaches: ")
    for name in ("chance(ild@5)", "ceiling(tokens_to_recall(0.5))"):
        with pytest.raises(UsageError, match="is not known"):
            parse_measure(name)
    with pytest.raises(UsageError, match="around a measure itself"):
        parse_measure("normalised(chance(ndcg@5))")
    with pytest.raises(UsageError, match="search space"):
        evaluate([level], [Case("q", [], {}, TextCase([], [], {}))])


def test_thresholds_and_queries_without_relevant_chunks() -> None:
    """A threshold changes what is relevant; with nothing relevant the chance level is 0."""
    space = SearchSpace(np.zeros((6, 3), np.int64), {})
    case = Case("q", [], {"a": 2, "b": 1}, space=space)
    assert chance(parse_measure("precision@2(rel>=2)"), case) == pytest.approx(1 / 6)
    assert chance(parse_measure("hit@3"), replace(case, grades={})) == 0


def test_of_several_answers_the_best_counts() -> None:
    """2,000 worlds: every measure's score is its best over the answers taken alone, by brute force."""
    rng = np.random.default_rng(9)
    names = ["naurc@6tok", "recall@4tok", "ndcg@3", "recall@3", "file_rr", "tokens_to_recall(0.5)", "alpha_ndcg@3"]
    measures = [parse_measure(name) for name in names]
    cases, alone = [], []
    for number in range(WORLDS):
        case, chunks, _ = random_world(rng)
        assert case.text is not None
        order = rng.permutation(len(chunks)).tolist()
        text = replace(case.text, results=[chunks[i] for i in order])
        answers = []
        for span in case.text.gold:
            near = [
                i for i, c in enumerate(chunks) if c.file == span.file and c.start < span.end and c.end > span.start
            ]
            answers.append(Answer({str(i): 1.0 for i in near}, [span], {str(i): frozenset({0}) for i in near}))
        made = Case(f"q{number}", [str(i) for i in order], {}, text, nuggets={}, answers=answers)
        cases.append(made)
        alone.append(
            [
                Case(f"q{number}-{k}", made.ranking, a.grades, replace(text, gold=a.gold), nuggets=a.nuggets)
                for k, a in enumerate(answers)
            ]
        )
    found = evaluate(measures, cases)
    apart = evaluate(measures, [variant for group in alone for variant in group])
    for made, group in zip(cases, alone, strict=True):
        for measure in measures:
            values = [apart[variant.query_id][measure.name] for variant in group]
            best = (
                (np.nanmin if measure.direction == "lower" else np.nanmax) if not all(map(math.isnan, values)) else max
            )
            assert found[made.query_id][measure.name] == pytest.approx(best(values), nan_ok=True)


def test_chance_of_several_answers_is_that_of_the_best() -> None:
    """The expected best of two answers is above the chance of either; the ceiling is the higher of the two."""
    spans = [TextSpan(0, start, start + 10) for start in range(0, 60, 10)]
    space = SearchSpace(np.array(spans), {"tokens": np.full(6, 10)})
    answers = [Answer({"0": 1}, [spans[0]]), Answer({"3": 1}, [spans[3]])]
    text = TextCase([], [spans[0], spans[3]], {"tokens": [Ruler(np.arange(60))]})
    case = Case("q", [], {"0": 1, "3": 1}, text, space=space, answers=answers)
    # Three of six chunks are read: neither answer is among them in 1 of 5 rankings.
    for name in ("recall@30tok", "recall@3"):
        measure = parse_measure(name)
        assert chance(measure, case) == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 400))
        assert simulated(measure, case, draws=2000) == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 2000))
        row = evaluate([parse_measure(f"ceiling({name})")], [case])["q"]
        assert list(row.values()) == [1.0]


def test_the_summary_counts_what_is_undefined_and_uncovered() -> None:
    """The mean is over the defined values; a query with nothing relevant counts, as 0."""
    cases = [Case("a", IDS, {"a": 1}), Case("b", IDS, {}), Case("c", ["a"], {"a": 1})]
    scores = evaluate([parse_measure("mrr"), parse_measure("kendall_tau_grades")], cases)
    summary = aggregate(scores, uncovered=uncovered(cases))
    assert summary["mrr"].mean == pytest.approx(2 / 3)
    tau = summary["kendall_tau_grades"]
    assert (tau.n_total, tau.n_scored, tau.n_undefined, tau.n_uncovered) == (3, 1, 2, 1)


def test_beyond_the_search_overlapping_chunks_are_read_greedily() -> None:
    """With windows that overlap by half and a budget for three, no order that chance finds is better."""
    windows = [TextSpan(0, start, start + 8) for start in range(0, 40, 4)]
    gold = [TextSpan(0, 0, 6), TextSpan(0, 10, 14), TextSpan(0, 17, 26), TextSpan(0, 30, 44)]
    space = SearchSpace(np.array(windows), {"tokens": np.full(len(windows), 8)})
    case = Case("q", [], None, TextCase([], gold, {"tokens": [Ruler(np.arange(48))]}), space=space)
    assert len(windows) > ceiling_search.EXACT_SHARED
    rng = np.random.default_rng(6)
    assert case.text is not None
    for name in ("recall@24tok", "naurc@24tok"):
        orders = [rng.permutation(len(windows)) for _ in range(1000)]
        drawn = [replace(case.text, results=[windows[i] for i in order]) for order in orders]
        cases = [replace(case, query_id=str(n), text=text, space=None) for n, text in enumerate(drawn)]
        best = max(row[name] for row in evaluate([parse_measure(name)], cases).values())
        found = ceilings(parse_measure(name), [case])[0]
        assert best - 1e-9 <= found <= 1
    assert ceilings(parse_measure("recall@24tok"), [case])[0] == pytest.approx(23 / 33)


def test_chance_is_exact_for_any_number_of_chunks_with_gold() -> None:
    """Of 24 chunks of one size, all with gold, half the text shows half the gold: not nearly, as drawing would say."""
    chunks = [TextSpan(0, start, start + 5) for start in range(0, 120, 5)]
    gold = [TextSpan(0, start, start + 3) for start in range(0, 120, 5)]
    space = SearchSpace(np.array(chunks), {"tokens": np.full(len(chunks), 5)})
    case = Case("q", [], None, TextCase([], gold, {"tokens": [Ruler(np.arange(120))]}), space=space)
    assert chance(parse_measure("recall@60tok"), case) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("budget", [40, 3_000, 700_000])
def test_of_many_chunks_those_that_are_read_are_drawn_as_if_all_were_shuffled(budget: int) -> None:
    """21,000 chunks of very different sizes: no more than the budget asks for, none twice, and none favoured."""
    rng = np.random.default_rng(9)
    costs = rng.choice([1, 2, 90], 21_000)
    drawn = [_random_order(rng, costs, budget) for _ in range(400)]
    shuffled = [rng.permutation(len(costs)) for _ in range(400)]
    shuffled = [order[: int(np.searchsorted(np.cumsum(costs[order]), budget)) + 1] for order in shuffled]
    for order in drawn:
        assert len(np.unique(order)) == len(order)
        read = costs[order].sum()
        assert read >= budget > read - costs[order[-1]] or len(order) == len(costs)
    for fact in (len, lambda order: costs[order[0]], lambda order: costs[order[-1]]):
        one, other = (np.array([fact(order) for order in orders], dtype=float) for orders in (drawn, shuffled))
        assert abs(one.mean() - other.mean()) <= 4 * math.sqrt((one.var() + other.var()) / 400) + 1e-9


def test_a_number_that_never_arrives_is_not_counted() -> None:
    """Of 1,000 chunks, at a time when one is expected, 40 have never arrived and ten may have; limits hold."""
    exact = [math.comb(1000, number) * 0.001**number * 0.999 ** (1000 - number) for number in range(60)]
    most = _most(1000, 0.001, 59)
    assert max(exact[most + 1 :]) < 1e-20
    assert exact[most] > 1e-30
    assert [_most(1000, 0.001, limit) for limit in (0, 5)] == [0, 5]
    assert _most(3, 0.9, 3) == 3


@pytest.mark.parametrize(("chunks", "budget"), [(30_000, 250), (30_000, 4_000), (3_000, 4_000), (900, 4_000)])
def test_the_transform_of_many_chunks_is_their_product(chunks: int, budget: int) -> None:
    """Of chunks of all sizes, empty ones and some beyond the budget among them; to thirteen digits."""
    sizes = np.random.default_rng(4).lognormal(5, 1.2, chunks).astype(np.int64)
    sizes[:50] = 0
    arrivals = Arrivals(sizes, budget)
    assert arrivals.times[-1] <= 0.25
    np.testing.assert_allclose(arrivals._all, arrivals._product(sizes), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("chunks", "early"), [(30_000, True), (1_500, True), (120, False)])
def test_a_chunk_is_divided_out_alike_at_early_and_late_times(chunks: int, *, early: bool) -> None:
    """What is read before a chunk is what all the other chunks have brought, by a series or one by one."""
    sizes = np.random.default_rng(chunks).lognormal(5, 1.2, chunks).astype(np.int64) + 1
    arrivals = Arrivals(sizes, 4_000)
    assert (arrivals.times[-1] <= 0.25) == early
    for size in (1, 7, 250, 3_999, 4_000, 9_000, int(sizes[0])):
        within = np.append(sizes, size)
        found = Arrivals(within, 4_000)
        others = found.weights @ found._product(sizes)
        np.testing.assert_allclose(found.before(size), others, rtol=1e-9, atol=1e-14)
