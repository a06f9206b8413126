"""Worked examples that circulate in write-ups: the right ones hold, the impossible ones are shown to be impossible."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from chunkers.errors import UsageError
from evaluation.api import benchmark, evaluate_batch
from evaluation.measures import evaluate, parse_measure
from evaluation.measures.novelty_ndcg import novelty
from evaluation.types import Case

TEN = [f"doc{i}" for i in range(1, 11)]


def test_mrr_of_three_queries() -> None:
    """First relevant at ranks 1, 3 and nowhere: MRR is .4444, over all queries."""
    found = evaluate_batch([TEN] * 3, [{"doc1"}, {"doc3"}, {"other"}], [10])
    assert found["MRR@10"] == pytest.approx(0.4444, abs=5e-5)


def test_recall_precision_and_average_precision() -> None:
    """Two of three relevant in the top ten: recall 2/3, precision .2; AP of ✓✗✓✗ over three relevant is .5556."""
    row = evaluate_batch([TEN], [{"doc2", "doc4", "other"}], [10])
    assert row["Recall@10"] == pytest.approx(2 / 3)
    assert row["Precision@10"] == pytest.approx(0.2)
    row = evaluate_batch([["doc2", "doc3", "doc4", "doc5"]], [{"doc2", "doc4", "doc7"}], [4])
    assert row["AP@4"] == pytest.approx(0.5556, abs=5e-5)


def test_ndcg_with_two_and_with_three_relevant() -> None:
    """Relevance 0,1,0,1,0 is .6509 when two are relevant and .4982 when three are; IDCG@5 of three is 2.1309."""
    ranking = TEN[:5]
    assert evaluate_batch([ranking], [{"doc2", "doc4"}], [5])["ndcg@5"] == pytest.approx(0.6509, abs=5e-5)
    row = evaluate_batch([ranking], [{"doc2", "doc4", "doc7"}], [5])
    assert row["ndcg_at_5"] == pytest.approx(0.4982, abs=5e-5)
    dcg = 1 / np.log2(3) + 1 / np.log2(5)
    assert dcg / row["nDCG@5"] == pytest.approx(2.1309, abs=5e-5)


def test_diversity_examples() -> None:
    """Cosines .9, .3 and .4 give ILD .4667; a second relevant result with cosine .2 gives a gain of .9 and 1.5678."""
    rows = np.linalg.cholesky(np.array([[1, 0.9, 0.3], [0.9, 1, 0.4], [0.3, 0.4, 1]]))
    case = Case("q", ["a", "b", "c"], {}, vectors=rows)
    assert evaluate([parse_measure("ild@3")], [case])["q"]["ild@3"] == pytest.approx(0.4667, abs=5e-5)
    rows = np.linalg.cholesky(np.array([[1, 0.2, 0.1], [0.2, 1, 0.1], [0.1, 0.1, 1]]))
    assert novelty(rows)[:2] == pytest.approx([1, 0.8])
    measure = parse_measure("novelty_ndcg@3")
    case = Case("q", ["a", "b", "c"], {"a": 1, "b": 1}, vectors=rows)
    ideal = 1 + 1 / np.log2(3)
    assert evaluate([measure], [case])["q"][measure.name] * ideal == pytest.approx(1.5678, abs=5e-5)


def test_ild_is_undefined_below_two_results() -> None:
    """One result has no pairs."""
    case = Case("q", ["a"], {}, vectors=np.ones((1, 1)))
    assert np.isnan(evaluate([parse_measure("ild@5")], [case])["q"]["ild@5"])


def test_a_printed_evaluation_that_no_ranking_gives() -> None:
    """Recall 0, .6667, 1 and precision 0, .4, .3 at 1, 5, 10 leave three relevant in ten: none has the printed rest."""
    nearest = []
    for ranks in combinations(range(1, 11), 3):
        relevant = {f"doc{rank}" for rank in ranks}
        row = evaluate_batch(
            [TEN], [relevant], [1, 5, 10], measures=["recall@1", "recall@5", "ndcg@5", "ndcg@10", "map", "mrr"]
        )
        if row["recall@1"] == 0 and row["recall@5"] == pytest.approx(2 / 3):
            printed = {"mrr": 0.5230, "ndcg@5": 0.6245, "ndcg@10": 0.7123, "map": 0.5112}
            nearest.append(max(abs(row[name] - value) for name, value in printed.items()))
    assert len(nearest) == 30
    assert min(nearest) > 0.01


def test_a_sample_output_that_five_queries_cannot_give() -> None:
    """With recall@1 .45 and precision@1 .6 over five queries, MRR .7333 forces precision@5 to .40 at most, not .48."""
    best = 0.0
    # A query is its number of relevant chunks, whether the first result is relevant, and how many of five are. Three
    # queries hit at rank 1 and their 1/|REL| sum to 2.25; MRR 11/3 leaves 2/3 to two queries, of which hit@5 = .8
    # lets one find something: their reciprocal ranks must sum to 2/3 with one of them 0 within five.
    firsts = [sizes for sizes in product(range(1, 6), repeat=3) if abs(sum(1 / s for s in sizes) - 2.25) < 5e-4]
    assert {tuple(sorted(sizes)) for sizes in firsts} == {(1, 1, 4)}
    for inside in range(1, 6):
        # recall@5 = .72: 3.6 in all; the hits at rank 1 give 1 + 1 + h/4, the other query j of its n.
        for found, relevant in product(range(1, 5), range(1, 40)):
            recall = (1 + 1 + min(4, inside) / 4 + min(found, relevant) / relevant) / 5
            if abs(recall - 0.72) < 5e-5 and found <= relevant:
                best = max(best, (1 + 1 + min(4, inside) + found) / 25)
    assert best <= 0.40 + 1e-9


def test_details_say_what_stands_behind_a_mean() -> None:
    """The record has the counts; judgements of different kinds are not averaged unless that is asked for."""
    found = evaluate_batch([TEN, TEN], [{"doc1"}, set()], [5])
    details = found.details["ndcg@5"]
    assert (details.value, details.queries_with_relevant, details.total, details.k) == (0.5, 1, 2, 5)
    assert details.strategy_used == "qrels"
    assert details.strategy_counts == {"qrels": 2, "pack": 0, "token-fallback": 0}
    with pytest.raises(UsageError, match="different ways"):
        evaluate_batch([TEN, TEN], [{"doc1"}, set()], [5], strategies=["qrels", "pack"])
    mixed = evaluate_batch([TEN, TEN], [{"doc1"}, set()], [5], strategies=["qrels", "pack"], mix_strategies=True)
    assert mixed.details["ndcg@5"].strategy_used == "mixed"


def test_unlabelled_and_empty_are_different() -> None:
    """None is an error, the empty set scores 0."""
    with pytest.raises(UsageError, match="not labelled"):
        evaluate_batch([TEN], [None], [5])
    assert evaluate_batch([TEN], [set()], [5])["ndcg@5"] == 0
    with pytest.raises(KeyError):
        _ = evaluate_batch([TEN], [set()], [5])["ndcg@7"]


def test_a_retriever_from_elsewhere_in_a_few_lines() -> None:
    """A function from a text to ids is all that is needed."""
    answers = {"first": TEN, "second": TEN[::-1]}
    found = benchmark(answers.__getitem__, [("first", {"doc1"}), ("second", {"doc1": 2.0})], [1, 10])
    assert found["hit@1"] == 0.5
    assert found["recall@10"] == 1


def test_a_ranking_names_each_chunk_once() -> None:
    """A repeated id is an error that names it."""
    with pytest.raises(UsageError, match="'doc1' twice"):
        evaluate_batch([["doc1", "doc1"]], [{"doc1"}], [5])
