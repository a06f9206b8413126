"""The cost of a chunker's index: chunks, megabytes, tokens, minutes, price, and the time of a query."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.row_places import RowPlaces
from evaluation.experiment.session import Session
from evaluation.experiment.visible_chunks import searchable_rows
from evaluation.recommend.texts import index_tokens
from evaluation.recommend.types import Cost, Limits
from indexing.types import SearchSpace


def cost_of(final: Session, spec: str, limits: Limits) -> Cost:
    """Return the cost of a chunker on all files, from the rankings of the final."""
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


def index_mb(session: Session, table: ChunkTable) -> float:
    """Return the size of the indexes of all repositories: what is kept to answer queries, without the texts.

    A vector's size does not depend on its values, so nothing has to be embedded to compute it.
    """
    config = session.config
    loaded, retriever = session.dataset(config.datasets[0]), session.retriever(config.retrievers[0])
    width = _dimensions(session) if retriever.uses_vectors else 0
    prepare: Any = getattr(retriever, "prepare", None)
    total = 0
    for rows in searchable_rows(loaded, table).values():
        if prepare is None:
            total += 4 * width * len(rows)
            continue
        vectors = np.full((len(rows), width), 1 / max(width, 1) ** 0.5, dtype=np.float32) if width else None
        space = SearchSpace(ChunkTexts(table, rows, loaded), vectors, RowPlaces(table, rows))
        total += prepare(space).bytes
    return total / 1e6


def _dimensions(session: Session) -> int:
    encoder = session.encoder(session.config.embedders[0])
    return int(session.embeddings.embed(encoder, ["width"], kind="query").shape[1])
