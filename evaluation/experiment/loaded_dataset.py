"""A dataset as it was when the experiment looked: loaded once per process, with the hashes that name it."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from chunkers.errors import UsageError
from chunkers.sources import Repository, fingerprint
from evaluation.experiment.chunk_table import FileKey
from evaluation.experiment.remembered import Remembered, Room
from ground_truth.duplicates import apply_duplicates
from ground_truth.registry import DATASETS
from ground_truth.types import Dataset

_REMEMBERED = 64_000_000
"""Bytes of source files that are kept in memory; masking makes a second reading dear."""


@dataclass(frozen=True)
class LoadedDataset:
    """A loaded dataset and the fingerprints of its three parts."""

    spec: str
    dataset: Dataset
    corpus: str
    queries: str
    annotations: str

    @property
    def fingerprint(self) -> str:
        """The hash of all of it."""
        return _digest([self.corpus, self.queries, self.annotations])

    def read(self, file: FileKey) -> bytes:
        """Return a file's bytes as they are indexed; what was read last is remembered, up to a bound."""
        if file not in self._recent:
            source = self._repositories[file.repo].read(file.path)
            if source is None:
                raise UsageError(f"{file.repo}/{file.path} has gone since the dataset was loaded: run again")
            self._recent[file] = source.data
            self._held[0] += len(source.data)
            while self._held[0] > _REMEMBERED and len(self._recent) > 1:
                self._held[0] -= len(self._recent.pop(next(iter(self._recent))))
        return self._recent[file]

    @functools.cached_property
    def _recent(self) -> dict[FileKey, bytes]:
        return {}

    @functools.cached_property
    def _held(self) -> list[int]:
        return [0]

    @functools.cached_property
    def _repositories(self) -> dict[str, Repository]:
        return {repository.name: repository for repository in self.dataset.repositories}

    def record(self) -> dict[str, Any]:
        """Return what the results say of the dataset."""
        dataset = self.dataset
        skipped = Counter(skip.reason for repository in dataset.repositories for skip in repository.skipped)
        return {
            "name": self.spec,
            "fingerprint": self.fingerprint,
            "queries": len(dataset.queries),
            "repositories": sorted(repository.name for repository in dataset.repositories),
            "clusters": len({query.cluster for query in dataset.queries}),
            "mined": dataset.mined,
            "scope": dataset.scope,
            "skipped": dict(sorted(skipped.items())),
            "parts": {"corpus": self.corpus, "queries": self.queries, "annotations": self.annotations},
            "details": dict(dataset.details),
        }


@functools.lru_cache(maxsize=16)
def load_dataset(spec: str, duplicates: str = "keep") -> LoadedDataset:
    """Return the dataset under a policy for identical files; it must have queries."""
    dataset = apply_duplicates(_remembering(DATASETS.create(spec).load()), duplicates)
    if not dataset.queries:
        raise UsageError(f"dataset {spec!r} has no queries")
    corpus = {repository.name: fingerprint(repository) for repository in dataset.repositories}
    return LoadedDataset(
        spec=spec,
        dataset=dataset,
        corpus=_digest([dataset.scope, sorted(corpus.items())]),
        queries=_digest([[query.id, query.text, query.repo] for query in dataset.queries]),
        annotations=_digest([_plain(annotation) for annotation in dataset.annotations]),
    )


def same_dataset(spec: str, duplicates: str, seen: str) -> LoadedDataset:
    """Return the dataset as the run saw it, in whichever process; raise where its files have changed since."""
    if load_dataset(spec, duplicates).fingerprint != seen:
        load_dataset.cache_clear()  # this worker may have loaded it for an earlier run
        if load_dataset(spec, duplicates).fingerprint != seen:
            raise UsageError(f"dataset {spec!r} is not the same here as where the run began: run again on one state")
    return load_dataset(spec, duplicates)


def _remembering(dataset: Dataset) -> Dataset:
    room = Room()
    remembered = tuple(Remembered(repository, room) for repository in dataset.repositories)
    return dataclasses.replace(dataset, repositories=remembered)


def _plain(value: Any) -> list[Any]:  # noqa: ANN401 - any dataclass with slots
    return [getattr(value, name) for name in value.__dataclass_fields__]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
