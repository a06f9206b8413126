"""Measures candidates on a part of the data: each round is an ordinary experiment, cached and run as any other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.executors import Executor
from evaluation.experiment.loaded_dataset import load_dataset
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_scores
from evaluation.experiment.session import Session
from evaluation.recommend.bounds import Scored
from evaluation.recommend.sampling import Part, PartLoader, part_of
from evaluation.types import CellKey
from ground_truth.datasets.in_memory import InMemory


@dataclass
class Measuring:
    """The rounds' experiments, made when they are asked for."""

    session: Session
    parts: Sequence[Part]
    executor: Executor
    progress: Progress
    say: Callable[[str], None]
    failed: dict[str, str] = field(default_factory=dict)
    """Candidate → why it has no scores in some round."""

    def __call__(self, number: int, names: Sequence[str]) -> Scored:
        """Return the scores of these candidates in a round; those that fail have no row."""
        final = number == len(self.parts) - 1
        part = self.parts[number]
        what = "final" if final else f"round {number + 1} of {len(self.parts) - 1}"
        self.say(f"{what}: {len(names)} candidates, {len(part.queries):,} queries, {part.share:.0%} of the text")
        session = self.session_of(number, names)
        cells = {cell.chunker: cell for cell in session.cells}
        broken = make_scores(session, session.cells, self.executor, self.progress)
        self.failed |= {cell.chunker: reason for cell, reason in broken.items()}
        kept = [name for name in names if cells[name] not in broken]
        rows = [self._scores(session, cells[name]) for name in kept]
        clusters = [query.cluster for query in session.dataset(session.config.datasets[0]).dataset.queries]
        return Scored(kept, np.array(rows).reshape(len(kept), len(clusters)), clusters)

    def session_of(self, number: int, names: Sequence[str]) -> Session:
        """Return the session of these candidates on a round's files and queries."""
        base, part = self.session, self.parts[number]
        config = base.config
        whole = config.datasets[0]
        asked = hashlib.sha256("\n".join(sorted(part.queries)).encode("utf-8", "surrogateescape")).hexdigest()[:8]
        files = "all files" if part.files is None else f"{len(part.files)} files"
        spec = f"{whole} · {files}, queries {asked}"
        loader = PartLoader(inner=base.loader(whole), limit=config.limit, seed=config.seed, part=part)
        here = InMemory(dataset=part_of(base.dataset(whole).dataset, part))
        loaded = load_dataset(spec, here, duplicates="keep", limit=None, seed=config.seed)
        update = {"datasets": (spec,), "chunkers": tuple(names), "limit": None}
        return base.with_dataset(config.model_copy(update=update), loader, loaded)

    def _scores(self, session: Session, cell: CellKey) -> np.ndarray:
        return stages.score(session, cell).scored.scores[session.config.headline]
