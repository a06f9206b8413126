"""Runs an experiment to its end: chunks, embeds, retrieves and scores what is not in the store, then combines it."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkPart
from evaluation.experiment.contestants import contestant_record, contestants
from evaluation.experiment.environment import environment
from evaluation.experiment.executors import Executor, attempt
from evaluation.experiment.offsets import averaged, cells_at_offsets, offset_specs, with_offsets
from evaluation.experiment.progress import Progress
from evaluation.experiment.read_cells import make_readers, read_record
from evaluation.experiment.records import FinishedCell, cell_record, query_records
from evaluation.experiment.session import Session
from evaluation.experiment.sharing import sharing
from evaluation.experiment.shown_files import shown_files
from evaluation.experiment.shown_texts import read_shown
from evaluation.experiment.spread_work import spread_work
from evaluation.experiment.store import StageKey
from evaluation.measures.declared import own_facts
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import CellRecord, Results
from evaluation.types import CellKey
from indexing.frequencies import Frequencies
from indexing.readers.types import Reader

T = TypeVar("T")
Overwrite = Literal["always", "only-missing", "only-cache"]
"""What to do about the store: recompute all results, only missing ones, or none."""


_PART = re.compile(r"[0-9]{1,6}\Z")
_FEW_ASKED = 2_000
"""Queries that take a few seconds to score, over all cells and their levels."""


class ExperimentShard(NamedTuple):
    """One shard of an experiment whose cells are divided among several runs."""

    number: int
    of: int

    def __str__(self) -> str:
        """Return it as the user writes it."""
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> ExperimentShard:
        """Parse 2/3: the second of three."""
        number, _, of = text.partition("/")
        if not (_PART.match(number) and _PART.match(of) and 1 <= int(number) <= int(of)):
            raise UsageError(f"{one_line(text, limit=80)!r} is not a shard: write 1/3, 2/3 or 3/3")
        return cls(int(number), int(of))


def run_experiment(
    session: Session,
    executor: Executor,
    *,
    progress: Progress | None = None,
    overwrite: Overwrite = "only-missing",
    shard: ExperimentShard | None = None,
) -> Results:
    """Return the results of every cell; a failed cell carries its reason."""
    progress = progress or Progress()
    config = session.config
    try:
        with spread_work(session.store, executor):
            loaded = [session.dataset(spec) for spec in config.datasets]
        offsets = offset_specs(session)
        given, others, readers = session, contestants(session), make_readers(session)
        session = with_offsets(session, offsets)
        cells = cells_at_offsets(session, share_of(given.cells, shard), offsets)
        failed = _prepare(session, cells, overwrite)
        failed |= make_scores(session, [cell for cell in cells if cell not in failed], executor, progress, levels=True)
        made = [_finished(session, cell, failed.get(cell, "")) for cell in cells]
        made += [
            _read(given, base.record, reader, key=base.record.key.read_by(spec))
            for spec, reader in readers.items()
            for base in list(made)
        ]
        made += [contestant_record(given, other) for other in share_of(others, shard)]
        clusters = {each.spec: [query.cluster for query in each.dataset.queries] for each in loaded}
        records = averaged([each.record for each in made], offsets, clusters=clusters, weight=config.weight)
        queries = tuple(itertools.chain.from_iterable(map(query_records, loaded)))
        whole = shown_files(given, records, queries)
        spans = {name: span for each in made for name, span in each.shown.items()}
        shown = read_shown(session, executor, [*spans.values(), *whole.files.values()])
    finally:
        executor.close()
    return with_statistics(
        Results(
            config=config,
            environment=environment(config.run),
            datasets=tuple(each.record() for each in loaded),
            cells=tuple(records),
            queries=queries,
            texts={name: shown[span].text for name, span in spans.items()},
            hidden={(span.dataset, name): shown[span].hidden for name, span in spans.items() if shown[span].hidden},
            files={place: shown[span] for place, span in whole.files.items()},
            cuts=whole.cuts,
            own_measures=own_facts(session.measures),
            shard=str(shard) if shard else None,
            matched_size=session.matched_size,
            left_out=session.left_out,
        )
    )


def share_of(everything: Sequence[T], shard: ExperimentShard | None) -> Sequence[T]:
    """Return what a shard runs: everything if there are no shards."""
    return everything[shard.number - 1 :: shard.of] if shard else everything


def _finished(session: Session, cell: CellKey, failure: str) -> FinishedCell:
    return FinishedCell(CellRecord(cell, "failed", failure)) if failure else cell_record(session, cell)


def _read(session: Session, base: CellRecord, reader: Reader, *, key: CellKey) -> FinishedCell:
    """Return the cell of a ranking under a reader; if the reader or a measure fails, the cell carries the reason."""
    outcome = attempt(lambda cell: read_record(session, base, reader, key=cell), key)
    return outcome.value or FinishedCell(CellRecord(key, "failed", outcome.error))


def _prepare(session: Session, cells: Sequence[CellKey], overwrite: Overwrite) -> dict[CellKey, str]:
    """Remove these cells from the store, or raise for missing ones, if the user asked for that."""
    store = session.store
    store.sweep()
    if overwrite == "always":
        for cell in cells:
            for key in (*_keys(session, cell), session.words_key(cell.dataset, cell.chunker)):
                store.drop(key)
        for chunker in {cell.chunker for cell in cells}:
            session.file_chunks(chunker).clear()
    if overwrite == "only-cache":
        lacking = [cell for cell in cells if not all(map(store.has, _keys(session, cell)))]
        return dict.fromkeys(lacking, "not in the cache, and --overwrite only-cache computes nothing")
    return {}


def _keys(session: Session, cell: CellKey) -> list[StageKey]:
    """Return the keys of all results of a cell: those of its stages, and the levels of its chunks."""
    return [*session.stage_keys(cell).values(), session.levels_key(cell.dataset, cell.chunker)]


def make_chunks(
    session: Session, cells: Sequence[CellKey], executor: Executor, progress: Progress
) -> dict[CellKey, str]:
    """Fill the store with every cell's chunks; return the reason of each cell that failed."""
    pairs = dict.fromkeys((cell.dataset, cell.chunker) for cell in cells)
    fresh = [pair for pair in pairs if not session.store.has(session.chunk_key(*pair))]
    with sharing(session, executor, [dataset for dataset, _ in fresh]):
        broken = _chunk(session, fresh, executor, progress)
    return {cell: broken[cell[:2]] for cell in cells if cell[:2] in broken}


def make_scores(
    session: Session, cells: Sequence[CellKey], executor: Executor, progress: Progress, *, levels: bool = False
) -> dict[CellKey, str]:
    """Fill the store with every cell's scores, and optionally its levels; return the reason of each that failed."""
    todo = [cell for cell in cells if not session.store.has(session.score_key(cell))]
    with sharing(session, executor, [cell.dataset for cell in todo]):
        failed = make_chunks(session, todo, executor, progress)
        todo = [cell for cell in todo if cell not in failed]
        spent = _embed(session, todo, executor, progress, failed)
        todo = [cell for cell in todo if cell not in failed]
        blocks = make_parts(session, todo, executor, progress, failed)
        todo = [cell for cell in todo if cell not in failed]
        tables = dict.fromkeys((cell.dataset, cell.chunker) for cell in cells if levels and cell not in failed)
        open_ = [pair for pair in tables if not session.store.has(session.levels_key(*pair))]
        if todo:
            progress.phase("score", len(todo))
        if open_:
            progress.phase("levels", len(open_))
        # Both at once: where there are few cells, their levels keep the other cores busy.
        broken: dict[tuple[str, ...], str] = {}
        asked = sum(len(session.dataset(task[0]).dataset.queries) for task in (*todo, *open_))
        doers = executor if blocks or asked > _FEW_ASKED else executor.for_small_jobs()
        for outcome in doers.map(functools.partial(_score_or_levels, session, spent, blocks), [*todo, *open_]):
            progress.tick("score" if isinstance(outcome.task, CellKey) else "levels", 1)
            if outcome.error:
                broken[outcome.task] = outcome.error
    return failed | {cell: broken[task] for cell in cells for task in (cell[:2], cell) if task in broken}


def _embed(
    session: Session, todo: Sequence[CellKey], executor: Executor, progress: Progress, failed: dict[CellKey, str]
) -> dict[tuple[str, str, str], float]:
    """Embed what searches need; return the seconds of each corpus, and add cells without vectors to ``failed``."""
    has = session.store.has

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
    return spent


def make_parts(
    session: Session, todo: Sequence[CellKey], executor: Executor, progress: Progress, failed: dict[CellKey, str]
) -> dict[CellKey, list[stages.SearchBlock]]:
    """Search cells in blocks, if there are several and workers are available; return the blocks, record failures."""
    cells: dict[CellKey, list[stages.SearchBlock]] = {}
    for cell in todo if executor.elsewhere else ():
        if session.store.has(session.retrieve_key(cell)) or (
            not executor.for_small_jobs().elsewhere and stages.little_to_search(session, cell)
        ):
            continue
        blocks = stages.search_blocks(session, cell)
        if len(blocks) > 1:
            cells[cell] = blocks
    failed |= _count(session, list(cells), executor, progress)
    tasks = [block for cell, blocks in cells.items() if cell not in failed for block in blocks]
    if tasks:
        progress.phase("search", len(tasks))
    for outcome in executor.map(functools.partial(_search_block, session), tasks):
        progress.tick("search", 1)
        if outcome.error:
            failed[outcome.task.cell] = outcome.error
    if tasks:
        session.file_words.packs.merge()
    return cells


def _search_block(session: Session, block: stages.SearchBlock) -> None:
    """Store the search results, from which the cell's scores are computed."""
    stages.search_block(session, block)


def _count(session: Session, cells: Sequence[CellKey], executor: Executor, progress: Progress) -> dict[CellKey, str]:
    """Count the words that searches need; return the reason of each cell without them."""
    pairs = dict.fromkeys(cell[:2] for cell in cells if stages.reads_words(session, cell))
    fresh = [pair for pair in pairs if not session.store.has(session.words_key(*pair))]
    blocks = {pair: stages.word_blocks(session, *pair) for pair in fresh}
    if blocks:
        progress.phase("words", sum(len(block.files) for each in blocks.values() for block in each))
    made: dict[stages.WordBlock, Mapping[str, Frequencies]] = {}
    broken: dict[tuple[str, ...], str] = {}
    work = functools.partial(stages.count_block, session)
    for outcome in executor.map(work, list(itertools.chain.from_iterable(blocks.values()))):
        progress.tick("words", len(outcome.task.files))
        if outcome.value is None:
            broken[outcome.task[:2]] = outcome.error
        else:
            made[outcome.task] = outcome.value
    if fresh:
        session.file_words.packs.merge()  # every worker opens what all of them counted
    for pair in fresh:
        if pair not in broken:
            stages.save_counted(session, *pair, [made.pop(block) for block in blocks[pair]])
    return {cell: broken[cell[:2]] for cell in cells if cell[:2] in broken and stages.reads_words(session, cell)}


def _uses_vectors(session: Session, cell: CellKey) -> bool:
    return session.retriever(cell.retriever).uses_vectors


def _chunk(
    session: Session, pairs: Sequence[tuple[str, str]], executor: Executor, progress: Progress
) -> dict[tuple[str, str], str]:
    """Build the chunk tables, in blocks of files shared by all chunkers of a dataset; return why any failed."""
    chunkers: dict[str, tuple[str, ...]] = {}
    for dataset, chunker in pairs:
        chunkers[dataset] = (*chunkers.get(dataset, ()), chunker)
    little = all(stages.little_to_cut(session, *each) for each in chunkers.items())
    blocks = [block for each in chunkers.items() for block in stages.chunk_blocks(session, *each, little=little)]
    if blocks:
        progress.phase("chunk", sum(len(block.files) for block in blocks))
    made: dict[stages.ChunkBlock, Mapping[str, ChunkPart | str]] = {}
    left = Counter(block.dataset for block in blocks)
    broken: dict[tuple[str, str], str] = {}
    cutting = executor.for_small_jobs() if little else executor
    for outcome in cutting.map(functools.partial(stages.chunk_block, session), blocks):
        block = outcome.task
        progress.tick("chunk", len(block.files))
        made[block] = outcome.value or dict.fromkeys(block.chunkers, outcome.error)
        left[block.dataset] -= 1
        if not left[block.dataset]:
            ordered = [made.pop(each) for each in blocks if each.dataset == block.dataset]
            for spec in block.chunkers:
                join = functools.partial(_join, session, block.dataset, [parts[spec] for parts in ordered])
                if error := attempt(join, spec).error:
                    broken[block.dataset, spec] = error
                session.file_chunks(spec).merge()
            session.file_tokens().merge()
    return broken


def _join(session: Session, dataset: str, parts: Sequence[ChunkPart | str], chunker: str) -> None:
    stages.save_table(session, dataset, chunker, stages.join_blocks(parts))


def _score_or_levels(
    session: Session,
    spent: Mapping[tuple[str, str, str], float],
    blocks: Mapping[CellKey, Sequence[stages.SearchBlock]],
    task: tuple[str, ...],
) -> None:
    """Score a cell, or compute the chance and ceiling levels of a dataset under a chunker."""
    if isinstance(task, CellKey):
        embedded = spent.get(task[:3], 0.0) if _uses_vectors(session, task) else 0.0
        stages.score(session, task, embedded=embedded, blocks=blocks.get(task, ()))
    else:
        stages.levels(session, task[0], task[1])
