"""One run's resolved experiment: plug-in objects, datasets and stage keys, each created once and kept for the run."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from chunkers.errors import UsageError
from chunkers.plugins import Registry, identity
from chunkers.registry import CHUNKERS
from chunkers.types import Chunker, SizeUnit
from evaluation.config import ExperimentConfig
from evaluation.experiment import keys
from evaluation.experiment.file_words import FileWords
from evaluation.experiment.loaded_dataset import LoadedDataset, load_dataset
from evaluation.experiment.packs import Packs
from evaluation.experiment.ranking_depth import largest_budgets
from evaluation.experiment.shared_datasets import SharedDataset
from evaluation.experiment.space_words import query_words
from evaluation.experiment.store import StageKey, Store
from evaluation.measures.measure import Measure
from evaluation.measures.own import declared_well
from evaluation.measures.registry import parse_measure, remember_measure
from evaluation.types import CellKey
from ground_truth.registry import DATASETS
from ground_truth.rules import Rule, parse_rule
from ground_truth.types import DatasetLoader
from indexing.embedding_cache import EmbeddingCache
from indexing.readers.registry import READERS
from indexing.registry import ENCODERS, RETRIEVERS
from indexing.types import Encoder, Retriever

if TYPE_CHECKING:
    from evaluation.experiment.chunk_table import ChunkTable
    from evaluation.experiment.span_places import SpanRun

T = TypeVar("T")
_TABLES_KEPT = 4


class Session:
    """What the stages of one run share.

    Nothing here outlives the run: a later run loads its datasets again. A worker process rebuilds the session from its
    description and keeps it until a session with another description arrives.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        cache: Path,
        *,
        plugins: Mapping[str, object] | None = None,
        datasets: Mapping[str, LoadedDataset] | None = None,
    ) -> None:
        """``plugins`` are objects by the spec used in the config; other specs are looked up by name."""
        self.config, self.cache = config, cache
        self.store = Store(cache / "stages")
        self.embeddings = EmbeddingCache(cache / "embeddings")
        self.matched_size = ""
        """The mean size that the chunkers were matched to, in words; empty where sizes are as given."""
        self.left_out: Mapping[str, str] = {}
        """Chunkers that could not be matched, with the reason."""
        self.span_runs: dict[CellKey, SpanRun] = {}
        """What tools answered and files held in this run."""
        self.shared: Mapping[str, SharedDataset] = {}
        """Dataset → the file from which workers take it."""
        self._given = dict(plugins or {})
        self._datasets = dict(datasets or {})
        self._made: dict[tuple[str, str], Any] = {}
        self._keys: dict[tuple[str, ...], StageKey] = {}
        self._tables: OrderedDict[str, ChunkTable] = OrderedDict()
        self._packs: dict[tuple[str, ...], Packs] = {}
        self._chunk_keys: dict[tuple[str, str], StageKey] = {}
        self._query_words: dict[str, Mapping[str, tuple[str, ...]]] = {}

    @classmethod
    def resolve(cls, config: ExperimentConfig, cache: Path, *, plugins: Mapping[str, object] | None = None) -> Session:
        """Resolve an experiment; raise for any plug-in, measure or rule that cannot be created."""
        given = dict(plugins or {})
        # The user's own first: other measures may wrap them.
        for measure in (each for each in given.values() if isinstance(each, Measure)):
            remember_measure(measure)
        measures = {name: _measure(given.get(name), name) for name in (*config.measures, config.headline)}
        for measure in measures.values():
            remember_measure(measure)
        session = cls(_canonical(config, measures), cache, plugins={m.name: m for m in measures.values()} | given)
        axes: tuple[tuple[Registry[Any], tuple[str, ...]], ...] = (
            (CHUNKERS, config.chunkers),
            (ENCODERS, config.embedders),
            (RETRIEVERS, config.retrievers),
            (READERS, config.readers),
        )
        for registry, specs in axes:
            spelled: dict[str, str] = {}
            for spec in specs:
                same = spelled.setdefault(repr(identity(session._plugin(registry, spec))), spec)
                if same != spec:
                    raise UsageError(f"{same} and {spec} are the same {registry.kind}: write it one way")
        return session

    def with_config(
        self, config: ExperimentConfig, *, matched_size: str = "", left_out: Mapping[str, str] | None = None
    ) -> Session:
        """Return a session with another config that shares everything created and loaded, now and later."""
        other = Session(config, self.cache, plugins=self._given)
        other._datasets, other._made = self._datasets, self._made
        other._tables, other._packs, other._chunk_keys = self._tables, self._packs, self._chunk_keys
        other.matched_size, other.left_out = matched_size or self.matched_size, left_out or self.left_out
        return other

    def with_dataset(
        self,
        config: ExperimentConfig,
        loader: DatasetLoader,
        loaded: LoadedDataset,
        *,
        plugins: Mapping[str, object] | None = None,
    ) -> Session:
        """Return a session with another config on a dataset in memory; other processes load it by its loader."""
        given = {**self._given, loaded.spec: loader, **(plugins or {})}
        other = Session(config, self.cache, plugins=given, datasets={loaded.spec: loaded})
        other._made = self._made
        return other

    @functools.cached_property
    def cells(self) -> tuple[CellKey, ...]:
        """Every combination, in the order of the config."""
        config = self.config
        axes = (config.datasets, config.chunkers, config.embedders, config.retrievers)
        return tuple(CellKey(*parts) for parts in itertools.product(*axes))

    @functools.cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of every cell."""
        return tuple(_measure(self._given.get(name), name) for name in self.config.measures)

    @functools.cached_property
    def budgets_read(self) -> Mapping[SizeUnit, int]:
        """Unit → the largest budget that a measure or the curve reads in it."""
        return largest_budgets(self.measures, self.config.budgets)

    @functools.cached_property
    def rule(self) -> Rule:
        """The rule by which a chunk counts as relevant."""
        return parse_rule(self.config.rule)

    def dataset(self, spec: str) -> LoadedDataset:
        """Return a dataset, loaded on first use."""
        if spec not in self._datasets:
            config = self.config
            self._datasets[spec] = load_dataset(
                spec,
                self.loader(spec),
                duplicates=config.duplicates,
                limit=config.limit,
                seed=config.seed,
                tokens=Packs(self.store, "tokens", keys.file_tokens_inputs()),
            )
        return self._datasets[spec]

    def loader(self, spec: str) -> DatasetLoader:
        """Return a dataset's loader."""
        return self._plugin(DATASETS, spec)

    def chunker(self, spec: str) -> Chunker:
        """Return a chunker."""
        return self._plugin(CHUNKERS, spec)

    def encoder(self, spec: str) -> Encoder:
        """Return an embedder."""
        return self._plugin(ENCODERS, spec)

    def retriever(self, spec: str) -> Retriever:
        """Return a retriever."""
        return self._plugin(RETRIEVERS, spec)

    def _plugin(self, registry: Registry[T], spec: str) -> T:
        name = (registry.kind, spec)
        if name not in self._made:
            # A dataset may have the name of a chunker.
            given = self._given.get(spec)
            self._made[name] = given if given is not None and registry.fits(given) else registry.create(spec)
        made: T = self._made[name]
        return made

    def chunk_key(self, dataset: str, chunker: str) -> StageKey:
        """Return the key of a chunk table."""
        if (dataset, chunker) not in self._chunk_keys:
            self._chunk_keys[dataset, chunker] = keys.chunk_key(self.dataset(dataset), self.chunker(chunker))
        return self._chunk_keys[dataset, chunker]

    def file_chunks(self, chunker: str) -> Packs:
        """Return the chunker's cached per-file results, shared by all datasets."""
        name = ("chunked", chunker)
        if name not in self._packs:
            self._packs[name] = Packs(self.store, "chunked", keys.file_chunks_inputs(self.chunker(chunker)))
        return self._packs[name]

    def file_tokens(self) -> Packs:
        """Return the cached token offsets of single files, shared by all datasets."""
        if ("tokens",) not in self._packs:
            self._packs["tokens",] = Packs(self.store, "tokens", keys.file_tokens_inputs())
        return self._packs["tokens",]

    @functools.cached_property
    def file_words(self) -> FileWords:
        """The cached words of the chunks of single files, shared by all datasets."""
        return FileWords(Packs(self.store, "counted", keys.file_words_inputs()))

    def query_words(self, dataset: str) -> Mapping[str, tuple[str, ...]]:
        """Return search space → the words of its queries."""
        if dataset not in self._query_words:
            self._query_words[dataset] = query_words(self.dataset(dataset))
        return self._query_words[dataset]

    def words_key(self, dataset: str, chunker: str) -> StageKey:
        """Return the key of the document frequencies of the query words."""
        return self._key(
            ("words", dataset, chunker), lambda: keys.words_key(self.dataset(dataset), self.chunk_key(dataset, chunker))
        )

    def retrieve_key(self, cell: CellKey) -> StageKey:
        """Return the key of a cell's rankings; cells that differ only in an unused embedder share it."""

        def make() -> StageKey:
            retriever = self.retriever(cell.retriever)
            encoder = self.encoder(cell.embedder) if retriever.uses_vectors else None
            return keys.retrieve_key(
                self.dataset(cell.dataset),
                self.chunk_key(cell.dataset, cell.chunker),
                encoder=encoder,
                retriever=retriever,
                depth=self.config.depth,
                budgets=self.budgets_read,
            )

        return self._key(("retrieve", *cell), make)

    def score_key(self, cell: CellKey) -> StageKey:
        """Return the key of a cell's scores."""

        def make() -> StageKey:
            ranking, encoder = self.retrieve_key(cell), self.encoder(cell.embedder)
            return keys.score_key(self.config, self.measures, self.dataset(cell.dataset), ranking, encoder)

        return self._key(("score", *cell), make)

    def levels_key(self, dataset: str, chunker: str) -> StageKey:
        """Return the key of the chance and ceiling levels of a chunk table."""

        def make() -> StageKey:
            chunks = self.chunk_key(dataset, chunker)
            return keys.levels_key(self.config, self.measures, self.dataset(dataset), chunks)

        return self._key(("levels", dataset, chunker), make)

    def stage_keys(self, cell: CellKey) -> dict[str, StageKey]:
        """Return the key of each of the cell's stages."""
        return {
            "chunk": self.chunk_key(cell.dataset, cell.chunker),
            "retrieve": self.retrieve_key(cell),
            "score": self.score_key(cell),
        }

    def _key(self, name: tuple[str, ...], make: Callable[[], StageKey]) -> StageKey:
        if name not in self._keys:
            self._keys[name] = make()
        return self._keys[name]

    def kept_table(self, key: StageKey) -> ChunkTable | None:
        """Return a recently used chunk table, if cached."""
        if key.digest in self._tables:
            self._tables.move_to_end(key.digest)
        return self._tables.get(key.digest)

    def keep_table(self, key: StageKey, table: ChunkTable) -> ChunkTable:
        """Cache a chunk table for the next stage; the least recently used one is evicted."""
        self._tables[key.digest] = table
        while len(self._tables) > _TABLES_KEPT:
            self._tables.popitem(last=False)
        return table

    def __reduce__(self) -> tuple[Callable[[_Description], Session], tuple[_Description]]:
        """Pickle the description: a worker loads what it needs, and rejects data that has changed since."""
        seen = {spec: loaded.fingerprint for spec, loaded in self._datasets.items()}
        return _local_session, (_Description(self.config, self.cache, self._given, seen, dict(self.shared)),)


class _Description(NamedTuple):
    """What a worker needs to rebuild a session."""

    config: ExperimentConfig
    cache: Path
    plugins: Mapping[str, object]
    seen: Mapping[str, str]
    """Dataset → its fingerprint in the process that started the run."""
    shared: Mapping[str, SharedDataset]

    @property
    def digest(self) -> str:
        """The same for two descriptions that one session of a worker can serve."""
        text = f"{self.config.model_dump_json()}\0{self.cache}\0{sorted(self.seen.items())}\0{sorted(self.plugins)}"
        return hashlib.sha256(text.encode()).hexdigest()


class _WorkerSession(Session):
    """A session in a worker process: datasets must be the same as in the process that started the run."""

    def __init__(self, description: _Description) -> None:
        super().__init__(description.config, description.cache, plugins=description.plugins)
        self._seen, self.shared = description.seen, description.shared

    def dataset(self, spec: str) -> LoadedDataset:
        """Return a dataset as the run saw it; raise if its files have changed since."""
        if spec not in self._datasets and spec in self.shared and (found := self.shared[spec].read()):
            self._datasets[spec] = found
        loaded = super().dataset(spec)
        if loaded.fingerprint != self._seen.get(spec, loaded.fingerprint):
            raise UsageError(f"dataset {spec!r} is not the same here as where the run began: run again on one state")
        return loaded


_here: dict[str, Session] = {}
"""The session of this worker process, by the digest of its description; empty in the process that started the run."""


def _local_session(description: _Description) -> Session:
    digest = description.digest
    if digest not in _here:
        _here.clear()
        _here[digest] = _WorkerSession(description)
    return _here[digest]


def _measure(given: object, name: str) -> Measure:
    return declared_well(given if isinstance(given, Measure) else parse_measure(name))


def _canonical(config: ExperimentConfig, measures: Mapping[str, Measure]) -> ExperimentConfig:
    """Return the config with canonical measure names; raise for a rule or a measure that does not fit."""
    rule = parse_rule(config.rule)
    if not rule.compares_chunkers and len(config.chunkers) > 1 and not config.insist:
        raise UsageError(
            f"the rule {rule} depends on the size of chunks and cannot compare chunkers: choose another, such as any, "
            "or name one chunker, or write insist = true (--insist); the results say so"
        )
    if measures[config.headline].centre == "median":
        raise UsageError(f"{config.headline} has no mean to compare by: choose a headline such as naurc@4000tok")
    for name, measure in measures.items():
        cutoff = measure.cutoff or 0
        if cutoff > config.depth:
            raise UsageError(f"{name} looks at {cutoff} results, but depth is {config.depth}: write depth = {cutoff}")
    names = tuple(dict.fromkeys(measures[name].name for name in config.measures))
    return config.model_copy(update={"measures": names, "headline": measures[config.headline].name})
