"""Joins the search results of the parts of a corpus into every query's ranking, and stores rankings as files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.header_cost import header_tokens
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.machine import machine
from evaluation.experiment.part_search import QUERIES_AT_ONCE, Search, add_cost, queries_of
from evaluation.experiment.ranking_depth import kept_ranks
from evaluation.experiment.search_cost import MOST_SECONDS, time_alone
from evaluation.experiment.searched_part import PartCost, SearchedPart
from evaluation.experiment.visible_chunks import searchable_rows, visible_sizes
from evaluation.results.facts import CostFacts, SearchFacts, Truncation
from indexing.composed import Composed
from indexing.embedding_cache import text_keys
from indexing.exact import VectorsOf
from indexing.found import Found, none_found
from indexing.types import Hit, QueryBatch, Vectors

Ranking = Mapping[str, Sequence[Hit]]
"""query id → hits whose positions are rows of the chunk table."""


class Retrieved(NamedTuple):
    """Every query's ranking, the search's own facts, the seconds of embedding and searching, and the cost."""

    ranking: Ranking
    facts: SearchFacts
    seconds: Mapping[str, float]
    cost: CostFacts


def join_searched(
    how: Search,
    loaded: LoadedDataset,
    chunks: ChunkTable,
    parts: Sequence[SearchedPart],
    *,
    words: Mapping[str, int],
) -> Retrieved:
    """Rank the chunks for every query of the dataset from the results of all parts of its search space.

    ``words`` has the bytes of each space's postings, if words are searched.
    """
    began = time.perf_counter()
    dataset = loaded.dataset
    spaces = searchable_rows(loaded, chunks)
    searchable = sum(map(len, spaces.values()))
    if dataset.scope == "all":
        spaces = {"": np.concatenate([*spaces.values(), np.zeros(0, dtype=np.int64)]).astype(np.int64)}
    sizes = {unit: visible_sizes(loaded, chunks, unit) for unit in how.budgets}
    cost = PartCost()
    for part in parts:
        add_cost(cost, part.cost)
    cost.query_seconds = {}
    ranking: dict[str, Sequence[Hit]] = {}
    join = _Join(how, loaded, chunks, parts)
    for space, rows in spaces.items():
        asked = queries_of(loaded, space)
        if not asked:
            continue
        kept = kept_ranks(chunks, rows, join.ranked(space, asked), budgets=how.budgets, sizes=sizes)
        ranking.update((dataset.queries[place].id, hits) for place, hits in zip(asked, kept, strict=True))
        cost.query_seconds |= join.timed(space, asked)
        cost.index_bytes += words.get(space, 0)
    for query in dataset.queries:
        ranking.setdefault(query.id, [])
    facts = SearchFacts(
        uses_vectors=how.retriever.uses_vectors,
        truncated=_truncated(cost),
        hidden_chunks=len(chunks) - searchable,
        diagnostics={name: float(np.mean(values)) for name, values in cost.diagnostics.items()},
    )
    seconds = {"embed": cost.embed_seconds, "retrieve": cost.retrieve_seconds + time.perf_counter() - began}
    return Retrieved(ranking, facts, seconds, _cost_facts(how, loaded, chunks, parts, cost))


class _Join:
    """Joins the results of the parts of a search space."""

    def __init__(self, how: Search, loaded: LoadedDataset, chunks: ChunkTable, parts: Sequence[SearchedPart]) -> None:
        self._how, self._loaded, self._chunks, self._parts = how, loaded, chunks, parts
        self._rows = np.concatenate([np.zeros(0, np.int64), *(part.rows for part in parts)])
        self._keys = np.concatenate([part.keys for part in parts]) if parts else None
        self._spent = 0.0

    def ranked(self, space: str, asked: Sequence[int]) -> Iterator[Found]:
        """Yield the results of some queries at a time; positions are rows of the chunk table."""
        found = [each for part in self._parts if (each := part.of(space)) is not None]
        batch = self._batch(asked)
        for start in range(0, len(asked), QUERIES_AT_ONCE):
            some = slice(start, start + QUERIES_AT_ONCE)
            some_found = [[each.at(some) for each in searches] for searches in found]
            some_asked = QueryBatch(batch.texts[some], None if batch.vectors is None else batch.vectors[some])
            nothing = none_found(len(some_asked.texts))
            yield self._combined(some_found, some_asked, self._vectors_of) if found else nothing

    def timed(self, space: str, asked: Sequence[int]) -> dict[int, float]:
        """Return query → seconds of embedding it, searching every part of a space for it alone, and joining."""
        own = [part for part in self._parts if part.of(space) is not None]
        everywhere = [place for place in asked if own and all(place in part.cost.query_seconds for part in own)]
        batch, at = self._batch(asked), {place: number for number, place in enumerate(asked)}
        encoder = self._how.encoder if query_embedding_timed(self._how) else None

        def ask(places: Sequence[int], vectors_of: VectorsOf) -> None:
            numbers = np.array([at[place] for place in places], dtype=np.int64)
            texts = [batch.texts[number] for number in numbers.tolist()]
            some = QueryBatch(texts, None if batch.vectors is None else batch.vectors[numbers])
            self._combined([[each.at(numbers) for each in part.of(space) or ()] for part in own], some, vectors_of)

        remembered = _remembering(self._vectors_of)
        if self._how.retriever.uses_vectors:
            # An index holds its vectors in memory: neither looking them up nor loading the model is part of a query's
            # time.
            ask(everywhere, remembered)
        if encoder is not None and everywhere:
            encoder.encode([batch.texts[at[everywhere[0]]]], kind="query")

        def alone(place: int) -> None:
            if encoder is not None:
                encoder.encode([batch.texts[at[place]]], kind="query")
            ask([place], remembered)

        spent = time_alone(alone, everywhere, most_seconds=MOST_SECONDS - self._spent)
        self._spent += sum(spent.values())
        return {place: last + sum(part.cost.query_seconds[place] for part in own) for place, last in spent.items()}

    def _combined(self, parts: Sequence[Sequence[Found]], batch: QueryBatch, vectors_of: VectorsOf) -> Found:
        """Return rankings from the results of each search in each part."""
        how, retriever = self._how, self._how.retriever
        if not isinstance(retriever, Composed) or not how.searches:
            return parts[0][0]  # the whole space was searched at once
        joined = [
            search.join([part[number] for part in parts], batch, vectors_of, depth=how.reach)
            for number, search in enumerate(how.searches)
        ]
        return retriever.combine(joined, vectors_of, depth=how.depth)

    def _batch(self, asked: Sequence[int]) -> QueryBatch:
        texts = [self._loaded.dataset.queries[place].text for place in asked]
        if not self._how.retriever.uses_vectors:
            return QueryBatch(texts)
        return QueryBatch(texts, self._how.embeddings.embed(self._how.encoder, texts, kind="query"))

    def _vectors_of(self, rows: np.ndarray) -> Vectors:
        """Return the vectors of some rows of the chunk table, from the cache."""
        how = self._how
        if self._keys is None:
            raise ValueError("no part has embedded any text")
        keys = self._keys[np.searchsorted(self._rows, rows)]
        texts = ChunkTexts(self._chunks, rows, self._loaded)
        return how.embeddings.embed(how.encoder, texts, kind="document", keys=keys)


def _remembering(vectors_of: VectorsOf) -> VectorsOf:
    """Return the same look-up with a memory of earlier results."""
    known: list[tuple[np.ndarray, Vectors]] = []

    def look_up(rows: np.ndarray) -> Vectors:
        for there, vectors in known:
            places = np.minimum(np.searchsorted(there, rows), len(there) - 1)
            if np.array_equal(there[places], rows):
                found: Vectors = vectors[places]
                return found
        known.append((np.array(rows), vectors_of(rows)))
        return known[-1][1]

    return look_up


def query_embedding_timed(how: Search) -> bool:
    """Return whether embedding a query is included in its time."""
    return how.retriever.uses_vectors and getattr(how.encoder, "local", False) is True


def _cost_facts(
    how: Search, loaded: LoadedDataset, chunks: ChunkTable, parts: Sequence[SearchedPart], cost: PartCost
) -> CostFacts:
    """Return the cost of all spaces together; a text that occurs in several is embedded once."""
    keys, first = np.unique(np.concatenate([text_keys([]), *(part.keys for part in parts)]), return_index=True)
    tokens = characters = 0
    seconds: float | None = 0.0
    if how.retriever.uses_vectors:
        rows = np.concatenate([np.zeros(0, np.int64), *(part.rows for part in parts)])[first]
        shown = visible_sizes(loaded, chunks, "tokens")[rows]
        tokens = int((shown + header_tokens([chunks.header(row, loaded) for row in rows.tolist()])).sum())
        characters = int(np.concatenate([np.zeros(0, np.int64), *(part.characters for part in parts)])[first].sum())
        speed = how.embeddings.seconds_per_character(how.encoder)
        seconds = None if speed is None else speed * characters
    timed = list(cost.query_seconds.values())
    return CostFacts(
        index_bytes=None if cost.index_seconds is None else cost.index_bytes,
        texts_embedded=len(keys),
        tokens_embedded=tokens,
        embed_seconds=seconds,
        index_seconds=cost.index_seconds,
        query_seconds_p50=float(np.quantile(timed, 0.5)) if timed else None,
        query_seconds_p95=float(np.quantile(timed, 0.95)) if timed else None,
        queries_timed=len(timed),
        query_embedding_timed=bool(timed) and query_embedding_timed(how),
        machine=machine(),
    )


def _truncated(cost: PartCost) -> Truncation | None:
    """Return the share of chunks and of tokens that the model cannot see; None if no model reads them."""
    if not cost.texts_read:
        return None
    return Truncation(cost.texts_beyond / cost.texts_read, cost.tokens_beyond / max(cost.tokens_read, 1))


def save_retrieved(made: Retrieved, folder: Path) -> None:
    """Write the rankings as two Parquet files, with the facts beside them."""
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
    """Read rankings written by `save_retrieved`."""
    import pyarrow.parquet as pq

    queries = pq.ParquetFile(folder / "queries.parquet").read().to_pydict()
    hits = pq.ParquetFile(folder / "hits.parquet").read()
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
