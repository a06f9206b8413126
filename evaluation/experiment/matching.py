"""Fair sizes in an experiment: each chunker's limit is chosen on the corpus at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chunkers.plugins import Spec
from chunkers.size_matching import Match, matched, parse_target
from chunkers.types import SourceFile
from evaluation.experiment.session import Session

_SAMPLE = 20_000_000
"""Bytes of source that are looked at: enough for a mean to settle."""


class Matched(NamedTuple):
    """The session with the chosen limits written into its specs, and what was chosen for each chunker."""

    session: Session
    chosen: dict[str, Match]


def match_sizes(session: Session) -> Matched:
    """Choose every chunker's limit on the session's own corpus, where the config asks for it."""
    config = session.config
    if config.match_size is None:
        return Matched(session, {})
    target = parse_target(config.match_size)
    sources = list(_sample(session))
    found = {spec: matched(spec, sources, target) for spec in config.chunkers}
    written = {spec: _written(spec, match) for spec, match in found.items()}
    chosen = config.model_copy(
        update={
            "chunkers": tuple(dict.fromkeys(written.values())),
            "baseline": written.get(config.baseline or "", config.baseline),
        }
    )
    return Matched(session.with_config(chosen), {written[spec]: match for spec, match in found.items()})


def _sample(session: Session) -> Iterator[SourceFile]:
    left = _SAMPLE
    for spec in session.config.datasets:
        for repository in session.dataset(spec).dataset.repositories:
            for source in repository.files():
                if left > 0:
                    left -= len(source.data)
                    yield source


def _written(text: str, match: Match) -> str:
    spec = Spec.parse(text)
    return str(Spec(spec.name, tuple({**dict(spec.params), match.field: str(match.chosen)}.items())))
