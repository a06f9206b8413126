"""Chunkers that know lines, tokens and characters, but no syntax."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.fixed_nws import FixedNws
from chunkers.fixed_tokens import FixedTokens, character_start
from chunkers.recursive import Recursive
from chunkers.registry import CHUNKERS
from chunkers.sizes import nws, nws_before, ruler
from chunkers.sliding_window import SlidingWindow
from chunkers.tokens import encoding, token_ids, token_starts
from chunkers.types import Chunker, SourceFile


def texts(chunker: Chunker, data: bytes, language: str | None = None) -> list[bytes]:
    """Return the text of each piece."""
    return [data[piece.start : piece.end] for piece in chunker.split(SourceFile("a", data, language))]


def test_fixed_lines_cuts_after_every_n_lines() -> None:
    """The last block is what is left, and a file without a final line feed keeps its last line."""
    assert texts(FixedLines(lines=2), b"1\n2\n3\n4\n5") == [b"1\n2\n", b"3\n4\n", b"5"]


def test_overlapping_lines_are_repeated_and_no_block_repeats_only() -> None:
    """The block that reaches the end is the last: none lies wholly inside another."""
    assert texts(FixedLines(lines=3, overlap=1), b"1\n2\n3\n4\n5\n") == [b"1\n2\n3\n", b"3\n4\n5\n"]


def test_sliding_windows_begin_every_step() -> None:
    """Windows of 20 lines every 10 over 45 lines begin at lines 1, 11, 21 and 31."""
    data = b"".join(b"%d\n" % line for line in range(1, 46))
    first = [text.split(b"\n", 1)[0] for text in texts(SlidingWindow(), data)]
    assert first == [b"1", b"11", b"21", b"31"]


def test_fixed_nws_fills_with_whole_lines() -> None:
    """A line goes into the chunk before it if it fits, whitespace counting nothing."""
    assert texts(FixedNws(size=4), b"ab\n   cd  \nefg\n") == [b"ab\n   cd  \n", b"efg\n"]


def test_a_line_that_is_too_long_is_cut_at_whitespace_and_else_between_characters() -> None:
    """No chunk consists of whitespace alone, and no character is divided."""
    assert texts(FixedNws(size=4), b"abc def\n") == [b"abc ", b"def\n"]
    assert texts(FixedNws(size=2), "   éàüö".encode()) == ["   éà".encode(), "üö".encode()]


def test_tokens_are_those_of_the_whole_file() -> None:
    """Joined, the chunks' tokens are tiktoken's tokens of the file, n at a time."""
    data = b"def add(first, second):\n    return first + second\n" * 9
    tokens = encoding("cl100k_base").encode_ordinary(data.decode())
    pieces = texts(FixedTokens(tokens=10), data)
    assert [encoding("cl100k_base").decode_bytes(tokens[i : i + 10]) for i in range(0, len(tokens), 10)] == pieces


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=80), overlap=st.integers(0, 5))
def test_no_chunk_of_tokens_divides_a_character(text: str, overlap: int) -> None:
    """Each chunk of a valid file is valid text, whatever the overlap."""
    for piece in texts(FixedTokens(tokens=12, overlap=overlap), text.encode("utf-8", "replace")):
        piece.decode()


@given(text=st.text(min_size=1, max_size=30).map(lambda text: text.encode("utf-8", "replace")))
def test_character_starts_are_where_characters_start(text: bytes) -> None:
    """Every byte of a character leads back to its first."""
    for offset in range(len(text)):
        start = character_start(text, offset)
        text[start:].decode()
        assert offset - start < 4


def test_words_that_look_like_special_tokens_are_text() -> None:
    """A file may hold <|endoftext|> without meaning it."""
    assert len(token_ids("<|endoftext|>", tokenizer="cl100k_base")) > 1


def test_token_offsets_of_bytes_that_are_not_utf8() -> None:
    """Such a byte counts as one character, so that offsets stay those of the file."""
    starts = token_starts(b"ab \xff\xfe cd", tokenizer="cl100k_base")
    assert starts[0] == 0
    assert starts[-1] < 8


def test_long_runs_of_whitespace_are_tokenised() -> None:
    """A run on which tiktoken's own expression overflows is tokenised in parts, and nothing is lost."""
    text = "x" + " " * 1_100_000 + "y"
    assert encoding("cl100k_base").decode(token_ids(text, tokenizer="cl100k_base").tolist()) == text


@given(data=st.binary(max_size=200))
def test_nws_counts_agree(data: bytes) -> None:
    """The number, the prefix sum and the ruler say the same, and ASCII agrees with str.split."""
    assert nws(data) == nws_before(data)[len(data)] == ruler(data, "nws").count(0, len(data))
    if data.isascii() and not any(byte in data for byte in b"\x1c\x1d\x1e\x1f"):
        assert nws(data) == len("".join(data.decode().split()))


def test_recursive_prefers_definitions_to_lines() -> None:
    """A file that does not fit is cut before its functions, not in the middle of one."""
    data = b"import os\n\ndef one():\n    return 1\n\ndef two():\n    return 2\n"
    assert texts(Recursive(size=20), data, "python") == [
        b"import os\n\n",
        b"def one():\n    return 1\n\n",
        b"def two():\n    return 2\n",
    ]


def test_recursive_without_separators_says_so() -> None:
    """A language without patterns is cut at blank lines, and that is a fallback."""
    source = SourceFile("a.vhdl", b"a b\n\nc d\n", "vhdl")
    assert Recursive(size=2).fallback(source) == "no separators for vhdl"
    assert texts(Recursive(size=2), source.data) == [b"a b\n\n", b"c d\n"]


@pytest.mark.parametrize(
    "spec",
    [
        "fixed-lines:lines=0",
        "fixed-lines:lines=5,overlap=5",
        "fixed-tokens:tokens=-1",
        "fixed-tokens:tokens=3",
        "fixed-tokens:tokens=10,overlap=9",
        "fixed-tokens:tokenizer=no-such",
        "fixed-nws:size=0",
        "sliding-window:window=5,step=6",
        "sliding-window:step=0",
        "recursive:size=-3",
        "definitions:size=0",
        "cast:size=0",
        "cast:overlap=-1",
        "code-chunk:size=0",
        "code-chunk:overlap=-1",
    ],
)
def test_parameters_that_make_no_sense_are_refused(spec: str) -> None:
    """A wrong size or overlap is one line that names it, before anything is cut."""
    with pytest.raises(UsageError, match=r"must|unknown") as raised:
        CHUNKERS.create(spec)
    assert "\n" not in str(raised.value)


def test_a_byte_that_is_not_utf8_is_a_character() -> None:
    """Each shows as one character, so each counts: no chunk is over its limit because of them."""
    data = b"\x80" * 50 + " é ".encode() + b"\xbf\xc3("
    assert nws(data) == 54
    assert list(nws_before(data))[-1] == 54
    pieces = CHUNKERS.create("fixed-nws:size=10").split(SourceFile("a.py", data, "python"))
    assert max(nws(data[piece.start : piece.end]) for piece in pieces) == 10


def test_a_damaged_table_of_tokens_is_unpacked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network is not asked for another one."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path))
    encoding.__wrapped__("cl100k_base")
    (table,) = (tmp_path / "tiktoken").iterdir()
    whole = table.read_bytes()
    table.write_bytes(b"??" + whole[2:])
    assert encoding.__wrapped__("cl100k_base").encode_ordinary("def f(): pass")
    assert table.read_bytes() == whole


def test_what_stands_in_place_of_the_table_of_tokens_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe or a link to an endless file is not read; a folder is named."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path))
    encoding.__wrapped__("cl100k_base")
    (table,) = (tmp_path / "tiktoken").iterdir()
    whole = table.read_bytes()
    for kind in ("pipe", "link"):
        table.unlink()
        os.mkfifo(table) if kind == "pipe" else table.symlink_to("/dev/zero")
        assert encoding.__wrapped__("cl100k_base").encode_ordinary("def f(): pass")
        assert (table.is_symlink(), table.read_bytes()) == (False, whole)
    table.unlink()
    table.mkdir()
    with pytest.raises(UsageError, match=r"cannot be written .*remove it"):
        encoding.__wrapped__("cl100k_base")
    assert list((tmp_path / "tiktoken").iterdir()) == [table]
