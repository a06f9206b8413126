"""Loads a dataset from any loader: errors in third-party code are reported in one line."""

from __future__ import annotations

from typing import Any

from chunkers.errors import UsageError, reason_of
from chunkers.targets import target_of
from ground_truth.registry import DATASETS
from ground_truth.types import Dataset


def load_from(loader: Any, spec: str = "") -> Dataset:  # noqa: ANN401 - whatever has a load()
    """Return the loader's dataset; raise if a third-party loader fails, or returns something else.

    ``spec`` is the user's name for it; the default is its class.
    """
    name = spec or type(loader).__qualname__
    try:
        loaded: object = loader.load()
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        if _is_built_in(loader):
            raise
        raise UsageError(f"dataset {name} cannot be loaded: {reason_of(error)}") from error
    if not isinstance(loaded, Dataset):
        raise UsageError(f"dataset {name} cannot be loaded: load() returned {type(loaded).__name__}, not a Dataset")
    return loaded


def _is_built_in(loader: object) -> bool:
    return target_of(type(loader)) in {entry.target for entry in DATASETS.builtin.values()}
