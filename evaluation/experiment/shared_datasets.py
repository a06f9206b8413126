"""Datasets that a run has loaded, handed to its workers: none of them walks, mines and counts again."""

from __future__ import annotations

import hashlib
import pickle
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.store import Store


class SharedDataset(NamedTuple):
    """A file that holds a loaded dataset while the run lasts, and the hash of what the run wrote there."""

    file: Path
    digest: str

    def read(self) -> LoadedDataset | None:
        """Return the dataset, or None where this machine does not see the file that the run wrote."""
        try:
            data = self.file.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != self.digest:
            return None
        found = pickle.loads(data)  # noqa: S301 - the bytes that the run itself wrote: the hash came with the task
        return found if isinstance(found, LoadedDataset) else None


@contextmanager
def shared_datasets(store: Store, datasets: Iterable[LoadedDataset]) -> Iterator[dict[str, SharedDataset]]:
    """Keep the datasets in files of the cache until the block ends; spec → file.

    One that cannot be pickled (its relevance is a local function, say) is left out: workers load it themselves.
    """
    folder = store.draft("dataset")
    try:
        written = ((loaded.spec, _write(loaded, folder / f"{number}")) for number, loaded in enumerate(datasets))
        yield {spec: shared for spec, shared in written if shared}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(loaded: LoadedDataset, file: Path) -> SharedDataset | None:
    try:
        data = pickle.dumps(loaded)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    file.write_bytes(data)
    return SharedDataset(file, hashlib.sha256(data).hexdigest())
