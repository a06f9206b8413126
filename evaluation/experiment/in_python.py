"""An experiment from Python: plug-in objects wherever the command line takes specs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import Registry, Spelled, nearest
from chunkers.registry import CHUNKERS
from chunkers.tokens import usable_cache
from evaluation.config import make_config
from evaluation.experiment.executors import make_executor
from evaluation.experiment.matching import match_sizes
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.measures.registry import MEASURES
from evaluation.measures.single import described
from evaluation.results.types import Results
from ground_truth.datasets.in_memory import InMemory
from ground_truth.registry import DATASETS
from ground_truth.types import Dataset
from indexing.registry import ENCODERS, RETRIEVERS

_REGISTRIES: dict[str, Registry[Any]] = {
    "chunkers": CHUNKERS,
    "embedders": ENCODERS,
    "retrievers": RETRIEVERS,
    "measures": MEASURES,
}


class Axis(NamedTuple):
    """The specs of one axis, and the objects among them."""

    specs: tuple[str, ...]
    objects: tuple[Spelled, ...]


def run_objects(
    source: object,
    axes: Mapping[str, Iterable[Any]],
    *,
    annotations: str | Path | None,
    engine: str,
    jobs: int | None,
    options: Mapping[str, Any],
) -> Results:
    """Return the results of comparing these plug-ins on this source."""
    spelled = {name: axis_of(_REGISTRIES[name], items) for name, items in axes.items()}
    spelled["datasets"] = datasets_of(source, annotations)
    if "baseline" in options and not isinstance(options["baseline"], str):
        options = {**options, "baseline": CHUNKERS.spell(options["baseline"]).spec}
    objects = [each for axis in spelled.values() for each in axis.objects]
    check_local(objects, engine)
    chosen = {name: axis.specs for name, axis in spelled.items() if axis.specs}
    run = {**_run_options(options.get("run", {})), "engine": engine, "jobs": jobs}
    config = make_config({**options, **chosen, "run": run}, source="compare")
    plugins = {each.spec: each.plugin for each in objects}
    with closing(make_executor(engine, jobs)) as executor:
        matched = match_sizes(Session.resolve(config, usable_cache(), plugins=plugins), executor)
        return run_experiment(matched.session, executor)


def _run_options(given: object) -> dict[str, Any]:
    """Return what applies from Python of the run table of an experiment file: prices."""
    if not isinstance(given, Mapping):
        raise UsageError(f"compare: run is {given!r}: give a mapping, as in run={{'price': '0.02'}}")
    if others := sorted(map(str, given.keys() - {"price"})):
        raise UsageError(f"compare: run.{others[0]} is for the command line: leave it out")
    return dict(given)


def check_local(objects: Iterable[Spelled], engine: str) -> None:
    """Raise if other processes would need an object that exists only in this one."""
    local = next((each.only_here for each in objects if each.only_here), "")
    if local and engine != "serial":
        raise UsageError(f"engine={engine!r} cannot be used: {local}, or use engine='serial'")


def axis_of(registry: Registry[Any], items: Iterable[Any]) -> Axis:
    """Return the specs of these specs and objects, and the objects; a single one counts as a list of one."""
    listed = [items] if isinstance(items, str) or not isinstance(items, Iterable) else list(items)
    found = [item if isinstance(item, str) else registry.spell(item) for item in listed]
    specs = tuple(item if isinstance(item, str) else item.spec for item in found)
    return Axis(specs, tuple(item for item in found if not isinstance(item, str)))


def datasets_of(source: object, annotations: str | Path | None) -> Axis:
    """Return the dataset for a folder, several folders, a spec or an object; none for None."""
    if source is None:
        if annotations is not None:
            raise UsageError("annotations need the folder they are about: compare(folder, annotations=file)")
        return Axis((), ())
    if annotations is not None and not isinstance(annotations, (str, Path)):
        raise UsageError(f"annotations is {described(annotations)}: give the path of a JSON Lines file")
    if isinstance(source, str) or not isinstance(source, Iterable) or hasattr(source, "load"):
        return _axis([_dataset(source, annotations)])
    sources = list(source)
    if sources and annotations is None and all(map(_is_folder, sources)):
        folders = ";".join(map(_in_full, sources))  # one dataset of several repositories, as the command does
        return Axis((f"mined:root={folders}",), ())
    return _axis([_dataset(each, annotations) for each in sources])


def _axis(found: Sequence[Spelled]) -> Axis:
    return Axis(tuple(each.spec for each in found), tuple(each for each in found if each.plugin is not None))


def _is_folder(source: object) -> bool:
    return isinstance(source, (str, Path)) and Path(source).expanduser().is_dir()


def _in_full(folder: str | Path) -> str:
    """Return the folder as it was given, with ~ written out, as a shell would."""
    return str(Path(folder).expanduser()) if str(folder).startswith("~") else str(folder)


def _dataset(source: Any, annotations: str | Path | None) -> Spelled:  # noqa: ANN401 - whatever the caller passes
    """Return the spec of one source, with its loader if it is an object."""
    if isinstance(source, Dataset):
        only_here = f"the dataset {source.name!r} is an object of this process: give its loader"
        return Spelled(source.name, InMemory(dataset=source), only_here)
    if not isinstance(source, (str, Path)):
        return DATASETS.spell(source)
    if _is_folder(source):
        source = _in_full(source)
        spec = f"annotations:path={annotations},root={source}" if annotations else f"mined:root={source}"
        return Spelled(spec, None, "")
    if isinstance(source, Path):
        raise UsageError(f"{source} is not a folder")
    if ":" not in source and source.strip() not in (known := DATASETS.entries()):
        hint = nearest(source, known) or f" Known: {', '.join(sorted(known))}."
        raise UsageError(f"{source!r} is neither a folder nor a known dataset.{hint}")
    return Spelled(source, None, "")
