"""Cuts against the same rules written down a second time: slowly, one character, line, token or node after another."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_chunkers_contract import FIXTURES

from chunkers.cast import Cast
from chunkers.code_chunk import CodeChunk
from chunkers.distribution import distribution
from chunkers.fixed_lines import FixedLines
from chunkers.fixed_tokens import FixedTokens
from chunkers.recursive import Recursive
from chunkers.separators import separators
from chunkers.sizes import nws
from chunkers.sliding_window import SlidingWindow
from chunkers.splitting import line_span, piece_spans
from chunkers.syntax import parse
from chunkers.text_cuts import text_pieces
from chunkers.tokens import token_starts
from chunkers.types import Piece, SourceFile

if TYPE_CHECKING:
    from tree_sitter import Node

TEXT = st.text(alphabet="ab é\n\t", max_size=60)
SIZES = (1, 7, 23, 60, 150, 400)


def text_starts(data: bytes, start: int, end: int, limit: int) -> list[int]:
    """Return where parts of a span begin that are as large as they can be, cut after lines, blanks or characters."""
    found = []
    while nws(data[start:end]) > limit:
        full = max(at for at in range(start, end + 1) if nws(data[start:at]) <= limit and _whole(data, at))
        lines = [at for at in range(start + 1, full + 1) if data[at - 1 : at] == b"\n" and nws(data[start:at])]
        blanks = [at for at in range(start + 1, full + 1) if data[at - 1 : at].isspace() and nws(data[start:at])]
        start = max(lines or blanks or [full])
        found.append(start)
    return found


def _whole(data: bytes, at: int) -> bool:
    """Whether no character is divided here."""
    return at == len(data) or data[at] & 0xC0 != 0x80


@settings(max_examples=150, deadline=None)
@given(TEXT, st.integers(1, 12))
def test_text_is_cut_after_lines_then_blanks_then_characters(text: str, limit: int) -> None:
    """Every part is as large as it can be; none is white space alone."""
    data = text.encode()
    starts = [0, *text_starts(data, 0, len(data), limit)] if data else []
    expected = list(map(Piece, starts, [*starts[1:], len(data)]))
    assert text_pieces(data, limit=limit) == (expected if len(data) > limit or not data else [Piece(0, len(data))])


class Tree:
    """cAST's algorithm by recursion: fill, enter what is too large, merge what fits inside each entered node."""

    def __init__(self, data: bytes, limit: int, *, merge: bool) -> None:
        self.data, self.limit, self.merge = data, limit, merge

    def size(self, start: int, end: int) -> int:
        """Return the characters of a span that are not white space."""
        return nws(self.data[start:end])

    def begin(self, covered: int, start: int) -> int:
        """Return the start of the line, if what lies between is white space and holds a line end."""
        newline = self.data.rfind(b"\n", max(covered - 1, 0), start)
        return newline + 1 if newline >= 0 else start

    def windows(self, node: Node, covered: int, end: int, *, top: bool) -> list[int]:
        """Return where the windows of a node's share of the file begin."""
        starts: list[int] = []
        opened: int | None = None

        def text(start: int, stop: int) -> None:
            nonlocal opened
            if self.size(start, stop) <= self.limit:
                place(start, stop)
            else:
                first = self.begin(covered, start)
                starts.extend([first, *text_starts(self.data, start, stop, self.limit)])
                opened = None

        def place(start: int, stop: int) -> None:
            nonlocal opened
            if opened is None or self.size(opened, stop) > self.limit:
                opened = self.begin(covered, start)
                starts.append(opened)

        for child in node.children:
            if child.end_byte <= covered:
                continue
            if opened is not None and self.size(opened, child.end_byte) <= self.limit:
                covered = child.end_byte
                continue
            start = max(child.start_byte, covered)
            if self.size(covered, start):
                text(covered, start)
                covered = start
            if self.size(start, child.end_byte) <= self.limit:
                place(start, child.end_byte)
            elif child.child_count:
                starts += self.windows(child, self.begin(covered, start), child.end_byte, top=False)
                opened = None
            else:
                text(start, child.end_byte)
            covered = child.end_byte
        if self.size(covered, end):
            text(covered, end)
        return starts if top or not self.merge else self.merged(starts, end)

    def merged(self, starts: list[int], end: int) -> list[int]:
        """Return the windows joined from left to right where two neighbours fit into one."""
        kept: list[int] = []
        for start, stop in pairwise([*starts, end]):
            if not kept or self.size(kept[-1], stop) > self.limit:
                kept.append(start)
        return kept


def tree_starts(source: SourceFile, limit: int, *, merge: bool) -> list[int]:
    """Return where windows begin, the first one with the file."""
    root = parse(source)
    assert root is not None
    found = Tree(source.data, limit, merge=merge).windows(root, 0, len(source.data), top=True)
    return [0, *found[1:]]


SMALL = [source for source in FIXTURES if len(source.data) < 6000 and parse(source) is not None]


@pytest.mark.parametrize("source", SMALL, ids=lambda source: source.path)
def test_cast_fills_enters_and_merges_as_its_algorithm_says(source: SourceFile) -> None:
    """For every language, from chunks of one character to chunks of half a file."""
    below = SourceFile(source.path, b"\n" + source.data, source.language)
    for size in SIZES:
        for each in (source, below):
            if nws(each.data) > size:
                found = [piece.start for piece in Cast(size=size).split(each)]
                assert found == sorted(set(tree_starts(each, size, merge=True))), size


@pytest.mark.parametrize("source", SMALL, ids=lambda source: source.path)
def test_code_chunk_joins_neighbours_whatever_their_parents(source: SourceFile) -> None:
    """The windows without any merging, each taking in the next ones while all fit."""
    for size in SIZES:
        if nws(source.data) > size:
            found = [piece.start for piece in CodeChunk(size=size, header=False).split(source)]
            windows = sorted(set(tree_starts(source, size, merge=False)))
            assert found == Tree(source.data, size, merge=True).merged(windows, len(source.data)), size


@pytest.mark.parametrize("source", [source for source in FIXTURES if len(source.data) < 6000], ids=lambda s: s.path)
def test_recursive_cuts_at_the_coarsest_separator_that_is_enough(source: SourceFile) -> None:
    """Parts between the ends of matches are joined while they fit, and what does not fit is cut at the next level."""
    data, patterns = source.data, separators(source.language)
    for size in (7, 60, 400):

        def starts(start: int, end: int, level: int, size: int = size) -> list[int]:
            if nws(data[start:end]) <= size:
                return [start]
            if level == len(patterns):
                return [start, *text_starts(data, start, end, size)]
            ends = [match.end() for match in patterns[level].finditer(data, start, end)]
            parts = [start, *(at for at in ends if start < at < end and nws(data[start:at])), end]
            joined, found = [start], []
            for at, following in pairwise(parts[1:]) if len(parts) > 2 else ():
                if nws(data[joined[-1] : following]) > size:
                    joined.append(at)
            for begin, stop in pairwise([*joined, end]):
                found += starts(begin, stop, level + 1)
            return found

        assert [piece.start for piece in Recursive(size=size).split(source)] == starts(0, len(data), 0)


@given(st.lists(st.sampled_from([b"a\n", b"\n", b"bb\n"]), max_size=14), st.booleans(), st.data())
def test_windows_of_lines_are_slices(lines: list[bytes], ended: bool, data: st.DataObject) -> None:  # noqa: FBT001 - drawn
    """Every step lines from the offset on, up to the first that reaches the end; before it, the rest of a window."""
    if lines and not ended:
        lines[-1] = lines[-1].rstrip(b"\n") or b"c"
    whole = b"".join(lines)
    window = data.draw(st.integers(1, 6))
    step = data.draw(st.integers(1, window))
    offset = data.draw(st.integers(0, step - 1))
    expected = []
    begin = offset - step if offset else 0
    while lines:
        expected.append(b"".join(lines[max(begin, 0) : min(begin + window, len(lines))]))
        if begin + window >= len(lines):
            break
        begin += step
    if offset >= len(lines) and lines:
        expected = [whole]
    source = SourceFile("a", whole, None)
    found = SlidingWindow(window=window, step=step, offset=offset).split(source)
    assert [whole[piece.start : piece.end] for piece in found] == expected
    blocks = FixedLines(lines=window, overlap=window - step, offset=offset)
    assert blocks.split(source) == found
    assert (blocks.period, SlidingWindow(window=window, step=step).period) == (step, step)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab c\n(.", max_size=90), st.data())
def test_runs_of_tokens_are_slices(text: str, data: st.DataObject) -> None:
    """So many tokens from each step on; with an offset the first run is shorter; the last one reaches the end."""
    whole = text.encode()
    tokens = data.draw(st.integers(4, 14))
    overlap = data.draw(st.integers(0, max(0, tokens - 7)))
    offset = data.draw(st.integers(0, tokens - overlap - 1))
    starts = [*token_starts(whole, tokenizer="cl100k_base").tolist(), len(whole)]
    expected: list[Piece] = []
    first = 0
    while first < len(starts) - 1:
        length = offset + overlap if offset and not expected else tokens
        last = min(first + length, len(starts) - 1)
        expected.append(Piece(starts[first], starts[last]))
        if last == len(starts) - 1:
            break
        first = last - overlap
    chunker = FixedTokens(tokens=tokens, overlap=overlap, offset=offset)
    assert chunker.split(SourceFile("a", whole, None)) == expected
    assert chunker.period == tokens - overlap


@given(st.lists(st.sampled_from([b"a", b"\n"]), max_size=12), st.data())
def test_lines_of_a_piece_are_counted_by_line_feeds(signs: list[bytes], data: st.DataObject) -> None:
    """The line of its first byte and of its last one; an empty piece is on the line where it stands."""
    whole = b"".join(signs)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    first = whole[:start].count(b"\n") + 1
    last = whole[: max(start, end - 1)].count(b"\n") + 1
    assert piece_spans(whole, [Piece(start, end)]).tolist() == [[start, end, first, last]]
    newlines = np.array([at for at, sign in enumerate(signs) if sign == b"\n"], dtype=np.int64)
    assert line_span(newlines, start, end) == (start, end, first, last)
    for wrong in (Piece(-1, 0), Piece(0, len(whole) + 1), Piece(1, 0)):
        with pytest.raises(ValueError, match="is not in a file"):
            piece_spans(whole, [wrong])


@given(st.lists(st.integers(0, 500), min_size=1, max_size=40), st.integers(1, 12))
def test_distributions_are_counted(sizes: list[int], bins: int) -> None:
    """A quantile is the least size that so large a share does not exceed; bins have whole edges and hold all sizes."""
    found = distribution(sizes, bins=bins)
    ordered = sorted(sizes)
    for name, share in (
        ("min", 0.0),
        ("p5", 0.05),
        ("p25", 0.25),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p95", 0.95),
        ("max", 1),
    ):
        least = next(size for place, size in enumerate(ordered, 1) if place >= share * len(ordered) - 1e-9)
        assert found.quantiles[name] == least
    assert found.mean == pytest.approx(sum(sizes) / len(sizes))
    assert found.edges[0] == 0
    assert found.edges[-1] == ordered[-1] + 1
    assert len(found.edges) == min(bins, ordered[-1] + 1) + 1
    assert list(found.bins) == [sum(low <= size < high for size in sizes) for low, high in pairwise(found.edges)]
