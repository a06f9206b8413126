"""Every chunker: one line each. A module is imported when its chunker is used."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast

from chunkers.errors import UsageError
from chunkers.headers import HEADERS, Header, with_header
from chunkers.plugins import Entry, Listed, Parameter, Registry
from chunkers.spec import Spec
from chunkers.types import Chunker


@dataclass(frozen=True)
class ChunkerRegistry(Registry[Chunker]):
    """The chunkers; each also accepts ``header=none``, ``path`` or ``scope`` besides its own parameters."""

    def create(self, spec: str | Spec) -> Chunker:
        """Return the configured chunker, with the header that the spec requests."""
        spec = Spec.parse(spec) if isinstance(spec, str) else spec
        params = dict(spec.params)
        header = params.get("header")
        own = header is not None and "header" in {field.name for field in dataclasses.fields(self.load(spec.name))}
        if header is None or (own and header not in HEADERS):
            return super().create(spec)
        if header not in HEADERS:
            raise UsageError(f"header in {str(spec)!r} is {header!r}; it must be one of {', '.join(HEADERS)}")
        plain = super().create(Spec(spec.name, tuple((key, text) for key, text in spec.params if key != "header")))
        return with_header(plain, cast("Header", header))

    def _listed(self, name: str, entry: Entry) -> Listed:
        listed = super()._listed(name, entry)
        if listed.broken or any(parameter.name == "header" for parameter in listed.parameters):
            return listed
        return listed._replace(parameters=(*listed.parameters, Parameter("header", " | ".join(HEADERS), "none")))


def chunker_of(given: str | Chunker) -> Chunker:
    """Return the chunker that a spec describes, or the object itself, which needs no more than `split`."""
    if isinstance(given, str):
        return CHUNKERS.create(given)
    CHUNKERS.check_object(given)
    if not hasattr(given, "split"):
        raise UsageError(f"chunker {type(given).__qualname__!r} has no split: give a spec such as 'cast', or a chunker")
    return given


CHUNKERS = ChunkerRegistry(
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
        "declarations": Entry("chunkers.declarations:Declarations", "one chunk per top-level declaration"),
        "functions": Entry("chunkers.functions:Functions", "one chunk per function or method, the rest apart"),
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
