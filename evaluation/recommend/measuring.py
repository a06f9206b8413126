"""Measures candidates in the round and in the final: ordinary experiments, cached and run like any other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluation.experiment import stages
from evaluation.experiment.executors import Executor
from evaluation.experiment.loaded_dataset import load_dataset
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_scores
from evaluation.experiment.session import Session
from evaluation.recommend.bounds import Scored
from evaluation.recommend.estimating import Queries
from evaluation.recommend.sampling import Division, Part, PartLoader, asking
from evaluation.recommend.within import Within
from evaluation.report.formats import plural
from ground_truth.datasets.in_memory import InMemory


@dataclass
class Measuring:
    """The experiments, created on demand; the final is the session's own, with all queries."""

    session: Session
    division: Division | None
    """The round before the final, if there is one."""
    around: Mapping[str, str]
    """Candidate → the scout that cuts the code around the round's passages."""
    executor: Executor
    progress: Progress
    say: Callable[[str], None]
    failed: dict[str, str] = field(default_factory=dict)
    """Candidate → why it has no scores in the round or in the final."""

    @property
    def last(self) -> int:
        """The number of the final."""
        return 0 if self.division is None else 1

    @property
    def queries(self) -> Queries:
        """Which of the final's queries choose the finalists, and which of these the round asks."""
        loaded = self.session.dataset(self.session.config.datasets[0]).dataset.queries
        empty: frozenset[str] = frozenset()
        choosing, asked = (self.division.choosing, self.division.part.queries) if self.division else (empty, empty)
        return Queries(*(np.array([query.id in some for query in loaded], dtype=bool) for some in (choosing, asked)))

    def __call__(self, number: int, names: Sequence[str]) -> Scored:
        """Return the scores of these candidates in the round or the final; those that fail have no row."""
        session = self.session_of(number, names)
        queries = session.dataset(session.config.datasets[0]).dataset.queries
        if names:
            what = "all text" if number == self.last else "passages"
            self.say(f"{what}: {plural(len(names), 'candidate')}, {plural(len(queries), 'query')}")
        broken = make_scores(session, session.cells, self.executor, self.progress) if names else {}
        cells = dict(zip(names, session.cells, strict=True)) if names else {}
        self.failed |= {name: broken[cell] for name, cell in cells.items() if cell in broken}
        kept = [name for name in names if cells[name] not in broken]
        rows = [stages.score(session, cells[name]).scored.scores[session.config.headline] for name in kept]
        return Scored(kept, np.array(rows).reshape(len(kept), len(queries)), [query.cluster for query in queries])

    def session_of(self, number: int, names: Sequence[str]) -> Session:
        """Return the session of these candidates, in this order: on all text, or on the round's passages."""
        base, config = self.session, self.session.config
        if self.division is None or number == self.last:
            return base.with_config(config.model_copy(update={"chunkers": tuple(names) or config.chunkers}))
        part, whole = self.division.part, config.datasets[0]
        asked = hashlib.sha256("\n".join(sorted(part.queries)).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        spec = f"{whole} · queries {asked}"
        loader = PartLoader(inner=base.loader(whole), limit=config.limit, seed=config.seed, queries=part.queries)
        here = InMemory(dataset=asking(base.dataset(whole).dataset, part.queries))
        loaded = load_dataset(spec, here, duplicates="keep", limit=None, seed=config.seed)
        kept = {f"{name} · within {part.passages} of {self.around[name]}": self._within(name, part) for name in names}
        update = {"datasets": (spec,), "chunkers": tuple(kept), "limit": None}
        return base.with_dataset(config.model_copy(update=update), loader, loaded, plugins=kept)

    def _within(self, name: str, part: Part) -> Within:
        inner, around = (self.session.chunker(each) for each in (name, self.around[name]))
        return Within.of(inner, part.passages, around=around)
