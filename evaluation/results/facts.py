"""The facts beside the scores, about chunks, searches, judgements and datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FAILED_NAMED = 3


@dataclass(frozen=True, slots=True)
class SizeHistogram:
    """Number of chunks between two sizes; the last bin has no upper edge."""

    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """A chunker's result on the corpus: number and sizes of chunks, and what it lost, duplicated or could not cut."""

    count: int = 0
    fingerprint: str = ""
    """A hash of the chunks: chunkers that cut the corpus identically have the same one."""
    mean_nws: float = 0.0
    median_nws: float = 0.0
    p95_nws: float = 0.0
    mean_tokens: float = 0.0
    sizes: SizeHistogram = SizeHistogram()
    files: int = 0
    total_nws: int = 0
    lost_nws: int = 0
    doubled_nws: int = 0
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    """Reason → files that were not cut as the chunker's name promises."""
    failed_files: Mapping[str, str] = field(default_factory=dict)
    """Repository/path → the error that the chunker raised; such a file has no chunks."""

    @property
    def failed_words(self) -> str:
        """The files that could not be cut, each with its error: the first few if there are many, "" if none."""
        named = [f"{name} ({reason})" for name, reason in list(self.failed_files.items())[:_FAILED_NAMED]]
        more = len(self.failed_files) - len(named)
        return ", ".join([*named, *([f"{more:,} more"] if more else [])])


@dataclass(frozen=True, slots=True)
class Truncation:
    """What the model cannot see: the share of chunks that are truncated, and of all tokens."""

    chunks: float
    tokens: float


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """A search's facts about itself."""

    uses_vectors: bool = True
    """Whether the embedder was involved."""
    truncated: Truncation | None = None
    hidden_chunks: int = 0
    """Chunks whose text is entirely hidden: they cannot be found."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    """The retriever's measurements of itself, such as the recall of an approximate index."""


@dataclass(frozen=True, slots=True)
class JudgementFacts:
    """Facts needed to interpret the scores: what counted as relevant, and the chance and ceiling levels."""

    uncovered_queries: int = 0
    """Queries without a relevant chunk: they score 0."""
    queries_with_relevant: int = 0
    exact_matches: int | None = None
    """Queries whose expected answer occurs verbatim in a chunk; None if answers were not compared."""
    strategy_used: str = "qrels"
    """What determined which chunks are relevant: qrels, pack, token-fallback or mixed."""
    strategy_counts: Mapping[str, int] = field(default_factory=dict)
    """Strategy → number of its queries."""
    relevant_per_query: float = 0.0
    chance: Mapping[str, float] = field(default_factory=dict)
    """Measure → mean score of a random ranking of the same chunks."""
    ceiling: Mapping[str, float] = field(default_factory=dict)
    """Measure → mean score of a perfect ranking of the same chunks."""
    tokens_at: Mapping[str, float] = field(default_factory=dict)
    """Cutoff → mean tokens in that many results."""


@dataclass(frozen=True, slots=True)
class TokensRead:
    """How much of a ranking is read until a share of the answer has been seen."""

    median: float | None
    """Tokens, over all queries; None if half of them never get there."""
    reached: float
    """Share of the queries that get there within the largest budget of the experiment."""


@dataclass(frozen=True, slots=True)
class CostFacts:
    """The cost of a row beside its score; None if unknown.

    Times were measured once, when the cell was computed, and are stored with it: they are not part of its identity.
    """

    tokens_to_50: TokensRead | None = None
    """Until half of the answer has been read."""
    tokens_to_80: TokensRead | None = None
    texts_embedded: int | None = None
    """Distinct texts of the index that a model reads; 0 if it has no vectors."""
    tokens_embedded: int | None = None
    """Tokens of those texts, as budgets count them."""
    index_bytes: int | None = None
    """Postings, vectors and links, without the texts."""
    embed_seconds: float | None = None
    """For those texts, at the observed speed of the embedder."""
    index_seconds: float | None = None
    build_seconds: float | None = None
    """Cutting, embedding and indexing together."""
    query_seconds_p50: float | None = None
    """For one query alone."""
    query_seconds_p95: float | None = None
    queries_timed: int = 0
    query_embedding_timed: bool = False
    """Whether embedding the query is included in its seconds."""
    machine: str = ""
    """The machine on which the seconds were measured."""
    price: float | None = None
    """For embedding, at the user's price."""


@dataclass(frozen=True, slots=True)
class DatasetParts:
    """The fingerprints of a dataset's parts."""

    corpus: str
    queries: str
    annotations: str
    hidden: str = ""
    """Empty if nothing is hidden."""


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """The description of a dataset in the results."""

    name: str
    fingerprint: str
    queries: int
    repositories: tuple[str, ...]
    clusters: int
    mined: bool
    scope: str
    skipped: Mapping[str, int]
    """Reason → number of skipped files."""
    parts: DatasetParts
    details: Mapping[str, Any] = field(default_factory=dict)
    """The loader's facts about its data: JSON values."""

    def counts(self, name: str) -> dict[str, int]:
        """Return the loader's counts under this name; none if it holds anything else there."""
        found = self.details.get(name)
        whole = isinstance(found, Mapping) and all(type(count) is int for count in found.values())
        return dict(found) if found and whole else {}
