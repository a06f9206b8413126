"""Small parts that all chunkers stand on: trees that are shared, JSON, paths, inputs, and what nothing amounts to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from chunkers.bounded_json import parse_json
from chunkers.coverage import Coverage, coverage_of
from chunkers.definition_nodes import DEFINITION_NODES
from chunkers.distribution import distribution
from chunkers.errors import UsageError
from chunkers.input_files import open_input, read_input, read_text_input
from chunkers.network import check_download, offline
from chunkers.outline import name_of, outline
from chunkers.programs import find_program, search_path
from chunkers.registry import CHUNKERS
from chunkers.size_matching import match_by, matched, mean_size, sizes_of
from chunkers.sizes import ruler
from chunkers.splitting import chunk_file
from chunkers.syntax import parse, shared_tree
from chunkers.tokens import cache_folder
from chunkers.types import Piece, SizeLimit, SourceFile
from chunkers.unsafe_texts import ENDLESS_LAST_LINE, unsafe_text
from chunkers.writable import is_bytes, is_writable

SOURCE = SourceFile("a.py", b"def f():\n    return 1\n\n\ndef g():\n    return 2\n", "python")


def test_a_shared_tree_is_that_of_the_same_bytes_and_language() -> None:
    """Parsed once while the same file is asked for; another language or other bytes are parsed anew."""
    other = SourceFile("b.py", b"x = 1\n", "python")
    with shared_tree() as shared:
        assert (shared.seconds, shared.parsed, shared.reused) == (0, 0, 0)
        first = parse(SOURCE)
        assert (shared.parsed, shared.reused) == (1, 0)
        assert parse(SOURCE) == first
        assert (shared.parsed, shared.reused) == (1, 1)
        assert shared.seconds < 60
        changed = parse(other)
        assert changed is not None
        assert changed.end_byte == 6
        same_bytes = parse(SourceFile("b.rb", other.data, "ruby"))
        assert same_bytes is not None
        assert same_bytes.type == "program"
        assert (shared.parsed, shared.reused) == (3, 1)
    outside = parse(SOURCE)
    assert outside is not None
    assert outside.end_byte == len(SOURCE.data)


def test_a_grammar_without_end_is_known_by_the_last_line() -> None:
    """Anywhere on it, its first sign too; a line break after it ends it."""
    for language, mark in ENDLESS_LAST_LINE.items():
        for data in (mark, b"x\n" + mark, b"x " + mark + b" y"):
            assert unsafe_text(language, data)
        for data in (b"", b"x", mark + b"\n", mark + b"\nx"):
            assert not unsafe_text(language, data)
    assert not unsafe_text("python", b"".join(ENDLESS_LAST_LINE.values()))


def test_nothing_amounts_to_nothing() -> None:
    """No characters, no chunks, no pieces: shares of 0 or 1, means of 0, and no error."""
    assert (Coverage(0, 0, 0).kept_share, Coverage(0, 0, 0).doubled_share) == (1, 0)
    nothing = distribution([])
    assert (nothing.count, nothing.mean, nothing.quantiles, nothing.edges, nothing.bins) == (0, 0, {}, (), ())
    empty = SourceFile("a.py", b"", "python")
    chunker = CHUNKERS.create("fixed-lines:lines=2")
    assert sizes_of(chunker, empty, ruler(b"", "lines")) == (0, 0)
    assert mean_size(chunker, [empty], [ruler(b"", "lines")]) == 0
    assert mean_size(chunker, [empty, SOURCE], [ruler(b"", "lines"), ruler(SOURCE.data, "lines")]) == 2


@dataclass(frozen=True, kw_only=True)
class Dropping:
    """Holds less than its chunks span."""

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the whole file."""
        return [Piece(0, len(source.data))]

    def held(self, source: SourceFile) -> list[Piece]:  # noqa: ARG002 - the same for every file
        """Return its first four bytes."""
        return [Piece(0, 4)]


def test_what_a_chunker_holds_is_what_it_says() -> None:
    """Its spans, unless it says that they hold less."""
    whole = [Piece(0, len(SOURCE.data))]
    assert coverage_of(CHUNKERS.create("whole-file"), SOURCE, whole).lost == 0
    found = coverage_of(Dropping(), SOURCE, whole)  # type: ignore[arg-type] # as much of a chunker as is asked
    assert (found.total - found.lost, found.doubled) == (3, 0)


def test_a_file_is_cut_by_lines_for_a_reason() -> None:
    """No definitions known, no grammar, or none at all where the language is known."""
    chunker = CHUNKERS.create("definitions")
    fallback = chunker.fallback  # type: ignore[attr-defined] # this one has it
    assert fallback(SOURCE) is None
    assert fallback(SourceFile("a.json", b"{}", "json")) == "no definitions known for json"
    assert fallback(SourceFile("a", b"x", None)) == "no definitions known for this file name"


def test_limits_that_a_chunker_refuses_are_too_small() -> None:
    """An overlap of three lines does not fit into three lines: the search goes on above."""
    sources = [SourceFile("a", b"0123456789\n" * 900, None)]
    found = matched("fixed-lines:lines=50,overlap=3", sources, SizeLimit("nws", 50))
    assert found.chosen == 5
    assert found.mean == pytest.approx(50, rel=0.02)


@pytest.mark.parametrize("best", [1, 2, 3, 7])
def test_the_smallest_limits_are_found_too(best: int) -> None:
    """A limit of one is tried where two is too much."""

    def means_at(limits: Sequence[int]) -> dict[int, float | Exception]:
        return {limit: 100.0 if limit == best else 50.0 if limit < best else 200.0 for limit in limits}

    chunker = CHUNKERS.create("fixed-nws:size=10")
    assert match_by("x", chunker, SizeLimit("nws", 100), means_at=means_at).chosen == best


def test_json_names_are_unique_and_nesting_has_an_end() -> None:
    """Of two values under one name readers differ in which they take."""
    assert parse_json('{"a": 1, "b": {"a": 2}}') == {"a": 1, "b": {"a": 2}}
    with pytest.raises(ValueError, match="'b' occurs twice"):
        parse_json('{"a": 1, "b": 2, "b": 3}')
    with pytest.raises(ValueError, match=r"nested too deeply|recursion"):
        parse_json("[" * 200_000)


def test_what_is_not_here_is_not_fetched_while_offline() -> None:
    """Inside the block it is an error that names what it is; outside nothing is said."""
    check_download("a model")
    with offline(), pytest.raises(UsageError, match="a model is not on this machine"):
        check_download("a model")
    check_download("a model")


def test_programs_are_not_looked_for_in_relative_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder of a stranger's repository may hold a program of any name."""
    tool = tmp_path / "own-tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "relative/bin", "/usr/bin"]))
    assert search_path() == "/usr/bin"
    assert find_program("own-tool") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("own-tool") == str(tool)


def test_texts_that_stand_for_bytes_and_those_that_can_be_written() -> None:
    """Bytes that are not UTF-8 are read as some surrogates; others stand for nothing."""
    texts = ["é", "a\udcff", "a\ud800", "\udc80"]
    assert [is_writable(text) for text in texts] == [True, False, False, False]
    assert [is_bytes(text) for text in texts] == [True, True, False, True]


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By our own variable, by the desktop's, or in the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    monkeypatch.setenv("CHUNKBENCH_CACHE", "~/own")
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("CHUNKBENCH_CACHE")
    assert cache_folder() == Path("/x/chunkbench")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / ".cache" / "chunkbench"


def test_inputs_are_files_up_to_a_size(tmp_path: Path) -> None:
    """As large as allowed is read, one byte more is not; a folder and a pipe are told apart."""
    file = tmp_path / "a"
    file.write_bytes(b"\xef\xbb\xbfab\r\n")
    assert read_input(file, largest=7) == b"\xef\xbb\xbfab\r\n"
    assert read_text_input(file, largest=7) == "ab\n"
    for read in (read_input, read_text_input):
        with pytest.raises(UsageError, match="has over 6 bytes"):
            read(file, largest=6)
    with pytest.raises(IsADirectoryError):
        open_input(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is a pipe or a device"):
        open_input(tmp_path / "pipe")


def test_an_embedder_reads_the_header_above_the_text() -> None:
    """One line feed between them, and none where there is no header."""
    plain, titled = (
        chunk_file(CHUNKERS.create(f"whole-file:header={header}"), SOURCE)[0] for header in ("none", "path")
    )
    assert plain.indexed_text == plain.text == SOURCE.data.decode()
    assert titled.indexed_text == f"a.py\n{plain.text}"


def test_definitions_know_what_encloses_them() -> None:
    """By their place in the outline: the class of a method, the class of a class, and nothing at the top."""
    data = b"class A:\n  def f(self): pass\n  class B:\n    def g(self): pass\n  def h(self): pass\n\ndef k(): pass\n"
    root = parse(SourceFile("a.py", data, "python"))
    assert root is not None
    found = outline(root, DEFINITION_NODES["python"])
    names = [name_of(each.node) for each in found]
    parents = [None if each.parent is None else names[each.parent] for each in found]
    assert dict(zip(names, parents, strict=True)) == {"A": None, "f": "A", "B": "A", "g": "B", "h": "A", "k": None}
