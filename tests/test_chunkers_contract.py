"""The contract of every chunker, over every registered one."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkers.contract import file_problems
from chunkers.coverage import coverage
from chunkers.errors import MissingExtraError
from chunkers.languages import language_of
from chunkers.registry import CHUNKERS
from chunkers.sizes import ruler
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, Piece, SourceFile

CODE = Path(__file__).parent / "fixtures" / "code"
FIXTURES = [SourceFile(path.name, path.read_bytes(), language_of(path.name)) for path in sorted(CODE.iterdir())]
VARIANTS = (
    "fixed-lines:lines=7,overlap=3",
    "fixed-tokens:tokens=40,overlap=10",
    "fixed-tokens:tokens=4",
    "fixed-tokens:tokenizer=o200k_base,tokens=30",
    "fixed-nws:size=60",
    "fixed-nws:size=1",
    "sliding-window:window=5,step=2",
    "recursive:size=80",
    "definitions:size=50",
    "declarations:size=50",
    "functions:size=50",
    "cast:size=100",
    "cast:size=1",
    "cast:size=120,overlap=1,expansion=true",
    "code-chunk:size=100",
    "code-chunk:size=100,header=false",
    "code-chunk:size=1,overlap=0",
    "fixed-lines:lines=7,overlap=3,header=scope",
    "cast:size=100,header=path",
    "code-chunk:size=100,header=scope",
)


def _available(spec: str) -> bool:
    try:
        CHUNKERS.create(spec)
    except MissingExtraError:
        return False
    return True


OWN = [name for name, entry in CHUNKERS.entries().items() if entry.extra is None]
SPECS = [*OWN, *VARIANTS]
PEERS = [name for name, entry in CHUNKERS.entries().items() if entry.extra is not None and _available(name)]


@functools.cache
def chunker_of(spec: str) -> Chunker:
    """Return one instance per spec."""
    return CHUNKERS.create(spec)


def check(chunker: Chunker, source: SourceFile) -> list[Chunk]:
    """Assert everything that is promised of a file's chunks."""
    assert list(file_problems(chunker, source)) == []
    return chunk_file(chunker, source)


def _check_covers(data: bytes, pieces: Sequence[Piece]) -> None:
    reached = 0
    for piece in pieces:
        assert piece.start <= reached
        reached = max(reached, piece.end)
    assert reached == len(data)
    assert coverage(data, pieces).lost == 0


@pytest.mark.parametrize("source", FIXTURES, ids=lambda source: source.path)
@pytest.mark.parametrize("spec", [*SPECS, *PEERS])
def test_every_language_keeps_the_contract(spec: str, source: SourceFile) -> None:
    """Chunks are verbatim, ordered, within the limit, right about lines, and the same when asked again."""
    assert check(chunker_of(spec), source)


OVERLAPS = {
    "fixed-lines": ("lines=4,overlap=3", "lines=200,overlap=199", "lines=9,overlap=5,offset=3"),
    "fixed-tokens": ("tokens=20,overlap=13", "tokens=300,overlap=293", "tokens=40,overlap=20,offset=19"),
    "sliding-window": ("window=4,step=1", "window=200,step=1", "window=9,step=5,offset=4"),
    "cast": ("size=150,overlap=1", "size=150,overlap=20", "size=400,overlap=1000,expansion=true"),
    "code-chunk": ("size=150,overlap=1000",),
    "langchain": ("size=200,overlap=150",),
    "astchunk": ("size=200,overlap=20",),
}
"""Name → parameters with which chunks hold much of their neighbours."""
SHORTENED = [
    SourceFile(source.path, source.data[: int(len(source.data) * share)], source.language)
    for source in FIXTURES
    for share in (0.1, 0.2, 0.4, 1)
]


def test_every_chunker_that_overlaps_is_asked_for_a_large_overlap() -> None:
    """Whatever has a parameter for it is in the list."""
    listed = {each.name: {parameter.name for parameter in each.parameters} for each in CHUNKERS.listed()}
    assert {name for name in (*OWN, *PEERS) if listed[name] & {"overlap", "step"}} <= OVERLAPS.keys()


@pytest.mark.parametrize("name", [*OWN, *PEERS])
def test_no_two_chunks_of_a_file_have_one_span(name: str) -> None:
    """Also where the chunks of a short file reach to both its ends; no later chunk ends before an earlier one."""
    for spec in (name, *(f"{name}:{parameters}" for parameters in OVERLAPS.get(name, ()))):
        for source in SHORTENED:
            pieces = chunker_of(spec).split(source)
            spans = [piece[:2] for piece in pieces]
            assert spans == sorted(set(spans)), (spec, source.path)
            assert [end for _, end in spans] == sorted(end for _, end in spans), (spec, source.path)
            assert len({chunk.id for chunk in chunk_file(chunker_of(spec), source)}) == len(pieces)


_BREAKING = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"\0",
        b"\xff",
        b"\xe2\x82",
        b"\x80",
        "é".encode(),
        "😀".encode(),
        b"\xef\xbb\xbf",
    ]
)
_CODE = st.sampled_from(
    [b"def f():", b"class A {", b"}", b"(", b")", b'"""', b"/*", b"#", b"// x", b"=>", b"    x = 1"]
)
_BYTES = st.one_of(st.binary(max_size=300), st.lists(st.one_of(_BREAKING, _CODE), max_size=60).map(b"".join))
_LANGUAGES = st.sampled_from([*sorted({source.language or "" for source in FIXTURES}), "no-such-language", ""])


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=15, deadline=None)
@given(data=_BYTES, language=_LANGUAGES)
@example(data=b"", language="python")
@example(data=b"\xef\xbb\xbfdef f():\r\n    pass\r\n", language="python")
@example(data=b"a\rb\rc", language="javascript")
@example(data=b"\xff\xfe\x00x\x00", language="java")
@example(data=b" \n\t\n ", language="go")
@example(data="😀é".encode() * 9, language="")
def test_any_bytes_keep_the_contract(spec: str, data: bytes, language: str) -> None:
    """Whatever the bytes and the language, nothing is raised and the contract holds."""
    chunks = check(chunker_of(spec), SourceFile("a/b.x", data, language or None))
    assert bool(chunks) == bool(data)


@pytest.mark.parametrize("source", FIXTURES, ids=lambda source: source.path)
@pytest.mark.parametrize("spec", SPECS)
def test_truncated_code_keeps_the_contract(spec: str, source: SourceFile) -> None:
    """Code that ends anywhere is still chunked."""
    for share in (0.3, 0.7):
        data = source.data[: int(len(source.data) * share)]
        check(chunker_of(spec), SourceFile(source.path, data, source.language))


HUGE = {
    "one line of 5 MB": ((b"say('" + b"a long text, " * 40 + b"');") * 9_500, "javascript"),
    "a word of 1 MB": (b"a" * 1_000_000, None),
    "blanks before a word": (b" " * 1_200_000 + b"x", None),
    "nested brackets": (b"x = " + b"(" * 10_000 + b")" * 10_000, "python"),
    "unclosed brackets": (b"[" * 10_000, "javascript"),
    "50,000 lines": (b"def f(a):\n    return a + 1\n" * 25_000, "python"),
}


@pytest.mark.parametrize("case", HUGE)
@pytest.mark.parametrize("name", OWN)
def test_extreme_files_are_chunked(name: str, case: str) -> None:
    """Size and depth are no reason to fail: all is kept, nothing is over the limit."""
    data, language = HUGE[case]
    chunker = chunker_of(name)
    pieces = chunker.split(SourceFile("huge", data, language))
    _check_covers(data, pieces)
    if chunker.limit is not None:
        units = ruler(data, chunker.limit.unit)
        assert all(units.count(piece.start, piece.end) <= chunker.limit.amount for piece in pieces)


NESTED = {
    "declarators in brackets": (b"int " + b"(" * 10_000 + b"f" + b")" * 10_000 + b"(void){ return 0; }", "c"),
    "pointers": (b"int " + b"*" * 10_000 + b"f(){}", "c"),
    "templates": (b"template<class T> " * 10_000 + b"void f(){}", "cpp"),
    "declarations": (b"declare " * 600 + b"class A {}", "typescript"),
    "classes": (b"class A {\n" * 10_000 + b"}\n" * 10_000, "java"),
    "open classes": (b"class A {\n" * 10_000, "java"),
    "classes in fields": (b"class A {\n" * 5_000 + b"};\n" * 5_000, "cpp"),
    "calls": (b"f(" * 5_000 + b"def g; end" + b")" * 5_000, "ruby"),
    "conditions": (b"<?php " + b"if (x) {\n" * 5_000 + b"function f() {}" + b"}\n" * 5_000, "php"),
}


@pytest.mark.parametrize("case", NESTED)
@pytest.mark.parametrize("spec", ["definitions", "code-chunk:size=500", "cast:size=500,expansion=true"])
def test_nested_definitions_are_chunked(spec: str, case: str) -> None:
    """However deep definitions are nested, all is kept and no header is longer than a reader would read."""
    data, language = NESTED[case]
    pieces = chunker_of(spec).split(SourceFile("nested", data, language))
    _check_covers(data, pieces)
    assert max(len(piece.header) for piece in pieces) < 20_000


def test_another_process_makes_the_same_chunks() -> None:
    """Ids do not depend on the process, its hash seed or its memory."""
    script = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); import test_chunkers_contract as t;"
        "print(json.dumps({s: [c.id for f in t.FIXTURES for c in t.chunk_file(t.chunker_of(s), f)] for s in t.SPECS}))"
    )
    here = {spec: [chunk.id for f in FIXTURES for chunk in chunk_file(chunker_of(spec), f)] for spec in SPECS}
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    assert json.loads(done.stdout) == here
