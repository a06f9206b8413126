"""The field: candidates cut all of the code, so that their costs are known before anything is embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chunkers.errors import UsageError
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.executors import Executor
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_chunks
from evaluation.experiment.session import Session
from evaluation.recommend.candidates import Candidate
from evaluation.recommend.estimating import Entrant
from evaluation.recommend.limits import Exceeded, exceeded, impossible
from evaluation.recommend.sampling import Passages
from evaluation.recommend.texts import IndexTexts, index_texts, index_tokens, layout, numbered, ranges_of
from evaluation.recommend.types import CandidateRecord, Fate, Limits
from evaluation.report.formats import joined, plural


@dataclass(frozen=True)
class Runner:
    """A candidate that may race, with its cost."""

    candidate: Candidate
    chunks: int
    mean_nws: float
    tokens: int
    texts: IndexTexts
    cost: tuple[float, ...]
    uncut: str = ""
    """The number and names of the files it failed on, with the errors."""

    @property
    def distinct(self) -> int:
        """The number of distinct texts."""
        return len(np.unique(self.texts.keys))


@dataclass(frozen=True)
class Field:
    """The candidates that race, and those that do not, with the reason."""

    runners: Mapping[str, Runner]
    out: Mapping[str, CandidateRecord]
    begins: Mapping[str, int]
    """Where each path begins on one axis of all paths."""

    def share_of_texts(self, passages: Passages) -> float:
        """Return the share of all candidates' texts that touch the passages."""
        runners, ranges = self.runners.values(), ranges_of(passages, self.begins)
        return sum(len(each.texts.within(ranges)) for each in runners) / sum(each.chunks for each in runners)

    def entrants(self, passages: Passages | None, around: Mapping[str, str]) -> list[Entrant]:
        """Return the candidates as the race sees them, with the texts to index in the round, if any, and in the final.

        ``around`` maps each to the chunker whose chunks surround the passages.
        """
        held = [ranges_of(passages, self.begins)] if passages else []
        return [
            Entrant(
                name=spec,
                texts=[*(each.texts.within(ranges) for ranges in held), each.texts.keys],
                cost=each.cost,
                family=each.candidate.family,
                size=each.mean_nws,
                around=self.runners[around.get(spec, spec)].mean_nws,
            )
            for spec, each in self.runners.items()
        ]


def make_field(
    session: Session, candidates: Sequence[Candidate], limits: Limits, *, executor: Executor, progress: Progress
) -> Field:
    """Cut the code with every candidate; exclude those that fail, that duplicate another, or that exceed a limit."""
    dataset = session.config.datasets[0]
    cells = [cell for cell in session.cells if cell.chunker in {each.spec for each in candidates}]
    failed = {cell.chunker: reason for cell, reason in make_chunks(session, cells, executor, progress).items()}
    loaded = session.dataset(dataset)
    begins = layout(loaded)
    runners: dict[str, Runner] = {}
    out: dict[str, CandidateRecord] = {}
    first: dict[str, str] = {}
    exceeding: dict[str, list[Exceeded]] = {}
    for candidate in candidates:
        spec = candidate.spec
        if spec in failed:
            out[spec] = CandidateRecord(spec, candidate.family, "failed", failed[spec])
            continue
        table = stages.chunk(session, dataset, spec)
        if empty := no_chunks(table):
            out[spec] = CandidateRecord(spec, candidate.family, "failed", empty)
            continue
        same = first.setdefault(table.facts.fingerprint, spec)
        if same != spec:
            reason = f"cuts this code exactly as {same} does"
            out[spec] = _out(candidate, "same chunks", reason, table)
            continue
        if over := list(exceeded(session, table, limits)):
            exceeding[spec] = over
            out[spec] = _out(candidate, "over the limit", joined([each.words for each in over]), table)
            continue
        texts = index_texts(loaded, table, begins)
        tokens = index_tokens(table)
        cost = (len(table), tokens) if limits.price is None else (tokens, len(table))
        runners[spec] = Runner(candidate, len(table), table.facts.mean_nws, tokens, texts, cost, uncut(table))
    if exceeding and not runners:
        raise UsageError(impossible(exceeding))
    texts_of = numbered(runner.texts for runner in runners.values())
    named = zip(runners.items(), texts_of, strict=True)
    return Field({spec: replace(runner, texts=texts) for (spec, runner), texts in named}, out, begins)


def _out(candidate: Candidate, fate: Fate, reason: str, table: ChunkTable) -> CandidateRecord:
    facts = table.facts
    return CandidateRecord(*candidate, fate, reason, chunks=len(table), mean_nws=facts.mean_nws)


def uncut(table: ChunkTable) -> str:
    """Return the number and names of the files a chunker failed on, with the errors; nothing if it cut all of them."""
    failed = table.facts.failed_files
    return f"{plural(len(failed), 'file')}: {table.facts.failed_words}" if failed else ""


def no_chunks(table: ChunkTable) -> str:
    """Return why nothing can be found in a table; nothing if there are chunks."""
    if len(table):
        return ""
    return f"it makes no chunks of {plural(len(table.files), 'file')}, so that nothing can be found with it"
