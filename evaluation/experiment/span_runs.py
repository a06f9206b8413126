"""Span runs in a file, validated as a whole against their dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from chunkers.types import SizeUnit
from chunkers.writable import is_writable
from evaluation.atomic import checksum
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.span_places import Place, PlaceError, PlaceFinder, SpanRun
from evaluation.spans.reading import NumberedRow, RowProblems, read_rows, reading_error
from evaluation.spans.rows import SpanRow
from ground_truth.types import Query

_NAME = re.compile(r"[^=\s]+\Z")


class NamedFile(NamedTuple):
    """A span run as named on the command line."""

    name: str
    """Empty if only the file was given: then its runs have their own names."""
    path: Path

    @classmethod
    def parse(cls, text: str) -> NamedFile:
        """Parse NAME=FILE, or FILE."""
        name, mark, path = text.partition("=")
        if not mark or Path(text).exists():
            return cls("", Path(text))
        if not _NAME.match(name) or not path or not is_writable(name):
            raise UsageError(f"{text!r} is not NAME=FILE: write --spans mine=run.jsonl")
        return cls(name, Path(path))

    def digest(self) -> str:
        """Return a hash of the file's content."""
        try:
            return checksum(self.path)
        except OSError as error:
            raise reading_error(self.path, error) from None


def read_span_runs(file: NamedFile, loaded: LoadedDataset, *, units: Iterable[SizeUnit] = ()) -> list[SpanRun]:
    """Return the runs of a file, in order of appearance; raise with every problem, by file and row.

    ``units`` are the units of the measures to be computed.
    If the queries are a sample of the dataset, rows of other queries are skipped and counted.
    """
    problems = RowProblems(file.path)
    reader = _Reader(loaded, problems, PlaceFinder(loaded, units=units))
    for row in read_rows(file.path, problems):
        reader.add(row)
    problems.check()
    if not reader.runs:
        others = ", ".join(sorted(reader.other_datasets))
        about = f"its rows are about {others}" if others else "write one JSON object per line"
        about = "views is empty in every row" if problems.without_views else about
        raise UsageError(f"{file.path} has no rows for {loaded.spec}: {about}")
    return [
        SpanRun(
            _run_name(file, name, alone=len(reader.runs) == 1),
            {query: _ranked(found) for query, found in queries.items()},
            diagnostics={"rows_not_drawn": float(reader.not_drawn)} if reader.not_drawn else {},
        )
        for name, queries in reader.runs.items()
    ]


def _run_name(file: NamedFile, run: str, *, alone: bool) -> str:
    """Return the name of a run: as given by the user, else by its rows, else by its file."""
    if not file.name or not run:
        return file.name or run or file.path.stem
    return file.name if alone else f"{file.name}/{run}"


class _Found(NamedTuple):
    rank: int | None
    place: Place


class _Reader:
    """Collects the rows of a file by run and query."""

    def __init__(self, loaded: LoadedDataset, problems: RowProblems, finder: PlaceFinder) -> None:
        self.runs: dict[str, dict[str, list[_Found]]] = {}
        self.other_datasets: set[str] = set()
        self.not_drawn = 0
        self._loaded, self._problems, self._finder = loaded, problems, finder
        self._queries: Mapping[str, Query] = {query.id: query for query in loaded.dataset.queries}
        self._drawn = "queries_drawn" in loaded.dataset.details
        self._ranks: dict[tuple[str, str], dict[int | None, int]] = {}

    def add(self, numbered: NumberedRow) -> None:
        """Add one row, or record what is wrong with it."""
        number, row = numbered
        if row.dataset and row.dataset != self._loaded.spec:
            self.other_datasets.add(row.dataset)
            return
        query = self._queries.get(row.query_id)
        if query is None and self._drawn:
            self.not_drawn += 1
            return
        try:
            if not is_writable(row.run):
                raise PlaceError(f"run is {row.run!r}", "name it in whole characters")  # noqa: TRY301 - as `find` does
            self._check_rank(number, row)
            if query is None:
                hint = nearest(row.query_id, self._queries).strip()
                what = f"{row.query_id!r} is not a query of {self._loaded.spec}"
                raise PlaceError(what, hint or "score it on the dataset it was made for")  # noqa: TRY301 - as `find` does
            place = self._finder.find(row, query, score=row.score if row.score is not None else 0.0)
        except PlaceError as error:
            self._problems.add(number, error.what, error.remedy)
        else:
            self.runs.setdefault(row.run, {}).setdefault(row.query_id, []).append(_Found(row.rank, place))

    def _check_rank(self, number: int, row: SpanRow) -> None:
        if (row.rank is None) == (row.score is None):
            both = "both rank and score" if row.rank is not None else "neither rank nor score"
            raise PlaceError(f"it has {both}", "give one of them")
        ranks = self._ranks.setdefault((row.run, row.query_id), {})
        if row.rank in ranks and row.rank is not None:
            what = f"rank {row.rank} of query {row.query_id!r} is there already, in row {ranks[row.rank]}"
            raise PlaceError(what, "give each result its own rank")
        if ranks and (row.rank is None) != (None in ranks):
            what = f"query {row.query_id!r} has results with ranks and results with scores"
            raise PlaceError(what, "give all of them a rank, or all a score")
        ranks[row.rank] = number


def _ranked(found: Sequence[_Found]) -> list[Place]:
    """Return the places, best first: by rank, or by score with ties by repository, path and bytes."""
    ordered = sorted(found, key=lambda each: (each.rank or 0, -each.place.score, *_position(each.place)))
    return [each.place for each in ordered]


def _position(place: Place) -> tuple[str, str, int, int]:
    return place.file.repo, place.file.path, place.start, place.end
