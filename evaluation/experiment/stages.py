"""The stages of a cell: chunk, retrieve, score. Each looks in the store first and leaves its result there."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chunkers.languages import GRAMMAR_PACK
from chunkers.registry import CHUNKERS
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts, build_chunks, load_chunks, save_chunks
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.config import ExperimentConfig
from evaluation.experiment.environment import package_version
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.reach import ranks_to_keep
from evaluation.experiment.scoring import Scored, load_scored, save_scored, score_run
from evaluation.experiment.store import StageKey, Store
from evaluation.measures.registry import parse_measure
from evaluation.types import CellKey
from indexing.embedding_cache import EmbeddingCache, text_keys
from indexing.registry import ENCODERS, RETRIEVERS
from indexing.types import Hit, QueryBatch, SearchSpace

Ranking = Mapping[str, Sequence[Hit]]
_PARTS, _SMALLEST_PART, _LARGEST_PART = 64, 512, 16_384


class Retrieved(NamedTuple):
    """Query id → hits whose positions are rows of the chunk table, and what the search says of itself."""

    ranking: Ranking
    facts: Mapping[str, Any]


class Timed(NamedTuple):
    """A stage's value and the seconds it took when it was made."""

    value: Any
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Workbench:
    """What the stages share: the experiment, and where finished work is."""

    config: ExperimentConfig
    cache: Path

    @property
    def store(self) -> Store:
        """Finished stages."""
        return Store(self.cache / "stages")

    @property
    def embeddings(self) -> EmbeddingCache:
        """Vectors by text."""
        return EmbeddingCache(self.cache / "embeddings")


def chunk_key(snapshot: LoadedDataset, chunker: str) -> StageKey:
    """Return what decides the chunks."""
    versions = {name: package_version(name) for name in ("tree-sitter", "tiktoken")} | {"grammars": GRAMMAR_PACK}
    inputs = {"corpus": snapshot.corpus, "chunker": plugin_inputs(CHUNKERS.create(chunker)), "versions": versions}
    return StageKey("chunk", {**inputs, "stage_version": 4})


def retrieve_key(bench: Workbench, snapshot: LoadedDataset, cell: CellKey) -> StageKey:
    """Return what decides the rankings; the embedder matters only to a retriever that uses vectors."""
    retriever = RETRIEVERS.create(cell.retriever)
    encoder = ENCODERS.create(cell.embedder).identity() if retriever.uses_vectors else None
    inputs = {
        "chunks": chunk_key(snapshot, cell.chunker).digest,
        "queries": snapshot.queries,
        "embedder": encoder,
        "retriever": plugin_inputs(retriever),
        "depth": bench.config.depth,
        "reach": _reach(bench.config),
        "versions": {name: package_version(name) for name in ("faiss-cpu", "bm25s")},
    }
    return StageKey("retrieve", {**inputs, "stage_version": 1})


def score_key(bench: Workbench, snapshot: LoadedDataset, cell: CellKey) -> StageKey:
    """Return what decides the scores."""
    inputs = {
        "ranking": retrieve_key(bench, snapshot, cell).digest,
        "annotations": snapshot.annotations,
        "measures": sorted(bench.config.measures),
        "rule": bench.config.rule,
        "budgets": bench.config.budgets,
        "embedder": ENCODERS.create(cell.embedder).identity(),
        "seed": bench.config.seed,
        "code": {name: code_of(name) for name in ("evaluation", "ground_truth")},
    }
    return StageKey("score", {**inputs, "stage_version": 2})


def stage_keys(bench: Workbench, snapshot: LoadedDataset, cell: CellKey) -> dict[str, StageKey]:
    """Return the key of each of the cell's"""
    return {
        "chunk": chunk_key(snapshot, cell.chunker),
        "retrieve": retrieve_key(bench, snapshot, cell),
        "score": score_key(bench, snapshot, cell),
    }


def chunk(bench: Workbench, snapshot: LoadedDataset, chunker: str) -> Timed:
    """Return the chunk table, from the store or made now."""
    key = chunk_key(snapshot, chunker)

    def make() -> Timed:
        started = time.perf_counter()
        table = build_chunks(snapshot.dataset.repositories, CHUNKERS.create(chunker))
        return Timed(table, {"chunk": time.perf_counter() - started})

    def save(made: Timed, folder: Path) -> None:
        save_chunks(made.value, folder)
        _write_json(folder / "facts.json", {"facts": made.value.facts, "seconds": made.seconds})

    return _stored(bench.store, key, make=make, save=save, load=_load_chunks)


class EmbeddingPart(NamedTuple):
    """Texts that are embedded by one task: some chunks of a repository, or the dataset's queries."""

    corpus: tuple[str, str, str]
    """Dataset, chunker, embedder."""
    rows: range | None
    """Rows of the chunk table; None stands for the queries."""
    texts: int


def embedding_parts(
    bench: Workbench, snapshot: LoadedDataset, dataset: str, chunker: str, embedder: str
) -> list[EmbeddingPart]:
    """Return the work of embedding a corpus, in parts small enough to show progress and to spread over machines."""
    corpus = (dataset, chunker, embedder)
    chunks: ChunkTable = chunk(bench, snapshot, chunker).value
    # Each part asks the cache once, which looks through all it holds: parts grow with the corpus, up to a bound.
    size = min(max(len(chunks) // _PARTS, _SMALLEST_PART), _LARGEST_PART)
    parts = [
        EmbeddingPart(corpus, range(start, stop), stop - start)
        for start in range(0, len(chunks), size)
        for stop in [min(start + size, len(chunks))]
    ]
    return [EmbeddingPart(corpus, None, len(snapshot.dataset.queries)), *parts]


def embed(bench: Workbench, snapshot: LoadedDataset, part: EmbeddingPart) -> None:
    """Put the vectors of these texts into the embedding cache."""
    _, chunker, embedder = part.corpus
    encoder, cache = ENCODERS.create(embedder), bench.embeddings
    if part.rows is None:
        cache.embed(encoder, [query.text for query in snapshot.dataset.queries], kind="query")
    else:
        chunks: ChunkTable = chunk(bench, snapshot, chunker).value
        cache.embed(encoder, ChunkTexts(chunks, part.rows, snapshot.read), kind="document")


def chunk_facts(chunks: ChunkTable) -> dict[str, Any]:
    """Return what a table says of the chunks: how many, how large, and what the chunker did to the corpus."""
    sizes = chunks.sizes("nws")
    edges = np.concatenate(([0], np.geomspace(16, 16_384, 21).round(), [np.inf]))
    counts, _ = np.histogram(sizes, edges)
    return {
        "count": len(chunks),
        "mean_nws": float(sizes.mean()) if len(sizes) else 0.0,
        "median_nws": float(np.median(sizes)) if len(sizes) else 0.0,
        "p95_nws": float(np.quantile(sizes, 0.95)) if len(sizes) else 0.0,
        "mean_tokens": float(chunks.sizes("tokens").mean()) if len(sizes) else 0.0,
        "sizes": {"edges": edges[:-1].tolist(), "counts": counts.tolist()},
        **chunks.facts,
    }


def retrieve(bench: Workbench, snapshot: LoadedDataset, cell: CellKey) -> Timed:
    """Return every query's ranking."""

    def make() -> Timed:
        table: ChunkTable = chunk(bench, snapshot, cell.chunker).value
        return _retrieve(bench, snapshot, cell, table)

    return _stored(bench.store, retrieve_key(bench, snapshot, cell), make=make, save=_save_run, load=_load_run)


def score(
    bench: Workbench, snapshot: LoadedDataset, cell: CellKey, *, embedded: float = 0.0
) -> tuple[Scored, Mapping[str, float]]:
    """Return the per-query scores and what stands beside them; ``embedded`` are the seconds spent on vectors before."""

    def make() -> Timed:
        chunked, retrieved = chunk(bench, snapshot, cell.chunker), retrieve(bench, snapshot, cell)
        started = time.perf_counter()
        scored = score_run(
            bench.config, snapshot, chunked.value, retrieved.value.ranking, embed=_document_embedder(bench, cell)
        )
        seconds = {**chunked.seconds, **retrieved.seconds, "score": time.perf_counter() - started}
        seconds["embed"] = seconds.get("embed", 0.0) + embedded
        return Timed(replace(scored, facts={**scored.facts, **retrieved.value.facts}), seconds)

    def save(made: Timed, folder: Path) -> None:
        save_scored(made.value, folder)
        _write_json(folder / "seconds.json", dict(made.seconds))

    def load(folder: Path) -> Timed:
        return Timed(load_scored(folder), json.loads((folder / "seconds.json").read_text("utf-8")))

    made = _stored(bench.store, score_key(bench, snapshot, cell), make=make, save=save, load=load)
    return made.value, made.seconds


@functools.lru_cache(maxsize=4)
def _load_chunks(folder: Path) -> Timed:
    found = json.loads((folder / "facts.json").read_text("utf-8"))
    return Timed(load_chunks(folder, found["facts"]), found["seconds"])


def _retrieve(bench: Workbench, snapshot: LoadedDataset, cell: CellKey, chunks: ChunkTable) -> Timed:
    config, dataset = bench.config, snapshot.dataset
    retriever, encoder = RETRIEVERS.create(cell.retriever), ENCODERS.create(cell.embedder)
    ranking: dict[str, Sequence[Hit]] = {}
    seconds = {"embed": 0.0, "retrieve": 0.0}
    lengths: list[np.ndarray] = []
    measured: dict[str, list[float]] = {}
    spaces = chunks.repository_rows if dataset.scope == "repository" else {"": range(len(chunks))}
    for repo, rows in spaces.items():
        asked = [query for query in dataset.queries if dataset.scope == "all" or query.repo == repo]
        if not asked:
            continue
        texts = ChunkTexts(chunks, rows, snapshot.read)
        words = [query.text for query in asked]
        started = time.perf_counter()
        if retriever.uses_vectors:
            cache = bench.embeddings
            keys = text_keys(texts)
            space = SearchSpace(texts, cache.embed(encoder, texts, kind="document", keys=keys))
            batch = QueryBatch(words, cache.embed(encoder, words, kind="query"))
            if encoder.max_tokens is not None:
                lengths.append(cache.token_counts(encoder, texts, keys=keys))
        else:
            space, batch = SearchSpace(texts), QueryBatch(words)
        embedded = time.perf_counter()
        found = retriever.search(space, batch, depth=config.depth)
        keep = ranks_to_keep(chunks, rows, found, _reach(config))
        for query, hits, last in zip(asked, found, keep, strict=True):
            ranking[query.id] = [Hit(rows[hit.position], hit.score) for hit in hits[:last]]
        seconds["embed"] += embedded - started
        seconds["retrieve"] += time.perf_counter() - embedded
        for name, value in getattr(retriever, "diagnostics", _none)(space, batch, depth=config.depth).items():
            measured.setdefault(name, []).append(value)
    for query in dataset.queries:
        ranking.setdefault(query.id, [])
    facts: dict[str, Any] = {"truncated": _truncated(lengths, encoder.max_tokens)}
    facts |= {name: float(np.mean(values)) for name, values in measured.items()}
    return Timed(Retrieved(ranking, facts), seconds)


def _none(_space: SearchSpace, _queries: QueryBatch, *, depth: int) -> dict[str, float]:  # noqa: ARG001 - as `diagnostics`
    """Return nothing, for a retriever that measures nothing about itself."""
    return {}


def _truncated(lengths: Sequence[np.ndarray], window: int | None) -> dict[str, float] | None:
    """Return the share of chunks and of tokens that the model cannot see; None where no model reads them."""
    if not lengths or window is None:
        return None
    tokens = np.concatenate(lengths)
    beyond = np.maximum(tokens - window, 0)
    return {"chunks": float((beyond > 0).mean()), "tokens": float(beyond.sum() / max(int(tokens.sum()), 1))}


def _reach(config: ExperimentConfig) -> dict[str, int]:
    """Return, for each unit, the largest budget that a measure or the curve reads."""
    reach = {"tokens": max(config.budgets, default=0)}
    for measure in map(parse_measure, config.measures):
        for unit in measure.units:
            reach[unit] = max(getattr(measure, "budget", 0), reach.get(unit, 0))
    return reach


def _document_embedder(bench: Workbench, cell: CellKey) -> Callable[[Sequence[str]], np.ndarray]:
    encoder = ENCODERS.create(cell.embedder)
    return lambda texts: bench.embeddings.embed(encoder, texts, kind="document")


def _stored(
    store: Store,
    key: StageKey,
    *,
    make: Callable[[], Timed],
    save: Callable[[Timed, Path], None],
    load: Callable[[Path], Timed],
) -> Timed:
    found = store.get(key, load)
    if found is not None:
        return found
    made = make()
    store.put(key, lambda folder: save(made, folder))
    return made


def _save_run(made: Timed, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    ranking, facts = made.value
    lengths = [len(hits) for hits in ranking.values()]
    queries = pa.table({"query_id": list(ranking), "hits": pa.array(lengths, pa.int32())})
    pq.write_table(queries, folder / "queries.parquet")
    hits = {
        "position": pa.array([hit.position for hits in ranking.values() for hit in hits], pa.int64()),
        "score": pa.array([hit.score for hits in ranking.values() for hit in hits], pa.float64()),
    }
    pq.write_table(pa.table(hits), folder / "hits.parquet", compression="zstd")
    _write_json(folder / "facts.json", {"facts": facts, "seconds": made.seconds})


def _load_run(folder: Path) -> Timed:
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
    return Timed(Retrieved(ranking, found["facts"]), found["seconds"])


def _write_json(file: Path, value: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(value, indent=1), "utf-8")
