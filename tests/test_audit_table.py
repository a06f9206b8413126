"""What the audit finds of every measure, and that each of its questions has both answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from chunkers.errors import UsageError
from evaluation.measures.audit import audit, audit_measure, specimen
from evaluation.measures.audit_worlds import BINARY, GOLD_PLACES, GRADED, ITEMS, chunk_case, item_case, tiling
from evaluation.measures.batch import Batch
from evaluation.measures.budget_recall import BudgetRecall
from evaluation.measures.measure import Direction, Measure, RankedMeasure
from evaluation.measures.mrr import Mrr
from evaluation.types import Case

BESIDE_THE_DECLARED = {
    "ndcg@k": "type2_items",
    "precision@k": "symmetric type1 type2_items type2_positions",
    "recall@k": "symmetric type1 type2_items type2_positions",
    "mrr@k": "type2_items type2_positions duplicate",
    "map@k": "type1 type2_items",
    "hit@k": "symmetric type1 type2_items type2_positions duplicate",
    "ndcg_exp@k": "type2_items",
    "ndcg_retrieved@k": "monotone stable ioi_graded type2_items duplicate",
    "precision_returned@k": "symmetric type1 type2_items type2_positions",
    "ap_capped@k": "type1 type2_items",
    "kendall_tau(b|a|c|literal)": "monotone ioi_binary",
    "kendall_tau_grades(b|a|c|literal)": "symmetric type2_items chance",
    "rbo@k(p=0.9)": "monotone stable ioi_binary type1 duplicate",
    "ild@k": "monotone symmetric type1 type2_items type2_positions",
    "alpha_ndcg@k(alpha=0.5)": "bounded monotone type2_items",
    "novelty_ndcg@k(alpha=0.5)": "bounded monotone top_heavy ioi_graded",
    "redundancy@k": "monotone stable symmetric type1 type2_items type2_positions split duplicate chance",
    "file_recall@k": "symmetric type1 type2_items type2_positions chance",
    "file_rr": "type2_items type2_positions chance",
    "semble_ndcg@k": "type1 type2_items",
    "chroma_recall@k": "symmetric type1 type2_items type2_positions duplicate",
    "chroma_precision@k": "monotone symmetric type1 type2_items type2_positions chance",
    "chroma_iou@k": "monotone symmetric type1 type2_items type2_positions",
    "precision_omega": "perfect monotone stable symmetric type1 type2_items type2_positions split duplicate",
    "split_rate": "empty monotone stable symmetric type1 type2_items type2_positions split duplicate chance",
    "tokens_to_recall(r)": "type2_items chance",
    "nws_to_recall(r)": "type2_items chance",
    "lines_to_recall(r)": "type2_items chance",
    "tokens_behind@k": "monotone symmetric type2_items type2_positions",
    "nws_behind@k": "monotone symmetric type2_items type2_positions",
    "lines_behind@k": "monotone symmetric type2_items type2_positions",
    "relevant": "monotone symmetric type2_items type2_positions",
    "recall@B": "type1 type2_items",
    "naurc@B": "type2_items",
    "precision@B": "stable type1 type2_items",
    "iou@B": "stable type1 type2_items",
    "ndcg_text@B": "type2_items",
    "region_success@B(cover=0.5)": "type2_items type2_positions chance",
    "redundancy@B": "monotone stable symmetric type1 type2_items type2_positions duplicate chance",
}
"""The properties that a measure has in the two worlds and does not declare, since larger worlds need not have them."""

WRITTEN_OUT = {f"{name}@k" for name in "ndcg ndcg_exp precision recall hit mrr map ap_capped".split()}


def test_the_table_holds_no_property_more_or_less() -> None:
    """Beside what it declares a measure has exactly what is written here, and asks nothing that has no answer."""
    found: dict[str, list[str]] = {}
    unasked = set()
    for finding in audit():
        row = found.setdefault(finding.measure, [])
        if finding.holds and not finding.declared:
            row.append(finding.name)
        if finding.holds is None:
            unasked.add((finding.measure, finding.name))
    assert {name: " ".join(row) for name, row in found.items()} == BESIDE_THE_DECLARED
    tau = "kendall_tau(b|a|c|literal)"
    others = {(name, "engine") for name in found if name not in WRITTEN_OUT}
    assert unasked == others | {(tau, "empty"), (tau, "stable")}


def toy(
    score: Callable[[Case], float], *, ends: tuple[float, float] = (0.0, 1.0), direction: Direction = "higher"
) -> Measure:
    """Return a measure that is this function of a case."""

    @dataclass(frozen=True, kw_only=True)
    class Toy(RankedMeasure):
        """A function as a measure."""

        label: ClassVar[str] = "toy"
        pattern: ClassVar[str] = "toy@k"
        definition: ClassVar[str] = "a function"
        citation: ClassVar[str] = "a test"

        def score(self, batch: Batch) -> np.ndarray:
            return batch.each(score)

    Toy.range, Toy.direction = ends, direction
    return Toy(cutoff=5)


def by_rank(weights: Sequence[float]) -> Callable[[Case], float]:
    """Return the sum of grades, each times the weight of its rank."""

    def score(case: Case) -> float:
        grades = case.grades or {}
        return sum(weight * grades.get(item, 0) for weight, item in zip(weights, case.ranking, strict=False))

    return score


def holds(measure: Measure, name: str) -> bool | None:
    """Return what the audit finds of one property."""
    return next(finding.holds for finding in audit_measure(measure, measure) if finding.name == name)


@pytest.mark.parametrize(
    ("weights", "direction", "expected"),
    [
        ((5, 4, 3, 2, 1), "higher", True),
        ((1, 1, 1, 1, 1), "higher", True),
        ((4, 5, 3, 2, 1), "higher", False),
        ((5, 4, 3, 1, 2), "higher", False),
        ((1, 2, 3, 4, 5), "higher", False),
        ((1, 2, 3, 4, 5), "lower", True),
        ((5, 4, 3, 1, 2), "lower", False),
    ],
)
def test_monotone_asks_every_pair_of_neighbours(weights: Sequence[float], direction: Direction, expected: bool) -> None:  # noqa: FBT001 - a parameter
    """One pair of ranks at which the better item is worth less is enough, and equal worth is none."""
    assert holds(toy(by_rank(weights), direction=direction), "monotone") is expected


def test_monotone_asks_nothing_of_items_that_are_equally_good() -> None:
    """A measure that orders what is not relevant by its name, either way, still never punishes a better item."""
    for sign in (1, -1):

        def score(case: Case, sign: int = sign) -> float:
            grades = case.grades or {}
            tail = [item for item in case.ranking if not grades.get(item)]
            return by_rank((5, 4, 3, 2, 1))(case) + 0.01 * sign * (tail == sorted(tail))

        assert holds(toy(score), "monotone") is True


@pytest.mark.parametrize(
    ("weights", "expected"), [((3, 1, 1, 1, 0), True), ((2, 1, 1, 1, 0), False), ((2, 1, 1, 2, 0), False)]
)
def test_top_heavy_compares_the_first_swap_with_the_last(weights: Sequence[float], expected: bool) -> None:  # noqa: FBT001 - a parameter
    """More is top-heavy, as much is not."""
    assert holds(toy(by_rank(weights)), "top_heavy") is expected


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.parametrize(("ends", "limit"), [((0.0, 1.0), 0.2), ((1.0, 2.0), 0.2), ((-2.0, 1.0), 0.6)])
def test_one_swap_may_change_a_fifth_of_the_range(rank: int, ends: tuple[float, float], limit: float) -> None:
    """At any rank: with grades from 4 to 0, a step of the weights of a fourth of the limit is all that is allowed."""
    for step, expected in ((limit / 4, True), (limit / 4 + 1e-6, False)):
        weights = [step] * (rank + 1) + [0.0] * (4 - rank)
        assert holds(toy(by_rank(weights), ends=ends), "type1") is expected


def test_without_both_ends_one_swap_has_no_limit() -> None:
    """A measure that may grow without end changes by no share of its range."""
    assert holds(toy(lambda _: 0.0, ends=(0.0, float("inf"))), "type1") is False
    assert holds(toy(lambda _: 0.0, ends=(-float("inf"), 0.0)), "type1") is False


@pytest.mark.parametrize("grades", [BINARY, GRADED])
def test_one_case_outside_the_range_is_enough(grades: dict[str, float]) -> None:
    """Both ends belong to the range, and what is beyond either of them in one ranking of either world is found."""
    last = tuple(reversed(ITEMS))
    for value, expected in ((0.0, True), (1.0, True), (-1e-6, False), (1 + 1e-6, False)):

        def score(case: Case, value: float = value) -> float:
            return value if tuple(case.ranking) == last and case.grades == grades else 0.5

        assert holds(toy(score), "bounded") is expected


def test_perfect_is_1_in_both_worlds_and_empty_is_0() -> None:
    """Of the ideal ranking, with yes or no and with grades; what the measure says of others does not matter."""
    for odd in ({}, BINARY, GRADED):
        measure = toy(lambda case, odd=odd: 0.9 if case.grades == odd or tuple(case.ranking) != ITEMS else 1.0)  # type: ignore[misc] # a default of a lambda
        assert holds(measure, "perfect") is (not odd)
    assert holds(toy(lambda case: 0.5 * bool(case.ranking)), "empty") is True
    assert holds(toy(lambda case: 0.5 + 0.5 * bool(case.ranking)), "empty") is False


def test_a_budget_is_enough_to_read_everything_where_the_best_is_asked_for() -> None:
    """Five items of ten units: with all 50 units recall is 1; the ranking itself is asked with fewer."""

    @dataclass(frozen=True, kw_only=True)
    class Spender(BudgetRecall):
        """Recall that is 1 only with a budget for exactly everything."""

        def score(self, batch: Batch) -> np.ndarray:
            return np.full(len(batch), 1.0 if self.budget == 50 else 0.4)

    assert holds(Spender(budget=25), "perfect") is True


def test_only_one_best_ranking_and_only_the_ideal_one() -> None:
    """A second ranking with the same score, or another best one, is found."""
    other = ("a", "b", "c", "e", "d")
    for scores, expected in (
        ({ITEMS: 1.0}, True),
        ({ITEMS: 1.0, other: 1.0}, False),
        ({ITEMS: 1.0, other: 1 - 1e-6}, True),
        ({other: 1.0}, False),
    ):
        measure = toy(lambda case, scores=scores: scores.get(tuple(case.ranking), 0.5))  # type: ignore[misc] # a default of a lambda
        assert holds(measure, "ioi_binary") is expected
        assert holds(measure, "ioi_graded") is expected


def test_more_chunks_of_the_same_text_must_not_pay() -> None:
    """A measure that counts results gains by duplicates where higher is better, and loses where lower is."""

    def count(case: Case) -> float:
        return len(case.ranking) / 10

    assert holds(toy(count), "duplicate") is False
    assert holds(toy(count, direction="lower"), "duplicate") is True
    assert holds(toy(lambda _: 0.5), "duplicate") is True
    assert holds(toy(count), "split") is False
    assert holds(toy(lambda _: 0.5), "split") is True


def test_an_engine_that_differs_from_the_definition_is_found() -> None:
    """By any amount above rounding; a measure that is not written out cannot be asked."""

    class Off(Mrr):
        """Reciprocal rank, off by a little."""

        by: ClassVar[float] = 1e-6

        def score(self, batch: Batch) -> np.ndarray:
            return super().score(batch) + self.by

    class Same(Off):
        by = 0.0

    assert holds(Off(cutoff=5), "engine") is False
    assert holds(Same(cutoff=5), "engine") is True
    assert holds(toy(lambda _: 0.0), "engine") is None


def test_a_refusal_is_no_answer_and_an_unknown_property_is_an_error() -> None:
    """What a measure refuses cannot be asked of it; a property that does not exist is named."""

    def refuse(_: Case) -> float:
        raise UsageError("not this one")

    assert {finding.holds for finding in audit_measure(toy(refuse), toy(refuse))} <= {None, False}
    boast = toy(lambda _: 0.0)
    type(boast).properties = frozenset({"bounded", "brilliant", "artful"})
    with pytest.raises(UsageError, match="toy declares unknown properties: artful, brilliant"):
        audit_measure(boast, boast)


def test_a_specimen_has_what_its_class_takes() -> None:
    """A budget, a cutoff, or the share to be reached."""
    from evaluation.measures.registry import measure_class

    made = [specimen(measure_class(name), budget=7, cutoff=3).name for name in ("naurc@B", "ndcg", "tokens_to_recall")]
    assert [*made, specimen(measure_class("file_rr"), budget=7, cutoff=3).name] == [
        "naurc@7tok",
        "ndcg@3",
        "tokens_to_recall(0.5)",
        "file_rr",
    ]


def test_the_two_worlds_are_what_they_say() -> None:
    """Items are files of ten units, gold above grade 0; a chunk that shares any unit of gold is relevant."""
    case = item_case(("c", "a"), GRADED)
    assert case.text is not None
    assert (case.ranking, case.reference) == (["c", "a"], list(ITEMS))
    assert [(span.file, span.start, span.end) for span in case.text.results] == [(2, 0, 10), (0, 0, 10)]
    assert [span.file for span in case.text.gold] == [0, 1, 2, 3]
    assert case.nuggets == {item: frozenset({number}) for number, item in enumerate("abcd")}
    assert case.vectors is not None
    np.testing.assert_allclose(np.linalg.norm(case.vectors, axis=1), 1)
    renamed = item_case(("c", "a"), BINARY, names="vwxyz", reference=("e", "a"))
    assert (renamed.ranking, renamed.grades) == (["x", "v"], {"v": 1, "w": 1, "x": 0})
    assert (renamed.reference, set(renamed.nuggets or ())) == (["z", "v"], {"v", "w"})
    for start in range(12):
        gold = GOLD_PLACES[start]
        assert gold == tuple(unit % 12 for unit in range(start, start + 3))
        for size in (3, 4, 6):
            chunks = tiling(size)
            assert chunks == [(begin, begin + size) for begin in range(0, 12, size)]
            found = chunk_case(chunks[::-1], chunks, gold=gold)
            holding = {f"{begin}-{end}" for begin, end in chunks if set(range(begin, end)) & set(gold)}
            assert found.grades == dict.fromkeys(holding, 1)
            assert found.text is not None
            assert sorted(span.start for span in found.text.gold) == sorted(gold)
            assert found.ranking == [f"{begin}-{end}" for begin, end in chunks[::-1]]
            assert set((found.reference or ())[: len(holding)]) == holding
