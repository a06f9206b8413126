"""Shares loaded datasets with the workers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from evaluation.experiment.executors import Executor
from evaluation.experiment.session import Session
from evaluation.experiment.shared_datasets import SharedDatasets, shared_datasets


@contextmanager
def sharing(session: Session, executor: Executor, datasets: Iterable[str]) -> Iterator[None]:
    """Share the datasets loaded in this process with the workers of the block."""
    if isinstance(session.shared, SharedDatasets) or not executor.elsewhere:
        yield
        return
    with shared_datasets(session.store, map(session.dataset, dict.fromkeys(datasets))) as shared:
        session.shared = shared
        try:
            yield
        finally:
            session.shared = {}
