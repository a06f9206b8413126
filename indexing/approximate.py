"""Approximate FAISS indexes: they read part of the vectors, which is faster over millions."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from indexing.exact import faiss_threads
from indexing.types import Vectors

_TRAINING_ROWS = 39
"""Rows per list below which FAISS warns that k-means is unreliable."""


class Tuning(NamedTuple):
    """How an approximate index is built, and how thoroughly it searches."""

    method: Literal["hnsw", "ivf"]
    links: int
    effort: int
    """hnsw: candidates kept while searching; ivf: lists that are read."""
    lists: int | None


def build_approximate(chunks: Vectors, tuning: Tuning) -> Any:  # noqa: ANN401 - FAISS has no types
    """Return the index of at least one vector, built by a single thread so that the result is reproducible."""
    import faiss

    with faiss_threads(1):
        return _built(faiss, chunks, tuning)


def approximate_search(index: Any, asked: Vectors, tuning: Tuning, *, wide: int) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401 - as above
    """Return scores and positions as FAISS finds them."""
    if tuning.method == "hnsw":
        index.hnsw.efSearch = max(tuning.effort, wide)
    with faiss_threads():
        scores, positions = index.search(asked, wide)
    return scores, positions


def stored_bytes(index: Any) -> int:  # noqa: ANN401 - as above
    """Return the size of the index when written, without writing it."""
    import faiss

    library: Any = faiss  # the stubs lack the writer
    size = 0

    def count(part: bytes) -> None:
        nonlocal size
        size += len(part)

    library.write_index(index, library.PyCallbackIOWriter(count))
    return size


def _built(faiss: Any, chunks: Vectors, tuning: Tuning) -> Any:  # noqa: ANN401 - as above
    dimensions = chunks.shape[1]
    if tuning.method == "hnsw":
        index = faiss.IndexHNSWFlat(dimensions, tuning.links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = max(2 * tuning.links, 200)
    else:
        most = max(len(chunks) // _TRAINING_ROWS, 1)
        lists = min(tuning.lists or 4 * math.isqrt(len(chunks)), most)
        quantizer = faiss.IndexFlatIP(dimensions)
        index = faiss.IndexIVFFlat(quantizer, dimensions, lists, faiss.METRIC_INNER_PRODUCT)
        # A small space may have lists of a single row, which is no reason for FAISS warnings.
        index.cp.min_points_per_centroid = 1
        index.train(chunks)
        index.nprobe = min(tuning.effort, lists)
    index.add(chunks)
    return index
