"""What holds for every ranked measure, whatever the query."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.measures import evaluate, parse_measure
from evaluation.measures.evaluate import BATCH
from evaluation.types import Case

ITEMS = [f"d{i}" for i in range(9)]
NAMES = [
    *"ndcg@4 ndcg ndcg_exp@4 precision@4 recall@4 hit@4 mrr mrr@4 map@4 map ap_capped@4".split(),
    *"precision_returned@4 ndcg_retrieved@4 precision@4(rel>=2) mrr(rel>1)".split(),
]
MEASURES = [parse_measure(name) for name in NAMES]

rankings = st.permutations(ITEMS).flatmap(lambda order: st.integers(0, 9).map(lambda n: order[:n]))
judgements = st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0, 1, 2, 3, 0.5, -1]))


def row(ranking: list[str], grades: dict[str, float]) -> dict[str, float]:
    """Return all measures of one query."""
    return evaluate(MEASURES, [Case("q", ranking, grades)])["q"]


@settings(max_examples=50, deadline=None)
@given(rankings, judgements, st.permutations(ITEMS))
def test_the_spelling_of_ids_does_not_matter(ranking: list[str], grades: dict[str, float], others: list[str]) -> None:
    """Renaming every chunk changes no score."""
    names = dict(zip(ITEMS, others, strict=True))
    renamed = row([names[item] for item in ranking], {names[item]: grade for item, grade in grades.items()})
    assert renamed == pytest.approx(row(ranking, grades), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(rankings, judgements, st.integers(0, 7))
def test_moving_a_better_item_up_never_lowers_a_score(ranking: list[str], grades: dict[str, float], rank: int) -> None:
    """One step up for the better of two neighbours is never punished; the retrieved ideal is another matter."""
    if rank + 1 >= len(ranking) or grades.get(ranking[rank + 1], 0) <= max(0, grades.get(ranking[rank], 0)):
        return
    moved = [*ranking[:rank], ranking[rank + 1], ranking[rank], *ranking[rank + 2 :]]
    before, after = row(ranking, grades), row(moved, grades)
    for name in before:
        if not name.startswith("ndcg_retrieved"):
            assert after[name] >= before[name] - 1e-12, name


@settings(max_examples=50, deadline=None)
@given(rankings, judgements)
def test_bounds(ranking: list[str], grades: dict[str, float]) -> None:
    """Every score lies in 0…1, and without results or without anything relevant it is 0."""
    assert all(0 <= value <= 1 + 1e-12 for value in row(ranking, grades).values())
    assert set(row([], grades).values()) == {0.0}
    assert set(row(ranking, {}).values()) == {0.0}


@settings(max_examples=30, deadline=None)
@given(judgements)
def test_the_ideal_ranking_scores_1(grades: dict[str, float]) -> None:
    """Judged chunks in the order of their grades are perfect wherever a cutoff allows it."""
    if not any(grade > 0 for grade in grades.values()):
        return
    best = row(sorted(ITEMS, key=lambda item: -grades.get(item, 0)), grades)
    for name in ("ndcg@4", "ndcg", "ndcg_exp@4", "ndcg_retrieved@4", "hit@4", "mrr", "map", "ap_capped@4"):
        assert best[name] == pytest.approx(1, abs=1e-9), name


def test_scores_do_not_depend_on_the_batch() -> None:
    """Queries beyond one batch are scored as those in it."""
    cases = [Case(str(i), ITEMS[i % 5 :], {ITEMS[i % 7]: 1 + i % 3}) for i in range(BATCH + 50)]
    scores = evaluate(MEASURES, iter(cases))
    assert list(scores) == [case.query_id for case in cases]
    for case in cases[:: BATCH // 3]:
        assert scores[case.query_id] == evaluate(MEASURES, [case])[case.query_id]
