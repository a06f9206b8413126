"""The field: candidates cut all of the code, so that their costs are known before anything is embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chunkers.errors import UsageError
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.executors import Executor
from evaluation.experiment.progress import Progress
from evaluation.experiment.row_places import RowPlaces
from evaluation.experiment.run import make_chunks
from evaluation.experiment.session import Session
from evaluation.experiment.visible_chunks import searchable_rows
from evaluation.recommend.candidates import Candidate
from evaluation.recommend.estimating import Entrant
from evaluation.recommend.sampling import Passages
from evaluation.recommend.texts import IndexTexts, index_texts, index_tokens, layout, numbered, ranges_of
from evaluation.recommend.types import CandidateRecord, Fate, Limits
from indexing.types import SearchSpace


@dataclass(frozen=True)
class Runner:
    """A candidate that may race, with what it costs."""

    candidate: Candidate
    chunks: int
    mean_nws: float
    tokens: int
    texts: IndexTexts
    cost: tuple[float, ...]

    @property
    def distinct(self) -> int:
        """How many different texts there are."""
        return len(np.unique(self.texts.keys))


@dataclass(frozen=True)
class Field:
    """Who races, and who does not and why."""

    runners: Mapping[str, Runner]
    out: Mapping[str, CandidateRecord]
    begins: Mapping[str, int]
    """Where each path begins, all one after the other."""

    def share_of_texts(self, passages: Passages) -> float:
        """Return the share of all candidates' texts that touch the passages."""
        runners, ranges = self.runners.values(), ranges_of(passages, self.begins)
        return sum(len(each.texts.within(ranges)) for each in runners) / max(sum(each.chunks for each in runners), 1)

    def entrants(self, passages: Passages | None, around: Mapping[str, str]) -> list[Entrant]:
        """Return the candidates as the race sees them, with the texts that the round, if any, and the final index.

        ``around`` names whose chunks are around the passages.
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
    """Cut the code with every candidate; leave out those that fail, that repeat another, or are over a limit."""
    dataset = session.config.datasets[0]
    cells = [cell for cell in session.cells if cell.chunker in {each.spec for each in candidates}]
    failed = {cell.chunker: reason for cell, reason in make_chunks(session, cells, executor, progress).items()}
    loaded = session.dataset(dataset)
    begins = layout(loaded)
    runners: dict[str, Runner] = {}
    out: dict[str, CandidateRecord] = {}
    first: dict[str, str] = {}
    for candidate in candidates:
        spec = candidate.spec
        if spec in failed:
            out[spec] = CandidateRecord(spec, candidate.family, "failed", failed[spec])
            continue
        table = stages.chunk(session, dataset, spec)
        same = first.setdefault(table.facts.fingerprint, spec)
        if same != spec:
            reason = f"cuts this code exactly as {same} does"
            out[spec] = _out(candidate, "same chunks", reason, table)
            continue
        if over := _over(session, table, limits):
            out[spec] = _out(candidate, "over the limit", over, table)
            continue
        texts = index_texts(loaded, table, begins)
        tokens = index_tokens(table)
        cost = (len(table), tokens) if limits.price is None else (tokens, len(table))
        runners[spec] = Runner(candidate, len(table), table.facts.mean_nws, tokens, texts, cost)
    _check(runners, out)
    texts_of = numbered(runner.texts for runner in runners.values())
    named = zip(runners.items(), texts_of, strict=True)
    return Field({spec: replace(runner, texts=texts) for (spec, runner), texts in named}, out, begins)


def _out(candidate: Candidate, fate: Fate, reason: str, table: ChunkTable) -> CandidateRecord:
    facts = table.facts
    return CandidateRecord(*candidate, fate, reason, chunks=len(table), mean_nws=facts.mean_nws)


def _check(runners: Mapping[str, Runner], out: Mapping[str, CandidateRecord]) -> None:
    """Raise where nobody is left because of the limits; where all failed, the caller says so."""
    over = [record for record in out.values() if record.fate == "over the limit"]
    if runners or not over:
        return
    fewest = min(over, key=lambda record: record.chunks)
    raise UsageError(
        f"no candidate is within the limits; the one with the fewest chunks is {fewest.spec}: {fewest.reason}. "
        "Raise the limit, or name larger chunks with --candidates"
    )


def _over(session: Session, table: ChunkTable, limits: Limits) -> str:
    """Return which limit a candidate exceeds, in words; nothing where it is within all."""
    if limits.max_chunks is not None and len(table) > limits.max_chunks:
        return f"{len(table):,} chunks, and the limit is {limits.max_chunks:,}"
    if limits.price is not None and limits.budget is not None:
        price = index_tokens(table) * limits.price / 1e6
        if price > limits.budget:
            return f"embedding costs {price:,.2f}, and the limit is {limits.budget:,.2f}"
    if limits.max_index_mb is not None:
        size = index_mb(session, table)
        if size > limits.max_index_mb:
            return f"its index takes {size:,.1f} MB, and the limit is {limits.max_index_mb:,.1f}"
    return ""


def index_mb(session: Session, table: ChunkTable) -> float:
    """Return the size of the indexes of all repositories: what is kept to answer queries, without the texts.

    A vector takes the same room whatever its values are, so that nothing has to be embedded to know it.
    """
    config = session.config
    loaded, retriever = session.dataset(config.datasets[0]), session.retriever(config.retrievers[0])
    width = _dimensions(session) if retriever.uses_vectors else 0
    prepare: Any = getattr(retriever, "prepare", None)
    total = 0
    for rows in searchable_rows(loaded, table).values():
        if prepare is None:
            total += 4 * width * len(rows)
            continue
        vectors = np.full((len(rows), width), 1 / max(width, 1) ** 0.5, dtype=np.float32) if width else None
        space = SearchSpace(ChunkTexts(table, rows, loaded), vectors, RowPlaces(table, rows))
        total += prepare(space).bytes
    return total / 1e6


def _dimensions(session: Session) -> int:
    encoder = session.encoder(session.config.embedders[0])
    return int(session.embeddings.embed(encoder, ["width"], kind="query").shape[1])
