"""What each reader reads at the edges: of lines, of files, of definitions, and of its own parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from chunkers.types import SourceFile
from indexing.readers.contract import check_reader
from indexing.readers.definition import DefinitionReader, definition_spans
from indexing.readers.file import FileReader
from indexing.readers.lines import LineReader
from indexing.readers.merge import MergeReader
from indexing.readers.neighbours import NeighbourReader
from indexing.readers.types import Corpus, Reader, Stretch


@dataclass(frozen=True)
class Files:
    """Files and their chunks, as they are given."""

    data: Sequence[bytes]
    rows: Sequence[Sequence[tuple[int, int]]] = ()
    language: str | None = "python"

    def source(self, file: int) -> SourceFile:
        """Return a file."""
        return SourceFile(f"{file}.py", self.data[file], self.language, "r")

    def chunks(self, file: int) -> np.ndarray:
        """Return its chunks."""
        return np.array(self.rows[file])


@given(st.lists(st.sampled_from([b"\n", b"a", b"\r\n", "é".encode()]), min_size=1, max_size=14), st.data())
def test_lines_are_whole_and_as_many_as_are_asked_for(parts: list[bytes], data: st.DataObject) -> None:
    """Of any file, for any hit: the lines that it touches, and so many above and below as there are."""
    text = b"".join(parts)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    around = data.draw(st.integers(0, 5))
    lines = [line + b"\n" for line in text.split(b"\n")]
    edges = np.minimum(np.cumsum([0, *map(len, lines)]), len(text)).tolist()
    first = text.count(b"\n", 0, start)
    last = text.count(b"\n", 0, max(end - 1, start))
    (read,) = LineReader(around=around).read([Stretch(0, start, end, 3)], Files([text]))
    assert read == Stretch(0, edges[max(first - around, 0)], edges[min(last + around + 1, len(edges) - 1)], 3)


def test_neighbours_are_counted_in_chunks() -> None:
    """Chunks may begin alike and lie in each other; what is read is from the first byte of all to the last."""
    rows = [(0, 4), (4, 6), (4, 20), (8, 12), (12, 16), (16, 30), (30, 31)]
    files = Files([b"x" * 31], [rows])
    for chunks in (1, 2, 3, 9):
        for place, row in enumerate(rows):
            near = rows[max(place - chunks, 0) : place + chunks + 1]
            (read,) = NeighbourReader(chunks=chunks).read([Stretch(0, *row, 5)], files)
            assert read == Stretch(0, min(start for start, _ in near), max(end for _, end in near), 5)


BODY = b"def f(a):\n    x = 1\n    return x"
CODE = b"import os\n\n" + BODY + b"\n\n\nclass C:\n    def g(self):\n        return 2\n\n    y = 3\n\n\nz = 4\n"
START = CODE.index(BODY)
END = START + len(BODY)


def inside(text: bytes) -> tuple[int, int]:
    """Return the bytes of a text."""
    return CODE.index(text), CODE.index(text) + len(text)


def test_definitions_are_found_where_they_are() -> None:
    """Functions, classes and methods; none in a language without an outline, and none in an empty file."""
    found = definition_spans(SourceFile("a.py", CODE, "python"))
    whole_class = (CODE.index(b"class"), CODE.index(b"\n\n\nz"))
    assert sorted(found) == [(START, END), whole_class, inside(b"def g(self):\n        return 2")]
    for data, language in ((CODE, None), (CODE, "json"), (b"", "python")):
        assert definition_spans(SourceFile("a.py", data, language)) == []


@pytest.mark.parametrize(
    ("hit", "read"),
    [
        ((START, END), (START, END)),
        ((START + 3, START + 4), (START, END)),
        ((END - 1, END), (START, END)),
        ((START - 1, START + 1), (START - 1, END)),
        ((START + 1, END + 2), (START, END + 2)),
        ((START - 4, START + 1), (START - 4, START + 1)),
        ((START + 1, CODE.index(b"class") + 1), (START + 1, CODE.index(b"class") + 1)),
        (inside(b"return 2"), inside(b"def g(self):\n        return 2")),
        (inside(b"y = 3"), (CODE.index(b"class"), CODE.index(b"\n\n\nz"))),
        (inside(b"z = 4"), inside(b"z = 4")),
    ],
)
def test_the_smallest_definition_around_a_hit_is_read(hit: tuple[int, int], read: tuple[int, int]) -> None:
    """White space at the ends of the hit belongs to none; a hit that reaches beyond a definition stays as it is."""
    assert DefinitionReader().read([Stretch(0, *hit, 1)], Files([CODE])) == [Stretch(0, *read, 1)]
    assert DefinitionReader().read([Stretch(0, *hit, 1)], Files([CODE], language=None)) == [Stretch(0, *hit, 1)]


def merged(*hits: tuple[int, int], share: float = 1.0, top: int = 20) -> list[tuple[int, int, int]]:
    """Return what is read of hits in their order: start, end, rank."""
    stretches = [Stretch(0, *hit, rank) for rank, hit in enumerate(hits)]
    return [each[1:] for each in MergeReader(share=share, top=top).read(stretches, Files([CODE]))]


def test_hits_that_touch_or_overlap_become_one() -> None:
    """Under the best rank; a byte between them keeps them apart, and one inside another adds nothing."""
    assert merged((4, 6), (0, 4)) == [(0, 6, 0)]
    assert merged((5, 6), (0, 4)) == [(5, 6, 0), (0, 4, 1)]
    assert merged((0, 9), (2, 3), (3, 10)) == [(0, 10, 0)]
    assert merged((7, 9), (0, 1), (1, 2), (2, 7)) == [(0, 9, 0)]


@pytest.mark.parametrize("size", [4, 6])
def test_a_definition_is_read_whole_from_its_share_on(size: int) -> None:
    """Exactly so many of its bytes, in two hits or more that reach into it; bytes that two hits hold count once."""
    share = 2 * size / len(BODY)
    first, second = (START, START + size), (END - size, END)
    assert merged(first, second, share=share) == [(START, END, 0)]
    assert merged((START, START + size - 1), second, share=share) == [(START, START + size - 1, 0), (*second, 1)]
    assert merged((START - 5, START + size), second, share=share) == [(START - 5, END, 0)]
    assert merged(first, (END - size, END + 1), share=share) == [(START, END + 1, 0)]
    assert merged((START, START + 2 * size), share=share) == [(START, START + 2 * size, 0)]
    assert merged(first, (START, START + size), share=share) == [(*first, 0)]
    beside = merged((START, START + 2 * size), (START - 9, START - 1), (END + 1, END + 2), share=share)
    assert beside == [(START, START + 2 * size, 0), (START - 9, START - 1, 1), (END + 1, END + 2, 2)]
    touching = merged((START + 1, START + 2 * size + 1), (START - 2, START), (END, END + 1), share=share)
    assert touching == [(START + 1, START + 2 * size + 1, 0), (START - 2, START, 1), (END, END + 1, 2)]


def test_only_the_first_hits_are_merged() -> None:
    """Those behind stay as they are, whatever they touch; files stay apart."""
    assert merged((0, 2), (4, 6), (2, 4), top=2) == [(0, 2, 0), (4, 6, 1), (2, 4, 2)]
    assert merged((0, 2), (4, 6), (2, 4), top=3) == [(0, 6, 0)]
    hits = [Stretch(1, 2, 4, 0), Stretch(0, 0, 2, 1), Stretch(1, 0, 2, 2)]
    assert MergeReader().read(hits, Files([CODE, CODE])) == [Stretch(1, 0, 4, 0), Stretch(0, 0, 2, 1)]


def test_files_are_read_once_at_their_first_hit() -> None:
    """Whole, in the order of their first hits."""
    hits = [Stretch(1, 2, 3, 0), Stretch(0, 4, 5, 1), Stretch(1, 0, 1, 2)]
    assert FileReader().read(hits, Files([b"aaaaaa", b"bbb"])) == [Stretch(1, 0, 3, 0), Stretch(0, 0, 6, 1)]


def test_parameters_at_their_bounds() -> None:
    """The bound itself means something, what is beyond it is refused."""
    assert (NeighbourReader(chunks=1).chunks, LineReader(around=0).around) == (1, 0)
    assert (MergeReader(share=1.0, top=2).share, MergeReader(share=0.001).share) == (1.0, 0.001)
    for make in (
        lambda: NeighbourReader(chunks=0),
        lambda: LineReader(around=-1),
        lambda: MergeReader(share=0.0),
        lambda: MergeReader(share=1.001),
        lambda: MergeReader(top=1),
    ):
        with pytest.raises(UsageError, match="must be"):
            make()


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """Reads each hit as it is, or with the last one changed, and remembers what it was given."""

    change: Callable[[Stretch, int], Stretch] = lambda last, _: last
    """What becomes of the last hit, in a file of so many bytes."""
    seen: list[tuple[Sequence[Stretch], Corpus]] = field(default_factory=list)
    version: ClassVar[str] = "1"

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return the hits."""
        self.seen.append((hits, corpus))
        changed = [self.change(hit, len(corpus.source(hit.file).data)) for hit in hits[-1:]]
        return [*hits[:-1], *changed]


def problems(reader: Reader) -> dict[str, str]:
    """Return the broken rules, each with how."""
    return {finding.rule.split()[0]: finding.problem for finding in check_reader(reader) if finding.problem}


def test_readers_are_tried_on_whole_lines_of_three_files() -> None:
    """In windows of one to four lines that overlap by one, of which some are hits, ranked from 0, often none or all."""
    recorder = Recorder()
    assert problems(recorder) == {}
    assert len(recorder.seen) >= 40
    heights, counts = set(), set()
    for hits, corpus in recorder.seen:
        assert [hit.hit for hit in hits] == list(range(len(hits)))
        every = set()
        for file in range(3):
            data, rows = corpus.source(file).data, corpus.chunks(file).tolist()
            assert rows[0][0] == 0
            assert max(end for _, end in rows) == len(data)
            assert all(start == 0 or data[start - 1 : start] == b"\n" for start, _ in rows)
            assert all(end == len(data) or data[end - 1 : end] == b"\n" for _, end in rows)
            tall = [len(data[start:end].splitlines()) for start, end in rows]
            heights.add(tall[0])
            for (_, before), (start, _) in pairwise(rows):
                assert data[start:before].count(b"\n") + (before == len(data) != data.count(b"\n")) >= (tall[0] > 1)
                assert len(data[start:before].splitlines()) <= 1 or before == len(data)
            every |= {(file, start, end) for start, end in rows}
        assert {tuple(hit[:3]) for hit in hits} <= every
        assert len({tuple(hit[:3]) for hit in hits}) == len(hits)
        counts.add(len(hits) / len(every))
    assert heights == {1, 2, 3, 4}
    assert len(counts) > 20
    assert min(counts) == 0
    assert max(counts) > 0.9
    sources = [recorder.seen[0][1].source(file) for file in range(3)]
    assert [source.language for source in sources] == ["python", "python", None]
    assert [b"\r\n" in source.data for source in sources] == [False, True, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda last, size: last._replace(start=0, end=size), ""),
        (lambda last, size: last._replace(start=-1, end=size), "is empty, or not in a file of"),
        (lambda last, size: last._replace(start=0, end=size + 1), "is empty, or not in a file of"),
        (lambda last, _: last._replace(start=last.end), "is empty, or not in a file of"),
        (lambda last, _: last._replace(hit=last.hit + 1), "is not in the file of a hit"),
        (lambda last, _: last._replace(hit=-1), "is not in the file of a hit"),
        (lambda last, _: last._replace(file=(last.file + 1) % 3), "is not in the file of a hit"),
    ],
)
def test_a_stretch_at_the_bounds_is_judged(change: Callable[[Stretch, int], Stretch], words: str) -> None:
    """A whole file lies inside it; a byte before or behind, nothing at all, a hit too many or another file do not."""
    found = problems(Recorder(change=change))
    assert ("what" in found, words in found.get("what", "")) == (bool(words), True)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda last, _: last._replace(start=last.start + 1), False),
        (lambda last, _: last._replace(end=last.end - 1), False),
        (lambda last, _: last._replace(start=max(last.start - 1, 0)), True),
        (lambda last, size: last._replace(end=min(last.end + 1, size)), True),
    ],
)
def test_a_hit_is_read_whole(change: Callable[[Stretch, int], Stretch], *, kept: bool) -> None:
    """A byte less at either end is none of it, more is allowed."""
    assert ("every" not in problems(Recorder(change=change))) == kept


def test_a_hit_that_is_read_later_is_not_read_at_its_rank() -> None:
    """The same stretches under the ranks of later hits."""

    class Late(Recorder):
        def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
            """Read the first hit of a file with the last hit of the same file."""
            del corpus
            last = {hit.file: hit.hit for hit in hits}
            return sorted((hit._replace(hit=last[hit.file]) for hit in hits), key=lambda each: each.hit)

    assert set(problems(Late())) == {"every"}
