"""Size matching: each chunker's limit is chosen on the corpus at hand."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chunkers.cut_errors import CutError
from chunkers.errors import UsageError
from chunkers.plugins import Spec
from chunkers.size_matching import match_by, parse_target
from chunkers.types import SizeLimit
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.executors import Executor, Serial
from evaluation.experiment.file_sizes import Sample
from evaluation.experiment.session import Session
from evaluation.experiment.spread_work import spread_work
from evaluation.experiment.store import StageKey


class MatchedSize(NamedTuple):
    """The limit chosen for one chunker and the resulting mean size; or why there is none."""

    spec: str
    mean: float
    problem: str = ""


@dataclass(frozen=True)
class Matched:
    """The session with the chosen limits written into its specs, and the choices."""

    session: Session
    target: str = ""
    """The target mean size, in words; empty if sizes are as given."""
    chosen: Sequence[MatchedSize] = ()


def match_sizes(session: Session, executor: Executor | None = None) -> Matched:
    """Choose every chunker's limit on the session's own corpus, if the config asks for it.

    A chunker that cannot be matched is dropped with a reason; if none can, that is an error.
    """
    config = session.config
    if config.match_size is None:
        return Matched(session)
    executor = executor or Serial()
    with spread_work(session.store, executor), ExitStack() as open_:
        sample = Sample(session, executor, open_)
        target = _target(session, sample, config.match_size)
        found = {spec: _match(session, sample, spec, target) for spec in config.chunkers}
    kept = {spec: each.spec for spec, each in found.items() if not each.problem}
    if not kept:
        raise UsageError(next(each.problem for each in found.values()))
    update = {
        "chunkers": tuple(dict.fromkeys(kept.values())),
        "baseline": kept.get(config.baseline or "", config.baseline),
    }
    words = f"{target.amount:,} {target.unit}"
    left_out = {each.spec: each.problem for each in found.values() if each.problem}
    fair = session.with_config(config.model_copy(update=update), matched_size=words, left_out=left_out)
    return Matched(fair, words, tuple(found.values()))


def _target(session: Session, sample: Sample, written: str) -> SizeLimit:
    if "=" in written and ":" not in written:
        return parse_target(written)
    key = _key(session, sample, written, "mean")
    mean = session.store.get(key, _load)
    if mean is None:
        mean = MatchedSize(written, sample.mean(written, "nws"))
        _save(session, key, mean)
    return SizeLimit("nws", max(1, round(mean.mean)))


def _match(session: Session, sample: Sample, spec: str, target: SizeLimit) -> MatchedSize:
    key = _key(session, sample, spec, f"{target.unit}={target.amount}")
    found = session.store.get(key, _load)
    if found is None:
        try:
            means_at = functools.partial(_means, sample, spec, target)
            match = match_by(spec, session.chunker(spec), target, means_at=means_at)
            found = MatchedSize(_written(spec, match.field, match.chosen), match.mean)
        except CutError as error:
            return MatchedSize(spec, 0.0, f"{spec} {error}")  # not cached: a later run tries again, as for its chunks
        except UsageError as error:
            found = MatchedSize(spec, 0.0, str(error))
        _save(session, key, found)
    return found


def _means(sample: Sample, spec: str, target: SizeLimit, limits: Sequence[int]) -> dict[int, float | Exception]:
    means = sample.means(spec, target.unit, limits)
    return {limit: means[limit] for limit in limits}


def _key(session: Session, sample: Sample, spec: str, target: str) -> StageKey:
    inputs = {
        "corpus": sample.corpora,
        "chunker": plugin_inputs(session.chunker(spec)),
        "spec": spec,
        "target": target,
        "code": code_of("evaluation.experiment.matching"),
    }
    return StageKey("match", inputs)


def _save(session: Session, key: StageKey, found: MatchedSize) -> None:
    session.store.put(key, lambda folder: _write(folder, found))


def _write(folder: Path, found: MatchedSize) -> None:
    (folder / "match.json").write_text(json.dumps(found._asdict()), "utf-8")


def _load(folder: Path) -> MatchedSize:
    return MatchedSize(**json.loads((folder / "match.json").read_text("utf-8")))


def _written(text: str, field: str, chosen: int) -> str:
    spec = Spec.parse(text)
    return str(Spec(spec.name, tuple({**dict(spec.params), field: str(chosen)}.items())))
