"""What the workers of a run need not load again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from evaluation.experiment.executors import Executor
from evaluation.experiment.session import Session
from evaluation.experiment.shared_datasets import SharedDatasets, shared_datasets


@contextmanager
def sharing(session: Session, executor: Executor, datasets: Iterable[str]) -> Iterator[None]:
    """Let the workers of the block have the datasets that this process has loaded."""
    if isinstance(session.shared, SharedDatasets) or not executor.elsewhere:
        yield
        return
    with shared_datasets(session.store, map(session.dataset, dict.fromkeys(datasets))) as shared:
        session.shared = shared
        try:
            yield
        finally:
            session.shared = {}
