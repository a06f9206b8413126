"""Measures as callable values: every worked example of the source documents, and errors that say what to pass."""

from __future__ import annotations

import numpy as np
import pytest

from chunkers.errors import UsageError
from evaluation.measures import parse_measure

TEN = [f"doc{i}" for i in range(1, 11)]


def unit_rows(cosines: list[list[float]]) -> np.ndarray:
    """Return vectors of length 1 with these cosines."""
    return np.linalg.cholesky(np.array(cosines))


def test_worked_examples_on_ids() -> None:
    """MRR .4444, recall 2/3, precision .2, AP .5556, nDCG .6509 and .4982, IDCG@5 of three 2.1309."""
    mrr = parse_measure("mrr@10")
    assert np.mean([mrr(TEN, relevant) for relevant in ({"doc1"}, {"doc3"}, {"x"})]) == pytest.approx(0.4444, abs=5e-5)
    assert mrr(["doc1", "doc2", "doc3"], {"doc2"}) == 0.5
    assert parse_measure("Recall@10")(TEN, {"doc2", "doc4", "x"}) == pytest.approx(2 / 3)
    assert parse_measure("Precision@10")(TEN, {"doc2", "doc4", "x"}) == pytest.approx(0.2)
    assert parse_measure("AP")(TEN[1:5], {"doc2", "doc4", "doc7"}) == pytest.approx(0.5556, abs=5e-5)
    assert parse_measure("ndcg@5")(TEN[:5], {"doc2", "doc4"}) == pytest.approx(0.6509, abs=5e-5)
    three = parse_measure("ndcg_at_5")(TEN[:5], {"doc2", "doc4", "doc7"})
    assert three == pytest.approx(0.4982, abs=5e-5)
    assert (1 / np.log2(3) + 1 / np.log2(5)) / three == pytest.approx(2.1309, abs=5e-5)


def test_edge_cases_of_ndcg() -> None:
    """Nothing relevant or nothing retrieved is 0, all relevant in front is 1; the exponential form takes grades."""
    ndcg = parse_measure("ndcg@10")
    assert [ndcg(TEN, set()), ndcg([], {"doc1"}), ndcg(TEN, {"doc1", "doc2"})] == [0, 0, 1]
    graded = parse_measure("ndcg_exp@2")(["a", "b"], {"a": 1, "b": 2})
    assert graded == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))


def test_worked_examples_on_diversity() -> None:
    """Cosines .9, .3, .4 give ILD .4667; gains 1 and .9 give 1.5678 before the ideal; vectors by id or by rank."""
    rows = unit_rows([[1, 0.9, 0.3], [0.9, 1, 0.4], [0.3, 0.4, 1]])
    ild = parse_measure("ild@3")
    assert ild(["a", "b", "c"], vectors=rows) == pytest.approx(0.4667, abs=5e-5)
    by_id = dict(zip("abc", rows, strict=True))
    assert ild(["c", "a", "b"], vectors=by_id) == pytest.approx(0.4667, abs=5e-5)
    rows = unit_rows([[1, 0.2, 0.1], [0.2, 1, 0.1], [0.1, 0.1, 1]])
    value = parse_measure("novelty_ndcg@3")(["a", "b", "c"], {"a", "b"}, vectors=rows)
    assert value * (1 + 1 / np.log2(3)) == pytest.approx(1.5678, abs=5e-5)


def test_alpha_ndcg_takes_the_parts_of_all_judged_ids() -> None:
    """A part that was missed lowers the score: one of two parts shown is 1/(1 + 1/log2(3))."""
    measure = parse_measure("alpha_ndcg@10")
    parts = {"a": {0}, "b": {1}}
    assert measure(["a", "b"], nuggets=parts) == 1
    assert measure(["a"], nuggets=parts) == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_rank_correlation_takes_a_reference() -> None:
    """One swap of four neighbours leaves tau at 2/3; the same list is 1."""
    tau = parse_measure("kendall_tau")
    assert tau(list("abcd"), reference=list("abcd")) == 1
    assert tau(list("bacd"), reference=list("abcd")) == pytest.approx(2 / 3)
    assert parse_measure("rbo")(list("abc"), reference=list("abc")) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("ndcg@10", {}, "the relevant ids"),
        ("ild@2", {}, "vectors="),
        ("alpha_ndcg@2", {}, "nuggets="),
        ("kendall_tau", {}, "reference="),
        ("recall@4000tok", {}, "the text behind the ids"),
        ("ild@2", {"vectors": [[3.0, 4.0], [1.0, 0.0]]}, "of 'a' has length 5, not 1: divide"),
        ("novelty_ndcg@2", {"relevant": {"a"}, "vectors": {"a": [2.0], "b": [1.0]}}, "has length 2"),
        ("ild@2", {"vectors": {"a": [1.0]}}, "'b' is ranked and has no vector"),
        ("ndcg@2", {"relevant": "ab"}, "give a set of ids"),
        ("kendall_tau", {"reference": ["a", "c"]}, "use rbo instead"),
    ],
)
def test_what_is_missing_or_wrong_is_said(name: str, arguments: dict[str, object], told: str) -> None:
    """Each argument that a measure needs is named, and vectors that are not of length 1 are refused."""
    with pytest.raises(UsageError, match=told):
        parse_measure(name)(["a", "b"], **arguments)  # type: ignore[arg-type] # wrong on purpose
