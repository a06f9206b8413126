"""Where a measure's parameters, grades and rankings end: the last value that is taken, and the first that is not."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chunkers.errors import UsageError
from chunkers.sizes import Ruler
from chunkers.types import SizeUnit
from evaluation.measures import aggregate, evaluate, parse_measure
from evaluation.measures.curve import recall_curves
from evaluation.measures.declared import MeasureFacts, declared, own_facts, recall
from evaluation.measures.evaluate import column, median
from evaluation.measures.kendall_tau import kendall_tau
from evaluation.measures.measure import RankedMeasure, relevance
from evaluation.measures.rbo import rbo
from evaluation.measures.registry import remembered_measure
from evaluation.measures.trec_eval import integer_gains, run_of
from evaluation.types import Case, TextCase, TextSpan


def value(name: str, case: Case) -> float:
    """Return one measure of one case."""
    measure = parse_measure(name)
    return evaluate([measure], [case])[case.query_id][measure.name]


@pytest.mark.parametrize(
    ("form", "taken", "refused"),
    [
        ("ndcg@{}", ["1", "1000000"], ["0", "1000001"]),
        ("naurc@{}tok", ["1", "1000000000"], ["0", "1000000001"]),
        ("alpha_ndcg@5(alpha={})", ["0", "1"], ["-0.01", "1.01"]),
        ("novelty_ndcg@5(alpha={})", ["0", "1"], ["-0.01", "1.01"]),
        ("rbo(p={})", ["0.01", "0.99"], ["0", "1"]),
        ("region_success@9tok(cover={})", ["0.01", "1"], ["0", "1.01"]),
        ("tokens_to_recall({})", ["0.01", "1"], ["0", "1.01"]),
        ("mrr(rel>{})", ["0", "0.5", "1"], ["x"]),
        ("mrr(rel>={})", ["0.01", "1"], ["0"]),
    ],
)
def test_parameters_have_their_ends(form: str, taken: list[str], refused: list[str]) -> None:
    """The least and the largest value are taken, the next ones are refused."""
    for number in taken:
        assert parse_measure(parse_measure(form.format(number)).name) == parse_measure(form.format(number))
    for number in refused:
        with pytest.raises(UsageError):
            parse_measure(form.format(number))


def test_a_threshold_is_kept_from_its_very_grade_on() -> None:
    """At least 2 takes 2, above 2 does not; nothing takes 0 or less, whatever the threshold."""
    grades = np.array([-1, 0, 0.5, 1.9, 2, 2.1])
    found = {rel: relevance(rel)(grades).tolist() for rel in ("", "2", ">=2", ">2", ">0", ">0.5")}
    assert found[""] == found[">0"] == [False, False, True, True, True, True]
    assert found["2"] == found[">=2"] == [False, False, False, False, True, True]
    assert found[">2"] == [False, False, False, False, False, True]
    assert found[">0.5"] == [False, False, False, True, True, True]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(st.integers(-3, 2000), st.floats(-1, 60)), max_size=8))
def test_whole_gains_keep_their_proportions(gains: dict[str, float]) -> None:
    """To a millionth of a grade or a ten-millionth of the highest; what is above 0 stays so, all else is 0."""
    found = integer_gains(gains)
    assert all(isinstance(gain, int) for gain in found.values())
    assert {key: gain > 0 for key, gain in found.items()} == {key: gain > 0 for key, gain in gains.items()}
    highest = max([*gains.values(), 0])
    if highest <= 0:
        return
    assert max(found.values()) <= 10_000_000
    for key, gain in gains.items():
        off = abs(found[key] / max(found.values()) - max(gain, 0) / highest)
        assert off <= max(1.1e-6 / highest, 1.1e-7), (gains, dict(found))


@pytest.mark.parametrize(
    ("gains", "found"),
    [
        ([0, 2, 4], [0, 2, 4]),
        ([0.5, 1.5, 0], [1, 3, 0]),
        ([-2, 3, 9], [0, 1, 3]),
        ([0.000001, 10], [1, 10_000_000]),
        ([0.000001, 20], [1, 10_000_000]),
        ([0.000003, 20], [2, 10_000_000]),
        ([1000, 500], [1000, 500]),
        ([1001, 2002], [1, 2]),
        ([0, 0.0], [0, 0]),
        ([], []),
    ],
)
def test_small_whole_gains_stay_and_others_become_the_smallest(gains: list[float], found: list[int]) -> None:
    """Whole grades up to a thousand are what they are; fractions and large ones are divided by what they share."""
    assert list(integer_gains({str(i): gain for i, gain in enumerate(gains)}).values()) == found


def test_large_spreads_of_grades_score_as_they_are() -> None:
    """A grade of twenty million times another one: nDCG is that of the grades to a ten-millionth."""
    grades = {"a": 0.000001, "b": 20.0, "c": 7.5}
    exact = (7.5 + 20 / math.log2(3) + 1e-6 / 2) / (20 + 7.5 / math.log2(3) + 1e-6 / 2)
    assert value("ndcg@3", Case("q", ["c", "b", "a"], grades)) == pytest.approx(exact, abs=2e-7)


def test_a_run_ends_at_its_last_judged_result() -> None:
    """Scores fall by one with each rank; nothing judged is no run."""
    assert run_of(["x", "a", "y", "b", "z"], {"a": 1, "b": 0, "c": 2}) == {"x": 4, "a": 3, "y": 2, "b": 1}
    assert run_of(["a"], {"a": 1}) == {"a": 1}
    assert run_of(["x"], {"a": 1}) == run_of([], {"a": 1}) == {}


def test_rank_correlation_of_many_items_and_of_too_few() -> None:
    """1,300 items are scipy's tau; fewer than two items, or a constant, have none; variants differ in their ties."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 90, 1300), rng.integers(0, 90, 1300)
    assert kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    for few in ([], [1]):
        assert math.isnan(kendall_tau(np.array(few), np.array(few)))
    assert math.isnan(kendall_tau(np.array([1, 1]), np.array([1, 2])))
    assert math.isnan(kendall_tau(np.array([1, 2]), np.array([1, 1])))
    # Of the six pairs four are concordant, one is discordant and one is tied.
    x, y = np.array([1, 2, 3, 4]), np.array([1, 1, 3, 2])
    assert kendall_tau(x, y, variant="a") == pytest.approx(3 / 6)
    assert kendall_tau(x, y, variant="b") == pytest.approx(3 / math.sqrt(6 * 5))
    assert kendall_tau(x, y, variant="c") == pytest.approx(2 * 3 * 3 / (16 * 2))
    assert kendall_tau(x, y, variant="literal") == pytest.approx((2 * 4 - 6) / 6)


def test_a_reference_has_the_same_items_in_any_number() -> None:
    """A list that is shorter, longer or of other items is refused; one item has no correlation."""
    for ranking, reference in ((["a"], ["a", "b"]), (["a", "b"], ["a"]), (["a", "b"], ["a", "c"])):
        with pytest.raises(UsageError, match="do not hold the same items"):
            value("kendall_tau", Case("q", ranking, {}, reference=reference))
    assert math.isnan(value("kendall_tau", Case("q", ["a"], {}, reference=["a"])))


def test_overlap_with_nothing() -> None:
    """Two empty lists have no overlap to speak of, one empty list has none; lists without a common item have 0."""
    assert math.isnan(rbo([], []))
    assert rbo(["a"], []) == rbo([], ["a"]) == rbo(["a"], ["b"]) == rbo(["a", "b"], ["c"]) == 0
    assert rbo(["a"], ["a"], p=0.3) == pytest.approx(1)
    # After one of one: agreement 1 at depth 1, and half of the second depth is known.
    assert rbo(["a"], ["a", "b"], p=0.5) == pytest.approx(1)
    assert rbo(["b"], ["a", "b"], p=0.5) == pytest.approx(0.5 / 0.5 * (0.5 / 2 * 0.5**1) + 0.5 / 1 * 0.25)


def test_vectors_have_length_1_to_a_hundredth() -> None:
    """A hundredth is rounding of half precision, more is not; there is one for each result that is looked at."""
    rows = np.eye(3)
    case = Case("q", list("abc"), {"a": 1}, vectors=rows)
    assert value("ild@3", case) == pytest.approx(1)
    assert value("ild@3", replace(case, vectors=rows * 1.0099)) == pytest.approx(1)
    for factor in (1.011, 0.989, math.nan):
        with pytest.raises(UsageError, match="has length"):
            value("ild@3", replace(case, vectors=rows * factor))
    few = replace(case, vectors=rows[:2])
    assert value("ild@2", few) == pytest.approx(1)
    with pytest.raises(UsageError, match="without a vector for each result"):
        value("ild@3", few)
    many = replace(case, ranking=["a", "b"])
    assert value("ild@3", many) == value("ild", many) == pytest.approx(1)


def test_repeated_regions_are_worth_less_and_unknown_chunks_nothing() -> None:
    """By hand: regions 0 and 1 at rank one, 0 again at rank two, 2 at rank three."""
    nuggets = {"a": frozenset({0, 1}), "b": frozenset({0}), "c": frozenset({2}), "d": frozenset[int]()}
    log3 = math.log2(3)
    for alpha, shown in ((0.5, 2 + 0.5 / log3 + 1 / 2), (1.0, 2 + 1 / 2), (0.0, 2 + 1 / log3 + 1 / 2)):
        case = Case("q", ["a", "b", "c", "x", "d"], None, nuggets=nuggets)
        best = 2 + 1 / log3 + (1 - alpha) / 2
        assert value(f"alpha_ndcg@3(alpha={alpha})", case) == pytest.approx(shown / best)
        assert value(f"alpha_ndcg(alpha={alpha})", case) == pytest.approx(shown / best)
        assert value(f"alpha_ndcg@1(alpha={alpha})", case) == 1
    assert value("alpha_ndcg@3", Case("q", ["a"], None, nuggets={})) == 0
    assert value("alpha_ndcg@3", Case("q", ["d"], None, nuggets={"d": frozenset()})) == 0


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_novelty_is_what_its_definition_says(alpha: float) -> None:
    """Random rankings with grades below 0, above 0 and none, also shorter than the cutoff."""
    rng = np.random.default_rng(3)
    for number in range(60):
        count, k = int(rng.integers(0, 7)), int(rng.integers(1, 7))
        rows = rng.normal(size=(count, 3))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        ids = [str(i) for i in range(count)]
        grades = {str(i): float(rng.integers(-1, 4)) for i in rng.permutation(8)[: int(rng.integers(0, 6))]}
        found = value(f"novelty_ndcg@{k}(alpha={alpha})", Case(str(number), ids, grades, vectors=rows))
        total = 0.0
        for rank, item in enumerate(ids[:k]):
            fresh = 1 - max(rows[rank] @ rows[:rank].T) if rank else 1
            total += max(grades.get(item, 0), 0) * (alpha + (1 - alpha) * fresh) / math.log2(rank + 2)
        best = sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:k]
        ideal = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(best))
        assert found == pytest.approx(total / ideal if ideal else 0, abs=1e-9)


def test_a_share_of_the_gold_is_reached_exactly() -> None:
    """Of ten units 0.3 are three and 0.31 are four; regions count from the unit on that makes up their cover."""
    rulers: dict[SizeUnit, list[Ruler]] = {"tokens": [Ruler(np.arange(30))]}
    case = Case("q", ["a"], {}, TextCase([TextSpan(0, 0, 30)], [TextSpan(0, 10, 20)], rulers))
    assert [value(f"tokens_to_recall({share})", case) for share in (0.1, 0.3, 0.31, 1)] == [11, 13, 14, 20]
    for cover, units in ((0.3, 13), (0.31, 14), (1, 20)):
        assert value(f"region_success@{units}tok(cover={cover})", case) == 1
        assert value(f"region_success@{units - 1}tok(cover={cover})", case) == 0


def test_targets_count_once_at_the_first_result_that_touches_them() -> None:
    """Half-open spans of the same file; two targets at one rank are one; the ideal is one target per rank."""
    results = [TextSpan(0, 0, 10), TextSpan(0, 10, 20), TextSpan(1, 0, 10), TextSpan(0, 15, 30)]
    log3 = math.log2(3)

    def scored(gold: list[TextSpan], cutoff: str = "") -> float:
        return value(f"semble_ndcg{cutoff}", Case("q", list("abcd"), {}, TextCase(results, gold, {})))

    assert scored([TextSpan(0, 9, 12)]) == 1
    assert scored([TextSpan(0, 10, 12)]) == pytest.approx(1 / log3)
    assert scored([TextSpan(1, 9, 12)]) == pytest.approx(1 / 2)
    assert scored([TextSpan(1, 10, 12)]) == scored([TextSpan(2, 0, 5)]) == scored([]) == 0
    assert scored([TextSpan(0, 0, 1), TextSpan(0, 1, 2)]) == pytest.approx(1 / (1 + 1 / log3))
    assert scored([TextSpan(0, 0, 1), TextSpan(1, 1, 2)], "@2") == pytest.approx(1 / (1 + 1 / log3))
    assert scored([TextSpan(0, 0, 1), TextSpan(1, 1, 2)], "@1") == 1


def test_files_count_once_and_none_is_0() -> None:
    """Without gold, or with gold in files that are not shown, files score 0."""
    results = [TextSpan(3, 0, 5), TextSpan(3, 5, 9), TextSpan(1, 0, 5)]
    for gold, share, rr in (
        ([], 0, 0),
        ([TextSpan(7, 0, 1)], 0, 0),
        ([TextSpan(1, 0, 1), TextSpan(7, 0, 1)], 0.5, 0.5),
    ):
        case = Case("q", list("abc"), {}, TextCase(results, gold, {}))
        assert value("file_recall@2", case) == value("file_recall", case) == share
        assert value("file_rr", case) == rr


def test_a_summary_is_over_what_is_defined() -> None:
    """Mean, median and shares by hand; with nothing defined, or no query at all, there is none."""
    scores = {str(i): {"mrr": each} for i, each in enumerate([0.25, 1.0, math.nan, 0.5])}
    found = aggregate(scores, uncovered=["1", "3", "absent"])["mrr"]
    assert found.mean == pytest.approx(7 / 12)
    assert (found.median, found.share_scored) == (0.5, 0.75)
    assert (found.n_total, found.n_scored, found.n_undefined, found.n_uncovered) == (4, 3, 1, 2)
    nothing = aggregate({"a": {"mrr": math.nan}})["mrr"]
    assert math.isnan(nothing.mean)
    assert math.isnan(nothing.median)
    assert nothing.share_scored == 0
    assert aggregate({}) == {}
    never = parse_measure("tokens_to_recall(0.5)")
    assert median(never, np.array([5.0, math.nan, 7.0])) == 7
    assert math.isnan(median(never, np.array([5.0, math.nan])))
    assert math.isnan(median(never, np.array([])))
    assert column(scores, "mrr")[[0, 1, 3]].tolist() == [0.25, 1.0, 0.5]


def test_a_curve_has_a_row_for_each_case_and_a_place_for_each_budget() -> None:
    """Also without any budget, and with text that is charged again."""
    rulers: dict[SizeUnit, list[Ruler]] = {"tokens": [Ruler(np.arange(20))]}
    shown = [TextSpan(0, 0, 5), TextSpan(0, 0, 10)]
    case = Case("q", ["a", "b"], {}, TextCase(shown, [TextSpan(0, 0, 10)], rulers))
    assert recall_curves([case], "tokens", [1, 5, 7, 10, 99]).tolist() == [[0.1, 0.5, 0.7, 1, 1]]
    charged = [parse_measure(f"recall@{budget}tok(charge_duplicates)") for budget in (5, 7, 10, 12, 15)]
    assert list(evaluate(charged, [case])["q"].values()) == [0.5, 0.5, 0.5, 0.7, 1]
    assert recall_curves([case] * 3, "tokens", [1, 5]).tolist() == [[0.1, 0.5]] * 3
    assert recall_curves([case] * 3, "tokens", []).shape == (3, 0)


def test_what_results_know_of_a_measure_is_what_it_declared() -> None:
    """Ends without a number stay open, and every other fact comes back; it scores nothing."""

    class Mine(RankedMeasure):
        """A measure of one's own."""

        label = "mine"
        pattern = "mine@k"
        definition = "mine"
        citation = "a test"
        direction = "lower"
        comparable = True

        def score(self, batch):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, ARG002 - never called
            raise AssertionError

    for ends in ((0.0, 1.0), (-math.inf, 2.0), (-3.0, math.inf), (-math.inf, math.inf)):
        Mine.range = ends
        (facts,) = own_facts([Mine(cutoff=4), parse_measure("mrr"), parse_measure("chance(ndcg@5)")])
        assert (facts.low, facts.high) == tuple(end if math.isfinite(end) else None for end in ends)
        known = declared(facts)
        assert (known.range, known.name, known.cutoff, known.direction) == (ends, "mine@4", 4, "lower")
        assert own_facts([known]) == (facts,)
        with pytest.raises(UsageError, match="known from results only"):
            known(["a"], {"a"})


def test_a_name_means_what_the_results_at_hand_say() -> None:
    """A measure that this process knows by the same facts stays as it is; other facts of the name take its place."""
    (facts,) = own_facts(
        [declared(MeasureFacts("own@3", "own", "own@k", "d", "w", "c", "share", "higher", 0, 1, True))]
    )
    recall([facts])
    first = parse_measure("own@3")
    assert (first.name, first.unit, first.range) == ("own@3", "share", (0, 1))
    recall([facts])
    assert remembered_measure("own@3") is first
    recall([replace(facts, direction="lower", high=None)])
    second = parse_measure("own@3")
    assert (second.direction, second.range) == ("lower", (0, math.inf))
    recall([facts])
    assert parse_measure("own@3").direction == "higher"


def test_fractions_of_a_mean_are_exact() -> None:
    """Reciprocal ranks at the cutoff count and beyond it do not, for cutoffs whose fractions are not exact."""
    for k in range(1, 60):
        ranking = [str(i) for i in range(k + 2)]
        assert value(f"mrr@{k}", Case("q", ranking, {str(k - 1): 1})) == pytest.approx(float(Fraction(1, k)))
        assert value(f"mrr@{k}", Case("q", ranking, {str(k): 1})) == 0
