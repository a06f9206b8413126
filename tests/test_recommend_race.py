"""The race: who leaves, who is recommended, and that the stated risk and the finalists' means are true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.recommend.bounds import Pair, Scale, Scored, upper_bounds
from evaluation.recommend.estimating import Contest, Entrant, Queries, Rules
from evaluation.recommend.race import Oracle, Outcome, _round_bounds, _worse, race
from evaluation.recommend.shapes import Shape
from evaluation.recommend.shifts import expected_shifts

TEXTS = 100
SHARE = 0.15


def _oracle(scores: np.ndarray, names: Sequence[str], cut: int) -> Oracle:
    """Return an oracle whose rounds ask the first queries, up to the cut, and whose final asks all."""

    def measure(number: int, asked: Sequence[str]) -> Scored:
        rows = scores[np.array([list(names).index(name) for name in asked], dtype=np.int64)]
        found = rows[:, :cut] if number == 0 and cut else rows
        return Scored(list(asked), found, ["r"] * found.shape[1])

    return measure


def _entrants(names: Sequence[str], *, rounds: bool) -> list[Entrant]:
    """Return candidates of a hundred texts each, of which a round looks at fifteen; the first one is cheapest."""
    shares = (SHARE, 1.0) if rounds else (1.0,)
    return [
        Entrant(name, [np.arange(TEXTS * k, TEXTS * k + int(share * TEXTS)) for share in shares], (float(k),))
        for k, name in enumerate(names)
    ]


def _run(scores: np.ndarray, cut: int = 80, *, rules: Rules | None = None) -> Outcome:
    names = [f"c{k}" for k in range(len(scores))]
    seen = np.arange(scores.shape[1]) < cut
    oracle, scouts = _oracle(scores, names, cut), names[:1] if cut else []
    entrants, queries = _entrants(names, rounds=cut > 0), Queries(seen, seen)
    outcome = race(entrants, oracle, rules or Rules(margin=0.02), queries=queries, scouts=scouts)
    assert outcome is not None
    return outcome


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 14), queries=st.integers(3, 60), rounding=st.integers(0, 3))
def test_there_is_always_an_answer(seed: int, rows: int, queries: int, rounding: int) -> None:
    """The recommended one is a finalist that may be best; risks are shares; everyone else left; texts are counted."""
    scores = np.random.default_rng(seed).random((rows, queries)).round(rounding)
    cut = queries // 2 if queries > 7 else 0
    outcome = _run(scores, cut)
    assert outcome.recommended in outcome.may_be_best
    assert outcome.recommended in outcome.finalists
    beliefs = outcome.beliefs
    assert all(0 <= beliefs[name].final_risk <= beliefs[name].risk <= 1 for name in outcome.finalists)
    assert all(0 <= beliefs[name].loss <= max(beliefs[name].risk, 1) for name in outcome.finalists)
    gone = [name for each in outcome.rounds for name in each.left]
    everyone = [f"c{k}" for k in range(rows)]
    assert sorted([*gone, *outcome.finalists]) == sorted(everyone)
    assert set(outcome.may_be_best) <= set(everyone)
    assert set(beliefs) == set(everyone)
    met = len(outcome.finalists)
    assert outcome.grid == TEXTS * rows
    assert outcome.embedded == TEXTS * met + int(SHARE * TEXTS) * (rows - met)
    assert str(_run(scores, cut)) == str(outcome)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 12),
    queries=st.integers(1, 200),
    world=st.tuples(st.sampled_from([0.0, 0.02, 0.1]), st.sampled_from([0.0, 0.03, 0.3]), st.sampled_from([0.0, 0.1])),
)
def test_the_risk_and_those_that_may_be_best_agree(
    seed: int, rows: int, queries: int, world: tuple[float, float, float]
) -> None:
    """Whoever may be best may be better than the recommended one, or scored the same; without a risk nobody may."""
    rng, (spread, noise, unknown) = np.random.default_rng(seed), world
    shared = rng.random(queries) * 0.4 + 0.3
    scores = shared + rng.normal(0, spread, rows)[:, None] + rng.normal(0, noise, (rows, queries))
    scores = np.where(rng.random(scores.shape) < unknown, np.nan, scores.clip(0, 1))
    outcome = _run(scores, queries // 2 if rows > 6 and queries > 7 else 0)
    recommended = outcome.beliefs[outcome.recommended]
    same = [f"c{k}" for k, row in enumerate(scores) if np.array_equal(row, _row(scores, outcome), equal_nan=True)]
    assert {outcome.recommended, *outcome.equals} == set(same) & set(outcome.finalists)
    others = set(outcome.may_be_best) - {outcome.recommended, *outcome.equals}
    assert all(outcome.beliefs[name].advantage > 0 for name in others)
    assert recommended.risk >= max([0.0, *(outcome.beliefs[name].advantage for name in others)])
    if recommended.risk == 0:
        assert not others
    if rows == 2 and recommended.risk > 0:
        (other,) = {"c0", "c1"} - {outcome.recommended}
        assert outcome.beliefs[other].advantage == pytest.approx(recommended.risk), "there is nobody else"


def _row(scores: np.ndarray, outcome: Outcome) -> np.ndarray:
    return np.asarray(scores[int(outcome.recommended[1:])])


def test_one_that_tests_cannot_exclude_and_beliefs_do_is_not_among_the_best() -> None:
    """Twenty queries are few for a test; where nobody is better by the stated risk, nobody else may be best."""
    rng = np.random.default_rng(3)
    scores = np.array([0.6, 0.45])[:, None] + rng.uniform(-0.14, 0.14, (2, 20))
    outcome = _run(scores, 0)
    assert outcome.beliefs["c0"].risk == 0
    assert outcome.may_be_best == ("c0",)


def test_those_that_score_the_same_may_all_be_best() -> None:
    """Whatever their families make one believe."""
    same = np.tile(np.random.default_rng(7).random(80), (3, 1))
    outcome = _run(np.concatenate([same, same[:1] - 0.2]).clip(0, 1), 0)
    assert (outcome.recommended, outcome.equals) == ("c0", ("c1", "c2"))
    assert set(outcome.may_be_best) == {"c0", "c1", "c2"}


@pytest.mark.parametrize("rows", [12, 40, 60])
def test_texts_are_within_the_share(rows: int) -> None:
    """No more than 40 % of all texts are indexed, and what is left of them is used."""
    scores = np.random.default_rng(rows).random((rows, 60))
    outcome = _run(scores, 40, rules=Rules(margin=0.02))
    assert 0.36 - 1 / rows < outcome.embedded / outcome.grid <= 0.4


def test_who_left_for_want_of_texts_may_still_be_best() -> None:
    """Those that are not shown to be worse are named, finalists or not; the risk covers them."""
    scores = np.random.default_rng(6).random((30, 60))
    outcome = _run(scores, 40)
    left = set(outcome.may_be_best) - set(outcome.finalists)
    assert left
    most = max(outcome.beliefs[name].advantage for name in outcome.may_be_best)
    assert outcome.beliefs[outcome.recommended].risk >= most > 0


def test_what_all_text_changes_is_learned_from_those_measured_on_both() -> None:
    """A family that loses beyond the passages is expected to lose at near sizes too; smaller chunks gain."""
    shapes = [Shape(family, size, 600.0) for family in "ab" for size in (300.0, 600.0, 1200.0)]
    unknown = expected_shifts(np.zeros(0), np.zeros(0), shapes, rows=[], width=1.0)
    assert unknown.means[0] > unknown.means[1] == 0 > unknown.means[2]
    assert (np.sqrt(np.diagonal(unknown.errors)) > 0.03).all()
    found = expected_shifts(np.array([-0.1]), np.full(1, 1e-6), shapes, rows=[1], width=1.0)
    assert found.means[1] == pytest.approx(-0.1, abs=0.01)
    moved = found.means - unknown.means
    assert moved[0] < moved[3] < 0, "near sizes of the family most, the others somewhat"
    errors = np.sqrt(np.diagonal(found.errors))
    assert errors[1] < errors[0] < errors[3]


def test_equals_end_with_the_cheapest_and_hardly_any_risk() -> None:
    """Twelve candidates with the same scores: the cheapest, and no finalist is better by a point."""
    scores = np.tile(np.random.default_rng(0).random(300), (12, 1))
    outcome = _run(scores, 120)
    assert outcome.recommended == "c0"
    assert outcome.beliefs["c0"].final_risk == pytest.approx(0.0, abs=0.01)
    assert set(outcome.may_be_best) == {f"c{k}" for k in range(12)}


def test_one_that_is_far_better_is_recommended_whatever_it_costs() -> None:
    """The most expensive of ten leads by twenty points: the others are shown to be worse."""
    scores = np.random.default_rng(1).normal(0.4, 0.05, (10, 400)).clip(0, 1)
    scores[9] += 0.2
    outcome = _run(scores)
    assert outcome.recommended == "c9"
    assert outcome.beliefs["c9"].risk == 0.0
    assert outcome.may_be_best == ("c9",)


def test_within_the_margin_the_cheaper_one_is_taken() -> None:
    """A gap that is shown to be within the margin is not worth its price; beyond it, it is."""
    rng = np.random.default_rng(2)
    shared = rng.random(2000) * 0.8
    scores = np.array([shared + rng.normal(0, 0.01, 2000), shared + 0.0002 + rng.normal(0, 0.01, 2000)]).clip(0, 1)
    assert _run(scores, 800).recommended == "c0"
    scores[1] = (shared + 0.1).clip(0, 1)
    assert _run(scores, 800).recommended == "c1"


def test_lower_may_be_better() -> None:
    """With a measure that counts what is read, the lowest is best and the signs of the gaps follow."""
    scores = np.random.default_rng(3).normal(0.5, 0.05, (12, 300)).clip(0, 1)
    scores[4] -= 0.3
    outcome = _run(scores, 120, rules=Rules(margin=0.02, scale=Scale(higher_is_better=False)))
    assert outcome.recommended == "c4"
    assert all(left.behind > 0 for each in outcome.rounds for left in each.left.values())


def test_those_who_fail_have_no_part_and_all_may_fail() -> None:
    """A candidate without a row is not ranked; without any row there is no outcome."""
    scores = np.random.default_rng(4).random((5, 60))
    names = [f"c{k}" for k in range(5)]
    whole, seen = _oracle(scores, names, 30), np.arange(60) < 30
    entrants = _entrants(names, rounds=True)

    def failing(number: int, asked: Sequence[str]) -> Scored:
        return whole(number, [name for name in asked if name != "c2"])

    outcome = race(entrants, failing, Rules(margin=0.02), queries=Queries(seen, seen), scouts=["c0"])
    assert outcome is not None
    assert all("c2" not in each.means for each in outcome.rounds)

    def nothing(number: int, _asked: Sequence[str]) -> Scored:
        return whole(number, [])

    assert race(entrants, nothing, Rules(margin=0.02), queries=Queries(seen, seen), scouts=["c0"]) is None


@pytest.mark.parametrize("spread", [0.0, 0.03])
def test_the_risk_holds_and_finalists_are_not_flattered(spread: float) -> None:
    """Over 60 worlds of 16 candidates the loss is within the stated risk, and means of unseen queries are true."""
    rng = np.random.default_rng(5)
    held, kept, bias = [], [], []
    for _ in range(60):
        truth = 0.5 + rng.normal(0, spread, 16).clip(-0.1, 0.1)
        scores = truth[:, None] + rng.uniform(-0.35, 0.35, (16, 120))
        outcome = _run(scores, 80)
        held.append(truth.max() - truth[int(outcome.recommended[1:])] <= outcome.beliefs[outcome.recommended].risk)
        kept.append(spread == 0 or f"c{truth.argmax()}" in outcome.may_be_best)
        fresh = outcome.rounds[-1].scored.on(np.arange(120) >= 80)
        bias.append(
            np.mean([row.mean() - truth[int(name[1:])] for name, row in zip(fresh.names, fresh.values, strict=True)])
        )
    assert np.mean(held) >= 0.95
    assert np.mean(kept) >= 0.95
    assert abs(np.mean(bias)) < 3 * np.std(bias) / np.sqrt(len(bias))


def test_nobody_is_recommended_whose_mean_is_beyond_the_margin_of_the_leader() -> None:
    """With few queries beliefs are vague; what is recommended is within the margin of the best mean all the same."""
    for seed in range(8):
        outcome = _run(np.random.default_rng(seed).random((9, 12)), 8)
        found = outcome.rounds[-1].means
        assert found[outcome.finalists[0]] - found[outcome.recommended] <= 0.02


def test_whoever_leads_the_round_is_measured_on_all_text() -> None:
    """The one with the best mean among passages is a finalist, where its texts can be afforded."""
    for seed in range(8):
        scores = np.random.default_rng(seed).random((14, 40))
        outcome = _run(scores, 25)
        first = outcome.rounds[0].means
        assert max(first, key=lambda name: first[name]) in outcome.finalists


def test_a_round_may_ask_fewer_queries_than_choose() -> None:
    """Those that chose no finalist are unseen; the others have a part in the choice, asked in the round or not."""
    scores = np.random.default_rng(8).normal(0.4, 0.05, (12, 400)).clip(0, 1)
    scores[7] += 0.2
    names = [f"c{k}" for k in range(12)]
    place = np.arange(400)
    queries = Queries(place < 260, place < 40)
    entrants = _entrants(names, rounds=True)
    outcome = race(entrants, _oracle(scores, names, 40), Rules(margin=0.02), queries=queries, scouts=["c0"])
    assert outcome is not None
    assert outcome.recommended == "c7"
    scores[:, 260:] = np.random.default_rng(9).random((12, 140))
    again = race(entrants, _oracle(scores, names, 40), Rules(margin=0.02), queries=queries, scouts=["c0"])
    assert again is not None
    assert set(again.finalists) == set(outcome.finalists), "unseen queries choose no finalist"


@pytest.mark.parametrize("queries", [1, 2, 8])
def test_nobody_without_a_score_is_recommended(queries: int) -> None:
    """However cheap it is."""
    scores = np.full((3, queries), 0.3)
    scores[0], scores[1] = np.nan, 0.7
    assert _run(scores, cut=0).recommended == "c1"


def _asked(scores: np.ndarray, cut: int, *, rules: Rules, texts: Sequence[int] = ()) -> list[tuple[int, list[str]]]:
    """Return whom the race measures, round by round: 0 on passages, 1 on all text."""
    names = [f"c{k}" for k in range(len(scores))]
    whole, seen = _oracle(scores, names, cut), np.arange(scores.shape[1]) < cut
    asked: list[tuple[int, list[str]]] = []

    def measure(number: int, some: Sequence[str]) -> Scored:
        asked.append((number, list(some)))
        return whole(number, some)

    counts = list(texts) or [TEXTS] * len(names)
    begins = np.cumsum([0, *counts])
    entrants = [
        Entrant(name, [np.arange(first, first + count // 10), np.arange(first, first + count)], (float(k),))
        for k, (name, first, count) in enumerate(zip(names, begins.tolist(), counts, strict=False))
    ]
    race(entrants, measure, rules, queries=Queries(seen, seen), scouts=["c0"])
    return asked


def test_waves_go_on_until_another_best_is_unlikely_or_too_expensive() -> None:
    """Scouts, then everyone on passages, then two at a time on all text, the leader of the round first."""
    scores = np.random.default_rng(11).normal(0.5, 0.1, (12, 60)).clip(0, 1)
    scores[7] += 0.3
    asked = _asked(scores.clip(0, 1), 40, rules=Rules(margin=0.02))
    everyone = [f"c{k}" for k in range(12)]
    assert asked[:2] == [(1, ["c0"]), (0, everyone)]
    assert asked[2][1][0] == "c7"
    assert [number for number, _ in asked[2:]] == [1] * len(asked[2:])
    assert len(asked) == 3, "nobody else is likely to be the best"
    scores[7] -= 0.3
    equals = _asked(scores, 40, rules=Rules(margin=0.02, text_share=0.6, wave=3))
    waves = [len(names) for _, names in equals[2:]]
    assert waves == [3, 2], "60 % of the texts: six on all of them, and a tenth of all others"
    none = _asked(scores, 40, rules=Rules(margin=0.02, text_share=0.0))
    assert [len(names) for _, names in none[2:]] == [1], "two finalists in any case"
    sure = _asked(scores, 40, rules=Rules(margin=0.02, text_share=1.0, unlikely=1.0, wave=1))
    tired = _asked(scores, 40, rules=Rules(margin=0.02, text_share=1.0, unlikely=0.0, wave=1))
    assert len(sure) <= 4
    assert len(tired) == 2 + 11, "everyone is measured in the end, and nobody twice"


def test_of_those_that_are_as_likely_the_one_with_few_texts_is_measured_first() -> None:
    """What it costs to measure one counts beside how likely it is to be the best."""
    scores = np.tile(np.random.default_rng(12).random(60), (8, 1))
    scores[1] += 0.02
    counts = [100, 100, 4000, 4000, 10, 4000, 4000, 4000]
    asked = _asked(scores.clip(0, 1), 40, rules=Rules(margin=0.02), texts=counts)
    assert asked[2][1] == ["c1", "c4"]


def test_who_left_is_behind_the_one_that_beats_it_most_clearly() -> None:
    """By the difference of their means in the round; where nobody is shown to be better, behind the leader."""
    rng = np.random.default_rng(13)
    scores = rng.normal(0.5, 0.03, (12, 300)).clip(0, 1)
    scores[3] += 0.25
    scores[9] -= 0.1
    for lower in (False, True):
        rules = Rules(margin=0.02, scale=Scale(higher_is_better=not lower))
        outcome = _run(1 - scores if lower else scores, 200, rules=rules)
        first = outcome.rounds[0]
        assert outcome.recommended == "c3"
        assert set(first.left) == {f"c{k}" for k in range(12)} - set(outcome.finalists)
        for name, left in first.left.items():
            assert left.rival == "c3"
            assert left.behind == pytest.approx(abs(first.means["c3"] - first.means[name]))
    flat = _run(rng.random((14, 40)), 25)
    for name in set(flat.may_be_best) - set(flat.finalists):
        leader = next(each for each in flat.finalists if each in flat.rounds[0].means)
        assert flat.rounds[0].left[name].rival == leader


def test_of_equal_means_the_cheaper_one_leads_and_those_without_a_value_are_last() -> None:
    """The order of the finalists is that of their means over all queries."""
    scores = np.array([[np.nan] * 30, [0.5] * 30, [0.5] * 30, [0.7] * 30])
    outcome = _run(scores, 0)
    assert outcome.finalists == ("c3", "c1", "c2", "c0")
    lower = _run(scores, 0, rules=Rules(margin=0.02, scale=Scale(higher_is_better=False)))
    assert lower.finalists == ("c1", "c2", "c3", "c0")
    assert lower.beliefs["c1"].mean == pytest.approx(0.5, abs=0.05)


def test_where_all_risk_more_than_the_margin_the_cheapest_of_the_least_risky_is_taken() -> None:
    """A quarter of the margin more is no reason to pay for another."""
    for seed in range(6):
        outcome = _run(np.random.default_rng(seed).random((6, 30)), 0)
        found, means = outcome.beliefs, outcome.rounds[-1].means
        near = [name for name in outcome.finalists if means[outcome.finalists[0]] - means[name] <= 0.02]
        least = min(found[name].loss for name in near)
        limit = max(0.02, least + 0.005)
        able = [name for name in near if found[name].loss <= limit]
        assert outcome.recommended == min(able, key=lambda name: int(name[1:]))


def _clustered(scores: np.ndarray, cut: int, repositories: int) -> Outcome:
    """Run the race over several repositories, whose queries take turns."""
    names = [f"c{k}" for k in range(len(scores))]
    plain = _oracle(scores, names, cut)

    def measure(number: int, asked: Sequence[str]) -> Scored:
        found = plain(number, asked)
        return found._replace(clusters=[f"r{k % repositories}" for k in range(found.values.shape[1])])

    seen = np.arange(scores.shape[1]) < cut
    entrants = [each._replace(family=each.name, size=600.0, around=600.0) for each in _entrants(names, rounds=cut > 0)]
    outcome = race(entrants, measure, Rules(margin=0.02), queries=Queries(seen, seen), scouts=names[:1] if cut else [])
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(
    ("behind", "repositories", "divided", "excluded"),
    [(0.1, 20, "no", True), (0.02, 20, "no", False), (0.1, 10, "yes", True), (0.02, 10, "yes", False)],
)
def test_one_that_is_behind_everywhere_is_shown_to_be_worse(
    behind: float,
    repositories: int,
    divided: str,
    excluded: bool,  # noqa: FBT001 - as parametrized
) -> None:
    """A test sees it, in the final and among passages, where beliefs see that everybody's luck differs."""
    rng = np.random.default_rng(0)
    queries = 2 * repositories
    first = rng.uniform(0.4, 0.95, queries)
    rows = 8 if divided == "yes" else 3
    others = [np.where(rng.random(queries) < 0.5, 0.95, 0.05) * 0.9 for _ in range(rows)]
    outcome = _clustered(
        np.stack([first, first - behind, *others]), queries // 2 if divided == "yes" else 0, repositories
    )
    assert outcome.recommended == "c0"
    assert outcome.beliefs["c1"].advantage > 0
    assert ("c1" not in outcome.may_be_best) is excluded


def test_who_is_worse_is_a_matter_of_two_families_of_comparisons() -> None:
    """With half of the error for each where there is a round; the rival is the one of whom it is clearest."""
    differs = {"level": 0, "rivals": 0, "third": 0, "fewer": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shared = rng.random(40)
        values = (shared + rng.normal(0, 0.2, (5, 40)) + np.array([0.12, 0.1, 0.08, 0.04, 0.0])[:, None]).clip(0, 1)
        final = Scored([f"c{k}" for k in range(5)], values, [f"r{k % 8}" for k in range(40)])
        ranked = sorted(final.names, key=lambda name: -values[int(name[1:])].mean())
        outcome = _clustered(values, 0, 8)
        pairs = [(name, other) for place, name in enumerate(ranked) for other in ranked[: min(place, 4)]]

        def excluded(level: float, rivals: int, final: Scored = final, pairs: list[Pair] = pairs) -> dict[str, str]:
            bounds = upper_bounds(final, pairs, level=level, rivals=rivals, scale=Scale())
            worst = {
                name: min((bounds[pair], pair[1]) for pair in pairs if pair[0] == name)
                for name in {pair[0] for pair in pairs}
            }
            return {name: rival for name, (bound, rival) in worst.items() if bound < 0}

        here = Contest(
            {each.name: each for each in _entrants(final.names, rounds=False)},
            Rules(margin=0.02),
            Queries(np.ones(40, dtype=bool), np.ones(40, dtype=bool)),
            (),
        )
        found = _worse(None, final, ranked, here)
        assert found == excluded(0.05, 4)
        assert not set(found) & set(outcome.may_be_best)
        halved = _worse(final, final, ranked, here)
        assert halved == excluded(0.025, 4)
        differs["third"] += halved != excluded(0.05 / 3, 4)
        differs["fewer"] += found != excluded(0.05, 3)
        differs["level"] += found != excluded(0.1, 4)
        differs["rivals"] += found != excluded(0.05, 6)
    assert all(differs.values()), "another level or number of rivals is another answer"


def test_passages_bound_what_one_may_be_better_by_on_all_text() -> None:
    """By their own bound, and what all text may change: what is expected for both, and two deviations of the first."""
    rng = np.random.default_rng(21)
    sizes, names = (300.0, 600.0, 1200.0, 2400.0, 600.0), [f"c{k}" for k in range(5)]
    entrants = {
        name: Entrant(name, [np.arange(3)] * 2, (1.0,), f"family {k % 2}", size, 600.0)
        for k, (name, size) in enumerate(zip(names, sizes, strict=True))
    }
    asked = np.arange(90) < 60
    here = Contest(entrants, Rules(margin=0.02), Queries(asked, asked), ("c1",))
    values = (rng.random(90) * 0.5 + rng.normal(0, 0.1, (5, 90)) + 0.25).clip(0, 1)
    clusters = [f"r{k}" for k in range(90)]
    final = Scored(["c1", "c2"], values[1:3], clusters)
    scored = Scored(names, (values[:, :60] + 0.05 * (np.arange(5) == 2)[:, None]).clip(0, 1), clusters[:60])
    found = _round_bounds(scored, final, ["c1", "c2", "gone"], 0.025, here)
    assert set(found) == {(name, rival) for name in ("c0", "c3", "c4") for rival in ("c1", "c2")}
    own = upper_bounds(scored, list(found), level=0.025, rivals=4, scale=Scale())
    shifts = here.shifts(scored, final.on(asked), 1.0)
    for (name, rival), bound in found.items():
        one, other = int(name[1:]), int(rival[1:])
        more = shifts.means[one] + 2 * np.sqrt(shifts.errors[one, one]) - shifts.means[other]
        assert bound == pytest.approx(min(own[name, rival] + max(0.0, more), 1.0))
    assert len({round(bound - own[pair], 6) for pair, bound in found.items()}) > 3
    alone = _round_bounds(scored, final, ["c1"], 0.025, here)
    assert alone["c3", "c1"] < 1


def test_those_without_a_chance_come_last_best_mean_first() -> None:
    """Where all texts may be indexed and nothing is unlikely enough, everyone is measured, in this order."""
    shared = np.random.default_rng(22).normal(0, 0.02, 200)
    scores = np.array([0.5, 0.2, 0.3, 0.85, 0.4, 0.1, 0.6])[:, None] + shared
    asked = _asked(scores, 150, rules=Rules(margin=0.02, text_share=1.0, unlikely=0.0, wave=1))
    assert [names for _, names in asked[2:]] == [["c3"], ["c6"], ["c4"], ["c2"], ["c1"], ["c5"]]
    enough = _asked(scores, 150, rules=Rules(margin=0.02, text_share=1.0, wave=1))
    assert [names for _, names in enough[2:]] == [["c3"]]
