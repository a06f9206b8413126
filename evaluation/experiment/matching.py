"""Fair sizes in an experiment: each chunker's limit is chosen on the corpus at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from chunkers.size_matching import matched, mean_of, parse_target
from chunkers.types import SizeLimit, SourceFile
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.session import Session
from evaluation.experiment.store import StageKey

_SAMPLE = 20_000_000
"""Bytes of source that are looked at: enough for a mean to settle."""


class MatchedSize(NamedTuple):
    """What was chosen for one chunker, and the mean size that it gives; or why nothing could be."""

    spec: str
    mean: float
    problem: str = ""


@dataclass(frozen=True)
class Matched:
    """The session with the chosen limits written into its specs, and what was chosen."""

    session: Session
    target: str = ""
    """The mean size that was asked for, in words; empty where sizes are as given."""
    chosen: Sequence[MatchedSize] = ()


def match_sizes(session: Session) -> Matched:
    """Choose every chunker's limit on the session's own corpus, where the config asks for it.

    A chunker that cannot be matched is left out with a reason; where none can, that is an error.
    """
    config = session.config
    if config.match_size is None:
        return Matched(session)
    sources = _Sources(session)
    target = _target(session, sources, config.match_size)
    found = {spec: _match(session, sources, spec, target) for spec in config.chunkers}
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


class _Sources:
    """The files that are looked at, read when a size is not in the store."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._files: list[SourceFile] | None = None

    @property
    def corpora(self) -> list[str]:
        """What names them."""
        return [self._session.dataset(spec).corpus for spec in self._session.config.datasets]

    def __call__(self) -> list[SourceFile]:
        if self._files is None:
            self._files = list(_sample(self._session))
        return self._files


def _target(session: Session, sources: _Sources, written: str) -> SizeLimit:
    if "=" in written and ":" not in written:
        return parse_target(written)
    key = _key(session, sources, written, "mean")
    mean = session.store.get(key, _load)
    if mean is None:
        mean = MatchedSize(written, mean_of(session.chunker(written), sources(), "nws"))
        _save(session, key, mean)
    return SizeLimit("nws", max(1, round(mean.mean)))


def _match(session: Session, sources: _Sources, spec: str, target: SizeLimit) -> MatchedSize:
    key = _key(session, sources, spec, f"{target.unit}={target.amount}")
    found = session.store.get(key, _load)
    if found is None:
        try:
            match = matched(spec, sources(), target, chunker=session.chunker(spec))
            found = MatchedSize(_written(spec, match.field, match.chosen), match.mean)
        except UsageError as error:
            found = MatchedSize(spec, 0.0, str(error))
        _save(session, key, found)
    return found


def _key(session: Session, sources: _Sources, spec: str, target: str) -> StageKey:
    inputs = {
        "corpus": sources.corpora,
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


def _sample(session: Session) -> Iterator[SourceFile]:
    left = _SAMPLE
    for spec in session.config.datasets:
        for repository in session.dataset(spec).dataset.repositories:
            for source in repository.files():
                if left > 0:
                    left -= len(source.data)
                    yield source


def _written(text: str, field: str, chosen: int) -> str:
    spec = Spec.parse(text)
    return str(Spec(spec.name, tuple({**dict(spec.params), field: str(chosen)}.items())))
