"""How many gold regions are seen sufficiently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.measures.budget_recall import TextMeasure, ratio

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@dataclass(frozen=True, kw_only=True)
class RegionSuccess(TextMeasure):
    """Share of the gold regions of which at least the share ``cover`` is read within the budget."""

    cover: float = 0.5
    label: ClassVar[str] = "region_success"
    pattern: ClassVar[str] = "region_success@B(cover=0.5)"
    definition: ClassVar[str] = "share of the gold regions of which at least the share cover is read within B units"
    template: ClassVar[str] = (
        "share of the places that answer of which at least {cover:.0%} is shown once {budget} are read"
    )
    citation: ClassVar[str] = "this project; success of each annotated region, at equal reading"
    properties: ClassVar[frozenset[str]] = frozenset(
        "bounded perfect empty rename monotone stable split duplicate".split()
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.cover <= 1:
            raise UsageError(f"cover of region_success must be above 0 and at most 1, not {self.cover:g}")

    def score(self, batch: Batch) -> np.ndarray:
        """Return the share of the regions; regions without any unit do not count."""
        reading = batch.reading(self.budget_unit)
        gold = reading.curve(charge_duplicates=self.charge_duplicates).gold
        regions, length = reading.layout.gold, reading.layout.length
        seen = np.zeros(len(length) + 1)
        seen[gold.stretch + 1] = gold.within(self.budget)
        seen, size = np.cumsum(seen), np.concatenate(([0], np.cumsum(length)))
        sizes = size[regions.last] - size[regions.first]
        enough = seen[regions.last] - seen[regions.first] >= self.cover * sizes - 1e-9
        real = sizes > 0
        return ratio(reading.per_case(regions.case, enough & real), reading.per_case(regions.case, real))
