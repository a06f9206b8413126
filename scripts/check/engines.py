"""`python -m scripts.check.engines`: every search in 1, 2 and 7 shards, by every engine; exit 1 if any differs."""

from __future__ import annotations

import functools
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from evaluation.config import make_config
from evaluation.experiment import stages
from evaluation.experiment.executors import Executor, Processes, Serial
from evaluation.experiment.progress import Progress
from evaluation.experiment.ray_engine import Ray
from evaluation.experiment.run import make_chunks
from evaluation.experiment.searching import Ranking
from evaluation.experiment.session import Session
from evaluation.experiment.sharing import sharing
from evaluation.types import CellKey
from scripts.bench.scale import two_nodes

SHARDS = (1, 2, 7)
RETRIEVERS = ("bm25", "dense", "hybrid", "mmr", "dartboard")
EMBEDDER = "hashing:dimensions=64"


class Row(NamedTuple):
    """The result of one way of searching, compared with one process and one shard."""

    dataset: str
    engine: str
    shards: int
    rankings: int
    other_rankings: int
    scores: int
    other_scores: int


class Result(NamedTuple):
    """Every query's hits and their scores, and every measure's value for each query."""

    ranking: Ranking
    scores: Mapping[str, np.ndarray]


class Way(NamedTuple):
    """An engine, and what happens to it after the first task."""

    name: str
    executor: Executor
    disturb: Callable[[], None]


@click.command()
@click.option("--dataset", "datasets", multiple=True, default=("installed",), show_default=True, help="Repeatable.")
@click.option("--chunker", default="cast:size=1500", show_default=True)
@click.option("--limit", default=200, show_default=True, help="Queries of each dataset.")
@click.option("--ray/--no-ray", "on_ray", default=True, show_default=True, help="Two Ray nodes on this machine, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, datasets: tuple[str, ...], chunker: str, limit: int, on_ray: bool, as_json: bool) -> None:
    """Rank and score by words, vectors and both, divided in several ways, and count the differences."""
    rows: list[Row] = []
    for dataset in datasets:
        for row in compared(dataset, chunker, limit, on_ray=on_ray):
            rows.append(row)
            if not as_json:
                click.echo(_line(row))
    wrong = sum(row.other_rankings + row.other_scores for row in rows)
    if as_json:
        click.echo(json.dumps({"rows": [row._asdict() for row in rows], "wrong": wrong}, indent=1))
    sys.exit(1 if wrong else 0)


def compared(dataset: str, chunker: str, limit: int, *, on_ray: bool) -> Iterator[Row]:
    """Yield a row for each engine and number of shards."""
    axes = {"datasets": (dataset,), "chunkers": (chunker,), "embedders": (EMBEDDER,), "retrievers": RETRIEVERS}
    with tempfile.TemporaryDirectory() as cache, _ways(on_ray=on_ray) as ways:
        session = Session.resolve(make_config({**axes, "limit": limit, "flips": 100}), Path(cache))
        failed = make_chunks(session, session.cells, Serial(), Progress())
        if failed:
            raise click.ClickException(next(iter(failed.values())))
        for part in stages.embedding_parts(session, dataset, chunker, EMBEDDER):
            stages.embed(session, part)
        expected = searched(session, Way("", Serial(), _nothing), shards=1)
        for way in ways:
            for shards in SHARDS:
                found = searched(session, way, shards=shards)
                yield Row(dataset, way.name, shards, *_differences(expected, found))


@contextmanager
def _ways(*, on_ray: bool) -> Iterator[list[Way]]:
    processes = Processes(2)
    ways = [Way("serial", Serial(), _nothing), Way("processes", processes, _nothing)]
    try:
        if not on_ray:
            yield ways
            return
        with two_nodes() as nodes:
            ways += [Way("ray", Ray(), _nothing), Way("ray, a node removed", Ray(), nodes.lose_one)]
            yield ways
    finally:
        processes.close()


def searched(session: Session, way: Way, *, shards: int) -> dict[CellKey, Result]:
    """Search and score all cells from scratch, each in this many shards."""
    for cell in session.cells:
        session.store.drop(session.retrieve_key(cell))
        session.store.drop(session.score_key(cell))
    blocks = {cell: _blocks(session, cell, shards) for cell in session.cells}
    with sharing(session, way.executor, session.config.datasets):
        if shards > 1:
            each = [block for some in blocks.values() for block in some]
            _all_done(way, functools.partial(_search, session), each)
        _all_done(way, functools.partial(_score, session, blocks), session.cells)
    return {
        cell: Result(stages.retrieve(session, cell).ranking, stages.score(session, cell).scored.scores)
        for cell in session.cells
    }


def _blocks(session: Session, cell: CellKey, shards: int) -> list[stages.SearchBlock]:
    """Return the files of a cell in this many ranges with about equally many chunks."""
    chunks = stages.chunk(session, cell.dataset, cell.chunker)
    ends = np.cumsum(np.bincount(chunks.columns["file"], minlength=len(chunks.files)))
    edges = [0, *np.searchsorted(ends, len(chunks) * np.arange(1, shards) / shards).tolist(), len(chunks.files)]
    ranges = [range(start, stop) for start, stop in itertools.pairwise(edges) if start < stop]
    return [stages.SearchBlock(cell, files, len(ranges)) for files in ranges]


def _all_done(way: Way, work: Callable[[Any], None], tasks: Sequence[Any]) -> None:
    for number, outcome in enumerate(way.executor.map(work, tasks)):
        if outcome.error:
            raise click.ClickException(f"{way.name}: {outcome.task}: {outcome.error}")
        if not number:
            way.disturb()


def _search(session: Session, block: stages.SearchBlock) -> None:
    stages.search_block(session, block)


def _score(session: Session, blocks: Mapping[CellKey, Sequence[stages.SearchBlock]], cell: CellKey) -> None:
    stages.score(session, cell, blocks=blocks[cell])


def _differences(expected: Mapping[CellKey, Result], found: Mapping[CellKey, Result]) -> tuple[int, int, int, int]:
    """Return the number of rankings and scores, and how many are not bit-identical."""
    rankings = [
        found[cell].ranking.get(query) != hits
        for cell, result in expected.items()
        for query, hits in result.ranking.items()
    ]
    scores = [
        ~((found[cell].scores[measure] == values) | (np.isnan(found[cell].scores[measure]) & np.isnan(values)))
        for cell, result in expected.items()
        for measure, values in result.scores.items()
    ]
    return len(rankings), sum(rankings), sum(map(len, scores)), int(sum(each.sum() for each in scores))


def _nothing() -> None:
    """Leave the engine unchanged."""


def _line(row: Row) -> str:
    return (
        f"{row.dataset[:40]:40} {row.engine:20} {row.shards} shards: {row.other_rankings} of {row.rankings:,} rankings "
        f"and {row.other_scores} of {row.scores:,} scores differ"
    )


if __name__ == "__main__":
    command()
