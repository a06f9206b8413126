"""A dataset as it was when the experiment looked: loaded once per process, with the hashes that name it."""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from chunkers.errors import UsageError
from chunkers.sources import Repository, fingerprint
from evaluation.experiment.corpus_chunks import FileKey
from evaluation.experiment.remembered import Memory, Remembered
from ground_truth.registry import DATASETS
from ground_truth.types import Dataset


@dataclass(frozen=True)
class Snapshot:
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
        """Return a file's bytes as they are indexed."""
        source = self._repositories[file.repo].read(file.path)
        if source is None:
            raise UsageError(f"{file.repo}/{file.path} has gone since the dataset was loaded: run again")
        return source.data

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


@functools.lru_cache(maxsize=2)
def load_snapshot(spec: str) -> Snapshot:
    """Return the dataset; it must have repositories with files, and queries with annotations."""
    dataset = DATASETS.create(spec).load()
    if not dataset.queries:
        raise UsageError(f"dataset {spec!r} has no queries")
    memory = Memory()
    dataset = replace(dataset, repositories=tuple(Remembered(each, memory) for each in dataset.repositories))
    corpus = {repository.name: fingerprint(repository) for repository in dataset.repositories}
    return Snapshot(
        spec=spec,
        dataset=dataset,
        corpus=_digest([dataset.scope, sorted(corpus.items())]),
        queries=_digest([[query.id, query.text, query.repo] for query in dataset.queries]),
        annotations=_digest([_plain(annotation) for annotation in dataset.annotations]),
    )


def same_snapshot(spec: str, seen: str) -> Snapshot:
    """Return the dataset as the run saw it, in whichever process; raise where its files have changed since."""
    if load_snapshot(spec).fingerprint != seen:
        load_snapshot.cache_clear()  # this worker may have loaded it for an earlier run
        if load_snapshot(spec).fingerprint != seen:
            raise UsageError(f"dataset {spec!r} is not the same here as where the run began: run again on one state")
    return load_snapshot(spec)


def _plain(value: Any) -> list[Any]:  # noqa: ANN401 - any dataclass with slots
    return [getattr(value, name) for name in value.__dataclass_fields__]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
