"""Everything a run found: frozen values, with per-query scores first and means computed from them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from evaluation.config import ExperimentConfig
from evaluation.measures.declared import MeasureFacts
from evaluation.results.facts import ChunkFacts, CostFacts, DatasetRecord, JudgementFacts, SearchFacts
from evaluation.run_options import RunOptions
from evaluation.statistics import BestSet, Comparison
from evaluation.types import CellKey

_LONGEST_NAME = 200
"""Characters; file systems allow 255 bytes, including an extension."""


class GoldLines(NamedTuple):
    """Lines that answer a query, 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int


class HiddenPart(NamedTuple):
    """Half-open characters of a chunk's text that are hidden from every index."""

    start: int
    end: int


class FilePlace(NamedTuple):
    """A file of a dataset."""

    dataset: str
    repo: str
    path: str


class ShownFile(NamedTuple):
    """A whole file, for display."""

    text: str
    hidden: tuple[HiddenPart, ...] = ()
    """Its parts hidden from every index."""


class Lines(NamedTuple):
    """First and last line of a chunk, 1-based and inclusive."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query as shown in the report."""

    dataset: str
    id: str
    text: str
    repo: str
    cluster: str
    language: str | None
    gold: tuple[GoldLines, ...]
    kind: str = ""
    """How the query was made: docstrings, comments, commits, or the dataset's own kind."""
    category: str = ""


@dataclass(frozen=True, slots=True)
class HitRecord:
    """One of a query's best results."""

    rank: int
    chunk_id: str
    score: float
    path: str
    start_line: int
    end_line: int
    tokens: int | None = None
    """Tokens that reading it adds: its header, and visible text that no result above it showed; None if unknown."""


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """One measure over all queries of a cell; None if the data cannot give the number."""

    mean: float | None
    low: float | None
    high: float | None
    method: str
    scored: int
    undefined: int
    caveat: str
    median: float | None = None
    """Replaces the mean where a query without a value never reached the target; None if half never did."""
    other_mean: float | None = None
    """The mean under the other weight: each query counting once if the main one counts repositories, and vice versa."""


@dataclass(frozen=True, slots=True)
class OffsetSpread:
    """The means of one measure at each offset of the first cut, where scores are averaged over several."""

    measure: str
    means: tuple[float, ...]


@dataclass(frozen=True)
class CellRecord:
    """The outcome of one cell."""

    key: CellKey
    status: Literal["ok", "failed"]
    reason: str = ""
    chunks: ChunkFacts = field(default_factory=ChunkFacts)
    search: SearchFacts = field(default_factory=SearchFacts)
    judgements: JudgementFacts = field(default_factory=JudgementFacts)
    cost: CostFacts = field(default_factory=CostFacts)
    measures: Mapping[str, MeasureSummary] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Stage → seconds it took when it was computed."""
    offsets: tuple[OffsetSpread, ...] = ()
    """How much the offset of the first cut matters; empty if there is only one."""
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    """measure → one value per query of the cell's dataset, in the order of `Results.queries`; NaN is undefined."""
    curve: np.ndarray | None = None
    """Recall of gold text: queries × budgets."""
    hits: Mapping[str, tuple[HitRecord, ...]] = field(default_factory=dict)
    """query id → the best results, for display."""
    run: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """query id → chunk ids, best first."""
    qrels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """A file name for the cell, with a hash if a short name would be truncated or shared with another cell."""
        written = "__".join(self.key)
        name = re.sub(r"[^A-Za-z0-9._=-]+", "_", written)
        if len(name) <= _LONGEST_NAME and re.fullmatch(r"[A-Za-z0-9._=:,/-]+", written):
            return name
        return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(written.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class ComparisonRecord:
    """Two cells that differ in one axis, compared in one measure; their spec on that axis is empty here."""

    axis: str
    dataset: str
    chunker: str
    embedder: str
    retriever: str
    measure: str
    found: Comparison


@dataclass(frozen=True, slots=True)
class BestRecord:
    """Which of the cells that differ in one axis may be the best in one measure."""

    axis: str
    dataset: str
    chunker: str
    embedder: str
    retriever: str
    measure: str
    found: BestSet


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment in which the numbers were computed."""

    python: str
    platform: str
    packages: Mapping[str, str]
    run: RunOptions = field(default_factory=lambda: RunOptions.model_validate({}))
    """How the experiment was run; nothing here changes a number."""


@dataclass(frozen=True, slots=True)
class SettingBest:
    """Which chunkers may be best in one setting, corrected for the number of settings."""

    setting: CellKey
    """With an empty chunker."""
    found: BestSet


@dataclass(frozen=True, slots=True)
class Interaction:
    """How much the difference of two chunkers changes from one setting to another."""

    a: str
    b: str
    first: CellKey
    second: CellKey
    in_first: float
    """Mean of a minus b there."""
    in_second: float
    change: Comparison
    """The first setting minus the second, corrected for all pairs of settings of the same dataset."""


@dataclass(frozen=True, slots=True)
class Overall:
    """One statement over several settings of the headline measure."""

    measure: str
    chunkers: tuple[str, ...]
    """Those scored in every setting."""
    settings: tuple[SettingBest, ...]
    may_be_best: tuple[str, ...]
    """Those that may be best in every setting."""
    excluded: tuple[str, ...]
    """Those shown not to be best in any setting."""
    interaction: Interaction | None = None
    """The largest change of a difference between two settings; None if no two share a dataset."""


@dataclass(frozen=True)
class Results:
    """An experiment's outcome: means and comparisons are computed from its per-query scores."""

    config: ExperimentConfig
    environment: Environment
    datasets: tuple[DatasetRecord, ...]
    cells: tuple[CellRecord, ...]
    comparisons: tuple[ComparisonRecord, ...] = ()
    best: tuple[BestRecord, ...] = ()
    overall: Overall | None = None
    """One statement over all settings; None if there is only one."""
    queries: tuple[QueryRecord, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """chunk id → text, for the chunks that `hits` name."""
    hidden: Mapping[tuple[str, str], tuple[HiddenPart, ...]] = field(default_factory=dict)
    """(dataset, chunk id) → its hidden parts; datasets may hide different parts."""
    files: Mapping[FilePlace, ShownFile] = field(default_factory=dict)
    """Whole files that hold an answer or one of the best results, as far as there is room."""
    cuts: Mapping[tuple[str, FilePlace], tuple[Lines, ...]] = field(default_factory=dict)
    """(chunker, file) → all its chunks of one of `files`."""
    budget_unit: str = "tokens"
    own_measures: tuple[MeasureFacts, ...] = ()
    """The declarations of unregistered measures."""
    shard: str | None = None
    """The part of the experiment, as I/N; None for all of it."""
    matched_size: str = ""
    """The mean size that the chunkers were matched to, in words; empty if sizes are as given."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Chunkers that could not be matched, with the reason."""

    @property
    def budgets(self) -> tuple[int, ...]:
        """The budgets of every cell's curve."""
        return self.config.budgets

    def clusters_of(self, dataset: str) -> list[str]:
        """Return the repository of each of a dataset's queries."""
        return [query.cluster for query in self.queries_of(dataset)]

    def queries_of(self, dataset: str) -> tuple[QueryRecord, ...]:
        """Return the queries of one dataset, in the order of every cell's scores."""
        return tuple(query for query in self.queries if query.dataset == dataset)
