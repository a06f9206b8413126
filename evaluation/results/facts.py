"""What stands beside the scores: facts about chunks, searches, judgements and datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FAILED_NAMED = 3


@dataclass(frozen=True, slots=True)
class SizeHistogram:
    """How many chunks lie between two sizes; the last bin has no upper edge."""

    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """What a chunker made of the corpus: how many chunks, how large, and what it lost, doubled or could not cut."""

    count: int = 0
    fingerprint: str = ""
    """A hash of the chunks: chunkers that cut the corpus identically have the same."""
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
    """Reason → files that were not cut the way the chunker's name promises."""
    failed_files: Mapping[str, str] = field(default_factory=dict)
    """Repository/path → the error that the chunker raised; such a file has no chunks."""

    @property
    def failed_words(self) -> str:
        """The files that could not be cut, each with its error: the first few where there are many, "" where none."""
        named = [f"{name} ({reason})" for name, reason in list(self.failed_files.items())[:_FAILED_NAMED]]
        more = len(self.failed_files) - len(named)
        return ", ".join([*named, *([f"{more:,} more"] if more else [])])


@dataclass(frozen=True, slots=True)
class Truncation:
    """What the model cannot see: the share of chunks that are cut off, and of all tokens."""

    chunks: float
    tokens: float


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """What a search says of itself."""

    uses_vectors: bool = True
    """Whether the embedder had a part in it."""
    truncated: Truncation | None = None
    hidden_chunks: int = 0
    """Chunks of which all text is hidden: they cannot be found."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    """What the retriever measured about itself, such as the recall of an approximate index."""


@dataclass(frozen=True, slots=True)
class JudgementFacts:
    """What a reader needs beside the scores: what counted as relevant, what chance reaches and what perfection."""

    uncovered_queries: int = 0
    """Queries to which no chunk is relevant: they score 0."""
    queries_with_relevant: int = 0
    exact_matches: int | None = None
    """Queries whose expected answer stands word for word in a chunk; None where answers were not compared."""
    strategy_used: str = "qrels"
    """What decided which chunks are relevant: qrels, pack, token-fallback or mixed."""
    strategy_counts: Mapping[str, int] = field(default_factory=dict)
    """Strategy → the queries it decided."""
    relevant_per_query: float = 0.0
    chance: Mapping[str, float] = field(default_factory=dict)
    """Measure → mean score of a random ranking of the same chunks."""
    ceiling: Mapping[str, float] = field(default_factory=dict)
    """Measure → mean score of a perfect ranking of the same chunks."""
    tokens_at: Mapping[str, float] = field(default_factory=dict)
    """Cutoff → mean tokens behind that many results."""


@dataclass(frozen=True, slots=True)
class TokensRead:
    """How much of a ranking is read until a share of the answer has been seen."""

    median: float | None
    """Tokens, over all queries; None where half of them never get there."""
    reached: float
    """Share of the queries that get there within the largest budget of the experiment."""


@dataclass(frozen=True, slots=True)
class CostFacts:
    """What a row costs beside what it scores; None where it is not known.

    Times were measured once, when the cell was made, and are kept with it: they are no part of its identity.
    """

    tokens_to_50: TokensRead | None = None
    """Until half of the answer has been read."""
    tokens_to_80: TokensRead | None = None
    texts_embedded: int | None = None
    """Distinct texts of the index that a model reads; 0 where it has no vectors."""
    tokens_embedded: int | None = None
    """Of those texts, as budgets count them."""
    index_bytes: int | None = None
    """Postings, vectors and links, without the texts."""
    embed_seconds: float | None = None
    """Of those texts, at the speed at which the embedder has been seen to work."""
    index_seconds: float | None = None
    build_seconds: float | None = None
    """Cutting, embedding and indexing together."""
    query_seconds_p50: float | None = None
    """Of one query asked by itself."""
    query_seconds_p95: float | None = None
    queries_timed: int = 0
    query_embedding_timed: bool = False
    """Whether embedding the query is part of its seconds."""
    machine: str = ""
    """What the seconds were measured on."""
    price: float | None = None
    """Of embedding, at the price that the user named."""


@dataclass(frozen=True, slots=True)
class DatasetParts:
    """The fingerprints of a dataset's parts."""

    corpus: str
    queries: str
    annotations: str
    hidden: str = ""
    """Empty where nothing is hidden."""


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """What the results say of a dataset."""

    name: str
    fingerprint: str
    queries: int
    repositories: tuple[str, ...]
    clusters: int
    mined: bool
    scope: str
    skipped: Mapping[str, int]
    """Reason → files that were left out."""
    parts: DatasetParts
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the loader says of its data: JSON values."""
