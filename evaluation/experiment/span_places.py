"""Places named by another tool, located in the corpus: each becomes bytes of a file, or the reason why it cannot."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from chunkers.plugins import nearest
from chunkers.splitting import line_span
from chunkers.types import SizeUnit, Span
from chunkers.writable import is_bytes
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.results.facts import CostFacts
from evaluation.spans.rows import PlaceRow
from ground_truth.types import Query


class Place(NamedTuple):
    """A byte range of a file returned by a run for a query, and the header shown above it."""

    file: CorpusFile
    start: int
    end: int
    header: str
    header_tokens: int | None
    """Set where the header's text is not stored."""
    score: float


class PlaceError(Exception):
    """A place that is not in the corpus: what is wrong, and the remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}: {remedy}")
        self.what, self.remedy = what, remedy


@dataclass(frozen=True)
class SpanRun:
    """Every query's ranked places."""

    name: str
    places: Mapping[str, Sequence[Place]]
    """query id → places, best first; a missing query has none."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    """Facts about the run, as counts and seconds."""
    cost: CostFacts = field(default_factory=CostFacts)
    """The cost of the run, if it was made here."""


class _Layout(NamedTuple):
    key: CorpusFile
    newlines: np.ndarray
    size: int

    @property
    def lines(self) -> int:
        """The number of lines; a line feed at the very end starts no further one."""
        ended = len(self.newlines) > 0 and int(self.newlines[-1]) == self.size - 1
        return len(self.newlines) + (0 if ended or not self.size else 1)

    def to_bytes(self, first: int, last: int) -> tuple[int, int]:
        """Return the half-open byte range of 1-based inclusive lines, including the line feed that ends the last."""
        start = int(self.newlines[first - 2]) + 1 if first > 1 else 0
        return start, int(self.newlines[last - 1]) + 1 if last <= len(self.newlines) else self.size


class PlaceFinder:
    """Locates places in the corpus of one dataset; the lines of a file are counted once."""

    def __init__(self, loaded: LoadedDataset, *, units: Iterable[SizeUnit] = ()) -> None:
        self._loaded = loaded
        self._not_tokens = sorted(set(units) - {"tokens"})
        """What measures count in beside tokens: a header is needed for these, not only its number of tokens."""
        self._repositories = {each.name: each for each in loaded.dataset.repositories}
        self._layouts: dict[tuple[str, str], _Layout | None] = {}

    def find(self, row: PlaceRow, query: Query, *, score: float = 0.0) -> Place:
        """Return the place as a byte range; raise if it is not in the corpus, or not in the query's search space."""
        layout = self._layout(self._repo(row, query), row.file)
        start, end = _by_bytes(row, layout) if row.start_byte is not None else _by_lines(row, layout)
        if row.header is not None and row.header_tokens is not None:
            raise PlaceError("it has both header and header_tokens", "give the header, which every unit can count")
        if row.header_tokens and self._not_tokens:
            what = f"header_tokens is a number of tokens, and a measure counts {self._not_tokens[0]}"
            raise PlaceError(what, "give the header itself as header, or measure in tokens")
        if row.header and not is_bytes(row.header):
            raise PlaceError("header has half of a surrogate pair", "write whole characters")
        return Place(layout.key, start, end, row.header or "", row.header_tokens, score)

    def lines(self, place: Place) -> Span:
        """Return a place with its lines."""
        layout = self._layout(place.file.repo, place.file.path)
        return line_span(layout.newlines, place.start, place.end)

    def _repo(self, row: PlaceRow, query: Query) -> str:
        everywhere = self._loaded.dataset.scope == "all"
        if row.repo and row.repo not in self._repositories:
            hint = nearest(row.repo, self._repositories).strip()
            raise PlaceError(f"the dataset has no repository {row.repo!r}", hint or "name one of the dataset's")
        if row.repo and row.repo != query.repo and not everywhere:
            what = f"query {query.id!r} searches {query.repo!r}, not {row.repo!r}"
            raise PlaceError(what, "leave out places of other repositories")
        if not row.repo and everywhere and len(self._repositories) > 1:
            raise PlaceError("repo is missing", "queries of this dataset search all repositories: name the place's own")
        return row.repo or (next(iter(self._repositories)) if everywhere else query.repo)

    def _layout(self, repo: str, path: str) -> _Layout:
        name = (repo, path)
        if name not in self._layouts:
            source = self._repositories[repo].read(path) if repo in self._repositories else None
            if source is None:
                self._layouts[name] = None
            else:
                newlines = np.flatnonzero(np.frombuffer(source.data, dtype=np.uint8) == ord("\n"))
                self._layouts[name] = _Layout(CorpusFile(repo, path, source.language), newlines, len(source.data))
        found = self._layouts[name]
        if found is None:
            plain = posixpath.normpath(path)
            remedy = f"write {plain!r}" if plain != path and self._has(repo, plain) else "correct the path"
            raise PlaceError(f"{path!r} is not a file of {repo!r} in this corpus", remedy)
        return found

    def _has(self, repo: str, path: str) -> bool:
        return repo in self._repositories and self._repositories[repo].read(path) is not None


def _by_lines(row: PlaceRow, layout: _Layout) -> tuple[int, int]:
    if row.end_byte is not None:
        raise PlaceError("start_byte is missing", "give start_byte and end_byte, or lines")
    if row.start_line is None or row.end_line is None:
        missing = "start_line" if row.start_line is None else "end_line"
        raise PlaceError(f"{missing} is missing", "give start_line and end_line, or start_byte and end_byte")
    if row.end_line < row.start_line:
        what = f"end_line {row.end_line} is before start_line {row.start_line}"
        raise PlaceError(what, "swap or correct them")
    if row.end_line > layout.lines:
        what = f"{row.file} has {layout.lines} lines; lines {row.start_line}-{row.end_line} are not in it"
        raise PlaceError(what, "correct the lines, or score on the commit they are from")
    return layout.to_bytes(row.start_line, row.end_line)


def _by_bytes(row: PlaceRow, layout: _Layout) -> tuple[int, int]:
    start, end = row.start_byte, row.end_byte
    if start is None or end is None:
        raise PlaceError("end_byte is missing", "give start_byte and end_byte, or lines")
    if end < start:
        raise PlaceError(f"end_byte {end} is before start_byte {start}", "swap or correct them")
    if end > layout.size:
        what = f"{row.file} has {layout.size} bytes; bytes {start}-{end} are not in it"
        raise PlaceError(what, "correct the bytes, or score on the commit they are from")
    span = line_span(layout.newlines, start, end)
    for name, given, found in (
        ("start_line", row.start_line, span.start_line),
        ("end_line", row.end_line, span.end_line),
    ):
        if given is not None and given != found:
            raise PlaceError(f"{name} is {given}, but the bytes say {found}", "correct one, or leave the lines out")
    return start, end
