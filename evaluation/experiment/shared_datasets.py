"""Datasets loaded by a run and handed to its workers, which need not walk, mine and count again."""

from __future__ import annotations

import functools
import hashlib
import pickle
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.store import Store


class SharedDataset(NamedTuple):
    """A file that holds a loaded dataset for the duration of the run, and the hash of its contents."""

    file: Path
    digest: str

    def read(self) -> LoadedDataset | None:
        """Return the dataset, or None if this machine cannot see the file that the run wrote."""
        try:
            data = self.file.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != self.digest:
            return None
        found = pickle.loads(data)  # noqa: S301 - written by this run: the hash came with the task
        return found if isinstance(found, LoadedDataset) else None


class SharedDatasets(Mapping[str, SharedDataset]):
    """Spec → file; files are written when the first worker needs them, which in a short run may be never."""

    def __init__(self, store: Store, folder: Path, datasets: Iterable[LoadedDataset]) -> None:
        self._store, self._folder, self._datasets = store, folder, datasets

    def __getitem__(self, spec: str) -> SharedDataset:
        return self._written[spec]

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    @functools.cached_property
    def _written(self) -> dict[str, SharedDataset]:
        with self._store.writing():
            made = [(each.spec, _write(each, self._folder / f"{number}")) for number, each in enumerate(self._datasets)]
        return {spec: shared for spec, shared in made if shared}


@contextmanager
def shared_datasets(store: Store, datasets: Iterable[LoadedDataset]) -> Iterator[SharedDatasets]:
    """Keep the datasets in files of the cache until the block ends.

    One that cannot be pickled (for example, its relevance is a local function) is left out: workers load it themselves.
    """
    folder = store.draft("dataset")
    try:
        yield SharedDatasets(store, folder, datasets)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(loaded: LoadedDataset, file: Path) -> SharedDataset | None:
    try:
        data = pickle.dumps(loaded)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    file.write_bytes(data)
    return SharedDataset(file, hashlib.sha256(data).hexdigest())
