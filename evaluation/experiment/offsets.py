"""Where the first cut of a line or token chunker falls is arbitrary: its scores are averaged over several offsets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from evaluation.experiment.session import Session
from evaluation.results.types import CellRecord, OffsetSpread
from evaluation.statistics import Weight
from evaluation.statistics.samples import weighted_means
from evaluation.types import CellKey

Offsets = Mapping[str, tuple[str, ...]]
"""Chunker as written → its specs at each offset."""


def offset_specs(session: Session) -> Offsets:
    """Return every chunker that cuts at a fixed period, at as many evenly spaced offsets as the config asks for."""
    count = session.config.offsets
    found: dict[str, tuple[str, ...]] = {}
    for text in session.config.chunkers if count > 1 else ():
        period = getattr(session.chunker(text), "period", None)
        spec = Spec.parse(text)
        if period is not None and "offset" not in dict(spec.params):
            starts = sorted({round(number * period / count) for number in range(count)})
            found[text] = tuple(str(Spec(spec.name, (*spec.params, ("offset", str(start))))) for start in starts)
            for same in set(found[text]).intersection(session.config.chunkers):
                raise UsageError(
                    f"{same} is one of the {len(starts)} offsets over which {text} is averaged: leave one of them out"
                )
    return found


def with_offsets(session: Session, offsets: Offsets) -> Session:
    """Return the session with every chunker at every offset."""
    chunkers = tuple(spec for text in session.config.chunkers for spec in offsets.get(text, (text,)))
    return session.with_config(session.config.model_copy(update={"chunkers": chunkers}))


def cells_at_offsets(session: Session, wanted: Collection[CellKey], offsets: Offsets) -> list[CellKey]:
    """Return the cells of a session of `with_offsets` that are among the wanted ones, at every offset of each.

    Those of one chunker stay together: a shard that ran some of them would take their mean for that of all.
    """
    homes = _homes(offsets)
    return [cell for cell in session.cells if _as_written(cell, homes) in wanted]


def averaged(
    cells: list[CellRecord],
    offsets: Offsets,
    *,
    clusters: Mapping[str, Sequence[str]] | None = None,
    weight: Weight = "repository",
) -> list[CellRecord]:
    """Return one cell in place of those of all offsets: mean scores per query, and the spread of the means.

    clusters: the repository of each query of each dataset; without it, all of a dataset are of one.
    """
    homes = _homes(offsets)
    groups: dict[tuple[str, ...], list[CellRecord]] = {}
    for cell in cells:
        groups.setdefault(_as_written(cell.key, homes), []).append(cell)
    return [_mean(group, homes, (clusters or {}).get(group[0].key.dataset), weight) for group in groups.values()]


def _homes(offsets: Offsets) -> dict[str, str]:
    """Return the spec of a chunker at an offset → the chunker as written."""
    return {spec: text for text, specs in offsets.items() for spec in specs}


def _as_written(cell: CellKey, homes: Mapping[str, str]) -> CellKey:
    return cell._replace(chunker=homes.get(cell.chunker, cell.chunker))


def _mean(
    group: list[CellRecord], homes: Mapping[str, str], clusters: Sequence[str] | None, weight: Weight
) -> CellRecord:
    first = group[0]
    if first.key.chunker not in homes:
        return first
    key = _as_written(first.key, homes)
    broken = next((cell for cell in group if cell.status == "failed"), None)
    if broken is not None:
        return replace(broken, key=key, reason=f"{broken.key.chunker}: {broken.reason}")
    scores = {name: np.array([cell.scores[name] for cell in group]) for name in first.scores}
    curves = [cell.curve for cell in group if cell.curve is not None]
    return replace(
        first,
        key=key,
        scores={name: values.mean(axis=0) for name, values in scores.items()},
        curve=np.mean(curves, axis=0) if curves else None,
        offsets=tuple(
            OffsetSpread(
                name, tuple(weighted_means(values, clusters or [""] * values.shape[1], weight=weight).tolist())
            )
            for name, values in scores.items()
        ),
    )
