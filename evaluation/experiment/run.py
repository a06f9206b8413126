"""Runs an experiment to its end: chunk, embed, retrieve and score what is not in the store, then put it together."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.languages import language_of
from chunkers.plugins import identity
from chunkers.registry import CHUNKERS
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.config import ExperimentConfig
from evaluation.experiment.environment import environment
from evaluation.experiment.executors import Executor
from evaluation.experiment.loaded_dataset import LoadedDataset, load_dataset, same_dataset
from evaluation.experiment.stages import Workbench
from evaluation.measures.registry import parse_measure
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import CellRecord, GoldLines, HitRecord, QueryRecord, Results
from evaluation.types import CellKey
from ground_truth.rules import parse_rule
from ground_truth.types import Annotation
from indexing.registry import ENCODERS, RETRIEVERS

_HITS_SHOWN = 10
Overwrite = Literal["always", "only-missing", "only-cache"]
"""What to do with results that are in the store: make all again, only those that lack, or none."""


def _nobody(_name: str, _count: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Watch:
    """What the caller is told while the experiment runs."""

    phase: Callable[[str, int], None] = _nobody
    """A phase begins, with this many units."""
    tick: Callable[[str, int], None] = _nobody
    """This many more units of a phase are done."""


class Shard(NamedTuple):
    """One part of an experiment whose cells are dealt out to several runs."""

    number: int
    of: int

    def __str__(self) -> str:
        """Write it as the user does."""
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read 2/3: the second of three."""
        number, _, of = text.partition("/")
        if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
            raise UsageError(f"{text!r} is not a shard: write 1/3, 2/3 or 3/3")
        return cls(int(number), int(of))


def cells_of(config: ExperimentConfig) -> list[CellKey]:
    """Return every combination, in the order of the config."""
    return [
        CellKey(*parts)
        for parts in itertools.product(config.datasets, config.chunkers, config.embedders, config.retrievers)
    ]


def check(config: ExperimentConfig) -> ExperimentConfig:
    """Raise for any plug-in, measure or rule that cannot be made, and return the config with canonical names."""
    for registry, specs in ((CHUNKERS, config.chunkers), (ENCODERS, config.embedders), (RETRIEVERS, config.retrievers)):
        spelled: dict[str, str] = {}
        for spec in specs:
            same = spelled.setdefault(repr(identity(registry.create(spec))), spec)
            if same != spec:
                raise UsageError(f"{same} and {spec} are the same {registry.kind}: write it one way")
    parse_rule(config.rule)
    for name in config.measures:
        cutoff = getattr(parse_measure(name), "cutoff", None) or 0
        if cutoff > config.depth:
            raise UsageError(f"{name} looks at {cutoff} results, but depth is {config.depth}: write depth = {cutoff}")
    names = tuple(dict.fromkeys(parse_measure(name).name for name in config.measures))
    return config.model_copy(update={"measures": names, "headline": parse_measure(config.headline).name})


def run_experiment(
    config: ExperimentConfig,
    *,
    cache: Path,
    executor: Executor,
    watch: Watch | None = None,
    overwrite: Overwrite = "only-missing",
    shard: Shard | None = None,
) -> Results:
    """Return the results of every cell; a cell that failed is there with its reason."""
    watch = watch or Watch()
    config = check(config)
    snapshots = {spec: load_dataset(spec, config.duplicates) for spec in config.datasets}
    bench = Workbench(config, cache)
    cells = cells_of(config)[shard.number - 1 :: shard.of] if shard else cells_of(config)
    failed = _prepare(bench, snapshots, cells, overwrite)
    try:
        failed |= _make(bench, snapshots, [cell for cell in cells if cell not in failed], executor, watch)
    finally:
        executor.close()
    records = []
    texts: dict[str, str] = {}
    for cell in cells:
        if cell in failed:
            records.append(CellRecord(cell, "failed", failed[cell]))
        else:
            record, shown = _record(bench, snapshots[cell.dataset], cell)
            records.append(record)
            texts |= shown
    return with_statistics(
        Results(
            config={**config.model_dump(mode="json"), "shard": str(shard) if shard else None},
            environment={**environment(), "run": config.run.model_dump(mode="json")},
            datasets=tuple(snapshot.record() for snapshot in snapshots.values()),
            cells=tuple(records),
            queries=tuple(itertools.chain.from_iterable(map(_query_records, snapshots.values()))),
            texts=texts,
            budgets=config.budgets,
        )
    )


def _prepare(
    bench: Workbench, snapshots: Mapping[str, LoadedDataset], cells: Sequence[CellKey], overwrite: Overwrite
) -> dict[CellKey, str]:
    """Empty the store of these cells, or refuse those that are not in it, where the user asked for that."""
    bench.store.sweep()
    keys = {cell: stages.stage_keys(bench, snapshots[cell.dataset], cell) for cell in cells}
    if overwrite == "always":
        for each in keys.values():
            for key in each.values():
                bench.store.drop(key)
    if overwrite == "only-cache":
        lacking = [cell for cell, each in keys.items() if not all(map(bench.store.has, each.values()))]
        return dict.fromkeys(lacking, "not in the cache, and --overwrite only-cache computes nothing")
    return {}


def _make(
    bench: Workbench,
    snapshots: Mapping[str, LoadedDataset],
    cells: Sequence[CellKey],
    executor: Executor,
    watch: Watch,
) -> dict[CellKey, str]:
    """Fill the store with every cell's stages; return the reason of each cell that failed."""
    failed: dict[CellKey, str] = {}
    seen = {spec: snapshot.fingerprint for spec, snapshot in snapshots.items()}
    todo = [cell for cell in cells if not bench.store.has(stages.score_key(bench, snapshots[cell.dataset], cell))]

    pairs = dict.fromkeys((cell.dataset, cell.chunker) for cell in todo)
    fresh = [pair for pair in pairs if not bench.store.has(stages.chunk_key(snapshots[pair[0]], pair[1]))]
    broken = _phase("chunk", functools.partial(_chunk, bench, seen), fresh, executor, watch)
    failed |= {cell: broken[cell[:2]] for cell in todo if cell[:2] in broken}
    todo = [cell for cell in todo if cell not in failed]

    corpora = dict.fromkeys(
        cell[:3]
        for cell in todo
        if _uses_vectors(cell) and not bench.store.has(stages.retrieve_key(bench, snapshots[cell.dataset], cell))
    )
    parts = [part for corpus in corpora for part in stages.embedding_parts(bench, snapshots[corpus[0]], *corpus)]
    watch.phase("embed", sum(part.texts for part in parts))
    spent: dict[tuple[str, str, str], float] = {}
    for outcome in executor.map_embedding(functools.partial(_embed, bench, seen), parts):
        watch.tick("embed", outcome.task.texts)
        spent[outcome.task.corpus] = spent.get(outcome.task.corpus, 0.0) + (outcome.value or 0.0)
        if outcome.error:
            needing = (cell for cell in todo if cell[:3] == outcome.task.corpus and _uses_vectors(cell))
            failed |= dict.fromkeys(needing, outcome.error)
    todo = [cell for cell in todo if cell not in failed]

    return failed | _phase("score", functools.partial(_score, bench, seen, spent), todo, executor, watch)


def _uses_vectors(cell: CellKey) -> bool:
    return RETRIEVERS.create(cell.retriever).uses_vectors


def _phase(
    name: str, work: Callable[[Any], None], tasks: Sequence[Any], executor: Executor, watch: Watch
) -> dict[Any, str]:
    """Run one phase; return the reason of each task that failed."""
    broken = {}
    if tasks:
        watch.phase(name, len(tasks))
        for outcome in executor.map(work, tasks):
            watch.tick(name, 1)
            if outcome.error:
                broken[outcome.task] = outcome.error
    return broken


def _chunk(bench: Workbench, seen: Mapping[str, str], pair: tuple[str, str]) -> None:
    stages.chunk(bench, same_dataset(pair[0], bench.config.duplicates, seen[pair[0]]), pair[1])


def _embed(bench: Workbench, seen: Mapping[str, str], part: stages.EmbeddingPart) -> float:
    """Embed the part and return the seconds it took."""
    dataset = part.corpus[0]
    snapshot = same_dataset(dataset, bench.config.duplicates, seen[dataset])
    started = time.perf_counter()
    stages.embed(bench, snapshot, part)
    return time.perf_counter() - started


def _score(
    bench: Workbench, seen: Mapping[str, str], spent: Mapping[tuple[str, str, str], float], cell: CellKey
) -> None:
    snapshot = same_dataset(cell.dataset, bench.config.duplicates, seen[cell.dataset])
    stages.score(bench, snapshot, cell, embedded=spent.get(cell[:3], 0.0))


def _record(bench: Workbench, snapshot: LoadedDataset, cell: CellKey) -> tuple[CellRecord, dict[str, str]]:
    """Return the finished cell, and the texts of the results it shows."""
    scored, seconds = stages.score(bench, snapshot, cell)
    chunks: ChunkTable = stages.chunk(bench, snapshot, cell.chunker).value
    ranking: stages.Ranking = stages.retrieve(bench, snapshot, cell).value.ranking
    hits = {
        query_id: tuple(
            _hit(chunks, hit.position, rank=rank, score=hit.score)
            for rank, hit in enumerate(found[:_HITS_SHOWN], start=1)
        )
        for query_id, found in ranking.items()
    }
    record = CellRecord(
        key=cell,
        status="ok",
        chunks={**stages.chunk_facts(chunks), **scored.facts},
        seconds={name: round(value, 3) for name, value in seconds.items()},
        scores=scored.scores,
        curve=scored.curve,
        hits=hits,
        run={query_id: [chunks.ids[hit.position] for hit in found] for query_id, found in ranking.items()},
        qrels=scored.qrels,
    )
    shown = sorted({hit.position for found in ranking.values() for hit in found[:_HITS_SHOWN]})
    return record, {chunks.ids[row]: _text(snapshot, chunks, row) for row in shown}


def _hit(chunks: ChunkTable, row: int, *, rank: int, score: float) -> HitRecord:
    columns = chunks.columns
    return HitRecord(
        rank=rank,
        chunk_id=chunks.ids[row],
        score=score,
        path=chunks.files[columns["file"][row]].path,
        start_line=int(columns["start_line"][row]),
        end_line=int(columns["end_line"][row]),
    )


def _text(snapshot: LoadedDataset, chunks: ChunkTable, row: int) -> str:
    columns = chunks.columns
    data = snapshot.read(chunks.files[columns["file"][row]])
    return data[columns["start"][row] : columns["end"][row]].decode("utf-8", "replace")


def _query_records(snapshot: LoadedDataset) -> Iterable[QueryRecord]:
    gold: dict[str, list[Annotation]] = {}
    for note in snapshot.dataset.annotations:
        gold.setdefault(note.query_id, []).append(note)
    for query in snapshot.dataset.queries:
        notes = gold.get(query.id, [])
        yield QueryRecord(
            dataset=snapshot.spec,
            id=query.id,
            text=query.text,
            repo=query.repo,
            cluster=query.cluster,
            language=language_of(notes[0].path) if notes else None,
            gold=tuple(GoldLines(note.path, note.start_line, note.end_line) for note in notes),
        )
