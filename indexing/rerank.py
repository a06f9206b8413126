"""`rerank`: the best hits of another retriever, reordered by a cross-encoder."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.bm25 import BM25
from indexing.dense import Dense
from indexing.encoders.texts import readable
from indexing.hybrid import Hybrid
from indexing.model_folder import ModelFolder, content_hash
from indexing.ties import best
from indexing.types import Hit, Index, QueryBatch, SearchSpace

_FIRST: dict[str, type[BM25 | Dense | Hybrid]] = {"bm25": BM25, "dense": Dense, "hybrid": Hybrid}


@dataclass(frozen=True, kw_only=True)
class Rerank:
    """Orders the first ``pool`` hits by a cross-encoder's scores; the others keep their order after them.

    Only the order is meaningful: scores are reciprocal ranks.
    """

    model: str = ""
    """The folder of a sentence-transformers cross-encoder."""
    first: Literal["bm25", "dense", "hybrid"] = "bm25"
    """The retriever of the hits."""
    pool: int = 50
    """Hits per query that are reranked."""
    batch: int = 32
    window: int | None = None
    """Tokens of query and chunk that the model sees; its own limit by default."""

    def __post_init__(self) -> None:
        positive(self, "pool", "batch")
        if self.window is not None and self.window < 8:
            raise UsageError(f"window must be at least 8 tokens, not {self.window}")

    @property
    def version(self) -> str:
        """Changes with the files of the model, wherever they are."""
        return f"1 {content_hash(self._folder())[:16]}" if self.model else "1"

    @property
    def uses_vectors(self) -> bool:
        """Whether the first retriever does."""
        return self._first().uses_vectors

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return at most depth hits per query; equal scores of the model by position."""
        return self.prepare(space).search(queries, depth=depth)

    def prepare(self, space: SearchSpace) -> Index:
        """Prepare the first retriever's index, whose best hits are reranked."""
        first = self._first().prepare(space)
        return Index(first.bytes, functools.partial(self._search, space, first))

    def _search(self, space: SearchSpace, first: Index, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        if depth <= 0:
            return [[] for _ in queries.texts]
        found = first.search(queries, depth=max(depth, self.pool))
        runs = []
        for query, hits in zip(queries.texts, found, strict=True):
            pool, rest = hits[: self.pool], hits[self.pool :]
            scores = self._scores(query, [space.texts[hit.position] for hit in pool])
            positions = np.array([hit.position for hit in pool], dtype=np.int64)
            order = [hit.position for hit in (*best(scores, positions, depth=len(pool)), *rest)]
            runs.append([Hit(position, 1 / rank) for rank, position in enumerate(order[:depth], start=1)])
        return runs

    def diagnostics(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> dict[str, float]:
        """Return the cost of reranking: pairs, their tokens, the window, and the share of pairs beyond it."""
        found = self._first().search(space, queries, depth=max(depth, self.pool))
        pairs = [
            (readable(query), readable(space.texts[hit.position]))
            for query, hits in zip(queries.texts, found, strict=True)
            for hit in hits[: self.pool]
        ]
        model = self._model()
        lengths = [len(ids) for ids in model.tokenizer(pairs, truncation=False)["input_ids"]] if pairs else [0]
        window = self._window(model)
        return {
            "rerank_pairs": float(len(pairs)),
            "rerank_tokens": float(sum(min(length, window) for length in lengths)),
            "rerank_window": float(window),
            "rerank_cut_off": float(np.mean([length > window for length in lengths])),
        }

    def _scores(self, query: str, texts: Sequence[str]) -> np.ndarray:
        model = self._model()
        pairs = [(readable(query), readable(text)) for text in texts]
        if not pairs:
            return np.zeros(0)
        model.max_length = self._window(model)
        scores = np.asarray(model.predict(pairs, batch_size=self.batch, show_progress_bar=False), dtype=np.float64)
        if scores.shape != (len(pairs),) or not np.isfinite(scores).all():
            raise UsageError(
                f"{self.model}: a cross-encoder gives one finite number for a pair of texts, not {scores.shape}"
            )
        # Batches of different shapes round differently in the last digits, but equal texts must tie.
        return np.round(scores, 5)

    def _window(self, model: Any) -> int:  # noqa: ANN401 - sentence_transformers is untyped
        own = int(getattr(model.config, "max_position_embeddings", 512))
        return min(self.window or own, own)

    def _first(self) -> BM25 | Dense | Hybrid:
        return _FIRST[self.first]()

    def _folder(self) -> ModelFolder:
        where = Path(self.model).expanduser()
        if not self.model or not where.is_dir():
            raise UsageError(
                f"rerank needs the folder of a cross-encoder, not {self.model!r}: write rerank:model=FOLDER"
            )
        return ModelFolder.at(where)

    def _model(self) -> Any:  # noqa: ANN401 - sentence_transformers is untyped
        return _load(self._folder())


@functools.lru_cache(maxsize=4)
def _load(folder: ModelFolder) -> Any:  # noqa: ANN401 - as above
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return CrossEncoder(str(folder.path), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UsageError(f"{folder.path}: sentence-transformers cannot load this cross-encoder: {reason}") from error
