"""Every embedder and every retriever: one line each."""

from chunkers.plugins import Entry, Registry
from indexing.types import Encoder, Retriever

ENCODERS: Registry[Encoder] = Registry(
    kind="embedder",
    group="chunkbench.embedders",
    members=("version", "max_tokens", "identity", "encode", "count_tokens"),
    builtin={
        "minilm": Entry("indexing.encoders.minilm:MiniLM", "all-MiniLM-L6-v2, inside the package: the default"),
        "st": Entry(
            "indexing.encoders.st:SentenceTransformerEncoder", "any sentence-transformers model: model=ID_OR_FOLDER"
        ),
        "onnx": Entry("indexing.encoders.onnx_int8:OnnxInt8", "the default model in int8, twice as fast", extra="onnx"),
        "openai": Entry("indexing.encoders.openai:OpenAI", "an OpenAI-compatible endpoint: model=…,base_url=…"),
        "precomputed": Entry("indexing.encoders.precomputed:Precomputed", "vectors from an .npz file: path=…"),
        "hashing": Entry("indexing.encoders.hashing:Hashing", "hashed words: tests and smoke runs only, not a model"),
    },
)

RETRIEVERS: Registry[Retriever] = Registry(
    kind="retriever",
    group="chunkbench.retrievers",
    members=("version", "uses_vectors", "search"),
    builtin={
        "dense": Entry("indexing.dense:Dense", "inner product with FAISS: exact, or index=hnsw|ivf"),
        "bm25": Entry("indexing.bm25:BM25", "words, with identifiers split"),
        "hybrid": Entry("indexing.hybrid:Hybrid", "dense and bm25 fused: reciprocal rank, or weighted"),
        "mmr": Entry("indexing.diversity:MMR", "dense, reordered by maximal marginal relevance"),
        "dartboard": Entry("indexing.diversity:Dartboard", "dense, reordered by relevant information gain: sigma=…"),
        "rerank": Entry("indexing.rerank:Rerank", "the best hits read again by a cross-encoder: model=FOLDER"),
    },
)
