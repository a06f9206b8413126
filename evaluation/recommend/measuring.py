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
from evaluation.recommend.sampling import Part, PartLoader, asking
from evaluation.recommend.within import Within
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
        final, part = number == len(self.parts) - 1, self.parts[number]
        what = "final" if final else f"round {number + 1} of {len(self.parts) - 1}"
        searched = "all text" if part.passages is None else f"passages of {len(part.passages.ranges):,} files"
        self.say(f"{what}: {len(names)} candidates, {len(part.queries):,} queries, {searched}")
        session = self.session_of(number, names)
        broken = make_scores(session, session.cells, self.executor, self.progress)
        cells = dict(zip(names, session.cells, strict=True))
        self.failed |= {name: broken[cell] for name, cell in cells.items() if cell in broken}
        kept = [name for name in names if cells[name] not in broken]
        headline = session.config.headline
        rows = [stages.score(session, cells[name]).scored.scores[headline] for name in kept]
        clusters = [query.cluster for query in session.dataset(session.config.datasets[0]).dataset.queries]
        return Scored(kept, np.array(rows).reshape(len(kept), len(clusters)), clusters)

    def session_of(self, number: int, names: Sequence[str]) -> Session:
        """Return the session of these candidates, in this order, on a round's passages and queries."""
        base, part = self.session, self.parts[number]
        config = base.config
        whole = config.datasets[0]
        asked = hashlib.sha256("\n".join(sorted(part.queries)).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        spec = f"{whole} · queries {asked}"
        loader = PartLoader(inner=base.loader(whole), limit=config.limit, seed=config.seed, queries=part.queries)
        here = InMemory(dataset=asking(base.dataset(whole).dataset, part.queries))
        loaded = load_dataset(spec, here, duplicates="keep", limit=None, seed=config.seed)
        kept: dict[str, object] = {}
        if part.passages is not None:
            kept = {f"{name} · within {part.passages}": Within.of(base.chunker(name), part.passages) for name in names}
        update = {"datasets": (spec,), "chunkers": tuple(kept or names), "limit": None}
        return base.with_dataset(config.model_copy(update=update), loader, loaded, plugins=kept)
