"""What the indexes of a cell cost: measured while its rankings are made, and kept with them."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chunkers.sizes import ruler
from evaluation.experiment.machine import machine
from evaluation.results.facts import CostFacts
from indexing.embedding_cache import EmbeddingCache, text_keys
from indexing.types import Encoder, Index, QueryBatch, Retriever, SearchSpace

if TYPE_CHECKING:
    from ground_truth.types import Query

MOST_TIMED = 100
"""Queries of a cell that are asked once more, each by itself, for their time."""
_MOST_SECONDS = 5.0
"""Spent on that; a slow search is timed on fewer queries, and how many is reported."""


class CostMeter:
    """Adds up the cost of a cell, one search space after the other."""

    def __init__(self, retriever: Retriever, encoder: Encoder | None, queries: Sequence[Query]) -> None:
        """Start with nothing; ``encoder`` is None where the retriever uses no vectors."""
        self._retriever, self._encoder = retriever, encoder
        self._local = encoder is not None and getattr(encoder, "local", False) is True
        self._timed = {query.id for query in queries[:: -(-len(queries) // MOST_TIMED) or 1]}
        self._bytes: int | None = 0
        self._index_seconds: float | None = 0.0
        self._query_seconds: list[float] = []
        self._texts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def keys(self, texts: Sequence[str], tokens: np.ndarray) -> np.ndarray:
        """Return the key of each text that is to be embedded, and note how long it is; ``tokens`` of each are known."""
        lengths = np.zeros(len(texts), dtype=np.int64)

        def noted() -> Iterator[str]:
            for place, text in enumerate(texts):
                lengths[place] = len(text)
                yield text

        keys = text_keys(noted())
        self._texts.append((keys, tokens, lengths))
        return keys

    def index(self, space: SearchSpace) -> Index:
        """Return the space's index; of a retriever that prepares none, neither building nor asking is timed."""
        prepare = getattr(self._retriever, "prepare", None)
        if prepare is None:
            self._bytes = self._index_seconds = None
            return Index(0, functools.partial(self._retriever.search, space))
        started = time.perf_counter()
        index: Index = prepare(space)
        if self._bytes is not None and self._index_seconds is not None:
            self._bytes += index.bytes
            self._index_seconds += time.perf_counter() - started
        return index

    def time_queries(self, index: Index, asked: Sequence[Query], batch: QueryBatch, *, depth: int) -> None:
        """Ask some of the queries again, one at a time as a user does, after all of them were asked together."""
        if self._bytes is None:
            return
        for place, query in enumerate(asked):
            if query.id not in self._timed or sum(self._query_seconds) > _MOST_SECONDS:
                continue
            alone = QueryBatch([query.text], None if batch.vectors is None else batch.vectors[place : place + 1])
            if not self._query_seconds:
                self._embed(query)  # loads the model, which is no part of a query's time
            started = time.perf_counter()
            self._embed(query)
            index.search(alone, depth=depth)
            self._query_seconds.append(time.perf_counter() - started)

    def _embed(self, query: Query) -> None:
        if self._local and self._encoder is not None:
            self._encoder.encode([query.text], kind="query")

    def facts(self, embeddings: EmbeddingCache) -> CostFacts:
        """Return the cost of all spaces together; a text that several of them hold is embedded once."""
        texts, tokens, characters = self._distinct()
        seconds: float | None = 0.0
        if self._encoder is not None:
            speed = embeddings.seconds_per_character(self._encoder)
            seconds = None if speed is None else speed * characters
        timed = self._query_seconds
        return CostFacts(
            index_bytes=self._bytes,
            texts_embedded=texts,
            tokens_embedded=tokens,
            embed_seconds=seconds,
            index_seconds=self._index_seconds,
            query_seconds_p50=float(np.quantile(timed, 0.5)) if timed else None,
            query_seconds_p95=float(np.quantile(timed, 0.95)) if timed else None,
            queries_timed=len(timed),
            query_embedding_timed=bool(timed) and self._local,
            machine=machine(),
        )

    def _distinct(self) -> tuple[int, int, int]:
        if not self._texts:
            return 0, 0, 0
        keys, tokens, characters = (np.concatenate(parts) for parts in zip(*self._texts, strict=True))
        _, first = np.unique(keys, return_index=True)
        return len(first), int(tokens[first].sum()), int(characters[first].sum())


def header_tokens(headers: Sequence[str]) -> np.ndarray:
    """Return the tokens that each header adds to its text."""
    costs = {"": 0}
    for header in headers:
        if header not in costs:
            data = (header + "\n").encode("utf-8", "surrogateescape")
            costs[header] = ruler(data, "tokens").count(0, len(data))
    return np.array([costs[header] for header in headers], dtype=np.int64)
