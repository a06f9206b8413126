"""Merges runs of parts of one experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig
from evaluation.results.facts import DatasetRecord
from evaluation.results.types import CellRecord, FilePlace, HiddenPart, Lines, QueryRecord, Results, ShownFile
from evaluation.types import CellKey

_AXES = ("datasets", "chunkers", "embedders", "retrievers")
"""The keys of an experiment whose product its cells are, in the order of a cell's parts."""


def merge_results(parts: Iterable[Results]) -> Results:
    """Return the cells of several runs as one; a duplicate cell must have the same scores."""
    parts = list(parts)
    first = parts[0]
    for part in parts:
        if set(part.config.measures) != set(first.config.measures):
            raise UsageError(
                "the runs have different measures: merge parts of one experiment, or run one of them again"
            )
        if (part.budgets, part.budget_unit) != (first.budgets, first.budget_unit):
            raise UsageError("the runs have different budgets: merge parts of one experiment, or run one of them again")
    datasets: dict[str, DatasetRecord] = {}
    cells: dict[CellKey, CellRecord] = {}
    queries: dict[tuple[str, str], QueryRecord] = {}
    texts: dict[str, str] = {}
    hidden: dict[tuple[str, str], tuple[HiddenPart, ...]] = {}
    files: dict[FilePlace, ShownFile] = {}
    cuts: dict[tuple[str, FilePlace], tuple[Lines, ...]] = {}
    for part in parts:
        for dataset in part.datasets:
            known = datasets.setdefault(dataset.name, dataset)
            if known.fingerprint != dataset.fingerprint:
                raise UsageError(
                    f"the runs saw different versions of dataset {dataset.name!r}: run them again on one snapshot"
                )
        for cell in part.cells:
            known_cell = cells.get(cell.key)
            if known_cell is None or known_cell.status == "failed":
                cells[cell.key] = cell
            elif cell.status == "ok" and not _same_scores(known_cell, cell):
                raise UsageError(f"two runs disagree about {' × '.join(cell.key)}: their versions differ")
        queries.update({(query.dataset, query.id): query for query in part.queries})
        texts.update(part.texts)
        hidden.update(part.hidden)
        files.update(part.files)
        cuts.update(part.cuts)
    axes = _axes(cells, [part.config for part in parts])
    return replace(
        first,
        config=first.config.model_copy(update=axes),
        datasets=tuple(datasets.values()),
        cells=tuple(cells[key] for key in sorted(cells, key=lambda key: _place(key, axes))),
        comparisons=(),
        queries=tuple(queries.values()),
        texts=texts,
        hidden=hidden,
        files=files,
        cuts=cuts,
        shard=None,
        matched_size=first.matched_size if len({part.matched_size for part in parts}) == 1 else "",
        left_out={spec: reason for part in reversed(parts) for spec, reason in part.left_out.items()},
    )


def _axes(cells: Iterable[CellKey], configs: Sequence[ExperimentConfig]) -> dict[str, tuple[str, ...]]:
    """Return the values of the cells' axes, in the order in which the experiments name them."""
    found = {}
    cells = list(cells)
    for place, axis in enumerate(_AXES):
        used = {key[place] for key in cells if not (key.is_span_run or key.is_read) or axis == "datasets"}
        named = [spec for config in configs for spec in getattr(config, axis) if spec in used]
        found[axis] = tuple(dict.fromkeys([*named, *sorted(used)]))
    for others in ("readers", "spans", "tools"):
        found[others] = tuple(dict.fromkeys(spec for config in configs for spec in getattr(config, others)))
    return {name: specs for name, specs in found.items() if specs or name not in _AXES}


def _place(cell: CellKey, axes: Mapping[str, Sequence[str]]) -> list[int]:
    """Return the position that the cell would have in a single run of everything."""
    known = [list(axes.get(axis, ())) for axis in _AXES]
    # Span runs come last, in their own order.
    return [each.index(spec) if spec in each else len(each) for each, spec in zip(known, cell, strict=True)]


def _same_scores(one: CellRecord, other: CellRecord) -> bool:
    return one.scores.keys() == other.scores.keys() and all(
        np.array_equal(values, other.scores[name], equal_nan=True) for name, values in one.scores.items()
    )
