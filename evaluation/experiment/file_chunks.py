"""The chunks of one file: they depend on the file alone, so they are cached as long as it does not change."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chunkers.coverage import Coverage, coverage, coverage_of
from chunkers.cut_errors import CutError, over_one_file
from chunkers.errors import UsageError
from chunkers.sizes import Ruler, nws_before
from chunkers.splitting import piece_spans
from chunkers.syntax import SharedTree, shared_tree
from chunkers.types import Chunker, Piece, SourceFile

_HEAD = np.dtype([("chunks", "<u4"), ("text", "<u4"), ("coverage", "<i8", (3,)), ("seconds", "<f8")])
_ROW, _WIDTH = np.dtype("<i8"), 8


@dataclass(frozen=True, slots=True)
class FileChunks:
    """One file under one chunker."""

    spans: np.ndarray
    """One row per chunk, ordered by start and end byte: start, end, first and last line."""
    sizes: np.ndarray
    """One row per chunk: nws before it, its nws, tokens before it, its tokens."""
    headers: tuple[str, ...]
    coverage: Coverage
    fallback: str
    """Why the file was not cut as the chunker promises; empty if it was."""
    failed: str
    """What the chunker raised; empty if nothing."""
    seconds: float
    """Seconds that cutting took, or would have taken without the parse shared with other chunkers."""

    def to_bytes(self) -> bytes:
        """Return a record for `read_records`: numbers at fixed offsets, then any text."""
        told = [list(self.headers) if any(self.headers) else [], self.fallback, self.failed]
        text = json.dumps(told).encode() if any(told) else b""
        head = np.array([(len(self.spans), len(text), self.coverage, self.seconds)], dtype=_HEAD)
        rows = np.column_stack((self.spans, self.sizes)).astype(_ROW)
        return head.tobytes() + rows.tobytes() + text


class CutFiles(NamedTuple):
    """Several files under one chunker, concatenated."""

    counts: np.ndarray
    """Number of chunks per file."""
    rows: np.ndarray
    """One row per chunk: the columns of `spans`, then those of `sizes`."""
    headers: list[str]
    coverage: Coverage
    """Coverage over all files."""
    fallbacks: Mapping[str, int]
    """Reason → files."""
    failed: Mapping[int, str]
    """Position of a file → reason."""
    seconds: float


def read_records(records: Sequence[bytes]) -> CutFiles:
    """Read the concatenated records of `FileChunks.to_bytes`."""
    heads = np.frombuffer(b"".join([record[: _HEAD.itemsize] for record in records]), _HEAD)
    counts = heads["chunks"].astype(np.int64)
    ends = _HEAD.itemsize + counts * (_WIDTH * _ROW.itemsize)
    rows = b"".join([record[_HEAD.itemsize : end] for record, end in zip(records, ends.tolist(), strict=True)])
    headers: dict[int, list[str]] = {}
    failed: dict[int, str] = {}
    fallbacks: Counter[str] = Counter()
    for place in np.flatnonzero(heads["text"]).tolist():
        own, fallback, failure = json.loads(records[place][ends[place] :])
        headers |= {place: own} if own else {}
        fallbacks.update([fallback] if fallback else [])
        failed |= {place: failure} if failure else {}
    return CutFiles(
        counts,
        np.frombuffer(rows, dtype=_ROW).reshape(-1, _WIDTH),
        _all_headers(counts, headers),
        Coverage(*heads["coverage"].sum(axis=0).tolist()),
        fallbacks,
        failed,
        sum(heads["seconds"].tolist()),
    )


def _all_headers(counts: np.ndarray, headers: Mapping[int, list[str]]) -> list[str]:
    if not headers:
        return [""] * int(counts.sum())
    own = (headers.get(place) or [""] * count for place, count in enumerate(counts.tolist()))
    return list(itertools.chain.from_iterable(own))


def cut_file(
    source: SourceFile, chunkers: Mapping[str, Chunker], tokens: Callable[[], Ruler]
) -> Iterator[tuple[str, FileChunks | UsageError]]:
    """Yield the result of each chunker, by name, on a file; they share one parse and one token count.

    A user error in a chunker is raised; any other exception is counted against the file.
    """
    counts: np.ndarray | None = None
    with shared_tree() as tree:
        for name, chunker in chunkers.items():
            began, before = time.perf_counter(), (tree.parsed, tree.reused)
            try:
                cut = _cut(chunker, source)
            except UsageError as error:
                yield name, error
                continue
            if counts is None:
                counts = np.asarray(nws_before(source.data))
            yield (
                name,
                FileChunks(
                    spans=cut.spans,
                    sizes=_sizes(cut.spans, counts, tokens),
                    headers=tuple(piece.header for piece in cut.pieces),
                    coverage=cut.coverage,
                    fallback=cut.fallback,
                    failed=cut.failed,
                    seconds=time.perf_counter() - began + _spared(tree, *before),
                ),
            )


class _Cut(NamedTuple):
    """The output of a chunker itself for a file."""

    pieces: Sequence[Piece]
    """Ordered by start and end; none if it failed."""
    spans: np.ndarray
    coverage: Coverage
    fallback: str = ""
    failed: str = ""


def _cut(chunker: Chunker, source: SourceFile) -> _Cut:
    """Return the pieces of a file, each once, and the text they leave out; or none, and what the chunker raised."""
    try:
        with over_one_file():
            pieces = sorted(dict.fromkeys(chunker.split(source)), key=lambda piece: (piece.start, piece.end))
            spans = piece_spans(source.data, pieces)
            held = coverage_of(chunker, source, [Piece(piece.start, piece.end) for piece in pieces])
            return _Cut(pieces, spans, held, getattr(chunker, "fallback", _no_fallback)(source) or "")
    except CutError as error:
        return _Cut([], piece_spans(source.data, []), coverage(source.data, []), failed=str(error))


def _sizes(spans: np.ndarray, counts: np.ndarray, tokens: Callable[[], Ruler]) -> np.ndarray:
    starts, ends = spans[:, 0], spans[:, 1]
    if not len(spans):
        return np.zeros((0, 4), dtype=np.int64)
    measured = tokens()
    columns = []
    for before, after in ((counts[starts], counts[ends]), (measured.at(starts), measured.at(ends))):
        columns += [before, after - before]
    return np.column_stack(columns).astype(np.int64)


def _spared(tree: SharedTree, parsed: int, reused: int) -> float:
    """Return the seconds of a parse that this chunker used but another one paid for."""
    return tree.seconds if tree.parsed == parsed and tree.reused > reused else 0.0


def _no_fallback(_source: SourceFile) -> None:
    return None
