"""The recommended chunker to paste: its spec, a Python snippet, and the call of a library that has the same chunker."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from chunkers.registry import CHUNKERS

_ASTCHUNK = {"python": "python", "java": "java", "csharp": "csharp", "typescript": "typescript", "tsx": "typescript"}
_LANGCHAIN = {
    **{name: name.upper() for name in ("cpp", "go", "java", "kotlin", "php", "proto", "python", "rst", "ruby", "rust")},
    **{name: name.upper() for name in ("scala", "swift", "markdown", "html", "csharp", "c", "lua", "perl", "haskell")},
    "javascript": "JS",
    "typescript": "TS",
    "tsx": "TS",
    "solidity": "SOL",
    "elixir": "ELIXIR",
}


class Code(NamedTuple):
    """What a call must know about the code."""

    language: str | None
    """The main language."""
    characters_per_nws: float
    """Characters per non-whitespace character."""


class Snippet(NamedTuple):
    """Some code to paste."""

    title: str
    code: str
    note: str = ""
    """How it differs, if it does."""


def snippets(spec: str, code: Code) -> list[Snippet]:
    """Return the snippets for a chunker."""
    own = [
        Snippet("command line", f"chunkbench chunk PATH --chunker {shlex.quote(spec)}"),
        Snippet("Python", f'import chunkbench as cb\n\nchunks = [each.text for each in cb.chunk("PATH", {spec!r})]'),
    ]
    try:
        chunker: Any = CHUNKERS.create(spec)
    except UsageError:  # an object of the caller's own: its name is not a spec
        return own
    library = _LIBRARIES.get(Spec.parse(spec).name)
    header = getattr(chunker, "header", "none")
    unlike = "" if header == "none" else "without the header, which has to be put above each chunk"
    found = [] if library is None else [_noted(each, unlike) for each in library(chunker, code)]
    return [*own, *found]


def _noted(snippet: Snippet, more: str) -> Snippet:
    return snippet._replace(note="; ".join(part for part in (snippet.note, more) if part))


def _cast(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401 - of this class
    if not chunker.expansion:
        yield from (
            each._replace(note=f"the same algorithm by its authors; {each.note}") for each in _astchunk(chunker, code)
        )


def _astchunk(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401 - of this class
    language = _ASTCHUNK.get(code.language or "")
    if language is None:
        return
    overlap = f", chunk_overlap={chunker.overlap}" if chunker.overlap else ""
    yield Snippet(
        "astchunk",
        "from astchunk import ASTChunkBuilder\n\n"
        f'builder = ASTChunkBuilder(max_chunk_size={chunker.size}, language="{language}", metadata_template="none")\n'
        f'chunks = [chunk["content"] for chunk in builder.chunkify(code{overlap})]',
        "it prints syntax nodes again: whitespace may differ, and a string longer than the size loses its text, more "
        "of them the smaller the size",
    )


def _recursive(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401 - of this class
    size = round(chunker.size * code.characters_per_nws)
    note = "close: its own separators, and a size in all characters, here by the share of whitespace in this code"
    yield from _langchain_call(code, size, 0, note)


def _langchain(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401 - of this class
    yield from _langchain_call(code, chunker.size, chunker.overlap, "")


def _langchain_call(code: Code, size: int, overlap: int, note: str) -> Iterator[Snippet]:
    language = _LANGCHAIN.get(code.language or "")
    if language is not None:
        yield Snippet(
            "langchain",
            "from langchain_text_splitters import Language, RecursiveCharacterTextSplitter\n\n"
            "splitter = RecursiveCharacterTextSplitter.from_language(\n"
            f"    Language.{language}, chunk_size={size}, chunk_overlap={overlap}\n"
            ")\nchunks = splitter.split_text(code)",
            note,
        )


def _fixed_tokens(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401, ARG001 - as the others
    if chunker.offset:
        return
    yield Snippet(
        "langchain",
        "from langchain_text_splitters import TokenTextSplitter\n\n"
        f'splitter = TokenTextSplitter(encoding_name="{chunker.tokenizer}", chunk_size={chunker.tokens}, '
        f"chunk_overlap={chunker.overlap})\nchunks = splitter.split_text(code)",
        "the same cuts, except inside a character of several tokens",
    )


def _chonkie(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401 - of this class
    if code.language is not None:
        yield Snippet(
            "chonkie",
            "from chonkie import CodeChunker\n\n"
            f'chunker = CodeChunker(tokenizer="character", chunk_size={chunker.size}, language="{code.language}")\n'
            "chunks = [chunk.text for chunk in chunker.chunk(code)]",
        )


def _llama_index(chunker: Any, code: Code) -> Iterator[Snippet]:  # noqa: ANN401 - of this class
    if code.language is not None:
        yield Snippet(
            "llama-index",
            "from llama_index.core.node_parser import CodeSplitter\n\n"
            f'splitter = CodeSplitter(language="{code.language}", max_chars={chunker.size})\n'
            "chunks = splitter.split_text(code)",
        )


_LIBRARIES: dict[str, Callable[[Any, Code], Iterator[Snippet]]] = {
    "cast": _cast,
    "astchunk": _astchunk,
    "recursive": _recursive,
    "langchain": _langchain,
    "fixed-tokens": _fixed_tokens,
    "chonkie": _chonkie,
    "llama-index": _llama_index,
}
