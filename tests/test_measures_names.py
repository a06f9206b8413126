"""Names of measures: every spelling, one canonical name, and errors that say what to write."""

from __future__ import annotations

import pytest

from chunkers.errors import UsageError
from evaluation.measures import describe_measures, parse_measure
from evaluation.measures.registry import describe_levels


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("ndcg@5", "ndcg@5"),
        ("ndcg_at_5", "ndcg@5"),
        ("nDCG@5", "ndcg@5"),
        ("NDCG_at_10", "ndcg@10"),
        ("ndcg_cut_5", "ndcg@5"),
        ("P@5", "precision@5"),
        ("precision_at_5", "precision@5"),
        ("Recall@10", "recall@10"),
        ("recall_at_5", "recall@5"),
        ("MRR", "mrr"),
        ("MRR@100", "mrr@100"),
        ("rr@10", "mrr@10"),
        ("recip_rank", "mrr"),
        ("AP", "map"),
        ("MAP@100", "map@100"),
        ("Hit@1", "hit@1"),
        ("success_at_5", "hit@5"),
        ("recall@4000tok", "recall@4000tok"),
        ("recall@4k_tokens", "recall@4000tok"),
        ("recall_at_9000nws", "recall@9000nws"),
        ("recall@200lines", "recall@200lines"),
        ("precision@5(rel=2)", "precision@5(rel>=2)"),
        ("precision@5:rel=2", "precision@5(rel>=2)"),
        ("mrr(rel>0.5)", "mrr(rel>0.5)"),
        ("mrr(rel>0)", "mrr"),
        ("recall@4000tok(charge_duplicates)", "recall@4000tok(charge_duplicates=true)"),
        ("tokens_to_recall(0.5,charge_duplicates)", "tokens_to_recall(0.5,charge_duplicates=true)"),
        ("tokens_to_recall(charge_duplicates, recall=0.5)", "tokens_to_recall(0.5,charge_duplicates=true)"),
        ("kendall-tau(A)", "kendall_tau(a)"),
        ("kendall_tau(b)", "kendall_tau"),
        ("αnDCG@5:alpha=0.9", "alpha_ndcg@5(alpha=0.9)"),
        (" P_10 ", "precision@10"),
        ("recall@2ktokens", "recall@2000tok"),
        ("recall@1line", "recall@1lines"),
    ],
)
def test_spellings_have_one_canonical_name(spelling: str, canonical: str) -> None:
    """Every spelling of a measure is the same value, and its canonical name reads back as itself."""
    measure = parse_measure(spelling)
    assert measure.name == canonical
    assert parse_measure(measure.name) == measure


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("ndgc@5", "ndcg"),
        ("recal@10", "recall"),
        ("ndcg@x", "cutoff"),
        ("ndcg@0", "from 1 to 1,000,000"),
        ("ndcg@9223372036854775808", "at most 1,000,000"),
        ("ndcg@-1", "follows the @ of 'ndcg@-1'"),
        ("recall@9999999999tok", "from 1 to 1,000,000,000"),
        ("precision@5(rel>=0)", "a grade of 0 is not relevant"),
        ("precision@5(rel>=-1)", "'>=-1'"),
        ("precision", "precision@5"),
        ("naurc@5", "naurc@4000tok"),
        ("recall@5foo", "tok, nws, lines"),
        ("precision@5(rle=2)", "rel"),
        ("precision@5(rel=many)", "rel>=2"),
        ("", "write it as"),
    ],
)
def test_a_wrong_name_says_what_to_write(wrong: str, told: str) -> None:
    """A name that is not a measure is a usage error with the remedy."""
    with pytest.raises(UsageError, match=told):
        parse_measure(wrong)


def test_a_cutoff_with_a_unit_is_a_budget() -> None:
    """recall@10 needs judgements of chunks, recall@10tok the text."""
    assert parse_measure("recall@10").needs == {"grades"}
    assert parse_measure("recall@10tok").needs == {"text"}
    assert parse_measure("recall@10tok").units == {"tokens"}


def test_every_measure_is_described() -> None:
    """The list of measures has a definition, a source and the declared properties of each."""
    described = describe_measures()
    assert len({d.pattern for d in described}) == len(described)
    assert all(d.definition and d.citation and d.properties for d in described)
    assert [d.pattern for d in describe_levels()] == ["chance(M)", "ceiling(M)", "normalised(M)"]
