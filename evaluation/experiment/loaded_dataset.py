"""A dataset in memory, and the fingerprints that identify it."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.file_facts import FileFacts, facts_of, fingerprint_of
from chunkers.sizes import Ruler, ruler
from chunkers.sources import Repository, read_many
from chunkers.types import SizeUnit, SourceFile
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.file_memory import FileMemory, MemoryLimit, MemoryRepository
from evaluation.experiment.file_tokens import ruler_of
from evaluation.experiment.hidden_edges import HiddenEdges, hidden_edges
from evaluation.experiment.packs import Packs, file_key
from evaluation.results.facts import DatasetParts, DatasetRecord
from ground_truth.draw import draw_queries
from ground_truth.duplicates import apply_duplicates
from ground_truth.hidden import HiddenText, inside, visible_text
from ground_truth.hidden_lines import HiddenLines
from ground_truth.lines import FileLines
from ground_truth.loading import load_from
from ground_truth.spans import FileKey, annotated_lines
from ground_truth.types import Dataset, DatasetLoader

_NO_STARTS = np.zeros(0, dtype=np.int64)
_RULERS_KEPT = 2_000
"""Files whose token counts and hidden lines are cached."""


class KnownFile(NamedTuple):
    """A file of the corpus as it was when the dataset was loaded."""

    file: CorpusFile
    key: bytes
    """Hash of path, language and content."""
    size: int
    """Size in bytes."""


@dataclass(frozen=True)
class LoadedDataset:
    """A dataset and the fingerprints of its parts; it lives as long as the session that loaded it."""

    spec: str
    dataset: Dataset
    corpus: str
    queries: str
    annotations: str
    hidden: str = ""
    """Empty if nothing is hidden."""
    known: tuple[KnownFile, ...] | None = None
    """Every file, by repository and path; None while not yet known."""
    tokens: Packs | None = None
    """Token offsets of files, as far as they are cached."""

    @functools.cached_property
    def files(self) -> tuple[KnownFile, ...]:
        """Every file of the corpus, by repository and path: the file order of every chunk table."""
        if self.known is not None:
            return self.known
        return tuple(_known(each.name, file) for each in _by_name(self.dataset) for file in facts_of(each))

    def sources(self, known: Sequence[KnownFile]) -> Iterator[SourceFile]:
        """Yield some of the files in order, read now; raise if one has changed."""
        for repo, group in itertools.groupby(known, key=lambda each: each.file.repo):
            wanted = list(group)
            found = read_many(self._repositories[repo], [each.file.path for each in wanted])
            for each, source in zip(wanted, found, strict=True):
                yield self._same(each.file, source)

    def _same(self, file: CorpusFile, source: SourceFile | None) -> SourceFile:
        if source is None:
            raise UsageError(f"{file.repo}/{file.path} has gone since the dataset was loaded: run again")
        if self._keys.get(file) != file_key(source):
            raise UsageError(
                f"{file.repo}/{file.path} has changed since the dataset was loaded: dataset {self.spec!r} is not the "
                "same here as where the run began: run again on one state"
            )
        return source

    @functools.cached_property
    def _keys(self) -> dict[CorpusFile, bytes]:
        return {each.file: each.key for each in self.files}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields, without cached contents and counts."""
        return LoadedDataset, tuple(_plain(self))

    @property
    def fingerprint(self) -> str:
        """The hash of the whole dataset."""
        return _digest([self.corpus, self.queries, self.annotations, *([self.hidden] if self.hidden else [])])

    def read(self, file: CorpusFile) -> bytes:
        """Return a file's bytes, with a bounded cache of recent reads."""
        return self._memory.read(file, self._read)

    def _read(self, file: CorpusFile) -> bytes:
        return self._same(file, self._repositories[file.repo].read(file.path)).data

    def ruler(self, file: CorpusFile, unit: SizeUnit) -> Ruler:
        """Return a file's ruler, cached: every chunker and every measure asks for tokens, and counting is slow."""
        if unit != "tokens":
            return ruler(self.read(file), unit)
        found = self._rulers.pop(file, None) or self._counted(file)
        self._rulers[file] = found  # now last in order, so evicted last
        while len(self._rulers) > _RULERS_KEPT:
            del self._rulers[next(iter(self._rulers))]
        return found

    def _counted(self, file: CorpusFile) -> Ruler:
        key = self._keys.get(file)
        record = self.tokens.find([key]).get(key) if self.tokens and key else None
        return ruler_of(record) if record else ruler(self.read(file), "tokens")

    def visible(self, file: CorpusFile, start: int, end: int) -> bytes:
        """Return the visible bytes of a span."""
        return visible_text(self.read(file), self.hidden_ranges(file), start, end)

    def visible_header(self, file: CorpusFile, header: str) -> str:
        """Return the visible part of a chunk's header, which may repeat lines of its file."""
        ranges = self.hidden_ranges(file)
        if not header or not len(ranges):
            return header
        lines = self._hidden_lines.pop(file, None) or HiddenLines(self.read(file), ranges)
        self._hidden_lines[file] = lines  # now last in order, so evicted last
        while len(self._hidden_lines) > _RULERS_KEPT:
            del self._hidden_lines[next(iter(self._hidden_lines))]
        return lines.without(header)

    def hidden_ranges(self, file: CorpusFile) -> np.ndarray:
        """Return the hidden bytes of a file: rows of start and end."""
        return self._hidden_text.ranges(file.repo, file.path)

    @functools.cached_property
    def hidden_edges(self) -> HiddenEdges:
        """The hidden ranges of all files together."""
        return hidden_edges(self)

    def hidden_starts(self, file: CorpusFile, unit: SizeUnit) -> np.ndarray:
        """Return where the hidden units of a file begin, ascending: no chunk and no gold counts them."""
        ranges = self.hidden_ranges(file)
        if not len(ranges):
            return _NO_STARTS
        if (file, unit) not in self._hidden_starts:
            starts = self.ruler(file, unit).starts
            self._hidden_starts[file, unit] = starts[inside(ranges, starts)]
        return self._hidden_starts[file, unit]

    @functools.cached_property
    def gold_lines(self) -> dict[FileKey, FileLines]:
        """The visible lines of the annotated files: the cells of every chunker need them."""
        found = annotated_lines(self.dataset, hidden=self._hidden_text)
        if gone := {(note.repo, note.path) for note in self.dataset.annotations} - found.keys():
            for known in self.files:
                if (known.file.repo, known.file.path) in gone:
                    self._same(known.file, None)
        return found

    @functools.cached_property
    def _hidden_text(self) -> HiddenText:
        return HiddenText(self.dataset.hidden)

    @functools.cached_property
    def _hidden_lines(self) -> dict[CorpusFile, HiddenLines]:
        return {}

    @functools.cached_property
    def _hidden_starts(self) -> dict[tuple[CorpusFile, SizeUnit], np.ndarray]:
        return {}

    @functools.cached_property
    def _rulers(self) -> dict[CorpusFile, Ruler]:
        return {}

    @functools.cached_property
    def _memory(self) -> FileMemory[CorpusFile]:
        return FileMemory()

    @functools.cached_property
    def _repositories(self) -> dict[str, Repository]:
        return {repository.name: repository for repository in self.dataset.repositories}

    def record(self) -> DatasetRecord:
        """Return the dataset's entry in the results."""
        dataset = self.dataset
        skipped = Counter(skip.reason for repository in dataset.repositories for skip in repository.skipped)
        return DatasetRecord(
            name=self.spec,
            fingerprint=self.fingerprint,
            queries=len(dataset.queries),
            repositories=tuple(sorted(repository.name for repository in dataset.repositories)),
            clusters=len({query.cluster for query in dataset.queries}),
            mined=dataset.mined,
            scope=dataset.scope,
            skipped=dict(sorted(skipped.items())),
            parts=DatasetParts(self.corpus, self.queries, self.annotations, self.hidden),
            details=dict(dataset.details),
        )


def load_dataset(
    spec: str, loader: DatasetLoader, *, duplicates: str, limit: int | None, seed: int, tokens: Packs | None = None
) -> LoadedDataset:
    """Load a dataset under a policy for identical files, with at most ``limit`` queries and at least one."""
    dataset = draw_queries(_in_memory(apply_duplicates(load_from(loader, spec), duplicates)), limit, seed=seed)
    if not dataset.queries:
        raise UsageError(f"dataset {spec!r} has no queries")
    files = {repository.name: facts_of(repository) for repository in _by_name(dataset)}
    return LoadedDataset(
        spec=spec,
        dataset=dataset,
        corpus=_digest([dataset.scope, [(name, fingerprint_of(held)) for name, held in files.items()]]),
        queries=_digest([[query.id, query.text, query.repo] for query in dataset.queries]),
        annotations=_digest([_plain(annotation) for annotation in dataset.annotations]),
        hidden=_digest(sorted(dataset.hidden)) if dataset.hidden else "",
        known=tuple(_known(name, file) for name, held in files.items() for file in held),
        tokens=tokens,
    )


def _by_name(dataset: Dataset) -> list[Repository]:
    return sorted(dataset.repositories, key=lambda repository: repository.name)


def _known(repo: str, file: FileFacts) -> KnownFile:
    return KnownFile(CorpusFile(repo, file.path, file.language), file.key, file.size)


def _in_memory(dataset: Dataset) -> Dataset:
    limit = MemoryLimit()
    kept = tuple(MemoryRepository(repository, limit) for repository in dataset.repositories)
    return dataclasses.replace(dataset, repositories=kept)


def _plain(value: Any) -> list[Any]:  # noqa: ANN401 - any dataclass with slots
    return [getattr(value, name) for name in value.__dataclass_fields__]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
