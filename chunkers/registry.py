"""Every chunker: one line each. The module is imported when the chunker is used."""

from chunkers.plugins import Entry, Registry
from chunkers.types import Chunker

CHUNKERS: Registry[Chunker] = Registry(
    kind="chunker",
    group="chunkbench.chunkers",
    members=("version", "lossless", "limit", "split"),
    builtin={
        "fixed-lines": Entry("chunkers.fixed_lines:FixedLines", "blocks of n lines"),
        "fixed-tokens": Entry("chunkers.fixed_tokens:FixedTokens", "blocks of n tokens of a named tokenizer"),
        "fixed-nws": Entry("chunkers.fixed_nws:FixedNws", "whole lines up to n non-whitespace characters"),
        "sliding-window": Entry("chunkers.sliding_window:SlidingWindow", "n lines, beginning every m lines"),
        "whole-file": Entry("chunkers.whole_file:WholeFile", "each file is one chunk"),
        "recursive": Entry("chunkers.recursive:Recursive", "separators of the language, coarse before fine"),
        "definitions": Entry("chunkers.definitions:Definitions", "one chunk per function, method and class head"),
        "cast": Entry("chunkers.cast:Cast", "cAST: syntax nodes, split when too large, merged when small"),
        "code-chunk": Entry("chunkers.code_chunk:CodeChunk", "syntax windows merged over the file, with a header"),
        "astchunk": Entry("chunkers.peers.astchunk:Astchunk", "cAST by its authors", extra="peers"),
        "chonkie": Entry("chunkers.peers.chonkie:Chonkie", "chonkie's CodeChunker", extra="peers"),
        "chunkhound": Entry(
            "chunkers.peers.chunkhound:Chunkhound",
            "ChunkHound's parser; made by: python -m scripts.setup_peers chunkhound",
            extra="peers",
        ),
        "cocoindex": Entry("chunkers.peers.cocoindex:Cocoindex", "cocoindex's RecursiveSplitter", extra="peers"),
        "langchain": Entry("chunkers.peers.langchain:Langchain", "langchain's splitter by language", extra="peers"),
        "llama-index": Entry("chunkers.peers.llama_index:LlamaIndex", "llama-index's CodeSplitter", extra="peers"),
        "semantic-text-splitter": Entry(
            "chunkers.peers.semantic:Semantic", "text-splitter's CodeSplitter", extra="peers"
        ),
    },
)
