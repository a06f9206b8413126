"""Possible queries of single files: one record per file, and the records of many files combined."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from chunkers.types import SourceFile
from ground_truth.file_columns import Column, join_columns, pack_columns
from ground_truth.miners.equal_texts import normalised, text_hashes
from ground_truth.miners.places import MIN_DISTINCT_LINES, Places


class Found(NamedTuple):
    """A text of a file that may become a query, and any reason against it."""

    name: str
    query: str
    start_line: int
    end_line: int
    body: frozenset[str]
    """The distinct lines of the answer."""
    reason: str

    @property
    def is_place(self) -> bool:
        """Whether it is a query, or may answer another one: a shorter body resembles others by chance."""
        return not self.reason or len(self.body) >= MIN_DISTINCT_LINES


class FileFinds(NamedTuple):
    """The possible queries of one file and its hidden text, regardless of the rest of the repository."""

    hidden: Sequence[tuple[int, int]]
    found: Sequence[Found]


Find = Callable[[SourceFile], FileFinds]

_DEEPEST = 16


def nested_too_deeply(answers: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield for each answer, a first and a last line in file order, why it is not read, or nothing.

    The answers of a file that nests thousands of them have, together, the square of its lines.
    """
    around: list[int] = []
    for first, last in answers:
        while around and around[-1] < first:
            around.pop()
        around.append(last)
        yield "nested too deeply" if len(around) > _DEEPEST else ""


class Finds(NamedTuple):
    """The possible queries of one kind in many files."""

    hidden: Column
    """Alternating start and end of each file's hidden byte ranges."""
    places: Places
    questions: list[int]
    """A hash of the words of each query text, in the order of its places."""
    texts: Texts
    dropped: Counter[str]
    """Number of texts that are not queries, by reason."""


class Texts(NamedTuple):
    """Concatenated names and queries of places, and where each ends."""

    written: bytes
    name_ends: list[int]
    query_ends: list[int]

    def of(self, place: int) -> tuple[str, str]:
        """Return the name and the query of a place."""
        begin, middle, end = self.query_ends[place - 1] if place else 0, self.name_ends[place], self.query_ends[place]
        name, query = self.written[begin:middle], self.written[middle:end]
        return name.decode("utf-8", "surrogatepass"), query.decode("utf-8", "surrogatepass")


class _Columns(NamedTuple):
    """The data of one kind: arrays of a file, or columns of many files."""

    hidden: Any
    rows: Any
    """Six numbers for each place: first line, last line, lines of its body, bytes of its name, bytes of its query,
    whether it asks."""
    questions: Any
    body: Any
    others: Any
    """Lines of bodies that are too short to be places."""
    texts: Any
    dropped: Any
    """Reason → count, as JSON."""


_TYPES = _Columns("<u4", "<u4", "<u8", "<u8", "<u8", "u1", "u1")
_EMPTY = _Columns(*(np.zeros(0, dtype) for dtype in _TYPES))
_ROW = 6


def pack_finds(kinds: Sequence[FileFinds], *, left_out: str = "") -> bytes:
    """Pack what each kind finds in a file into a record; ``left_out`` is why nothing in the file may be asked."""
    return _packed([_left_out(each, left_out) if left_out else _columns(each) for each in kinds], left_out)


def leave_out(record: bytes, kinds: int, reason: str) -> bytes:
    """Return the record of a file that may not be asked about after all, without its possible queries."""
    left_out, columns = _unpacked([record], kinds)
    if len(left_out.values):
        return record
    made = []
    for each in columns:
        count = len(each.questions.values) + _counted(each.dropped).total()
        made.append(_EMPTY._replace(hidden=each.hidden.values, dropped=_dropped({reason: count})))
    return _packed(made, reason)


def join_finds(records: Sequence[bytes], kinds: int) -> tuple[np.ndarray, list[Finds]]:
    """Return whether each file may be asked about, and the possible queries of all files for each kind."""
    left_out, columns = _unpacked(records, kinds)
    return left_out.counts == 0, [_joined(each) for each in columns]


def _columns(finds: FileFinds) -> _Columns:
    places = [each for each in finds.found if each.is_place]
    texts = [[text.encode("utf-8", "surrogatepass") for text in (each.name, each.query)] for each in places]
    rows = [
        (each.start_line, each.end_line, len(each.body), len(name), len(query), not each.reason)
        for each, (name, query) in zip(places, texts, strict=True)
    ]
    return _Columns(
        hidden=np.array(finds.hidden, _TYPES.hidden).reshape(-1),
        rows=np.array(rows, _TYPES.rows).reshape(-1),
        questions=text_hashes(normalised(each.query) for each in places if not each.reason),
        body=text_hashes(line for each in places for line in sorted(each.body)),
        others=text_hashes(line for each in finds.found if not each.is_place for line in sorted(each.body)),
        texts=_bytes(b"".join(part for text in texts for part in text)),
        dropped=_dropped(Counter(each.reason for each in finds.found if each.reason)),
    )


def _left_out(finds: FileFinds, reason: str) -> _Columns:
    hidden = np.array(finds.hidden, _TYPES.hidden).reshape(-1)
    return _EMPTY._replace(hidden=hidden, dropped=_dropped({reason: len(finds.found)}))


def _packed(kinds: Sequence[_Columns], left_out: str) -> bytes:
    return pack_columns([_bytes(left_out.encode()), *itertools.chain.from_iterable(kinds)])


def _unpacked(records: Sequence[bytes], kinds: int) -> tuple[Column, list[_Columns]]:
    left_out, *columns = join_columns(records, ("u1", *_TYPES * kinds))
    width = len(_TYPES)
    return left_out, [_Columns(*columns[width * kind : width * (kind + 1)]) for kind in range(kinds)]


def _joined(columns: _Columns) -> Finds:
    rows = columns.rows
    start_line, end_line, lines, names, queries, asks = rows.values.reshape(-1, _ROW).T.astype(np.int64)
    file = np.repeat(np.arange(len(rows.counts)), rows.counts // _ROW)
    body, others = columns.body.values, columns.others.values
    ends = np.cumsum(names + queries)
    return Finds(
        columns.hidden,
        Places(file, start_line, end_line, asks.astype(bool), np.cumsum(lines), body, others),
        columns.questions.values.tolist(),
        Texts(columns.texts.values.tobytes(), (ends - queries).tolist(), ends.tolist()),
        _counted(columns.dropped),
    )


def _dropped(counts: Mapping[str, int]) -> np.ndarray:
    return _bytes(json.dumps(counts).encode() if any(counts.values()) else b"")


def _counted(dropped: Column) -> Counter[str]:
    """Return the counts summed over all files."""
    counts: Counter[str] = Counter()
    written, begin = dropped.values.tobytes(), 0
    for size in dropped.counts[dropped.counts > 0].tolist():
        counts.update(json.loads(written[begin : begin + size]))
        begin += size
    return counts


def _bytes(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)
