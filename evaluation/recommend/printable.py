"""Recommendations that print themselves: the return value of `chunkbench.recommend`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.recommend.build import write_recommendation
from evaluation.recommend.document import to_json
from evaluation.recommend.front import Engine, recommend_for
from evaluation.recommend.types import Limits, Recommendation
from evaluation.recommend.words import headline, sentences

_OPTIONS = ("headline", "limit", "margin", "seed")


@dataclass(frozen=True, repr=False)
class PrintableRecommendation(Recommendation):
    """A recommendation for people: sentences by print, plain values by `to_json`, files by `save`."""

    @classmethod
    def of(cls, made: Recommendation) -> PrintableRecommendation:
        """Return the same recommendation, printable."""
        return cls(**{field.name: getattr(made, field.name) for field in dataclasses.fields(made)})

    def __repr__(self) -> str:
        """Summarise the recommendation in a line."""
        return f"<Recommendation: {headline(self)}>"

    def __str__(self) -> str:
        """Return the answer, its risk, and how it was found."""
        return "\n".join(sentences(self))

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as `chunkbench recommend --json` prints them."""
        return to_json(self)

    def save(self, folder: str | Path) -> Path:
        """Write recommend.json and recommend.html into the folder, and return it."""
        folder = Path(folder).expanduser()
        write_recommendation(self, folder)
        return folder


def recommend_objects(
    source: object,
    candidates: Iterable[Any],
    chosen: Mapping[str, Any],
    *,
    limits: tuple[int | None, float | None, float | None, float | None],
    engine: str,
    jobs: int | None,
    options: Mapping[str, Any],
) -> PrintableRecommendation:
    """Return the recommendation, printable; the limits are those of `Limits`, in its order."""
    unknown = next((name for name in options if name not in _OPTIONS), None)
    if unknown is not None:
        raise UsageError(f"recommend: unknown option {unknown!r}.{nearest(unknown, _OPTIONS)}")
    made = recommend_for(
        source, candidates, **chosen, limits=Limits(*limits), options=dict(options), engine=Engine(engine, jobs)
    )
    return PrintableRecommendation.of(made)
