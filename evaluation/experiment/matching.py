"""Fair sizes in an experiment: each chunker's limit is chosen on the corpus at hand."""

from __future__ import annotations

from collections.abc import Iterator

from chunkers.plugins import Spec
from chunkers.size_matching import Match, matched, parse_target
from chunkers.types import SourceFile
from evaluation.experiment.config import ExperimentConfig
from evaluation.experiment.loaded_dataset import load_dataset

_SAMPLE = 20_000_000
"""Bytes of source that are looked at: enough for a mean to settle."""


def match_sizes(config: ExperimentConfig) -> tuple[ExperimentConfig, dict[str, Match]]:
    """Return the experiment with the chosen limits written into its specs, and what was chosen for each chunker."""
    if config.match_size is None:
        return config, {}
    target = parse_target(config.match_size)
    sources = list(_sample(config))
    found = {spec: matched(spec, sources, target) for spec in config.chunkers}
    written = {spec: _written(spec, match) for spec, match in found.items()}
    chosen = config.model_copy(
        update={
            "chunkers": tuple(dict.fromkeys(written.values())),
            "baseline": written.get(config.baseline or "", config.baseline),
        }
    )
    return chosen, {written[spec]: match for spec, match in found.items()}


def _sample(config: ExperimentConfig) -> Iterator[SourceFile]:
    left = _SAMPLE
    for spec in config.datasets:
        for repository in load_dataset(spec, config.duplicates).dataset.repositories:
            for source in repository.files():
                if left > 0:
                    left -= len(source.data)
                    yield source


def _written(text: str, match: Match) -> str:
    spec = Spec.parse(text)
    return str(Spec(spec.name, tuple({**dict(spec.params), match.field: str(match.chosen)}.items())))
