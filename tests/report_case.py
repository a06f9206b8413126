"""A real run on code made here, for the tests of reports; what was run once is shared by all of them.

Chunks, rankings, texts and facts are what the pipeline made of the code; only the scores are drawn, so that the truth
behind a verdict is known.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from chunkers.sources import walk
from evaluation.config import make_config
from evaluation.experiment.executors import Serial
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.report.view import Row, View
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import CellRecord, Results
from ground_truth.types import Annotation, Dataset, Query

BUDGETS = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)
HEADLINE = "naurc@4000tok"
MEASURES = (HEADLINE, "recall@4000tok", "precision@4000tok", "ndcg@5", "recall@5")
NAMES = ("cast:size=2000", "fixed-lines:lines=50", "functions", "sliding:lines=40,overlap=10")
LINES_PER_FILE = 120
_MOST = 200
"""Queries that are really asked: a multiple of them is asked several times under other names."""


def simulated_results(
    *,
    names: Sequence[str] = NAMES,
    edges: Sequence[float] = (0.12, 0.0, 0.1, -0.08),
    queries: int = 64,
    repositories: int = 8,
    files: int = 6,
    baseline: str | None = None,
    failed: Mapping[str, str] | None = None,
    embedders: Sequence[str] = ("minilm",),
    retrievers: Sequence[str] = ("dense",),
    headline: str = HEADLINE,
    hostile: str = "",
    seed: int = 0,
) -> Results:
    """Return results in which each chunker's drawn headline score is higher than the second one's by its edge."""
    times = queries // _MOST if queries % _MOST == 0 else 1
    real = _repeated(_run(len(names), queries // times, repositories, files, hostile), times)
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0.5, 0.15, queries)
    cells: list[CellRecord] = []
    for embedder, retriever in product(embedders, retrievers):
        for cell, name, edge in zip(real.cells, names, edges, strict=True):
            drawn = np.clip(difficulty + edge + rng.normal(0, 0.08, queries), 0, 1)
            key = cell.key._replace(chunker=name, embedder=embedder, retriever=retriever)
            search = replace(cell.search, uses_vectors=retriever != "bm25")
            cells.append(replace(cell, key=key, search=search, scores={**cell.scores, headline: drawn}))
        broken = real.cells[0].key._replace(embedder=embedder, retriever=retriever)
        cells += [
            CellRecord(broken._replace(chunker=name), "failed", reason) for name, reason in (failed or {}).items()
        ]
    config = real.config.model_copy(
        update={
            "chunkers": tuple(names),
            "embedders": tuple(embedders),
            "retrievers": tuple(retrievers),
            "measures": tuple(dict.fromkeys((headline, *real.config.measures))),
            "headline": headline,
            "baseline": baseline,
            "seed": seed,
        }
    )
    called = {cell.key.chunker: name for cell, name in zip(real.cells, names, strict=True)}
    cuts = {(called[chunker], key): found for (chunker, key), found in real.cuts.items()}
    return with_statistics(replace(real, config=config, cells=tuple(cells), cuts=cuts))


def with_cell(view: View, name: str, **parts: Any) -> View:
    """Return the view with other parts, or other facts of a part, in one chunker's cell."""

    def changed(row: Row) -> Row:
        held = {
            part: replace(getattr(row.cell, part), **value) if is_dataclass(getattr(row.cell, part)) else value
            for part, value in parts.items()
        }
        return replace(row, cell=replace(row.cell, **held))

    return replace(view, rows=tuple(changed(row) if row.chunker == name else row for row in view.rows))


def _repeated(results: Results, times: int) -> Results:
    """Return the results of asking every query so many times."""
    if times == 1:
        return results

    def named(id_: str, number: int) -> str:
        return f"{id_}-{number}"

    def several(found: Mapping[str, Any]) -> dict[str, Any]:
        return {named(id_, number): each for number in range(times) for id_, each in found.items()}

    queries = tuple(
        replace(query, id=named(query.id, number), text=f"{query.text} ({number})")
        for number in range(times)
        for query in results.queries
    )
    cells = tuple(
        replace(
            cell,
            scores={name: np.tile(values, times) for name, values in cell.scores.items()},
            curve=None if cell.curve is None else np.tile(cell.curve, (times, 1)),
            hits=several(cell.hits),
            run=several(cell.run),
            qrels=several(cell.qrels),
        )
        for cell in results.cells
    )
    return replace(results, queries=queries, cells=cells)


@cache
def _run(chunkers: int, queries: int, repositories: int, files: int, hostile: str) -> Results:
    """Run the pipeline over files of numbered lines, which every chunker cuts at another length."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        dataset = _dataset(folder, queries, repositories, files, hostile)
        specs = [f"fixed-lines:lines={8 + 9 * (place % 4) + place // 4}" for place in range(chunkers)]
        config = make_config(
            {
                "datasets": ["simulated"],
                "chunkers": specs,
                "embedders": ["hashing"],
                "retrievers": ["bm25"],
                "measures": MEASURES,
                "budgets": BUDGETS,
                "flips": 2000,
                "depth": 100,
            }
        )
        session = Session(config, folder / "cache", plugins={"simulated": _Loader(dataset)})
        return run_experiment(session, Serial())


class _Loader:
    """A dataset that is in memory already."""

    version = "1"

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def load(self) -> Dataset:
        """Return it."""
        return self.dataset


def _dataset(folder: Path, queries: int, repositories: int, files: int, hostile: str) -> Dataset:
    for repo in range(repositories):
        for file in range(files):
            path = folder / f"repo{repo}" / _path(repo, file, hostile)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_source(repo, file, hostile), "utf-8", "surrogateescape")
    asked, notes = [], []
    for k in range(queries):
        repo, file = k % repositories, k % files
        start = 1 + k * 13 % (LINES_PER_FILE - 10)
        text = f"{hostile}where is value number {k} computed? value_{repo}_{file}_{start}"
        asked.append(Query(f"q{k:04}", text, f"repo{repo}"))
        notes.append(Annotation(asked[-1].id, f"repo{repo}", _path(repo, file, hostile), start, start + 6))
    folders = tuple(walk(folder / f"repo{repo}", name=f"repo{repo}") for repo in range(repositories))
    return Dataset("simulated", folders, tuple(asked), tuple(notes))


def _path(repo: int, file: int, hostile: str) -> str:
    ending = "py" if repo % 2 else "go"
    return f"src/{_name(hostile)}module_{repo}_{file}.{ending}"


def _name(hostile: str) -> str:
    """Return what a file of the corpus may be called: no slash, no NUL, and UTF-8."""
    return hostile.replace("/", "").replace("\0", "").encode("utf-8", "ignore").decode()


def _source(repo: int, file: int, hostile: str) -> str:
    lines = range(1, LINES_PER_FILE + 1)
    return "".join(f"value_{repo}_{file}_{line} = {hostile}compute({line * 7919 % 1000})\n" for line in lines)
