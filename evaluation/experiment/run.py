"""Runs an experiment to its end: chunk, embed, retrieve and score what is not in the store, then put it together."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from chunkers.errors import UsageError
from evaluation.experiment import stages
from evaluation.experiment.contestants import contestant_record, contestants
from evaluation.experiment.environment import environment
from evaluation.experiment.executors import Executor
from evaluation.experiment.offsets import averaged, offset_specs, with_offsets
from evaluation.experiment.progress import Progress
from evaluation.experiment.read_cells import make_readers, read_record
from evaluation.experiment.records import cell_record, query_records
from evaluation.experiment.session import Session
from evaluation.experiment.shown_files import shown_files
from evaluation.measures.declared import own_facts
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import CellRecord, HiddenPart, Results
from evaluation.types import CellKey

Overwrite = Literal["always", "only-missing", "only-cache"]
"""What to do with results that are in the store: make all again, only those that are missing, or none."""


class ExperimentShard(NamedTuple):
    """One part of an experiment whose cells are dealt out to several runs."""

    number: int
    of: int

    def __str__(self) -> str:
        """Write it as the user does."""
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> ExperimentShard:
        """Read 2/3: the second of three."""
        number, _, of = text.partition("/")
        if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
            raise UsageError(f"{text!r} is not a shard: write 1/3, 2/3 or 3/3")
        return cls(int(number), int(of))


def run_experiment(
    session: Session,
    executor: Executor,
    *,
    progress: Progress | None = None,
    overwrite: Overwrite = "only-missing",
    shard: ExperimentShard | None = None,
) -> Results:
    """Return the results of every cell; a cell that failed is there with its reason."""
    progress = progress or Progress()
    config = session.config
    offsets = offset_specs(session)
    given, others, readers = session, contestants(session), make_readers(session)
    session = with_offsets(session, offsets)
    loaded = [session.dataset(spec) for spec in config.datasets]
    cells = session.cells[shard.number - 1 :: shard.of] if shard else session.cells
    failed = _prepare(session, cells, overwrite)
    try:
        failed |= _make(session, [cell for cell in cells if cell not in failed], executor, progress)
    finally:
        executor.close()
    records = []
    texts: dict[str, str] = {}
    hidden: dict[tuple[str, str], tuple[HiddenPart, ...]] = {}
    for cell in cells:
        if cell in failed:
            records.append(CellRecord(cell, "failed", failed[cell]))
        else:
            finished = cell_record(session, cell)
            records.append(finished.record)
            texts |= finished.texts
            hidden |= finished.hidden
    for spec, base in [(spec, base) for spec in readers for base in list(records)]:
        finished = read_record(given, base, readers[spec], key=base.key.read_by(spec))
        records.append(finished.record)
        texts |= finished.texts
        hidden |= finished.hidden
    for other in others[shard.number - 1 :: shard.of] if shard else others:
        finished = contestant_record(given, other)
        records.append(finished.record)
        texts |= finished.texts
        hidden |= finished.hidden
    cells_made = averaged(records, offsets)
    queries = tuple(itertools.chain.from_iterable(map(query_records, loaded)))
    whole = shown_files(given, cells_made, queries)
    return with_statistics(
        Results(
            config=config,
            environment=environment(config.run),
            datasets=tuple(each.record() for each in loaded),
            cells=tuple(cells_made),
            queries=queries,
            texts=texts,
            hidden=hidden,
            files=whole.files,
            cuts=whole.cuts,
            own_measures=own_facts(session.measures),
            shard=str(shard) if shard else None,
            matched_size=session.matched_size,
            left_out=session.left_out,
        )
    )


def _prepare(session: Session, cells: Sequence[CellKey], overwrite: Overwrite) -> dict[CellKey, str]:
    """Empty the store of these cells, or refuse those that are not in it, where the user asked for that."""
    store = session.store
    store.sweep()
    if overwrite == "always":
        for cell in cells:
            for key in session.stage_keys(cell).values():
                store.drop(key)
    if overwrite == "only-cache":
        lacking = [cell for cell in cells if not all(map(store.has, session.stage_keys(cell).values()))]
        return dict.fromkeys(lacking, "not in the cache, and --overwrite only-cache computes nothing")
    return {}


def make_chunks(
    session: Session, cells: Sequence[CellKey], executor: Executor, progress: Progress
) -> dict[CellKey, str]:
    """Fill the store with every cell's chunks; return the reason of each cell that failed."""
    pairs = dict.fromkeys((cell.dataset, cell.chunker) for cell in cells)
    fresh = [pair for pair in pairs if not session.store.has(session.chunk_key(*pair))]
    broken = _phase("chunk", functools.partial(_chunk, session), fresh, executor, progress)
    return {cell: broken[cell[:2]] for cell in cells if cell[:2] in broken}


def make_scores(
    session: Session, cells: Sequence[CellKey], executor: Executor, progress: Progress
) -> dict[CellKey, str]:
    """Fill the store with every cell's scores; return the reason of each cell that failed."""
    has = session.store.has
    todo = [cell for cell in cells if not has(session.score_key(cell))]
    failed = make_chunks(session, todo, executor, progress)
    todo = [cell for cell in todo if cell not in failed]

    corpora = dict.fromkeys(
        cell[:3] for cell in todo if _uses_vectors(session, cell) and not has(session.retrieve_key(cell))
    )
    parts = [part for corpus in corpora for part in stages.embedding_parts(session, *corpus)]
    progress.phase("embed", sum(part.texts for part in parts))
    spent: dict[tuple[str, str, str], float] = {}
    for outcome in executor.map_embedding(functools.partial(stages.embed, session), parts):
        progress.tick("embed", outcome.task.texts)
        spent[outcome.task.corpus] = spent.get(outcome.task.corpus, 0.0) + (outcome.value or 0.0)
        if outcome.error:
            needing = (cell for cell in todo if cell[:3] == outcome.task.corpus and _uses_vectors(session, cell))
            failed |= dict.fromkeys(needing, outcome.error)
    todo = [cell for cell in todo if cell not in failed]

    return failed | _phase("score", functools.partial(_score, session, spent), todo, executor, progress)


def _make(session: Session, cells: Sequence[CellKey], executor: Executor, progress: Progress) -> dict[CellKey, str]:
    """Fill the store with every cell's stages; return the reason of each cell that failed."""
    failed = make_scores(session, cells, executor, progress)
    tables = dict.fromkeys((cell.dataset, cell.chunker) for cell in cells if cell not in failed)
    open_ = [pair for pair in tables if not session.store.has(session.levels_key(*pair))]
    broken = _phase("levels", functools.partial(_levels, session), open_, executor, progress)
    return failed | {cell: broken[cell[:2]] for cell in cells if cell[:2] in broken}


def _uses_vectors(session: Session, cell: CellKey) -> bool:
    return session.retriever(cell.retriever).uses_vectors


def _phase(
    name: str, work: Callable[[Any], None], tasks: Sequence[Any], executor: Executor, progress: Progress
) -> dict[Any, str]:
    """Run one phase; return the reason of each task that failed."""
    broken = {}
    if tasks:
        progress.phase(name, len(tasks))
        for outcome in executor.map(work, tasks):
            progress.tick(name, 1)
            if outcome.error:
                broken[outcome.task] = outcome.error
    return broken


def _chunk(session: Session, pair: tuple[str, str]) -> None:
    stages.chunk(session, *pair)


def _levels(session: Session, pair: tuple[str, str]) -> None:
    stages.levels(session, *pair)


def _score(session: Session, spent: Mapping[tuple[str, str, str], float], cell: CellKey) -> None:
    stages.score(session, cell, embedded=spent.get(cell[:3], 0.0))
