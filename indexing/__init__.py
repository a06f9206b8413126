"""Embedding, indexing and searching chunks."""

from typing import TYPE_CHECKING

from chunkers.lazy import exports

if TYPE_CHECKING:
    from indexing.contract import check_embedder, check_retriever
    from indexing.embedding_cache import EmbeddingCache
    from indexing.registry import ENCODERS, RETRIEVERS
    from indexing.ties import best
    from indexing.types import Encoder, Hit, Index, QueryBatch, Retriever, SearchSpace, Vectors

__all__ = [
    "ENCODERS",
    "RETRIEVERS",
    "EmbeddingCache",
    "Encoder",
    "Hit",
    "Index",
    "QueryBatch",
    "Retriever",
    "SearchSpace",
    "Vectors",
    "best",
    "check_embedder",
    "check_retriever",
]

__getattr__ = exports(
    __name__,
    {
        "indexing.contract": ("check_embedder", "check_retriever"),
        "indexing.embedding_cache": ("EmbeddingCache",),
        "indexing.registry": ("ENCODERS", "RETRIEVERS"),
        "indexing.ties": ("best",),
        "indexing.types": ("Encoder", "Hit", "Index", "QueryBatch", "Retriever", "SearchSpace", "Vectors"),
    },
)
