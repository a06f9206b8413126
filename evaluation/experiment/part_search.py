"""Searches some files of a corpus for every query that concerns them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.file_words import CountedPart
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.row_places import RowPlaces
from evaluation.experiment.search_cost import time_alone, timed_queries
from evaluation.experiment.searched_part import Asked, PartCost, SearchedPart
from evaluation.experiment.visible_chunks import SpacePart
from indexing.composed import Composed, ExactSearch
from indexing.embedding_cache import EmbeddingCache, text_keys
from indexing.found import Found, table
from indexing.frequencies import Frequencies
from indexing.types import Encoder, Hit, QueryBatch, Retriever, SearchSpace

_NO_KEYS = text_keys([])

QUERIES_AT_ONCE = 1_000
"""Queries searched, and joined, at a time: fifty thousand at once would take several GB."""


@dataclass(frozen=True)
class Search:
    """How rankings are made: by which searches, to what depth, and up to which budgets they are kept."""

    retriever: Retriever
    encoder: Encoder
    embeddings: EmbeddingCache
    depth: int
    budgets: Mapping[SizeUnit, int]

    @property
    def searches(self) -> tuple[ExactSearch, ...]:
        """The exact searches that the retriever consists of; none if it must search a whole space itself."""
        return self.retriever.searches if isinstance(self.retriever, Composed) else ()

    @property
    def reach(self) -> int:
        """The depth of each search."""
        return self.retriever.reach(self.depth) if isinstance(self.retriever, Composed) else self.depth

    def reads(self, what: str) -> bool:
        """Return whether one of the searches reads this part of a search space."""
        return any(search.reads == what for search in self.searches)


class PartWords(NamedTuple):
    """The words of a part of a search space, and the statistics of the whole."""

    counted: CountedPart
    frequencies: Frequencies


def queries_of(loaded: LoadedDataset, space: str) -> list[int]:
    """Return the indices of the queries of a search space."""
    everything = loaded.dataset.scope == "all"
    return [place for place, query in enumerate(loaded.dataset.queries) if everything or query.repo == space]


def search_part(
    how: Search,
    loaded: LoadedDataset,
    chunks: ChunkTable,
    parts: Sequence[SpacePart],
    *,
    words: Callable[[SpacePart], PartWords],
    most_seconds: float,
) -> SearchedPart:
    """Return the search results; ``most_seconds`` is the time limit for repeating single queries to time them."""
    made = [
        _SpaceSearch(how, loaded, chunks, part, places).run(words, most_seconds=most_seconds)
        for part in parts
        if (places := queries_of(loaded, part.space))
    ]
    ends = np.cumsum([0, *(len(each.places) for each in made)]).tolist()
    return SearchedPart(
        asked=[Asked(each.part.space, *edges) for each, *edges in zip(made, ends, ends[1:], strict=False)],
        queries=np.array([place for each in made for place in each.places], dtype=np.int64),
        found=[_stacked([each.found[number] for each in made]) for number in range(len(how.searches) or 1)],
        rows=np.concatenate([np.zeros(0, np.int64), *(each.part.rows for each in made if len(each.keys))]),
        keys=np.concatenate([_NO_KEYS, *(each.keys for each in made)]),
        characters=np.concatenate([np.zeros(0, np.int64), *(each.characters for each in made)]),
        cost=_summed([each.cost for each in made]),
    )


class _SpaceSearch:
    """The search of what some files add to one search space."""

    def __init__(
        self, how: Search, loaded: LoadedDataset, chunks: ChunkTable, part: SpacePart, places: list[int]
    ) -> None:
        self.part, self.places = part, places
        self.keys, self.characters = _NO_KEYS, np.zeros(0, dtype=np.int64)
        self.found: list[Found] = []
        self.cost = PartCost()
        self._how, self._chunks, self._loaded = how, chunks, loaded

    def run(self, words: Callable[[SpacePart], PartWords], *, most_seconds: float) -> _SpaceSearch:
        how, rows = self._how, self.part.rows
        texts = ChunkTexts(self._chunks, rows, self._loaded)
        space = SearchSpace(texts, places=RowPlaces(self._chunks, rows))
        batch = QueryBatch([self._loaded.dataset.queries[place].text for place in self.places])
        began = time.perf_counter()
        if how.retriever.uses_vectors:
            space, batch = self._embedded(space, batch)
        embedded = time.perf_counter()
        self.cost.embed_seconds = embedded - began
        ask = self._search_shard(space, batch, words) if how.searches else self._search_whole(space, batch)
        self.cost.retrieve_seconds += time.perf_counter() - embedded
        if ask is not None:
            chosen = [place for place in timed_queries(len(self._loaded.dataset.queries)) if place in set(self.places)]
            at = {place: number for number, place in enumerate(self.places)}
            self.cost.query_seconds = time_alone(
                lambda place: ask(_single(batch, at[place])), chosen, most_seconds=most_seconds
            )
        return self

    def _embedded(self, space: SearchSpace, batch: QueryBatch) -> tuple[SearchSpace, QueryBatch]:
        how = self._how
        self.keys, self.characters = _keys(space.texts)
        vectors = how.embeddings.embed(how.encoder, space.texts, kind="document", keys=self.keys)
        asked = how.embeddings.embed(how.encoder, batch.texts, kind="query")
        if (window := how.encoder.max_tokens) is not None:
            lengths = how.embeddings.token_counts(how.encoder, space.texts, keys=self.keys)
            beyond = np.maximum(lengths - window, 0)
            cost = self.cost
            cost.texts_read, cost.texts_beyond = len(lengths), int((beyond > 0).sum())
            cost.tokens_read, cost.tokens_beyond = int(lengths.sum()), int(beyond.sum())
        return SearchSpace(space.texts, vectors, space.places), QueryBatch(batch.texts, asked)

    def _search_shard(
        self, space: SearchSpace, batch: QueryBatch, words: Callable[[SpacePart], PartWords]
    ) -> Callable[[QueryBatch], object]:
        """Search this part of a space; return a function that repeats one query."""
        how = self._how
        frequencies, counting = None, 0.0
        if how.reads("words"):
            counted, frequencies = words(self.part)
            space, counting = (
                SearchSpace(space.texts, space.vectors, space.places, counted.asked.shard),
                counted.seconds,
            )
        began = time.perf_counter()
        prepared = [search.prepare_shard(space, frequencies) for search in how.searches]
        self.cost.index_seconds = counting + time.perf_counter() - began
        self.cost.retrieve_seconds = counting
        self.cost.index_bytes = sum(each.bytes for each in prepared)
        rows = np.append(self.part.rows, -1).astype(np.int32)  # a missing hit stays missing
        for each in prepared:
            some = (each.find(queries, depth=how.reach) for queries in _groups(batch))
            self.found.append(_stacked([Found(rows[positions], scores) for positions, scores in some]))
        return lambda alone: [each.find(alone, depth=how.reach) for each in prepared]

    def _search_whole(self, space: SearchSpace, batch: QueryBatch) -> Callable[[QueryBatch], object] | None:
        """Search a whole space with a retriever that cannot be divided; return a function that repeats one query."""
        retriever, depth = self._how.retriever, self._how.depth
        prepare: Any = getattr(retriever, "prepare", None)
        began = time.perf_counter()
        index = prepare(space) if prepare else None
        self.cost.index_bytes = index.bytes if index else 0
        self.cost.index_seconds = time.perf_counter() - began if index else None
        ask = index.search if index else functools.partial(retriever.search, space)
        self.found.append(_as_table(ask(batch, depth=depth), self.part.rows, depth=depth))
        for name, value in _diagnostics(retriever)(space, batch, depth=depth).items():
            self.cost.diagnostics[name] = [value]
        return functools.partial(ask, depth=depth) if index else None


def _keys(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the key and the number of characters of each text, read one at a time."""
    lengths = np.zeros(len(texts), dtype=np.int64)

    def noted() -> Any:  # noqa: ANN401 - texts
        for place, text in enumerate(texts):
            lengths[place] = len(text)
            yield text

    return text_keys(noted()), lengths


def _groups(batch: QueryBatch) -> Iterator[QueryBatch]:
    """Yield groups of queries, so that the full result table is never duplicated."""
    for start in range(0, len(batch.texts), QUERIES_AT_ONCE):
        some = slice(start, start + QUERIES_AT_ONCE)
        yield QueryBatch(batch.texts[some], None if batch.vectors is None else batch.vectors[some])


def _single(batch: QueryBatch, number: int) -> QueryBatch:
    vectors = None if batch.vectors is None else batch.vectors[number : number + 1]
    return QueryBatch([batch.texts[number]], vectors)


def _as_table(runs: Sequence[Sequence[Hit]], rows: np.ndarray, *, depth: int) -> Found:
    split = [(rows[[hit.position for hit in run]], np.array([hit.score for hit in run])) for run in runs]
    return table([(places.astype(np.int64), scores) for places, scores in split], depth=depth, dtype=np.float64)


def _stacked(parts: Sequence[Found]) -> Found:
    """Return the results of several groups of queries, stacked."""
    if len(parts) == 1:
        return parts[0]
    shape = sum(len(part.positions) for part in parts), max((part.positions.shape[1] for part in parts), default=0)
    whole = Found(
        np.full(shape, -1, np.int32),
        np.zeros(shape, np.result_type(np.float32, *(part.scores.dtype for part in parts))),
    )
    start = 0
    for part in parts:
        count, wide = part.positions.shape
        whole.positions[start : start + count, :wide] = part.positions
        whole.scores[start : start + count, :wide] = part.scores
        start += count
    return whole


def _summed(costs: Sequence[PartCost]) -> PartCost:
    whole = PartCost()
    for cost in costs:
        add_cost(whole, cost)
    return whole


def add_cost(whole: PartCost, cost: PartCost) -> None:
    """Add a part's cost to that of others."""
    known = whole.index_seconds is not None and cost.index_seconds is not None
    whole.index_seconds = (whole.index_seconds or 0.0) + (cost.index_seconds or 0.0) if known else None
    for name in (
        *("embed_seconds", "retrieve_seconds", "index_bytes"),
        *("texts_read", "texts_beyond", "tokens_read", "tokens_beyond"),
    ):
        setattr(whole, name, getattr(whole, name) + getattr(cost, name))
    for place, seconds in cost.query_seconds.items():
        whole.query_seconds[place] = whole.query_seconds.get(place, 0.0) + seconds
    for name, values in cost.diagnostics.items():
        whole.diagnostics.setdefault(name, []).extend(values)


class _Diagnose(Protocol):
    def __call__(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> Mapping[str, float]: ...


def _diagnostics(retriever: Retriever) -> _Diagnose:
    found: _Diagnose | None = getattr(retriever, "diagnostics", None)
    return found or _nothing


def _nothing(space: SearchSpace, queries: QueryBatch, *, depth: int) -> dict[str, float]:  # noqa: ARG001 - as `diagnostics`
    """Return no facts, for a retriever that measures nothing about itself."""
    return {}
