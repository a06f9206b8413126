"""The kinds of plug-ins, and their registries."""

from __future__ import annotations

from typing import Any

from chunkers.errors import UsageError
from chunkers.plugins import Registry, nearest

KINDS = ("chunker", "embedder", "retriever", "reader", "dataset", "measure")


def registry_of(kind: str) -> Registry[Any]:
    """Return the registry of a kind, without importing the others."""
    if kind == "chunker":
        from chunkers.registry import CHUNKERS

        return CHUNKERS
    if kind in ("embedder", "retriever"):
        from indexing.registry import ENCODERS, RETRIEVERS

        return ENCODERS if kind == "embedder" else RETRIEVERS
    if kind == "reader":
        from indexing.readers.registry import READERS

        return READERS
    if kind == "dataset":
        from ground_truth.registry import DATASETS

        return DATASETS
    if kind == "measure":
        from evaluation.measures.registry import MEASURES

        return MEASURES
    raise UsageError(f"unknown kind {kind!r}.{nearest(kind, KINDS) or ' Known: ' + ', '.join(KINDS) + '.'}")
