"""From a chunk table to every query's ranking, and rankings as files."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.ranking_depth import ranks_to_keep
from evaluation.experiment.row_places import RowPlaces
from evaluation.experiment.search_cost import CostMeter, header_tokens
from evaluation.experiment.visible_chunks import searchable_rows, visible_sizes
from evaluation.results.facts import CostFacts, SearchFacts, Truncation
from indexing.embedding_cache import EmbeddingCache
from indexing.types import Encoder, Hit, QueryBatch, Retriever, SearchSpace

Ranking = Mapping[str, Sequence[Hit]]
"""query id → hits whose positions are rows of the chunk table."""


class Retrieved(NamedTuple):
    """Every query's ranking, what the search says of itself, the seconds of embedding and searching, and its cost."""

    ranking: Ranking
    facts: SearchFacts
    seconds: Mapping[str, float]
    cost: CostFacts


@dataclass(frozen=True)
class Search:
    """How rankings are made: by what, how deep, and up to which budgets they are kept."""

    retriever: Retriever
    encoder: Encoder
    embeddings: EmbeddingCache
    depth: int
    budgets: Mapping[SizeUnit, int]


def search(how: Search, loaded: LoadedDataset, chunks: ChunkTable) -> Retrieved:
    """Rank the chunks for every query of the dataset, each in its own search space."""
    dataset = loaded.dataset
    ranking: dict[str, Sequence[Hit]] = {}
    seconds = {"embed": 0.0, "retrieve": 0.0}
    lengths: list[np.ndarray] = []
    measured: dict[str, list[float]] = {}
    meter = CostMeter(how.retriever, how.encoder if how.retriever.uses_vectors else None, dataset.queries)
    spaces = searchable_rows(loaded, chunks)
    searchable = sum(map(len, spaces.values()))
    if dataset.scope == "all":
        spaces = {"": np.concatenate([*spaces.values(), np.zeros(0, dtype=np.int64)]).astype(np.int64)}
    sizes = {unit: visible_sizes(loaded, chunks, unit) for unit in how.budgets}
    tokens = visible_sizes(loaded, chunks, "tokens")
    for repo, rows in spaces.items():
        asked = [query for query in dataset.queries if dataset.scope == "all" or query.repo == repo]
        if not asked:
            continue
        texts = ChunkTexts(chunks, rows, loaded.visible)
        places = RowPlaces(chunks, rows)
        words = [query.text for query in asked]
        started = time.perf_counter()
        if how.retriever.uses_vectors:
            keys = meter.keys(texts, tokens[rows] + header_tokens([chunks.headers[row] for row in rows]))
            vectors = how.embeddings.embed(how.encoder, texts, kind="document", keys=keys)
            space = SearchSpace(texts, vectors, places)
            batch = QueryBatch(words, how.embeddings.embed(how.encoder, words, kind="query"))
            if how.encoder.max_tokens is not None:
                lengths.append(how.embeddings.token_counts(how.encoder, texts, keys=keys))
        else:
            space, batch = SearchSpace(texts, places=places), QueryBatch(words)
        embedded = time.perf_counter()
        index = meter.index(space)
        found = index.search(batch, depth=how.depth)
        keep = ranks_to_keep(chunks, rows, found, budgets=how.budgets, sizes=sizes)
        for query, hits, last in zip(asked, found, keep, strict=True):
            ranking[query.id] = [Hit(int(rows[hit.position]), hit.score) for hit in hits[:last]]
        seconds["embed"] += embedded - started
        seconds["retrieve"] += time.perf_counter() - embedded
        meter.time_queries(index, asked, batch, depth=how.depth)
        for name, value in _diagnostics(how.retriever)(space, batch, depth=how.depth).items():
            measured.setdefault(name, []).append(value)
    for query in dataset.queries:
        ranking.setdefault(query.id, [])
    diagnostics = {name: float(np.mean(values)) for name, values in measured.items()}
    truncated = _truncated(lengths, how.encoder.max_tokens)
    facts = SearchFacts(
        uses_vectors=how.retriever.uses_vectors,
        truncated=truncated,
        hidden_chunks=len(chunks) - searchable,
        diagnostics=diagnostics,
    )
    return Retrieved(ranking, facts, seconds, meter.facts(how.embeddings))


class _Diagnose(Protocol):
    def __call__(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> Mapping[str, float]: ...


def _diagnostics(retriever: Retriever) -> _Diagnose:
    found: _Diagnose | None = getattr(retriever, "diagnostics", None)
    return found or _nothing


def _nothing(space: SearchSpace, queries: QueryBatch, *, depth: int) -> dict[str, float]:  # noqa: ARG001 - as `diagnostics`
    """Return nothing, for a retriever that measures nothing about itself."""
    return {}


def _truncated(lengths: Sequence[np.ndarray], window: int | None) -> Truncation | None:
    """Return the share of chunks and of tokens that the model cannot see; None where no model reads them."""
    if not lengths or window is None:
        return None
    tokens = np.concatenate(lengths)
    beyond = np.maximum(tokens - window, 0)
    return Truncation(float((beyond > 0).mean()), float(beyond.sum() / max(int(tokens.sum()), 1)))


def save_retrieved(made: Retrieved, folder: Path) -> None:
    """Write the rankings as two Parquet files, and the facts beside them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lengths = [len(hits) for hits in made.ranking.values()]
    queries = pa.table({"query_id": list(made.ranking), "hits": pa.array(lengths, pa.int32())})
    pq.write_table(queries, folder / "queries.parquet")
    hits = {
        "position": pa.array([hit.position for hits in made.ranking.values() for hit in hits], pa.int64()),
        "score": pa.array([hit.score for hits in made.ranking.values() for hit in hits], pa.float64()),
    }
    pq.write_table(pa.table(hits), folder / "hits.parquet", compression="zstd")
    facts = {"facts": asdict(made.facts), "seconds": dict(made.seconds), "cost": asdict(made.cost)}
    (folder / "facts.json").write_text(json.dumps(facts, indent=1), "utf-8")


def load_retrieved(folder: Path) -> Retrieved:
    """Read what `save_retrieved` wrote."""
    import pyarrow.parquet as pq

    queries = pq.read_table(folder / "queries.parquet").to_pydict()
    hits = pq.read_table(folder / "hits.parquet")
    pairs = list(map(Hit, hits["position"].to_pylist(), hits["score"].to_pylist()))
    ranking: dict[str, Sequence[Hit]] = {}
    start = 0
    for query_id, length in zip(queries["query_id"], queries["hits"], strict=True):
        ranking[query_id] = pairs[start : start + length]
        start += length
    found = json.loads((folder / "facts.json").read_text("utf-8"))
    cut_off = found["facts"].pop("truncated")
    facts = SearchFacts(truncated=Truncation(**cut_off) if cut_off else None, **found["facts"])
    return Retrieved(ranking, facts, found["seconds"], CostFacts(**found["cost"]))
