"""Headers as an axis of every chunker: none, the path, the path and the definitions around the chunk."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from chunkers.cast import Cast
from chunkers.errors import UsageError
from chunkers.headers import HEADERS, Header, with_header
from chunkers.languages import language_of
from chunkers.registry import CHUNKERS
from chunkers.size_matching import matched
from chunkers.types import SizeLimit, SourceFile

CODE = Path(__file__).parent / "fixtures" / "code"
FIXTURES = [
    SourceFile(f"src/{path.name}", path.read_bytes(), language_of(path.name)) for path in sorted(CODE.iterdir())
]
OWN = [name for name, entry in CHUNKERS.entries().items() if entry.extra is None]
NESTED = b"""class Outer:
    @property
    def first(self):
        x = 1
        y = 2

    def second(self):
        def inner():
            return 1
        return inner


z = 3
"""


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_never_moves_a_cut(name: str, header: Header) -> None:
    """Every registered chunker takes ``header`` in its spec, and cuts where it cuts without."""
    plain, titled = CHUNKERS.create(name), CHUNKERS.create(f"{name}:header={header}")
    assert titled.limit == plain.limit
    for source in FIXTURES:
        pieces = titled.split(source)
        assert [piece[:2] for piece in pieces] == [piece[:2] for piece in plain.split(source)]
        firsts = {piece.header.split("\n")[0] for piece in pieces}
        assert firsts <= ({""} if header == "none" else {source.path})


def test_the_scope_is_what_cast_calls_expansion() -> None:
    """The definitions that are found from an offset are those that cast entered to reach it."""
    own, axis = CHUNKERS.create("cast:size=120,expansion=true"), CHUNKERS.create("cast:size=120,header=scope")
    for source in FIXTURES:
        assert axis.split(source) == own.split(source)


def test_a_scope_holds_definitions_that_begin_before_the_chunk() -> None:
    """A decorator is part of its method; functions inside functions count; what a chunk begins is not around it."""
    source = SourceFile("m.py", NESTED, "python")
    headers = [piece.header.split("\n") for piece in CHUNKERS.create("fixed-lines:lines=1,header=scope").split(source)]
    outer, first, second, inner = (
        "class Outer",
        "    def first(self)",
        "    def second(self)",
        "        def inner()",
    )
    assert headers == [
        ["m.py"],
        ["m.py", outer],
        ["m.py", outer, first],
        ["m.py", outer, first],
        ["m.py", outer, first],
        ["m.py", outer],
        ["m.py", outer],
        ["m.py", outer, second],
        ["m.py", outer, second, inner],
        ["m.py", outer, second],
        ["m.py"],
        ["m.py"],
        ["m.py"],
    ]


def test_a_file_without_known_definitions_has_its_path_alone() -> None:
    """No grammar, or none whose definitions are known: the scope is empty."""
    for source in (SourceFile("a.txt", b"one\ntwo\n", None), SourceFile("a.toml", b"[a]\nb = 1\n", "toml")):
        pieces = CHUNKERS.create("fixed-lines:lines=1,header=scope").split(source)
        assert [piece.header for piece in pieces] == [source.path] * 2


def test_deep_nesting_names_the_nearest_definitions() -> None:
    """2,000 nested functions are neither a RecursionError nor a header longer than the chunk."""
    text = "".join(f"function f{n}() {{\n" for n in range(2000)) + "}\n" * 2000
    pieces = CHUNKERS.create("fixed-lines:lines=100,header=scope").split(
        SourceFile("m.js", text.encode(), "javascript")
    )
    assert max(piece.header.count("\n") for piece in pieces) == 64
    assert pieces[10].header.endswith("function f999()")


def test_chunkers_with_headers_are_values_like_any_other() -> None:
    """They compare, pickle, spell themselves, and have their sizes matched."""
    chunker = with_header(Cast(size=300), "path")
    assert chunker == CHUNKERS.create("cast:size=300,header=path") != CHUNKERS.create("cast:size=300,header=scope")
    assert pickle.loads(pickle.dumps(chunker)) == chunker  # noqa: S301 - made in the line itself
    assert CHUNKERS.spell(chunker)[::2] == ("cast:size=300,header=path", "")
    assert with_header(chunker, "scope") == CHUNKERS.create("cast:size=300,header=scope")
    assert matched("fixed-nws:header=path", FIXTURES, SizeLimit("nws", 100)).chunker == CHUNKERS.create(
        f"fixed-nws:size={matched('fixed-nws', FIXTURES, SizeLimit('nws', 100)).chosen},header=path"
    )


def test_the_headers_of_code_chunk_are_its_own_unless_the_axis_is_named() -> None:
    """True and false are its own switch; none, path and scope replace what it writes."""
    source = next(source for source in FIXTURES if source.language == "python")
    assert CHUNKERS.create("code-chunk:header=true").split(source)[0].header.startswith("# ")
    assert CHUNKERS.create("code-chunk:header=path").split(source)[0].header == source.path
    assert CHUNKERS.create("code-chunk:header=none").split(source) == CHUNKERS.create("code-chunk:header=false").split(
        source
    )


def test_an_unknown_header_is_refused_with_those_there_are() -> None:
    """One line, with the spec and the choices."""
    with pytest.raises(
        UsageError, match=r"header in 'cast:header=full' is 'full'; it must be one of none, path, scope"
    ):
        CHUNKERS.create("cast:header=full")


def test_lists_show_the_parameter_once() -> None:
    """`chunkbench list chunkers` has it for each chunker, and code-chunk keeps its own."""
    for listed in CHUNKERS.listed():
        if not listed.broken:
            assert [parameter.name for parameter in listed.parameters].count("header") == 1
