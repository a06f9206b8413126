"""Fair sizes in an experiment: each chunker's limit is chosen on the corpus at hand."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from chunkers.size_matching import match_by, parse_target, sizes_of, with_limit
from chunkers.types import SizeLimit, SizeUnit, SourceFile
from evaluation.experiment.blocks import even_blocks
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.executors import Executor, Serial
from evaluation.experiment.session import Session
from evaluation.experiment.sharing import sharing
from evaluation.experiment.spread_work import spread_work
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


def match_sizes(session: Session, executor: Executor | None = None) -> Matched:
    """Choose every chunker's limit on the session's own corpus, where the config asks for it.

    A chunker that cannot be matched is left out with a reason; where none can, that is an error.
    """
    config = session.config
    if config.match_size is None:
        return Matched(session)
    executor = executor or Serial()
    with spread_work(session.store, executor), ExitStack() as open_:
        sample = _Sample(session, executor, open_)
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


class _Block(NamedTuple):
    """Files of a dataset that one task measures."""

    dataset: str
    places: tuple[int, ...]
    """Among the files of the dataset."""


class _Sample:
    """The files that are looked at, in blocks; they are read where a size is not in the store."""

    def __init__(self, session: Session, executor: Executor, open_: ExitStack) -> None:
        self._session, self._executor, self._open = session, executor, open_

    @property
    def corpora(self) -> list[str]:
        """What names them."""
        return [self._session.dataset(spec).corpus for spec in self._session.config.datasets]

    def mean(self, chunker: str, unit: SizeUnit, limit: int | None = None) -> float:
        """Return the mean size of all chunks under a chunker, if given with another limit."""
        # Not before there is something to measure: in most runs every size is in the store.
        self._open.enter_context(sharing(self._session, self._executor, self._session.config.datasets))
        count = size = 0
        work = functools.partial(_measured, self._session, chunker, unit, limit)
        for outcome in self._executor.map(work, self._blocks):
            if outcome.value is None:
                raise (UsageError if outcome.usage else RuntimeError)(outcome.error)
            count, size = count + outcome.value[0], size + outcome.value[1]
        return size / count if count else 0.0

    @functools.cached_property
    def _blocks(self) -> list[_Block]:
        blocks = []
        left = _SAMPLE
        for spec in self._session.config.datasets:
            loaded = self._session.dataset(spec)
            rank = {repository.name: number for number, repository in enumerate(loaded.dataset.repositories)}
            places = sorted(range(len(loaded.files)), key=lambda place: rank[loaded.files[place].file.repo])
            chosen = []
            for place in places:
                if left > 0:
                    left -= loaded.files[place].size
                    chosen.append(place)
            sizes = [loaded.files[place].size for place in chosen]
            blocks += [_Block(spec, tuple(chosen[part.start : part.stop])) for part in even_blocks(sizes)]
        return blocks


def _measured(session: Session, spec: str, unit: SizeUnit, limit: int | None, block: _Block) -> tuple[int, int]:
    """Return how many chunks the files of a block have, and their sizes added up."""
    loaded = session.dataset(block.dataset)
    chunker = session.chunker(spec) if limit is None else with_limit(session.chunker(spec), limit)
    count = size = 0
    for place in block.places:
        file = loaded.files[place].file
        source = SourceFile(file.path, loaded.read(file), file.language, file.repo)
        chunks, held = sizes_of(chunker, source, loaded.ruler(file, unit))
        count, size = count + chunks, size + held
    return count, size


def _target(session: Session, sample: _Sample, written: str) -> SizeLimit:
    if "=" in written and ":" not in written:
        return parse_target(written)
    key = _key(session, sample, written, "mean")
    mean = session.store.get(key, _load)
    if mean is None:
        mean = MatchedSize(written, sample.mean(written, "nws"))
        _save(session, key, mean)
    return SizeLimit("nws", max(1, round(mean.mean)))


def _match(session: Session, sample: _Sample, spec: str, target: SizeLimit) -> MatchedSize:
    key = _key(session, sample, spec, f"{target.unit}={target.amount}")
    found = session.store.get(key, _load)
    if found is None:
        try:
            mean_at = functools.partial(sample.mean, spec, target.unit)
            match = match_by(spec, session.chunker(spec), target, mean_at=mean_at)
            found = MatchedSize(_written(spec, match.field, match.chosen), match.mean)
        except UsageError as error:
            found = MatchedSize(spec, 0.0, str(error))
        _save(session, key, found)
    return found


def _key(session: Session, sample: _Sample, spec: str, target: str) -> StageKey:
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
