"""A recommendation from user input: folders, a dataset, specs or objects, and options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import Spelled
from chunkers.registry import CHUNKERS
from chunkers.tokens import usable_cache
from evaluation.config import make_config
from evaluation.experiment.executors import make_executor
from evaluation.experiment.in_python import Axis, axis_of, check_local, datasets_of
from evaluation.experiment.progress import Progress
from evaluation.experiment.session import Session
from evaluation.recommend.recommend import Help, recommend
from evaluation.recommend.types import Limits, Recommendation
from indexing.registry import ENCODERS, RETRIEVERS

EMBEDDER, WITH_VECTORS, WITHOUT = "minilm", "hybrid", "bm25"
"""Hybrid if an embedder is named; search by words alone takes a minute on two cores."""
QUERIES = 600
"""Maximum queries mined per repository: queries are cheap, and more of them show smaller differences."""


class Engine(NamedTuple):
    """The engine of the run."""

    name: str = "serial"
    jobs: int | None = None
    progress: Progress | None = None
    say: Callable[[str], None] = lambda _message: None
    cache: Path | None = None
    """The user's own if None."""


def recommend_for(
    source: object,
    candidates: Iterable[Any],
    *,
    annotations: str | Path | None,
    embedder: Any,  # noqa: ANN401 - a spec or an object
    retriever: Any,  # noqa: ANN401 - a spec or an object
    current: Any,  # noqa: ANN401 - a spec or an object
    limits: Limits,
    options: dict[str, Any],
    engine: Engine,
) -> Recommendation:
    """Return the recommendation for a folder, several folders, a dataset, or the embedded dataset."""
    dataset = _dataset(source, annotations)
    raced = axis_of(CHUNKERS, candidates)
    specs = tuple(dict.fromkeys(raced.specs))
    named = axis_of(CHUNKERS, [current] if current is not None else [])
    encoder = axis_of(ENCODERS, [embedder if embedder is not None else EMBEDDER])
    usual = WITHOUT if embedder is None else WITH_VECTORS
    searcher = axis_of(RETRIEVERS, [retriever if retriever is not None else usual])
    objects: list[Spelled] = [each for axis in (dataset, raced, named, encoder, searcher) for each in axis.objects]
    check_local(objects, engine.name)
    given = {key: value for key, value in options.items() if value is not None}
    config = make_config(
        {
            **given,
            **({"datasets": dataset.specs} if dataset.specs else {}),
            "chunkers": tuple(dict.fromkeys([*specs, *named.specs])) or ("cast",),
            "embedders": encoder.specs,
            "retrievers": searcher.specs,
            "measures": (given.get("headline", "naurc@4000tok"),),
            "run": {"engine": engine.name, "jobs": engine.jobs},
        },
        source="recommend",
    )
    if len(config.datasets) != 1:
        raise UsageError("recommend is about one dataset: give folders, or one dataset")
    session = Session.resolve(
        config, engine.cache or usable_cache(), plugins={each.spec: each.plugin for each in objects}
    )
    helped = Help(make_executor(engine.name, engine.jobs), engine.progress or Progress(), engine.say)
    try:
        return recommend(session, specs, limits=limits, current=named.specs[0] if named.specs else None, helped=helped)
    finally:
        helped.executor.close()


def _dataset(source: object, annotations: str | Path | None) -> Axis:
    """Return the dataset; folders without annotations are mined for more queries than a comparison needs."""
    found = datasets_of(source, annotations)
    if len(found.specs) == 1 and found.specs[0].startswith("mined:root=") and _are_folders(source):
        return Axis((f"{found.specs[0]},queries={QUERIES}",), ())
    return found


def _are_folders(source: object) -> bool:
    several: Sequence[object] = source if isinstance(source, (list, tuple)) else [source]
    return all(isinstance(each, (str, Path)) and Path(each).expanduser().is_dir() for each in several)
