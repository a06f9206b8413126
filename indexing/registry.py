"""Every embedder and every retriever: one line each."""

from chunkers.plugins import Entry, Registry
from indexing.types import Encoder, Retriever

ENCODERS: Registry[Encoder] = Registry(
    kind="embedder",
    group="chunkbench.embedders",
    builtin={
        "minilm": Entry("indexing.encoders.minilm:MiniLM", "all-MiniLM-L6-v2, inside the package: the default"),
    },
)

RETRIEVERS: Registry[Retriever] = Registry(
    kind="retriever",
    group="chunkbench.retrievers",
    builtin={
        "dense": Entry("indexing.dense:Dense", "exact inner product with FAISS"),
    },
)
