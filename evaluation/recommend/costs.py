"""What an index of each finalist costs: chunks, megabytes, tokens, minutes, price, and the time of a query."""

from __future__ import annotations

from evaluation.experiment import stages
from evaluation.experiment.session import Session
from evaluation.recommend.field import index_mb
from evaluation.recommend.texts import index_tokens
from evaluation.recommend.types import Cost, Limits


def cost_of(session: Session, spec: str, limits: Limits) -> Cost:
    """Return what a chunker costs on all files of the session's dataset."""
    config = session.config
    table = stages.chunk(session, config.datasets[0], spec)
    tokens = index_tokens(table)
    return Cost(
        chunks=len(table),
        mean_nws=table.facts.mean_nws,
        tokens=tokens,
        index_mb=index_mb(session, table),
        embed_minutes=_minutes(session, len(table)),
        price=None if limits.price is None else tokens * limits.price / 1e6,
    )


def _minutes(session: Session, texts: int) -> float | None:
    config = session.config
    if not session.retriever(config.retrievers[0]).uses_vectors:
        return None
    rate = session.embeddings.rate(session.encoder(config.embedders[0]))
    return texts / rate / 60 if rate else None
