"""The results of an experiment, in memory and as a folder of plain files that anyone can read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from chunkers.errors import UsageError
from evaluation.types import CellKey

VERSION = 1
_LONGEST_NAME = 200
"""Characters; file systems take 255 bytes, an ending included."""


class GoldLines(NamedTuple):
    """Lines that answer a query, 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query as the report shows it."""

    dataset: str
    id: str
    text: str
    repo: str
    cluster: str
    language: str | None
    gold: tuple[GoldLines, ...]


@dataclass(frozen=True, slots=True)
class HitRecord:
    """One of a query's best results."""

    rank: int
    chunk_id: str
    score: float
    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True)
class CellRecord:
    """What became of one cell."""

    key: CellKey
    status: Literal["ok", "failed"]
    reason: str = ""
    chunks: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    """measure → one value per query of the cell's dataset, in the order of `Results.queries`; NaN is undefined."""
    curve: np.ndarray | None = None
    """Recall of gold text: queries × budgets."""
    hits: Mapping[str, tuple[HitRecord, ...]] = field(default_factory=dict)
    """query id → the best results, for reading."""
    run: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """query id → chunk ids, best first."""
    qrels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """A file name for the cell; a hash joins it where a short name would be cut or shared with another cell."""
        written = "__".join(self.key)
        name = re.sub(r"[^A-Za-z0-9._=-]+", "_", written)
        if len(name) <= _LONGEST_NAME and re.fullmatch(r"[A-Za-z0-9._=:,/-]+", written):
            return name
        return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(written.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Results:
    """An experiment's outcome: means and comparisons are made from the per-query scores that it carries."""

    config: Mapping[str, Any]
    environment: Mapping[str, Any]
    datasets: tuple[Mapping[str, Any], ...]
    cells: tuple[CellRecord, ...]
    comparisons: tuple[Mapping[str, Any], ...] = ()
    queries: tuple[QueryRecord, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """chunk id → text, for the chunks that `hits` name."""
    budgets: tuple[int, ...] = ()
    budget_unit: str = "tokens"

    def queries_of(self, dataset: str) -> tuple[QueryRecord, ...]:
        """Return the queries of one dataset, in the order of every cell's scores."""
        return tuple(query for query in self.queries if query.dataset == dataset)


def merge_results(parts: Iterable[Results]) -> Results:
    """Return the cells of several runs as one; the same cell twice must have the same scores."""
    parts = list(parts)
    first = parts[0]
    for part in parts:
        if set(part.config["measures"]) != set(first.config["measures"]):
            raise UsageError(
                "the runs have different measures: merge parts of one experiment, or run one of them again"
            )
        if (part.budgets, part.budget_unit) != (first.budgets, first.budget_unit):
            raise UsageError("the runs have different budgets: merge parts of one experiment, or run one of them again")
    datasets: dict[str, Mapping[str, Any]] = {}
    cells: dict[CellKey, CellRecord] = {}
    queries: dict[tuple[str, str], QueryRecord] = {}
    texts: dict[str, str] = {}
    for part in parts:
        for dataset in part.datasets:
            known = datasets.setdefault(dataset["name"], dataset)
            if known["fingerprint"] != dataset["fingerprint"]:
                raise UsageError(
                    f"the runs saw different versions of dataset {dataset['name']!r}: run them again on one snapshot"
                )
        for cell in part.cells:
            known_cell = cells.get(cell.key)
            if known_cell is None or known_cell.status == "failed":
                cells[cell.key] = cell
            elif cell.status == "ok" and not _same_scores(known_cell, cell):
                raise UsageError(f"two runs disagree about {' × '.join(cell.key)}: their versions differ")
        queries.update({(query.dataset, query.id): query for query in part.queries})
        texts.update(part.texts)
    chunkers = {cell.key.chunker for cell in cells.values()}
    listed = [chunker for part in parts for chunker in part.config.get("chunkers", ()) if chunker in chunkers]
    return Results(
        config={**first.config, "shard": None, "chunkers": list(dict.fromkeys([*listed, *sorted(chunkers)]))},
        environment=first.environment,
        datasets=tuple(datasets.values()),
        cells=tuple(cells[key] for key in _in_order(cells, [part.config for part in parts])),
        queries=tuple(queries.values()),
        texts=texts,
        budgets=first.budgets,
        budget_unit=first.budget_unit,
    )


def _in_order(cells: Iterable[CellKey], configs: Sequence[Mapping[str, Any]]) -> list[CellKey]:
    """Return the cells in the order in which one run of these experiments would have had them."""
    places = [
        {
            spec: place
            for place, spec in reversed(list(enumerate(spec for each in configs for spec in each.get(axis, ()))))
        }
        for axis in ("datasets", "chunkers", "embedders", "retrievers")
    ]
    return sorted(
        cells, key=lambda key: [(place.get(part, len(place)), part) for part, place in zip(key, places, strict=True)]
    )


def _same_scores(one: CellRecord, other: CellRecord) -> bool:
    return one.scores.keys() == other.scores.keys() and all(
        np.array_equal(values, other.scores[name], equal_nan=True) for name, values in one.scores.items()
    )
