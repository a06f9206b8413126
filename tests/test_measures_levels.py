"""Chance levels and ceilings where their ways part: exact or drawn, with a cutoff or none, all orders or the likely."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from chunkers.errors import UsageError
from chunkers.sizes import Ruler
from chunkers.types import SizeUnit
from evaluation.measures import ceiling as ceiling_search
from evaluation.measures import evaluate, parse_measure
from evaluation.measures.arrivals import Arrivals
from evaluation.measures.ceiling import ceilings
from evaluation.measures.chance import chance, closed_form, has_chance
from evaluation.measures.levels import levels_of
from evaluation.types import Case, SearchSpace, TextCase, TextSpan


def world(chunks: list[tuple[int, int]], gold: list[tuple[int, int]], *, headers: list[int] | None = None) -> Case:
    """Return a case over one file in which every byte is a unit."""
    spans = [TextSpan(0, *chunk) for chunk in chunks]
    sizes = np.array([end - start for start, end in chunks])
    space = SearchSpace(np.array(spans), {"tokens": sizes}, {"tokens": np.array(headers)} if headers else {})
    rulers: dict[SizeUnit, list[Ruler]] = {"tokens": [Ruler(np.arange(max(end for _, end in chunks)))]}
    return Case("q", [], None, TextCase([], [TextSpan(0, *span) for span in gold], rulers), space=space)


@pytest.mark.parametrize("label", "ndcg ndcg_exp precision_returned recall hit mrr map precision@4 ap_capped@4".split())
@pytest.mark.parametrize("depth", [None, 5, 2, 1])
@pytest.mark.parametrize("grades", [{"a": 2.0, "b": 1, "c": -1}, {"a": 1}, dict.fromkeys("abcde", 3.0)])
def test_closed_forms_hold_for_any_depth_and_number_of_relevant(
    label: str, depth: int | None, grades: dict[str, float]
) -> None:
    """The mean over every ranking of five chunks, cut off by a depth or not at all, with one to all relevant."""
    measure = parse_measure(label)
    rankings = list(permutations("abcde", 5 if depth is None else depth))
    scores = evaluate([measure], [Case(str(i), ranking, grades) for i, ranking in enumerate(rankings)])
    values = [row[measure.name] for row in scores.values()]
    space = SearchSpace(np.zeros((5, 3), np.int64), {}, depth=depth)
    case = Case("q", [], grades, space=space)
    assert closed_form(measure, case, population=5, depth=depth) == pytest.approx(np.mean(values), abs=1e-9)
    low, high = levels_of(measure, [case, case])
    assert low.tolist() == pytest.approx([np.mean(values)] * 2, abs=1e-9)
    assert high.tolist() == pytest.approx([max(values)] * 2, abs=1e-9)


def test_a_space_without_chunks_and_a_query_without_labels() -> None:
    """Nothing returned scores 0, one chunk of one scores all; what is not labelled has no level."""
    measure = parse_measure("map@5")
    for depth, population, expected in ((0, 4, 0.0), (3, 0, 0.0), (1, 1, 1.0), (None, 1, 1.0)):
        assert closed_form(measure, Case("q", [], {"a": 1}), population=population, depth=depth) == expected
    with pytest.raises(UsageError, match="not labelled"):
        closed_form(measure, Case("q", [], None), population=3)
    assert [
        has_chance(parse_measure(name)) for name in ("mrr", "naurc@9tok", "ild@5", "novelty_ndcg@5", "relevant")
    ] == [*(True, True, False, False, False)]


@pytest.mark.parametrize(("gold", "exact"), [(10, True), (11, False)])
def test_what_is_not_linear_is_exact_up_to_ten_chunks_with_gold(*, gold: int, exact: bool) -> None:
    """Of 24 chunks of one unit, eight are read: the gold among them is hypergeometric, beyond ten it is drawn."""
    case = world([(i, i + 1) for i in range(24)], [(0, gold)])
    read = np.arange(9)
    expected = float(stats.hypergeom(24, gold, 8).pmf(read) @ (read / (8 + gold - read)))
    found = chance(parse_measure("iou@8tok"), case)
    assert (abs(found - expected) < 1e-9) is exact
    assert found == pytest.approx(expected, abs=0.03)
    assert chance(parse_measure("recall@8tok"), case) == pytest.approx(8 / 24, abs=1e-9)


@pytest.mark.parametrize(("budget", "exact"), [(200_000, True), (200_001, False), (10**9, False)])
def test_a_very_large_budget_is_drawn(*, budget: int, exact: bool) -> None:
    """Of three chunks of 100,000 units each is read with the share of the budget; a draw of 400 cannot say a third."""
    case = world([(0, 100_000), (100_000, 200_000), (200_000, 300_001)], [(5, 6)])
    found = chance(parse_measure(f"recall@{budget}tok"), case)
    assert (abs(found - 2 / 3) < 1e-5) is exact
    assert found == pytest.approx(min(budget / 300_000, 1), abs=0.1)


def test_levels_of_gold_that_no_chunk_holds() -> None:
    """Text between the chunks can be read by nobody: chance and ceiling are 0 and their place between is undefined."""
    case = world([(0, 5), (10, 15)], [(6, 9)])
    for name in ("recall@9tok", "iou@9tok"):
        assert [float(each[0]) for each in levels_of(parse_measure(name), [case])] == [0, 0]
        level = parse_measure(f"normalised({name})")
        assert math.isnan(evaluate([level], [case])["q"][level.name])


def test_ranges_and_names_of_levels() -> None:
    """Chance and ceiling have the range of their measure; a normalised score may fall below 0 without end."""
    assert parse_measure("chance(naurc@9tok)").range == parse_measure("ceiling(naurc@9tok)").range == (0, 1)
    normalised = parse_measure("normalised(naurc@9tok)")
    assert normalised.range == (-math.inf, 1.0)
    assert [part.name for part in normalised.parts] == ["naurc@9tok"]
    assert normalised.units == {"tokens"}
    assert parse_measure("chance(naurc@9nws)").units == {"nws"}


@pytest.mark.parametrize("sizes", [[3, 3, 3], [1, 2, 3, 4], [0, 0, 2, 5], [7], [1] * 9])
@pytest.mark.parametrize("budget", [1, 2, 4, 8, 100])
def test_what_is_read_before_a_chunk_is_its_share_of_all_orders(sizes: list[int], budget: int) -> None:
    """Counted over every order; sizes of 0 and budgets beyond all text too."""
    found = Arrivals(np.array(sizes), budget)
    assert found.budget == max(1, min(budget, sum(sizes) + 1))
    orders = list(permutations(range(len(sizes)))) if len(sizes) < 9 else []
    for number, size in enumerate(sizes):
        before = [sum(sizes[i] for i in order[: order.index(number)]) for order in orders]
        expected = np.bincount(before, minlength=found.budget)[: found.budget] / max(1, len(orders))
        if not orders:
            expected = np.full(9, 1 / 9)[: found.budget]
        np.testing.assert_allclose(found.before(size)[: len(expected)], expected, atol=1e-12)


def test_small_budgets_of_many_chunks_divide_chunks_out() -> None:
    """Of 400 chunks of one and two units, what is read before one of either is the same by division as by product."""
    sizes = np.array([1, 2] * 200)
    found = Arrivals(sizes, 12)
    assert found.times[-1] <= 0.5
    # By the recursion over how many of each kind came before: the chance of a ones and b twos among the first.
    others = {1: (199, 200), 2: (200, 199)}
    for size, (ones, twos) in others.items():
        expected = np.zeros(12)
        for a in range(12):
            for b in range((11 - a) // 2 + 1):
                logs = math.lgamma(ones + 1) - math.lgamma(a + 1) - math.lgamma(ones - a + 1)
                logs += math.lgamma(twos + 1) - math.lgamma(b + 1) - math.lgamma(twos - b + 1)
                logs += math.lgamma(a + b + 1) + math.lgamma(400 - a - b) - math.lgamma(401)
                expected[a + 2 * b] += math.exp(logs)
        np.testing.assert_allclose(found.before(size), expected, rtol=1e-9)
        np.testing.assert_allclose(found.without([size, 2, 1]).sum(axis=1) <= 1 + 1e-9, np.ones(len(found.times)))


def test_the_likeliest_sets_are_those_whose_rest_may_still_come_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three units of pure gold before a chunk of twelve with six: to look at the worth so far alone would be worse."""
    case = world([(0, 12), (20, 21), (20, 23)], [(0, 6), (20, 23)])
    monkeypatch.setattr(ceiling_search, "EXACT_SHARED", 0)
    monkeypatch.setattr(ceiling_search, "_WIDTH", 1)
    assert ceilings(parse_measure("naurc@40tok"), [case])[0] == pytest.approx(1)


def test_sets_of_overlapping_chunks_are_followed_far_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three sets of each size find the best order of most worlds of random windows, and come close to it in all."""
    rng, gaps = np.random.default_rng(11), []
    for number in range(60):
        starts = np.sort(rng.integers(0, 18, 5))
        chunks = sorted({(int(start), int(start + rng.integers(1, 9))) for start in starts})
        gold = [(int(start), int(start + rng.integers(1, 5))) for start in rng.integers(0, 18, 3)]
        case = world(chunks, gold, headers=rng.integers(0, 3, len(chunks)).tolist())
        measure = parse_measure(f"{('naurc', 'recall')[number % 2]}@{int(rng.integers(2, 20))}tok")
        exact = ceilings(measure, [case])[0]
        monkeypatch.setattr(ceiling_search, "EXACT_SHARED", 0)
        monkeypatch.setattr(ceiling_search, "_WIDTH", 3)
        gaps.append(exact - ceilings(measure, [replace(case)])[0])
        monkeypatch.undo()
    assert min(gaps) >= -1e-9
    assert sum(gap > 1e-9 for gap in gaps) <= 2
    assert np.mean(gaps) < 0.001


def test_text_read_twice_costs_once_where_everything_is_read() -> None:
    """Precision and overlap over a budget beyond all text divide by what there is to read, headers included."""
    overlapping = world([(0, 6), (4, 10)], [(0, 5)], headers=[1, 2])
    # Ten bytes, of which two are in both chunks, and three units of headers.
    for name, expected in (("precision@99tok", 5 / 13), ("iou@99tok", 5 / 13)):
        assert ceilings(parse_measure(name), [overlapping])[0] == pytest.approx(expected)
    assert ceilings(parse_measure("precision@99tok(charge_duplicates)"), [overlapping])[0] == pytest.approx(5 / 15)
    assert ceilings(parse_measure("precision@13tok"), [overlapping])[0] == pytest.approx(5 / 13)
    assert ceilings(parse_measure("precision@7tok"), [overlapping])[0] == pytest.approx(5 / 7)
