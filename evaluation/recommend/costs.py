"""What an index of a chunker costs: chunks, megabytes, tokens, minutes, price, and the time of a query."""

from __future__ import annotations

from evaluation.experiment import stages
from evaluation.experiment.session import Session
from evaluation.recommend.field import index_mb
from evaluation.recommend.texts import index_tokens
from evaluation.recommend.types import Cost, Limits


def cost_of(final: Session, spec: str, limits: Limits) -> Cost:
    """Return what a chunker costs on all files, from the rankings of the final."""
    cell = next(each for each in final.cells if each.chunker == spec)
    table = stages.chunk(final, cell.dataset, spec)
    found = stages.retrieve(final, cell).cost
    tokens = index_tokens(table)
    vectors = final.retriever(cell.retriever).uses_vectors
    return Cost(
        chunks=len(table),
        mean_nws=table.facts.mean_nws,
        tokens=tokens,
        index_mb=index_mb(final, table) if found.index_bytes is None else found.index_bytes / 1e6,
        embed_minutes=found.embed_seconds / 60 if vectors and found.embed_seconds is not None else None,
        price=None if limits.price is None else tokens * limits.price / 1e6,
        query_p50_ms=_ms(found.query_seconds_p50),
        query_p95_ms=_ms(found.query_seconds_p95),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
