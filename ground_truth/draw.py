"""A sample of a dataset's queries; the same seed draws the same ones anywhere."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ground_truth.types import Dataset


def draw_queries(dataset: Dataset, limit: int | None, *, seed: int) -> Dataset:
    """Return the dataset with at most this many queries, in order; its details say how many there were.

    The draw depends on ids alone: adding or removing a query changes at most one place of it.
    """
    if limit is None or len(dataset.queries) <= limit:
        return dataset
    ranked = sorted(dataset.queries, key=lambda query: hashlib.sha256(f"{seed}\0{query.id}".encode()).digest())
    kept = {query.id for query in ranked[:limit]}
    return replace(
        dataset,
        queries=tuple(query for query in dataset.queries if query.id in kept),
        annotations=tuple(note for note in dataset.annotations if note.query_id in kept),
        details={**dataset.details, "queries_drawn": {"of": len(dataset.queries), "limit": limit, "seed": seed}},
    )
