"""Which texts the race has indexed, and which candidates it can still afford."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evaluation.recommend.estimating import Contest, Entrant


class IndexedTexts:
    """The texts indexed so far."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        numbers = [each.all_text for each in entrants]
        grid = np.zeros(1 + max(int(each.max(initial=-1)) for each in numbers), dtype=bool)
        for each in numbers:
            grid[each] = True
        self.grid = int(grid.sum())
        self.indexed = np.zeros(len(grid), dtype=bool)

    def index(self, parts: Iterable[np.ndarray]) -> None:
        """Count these as indexed."""
        for numbers in parts:
            self.indexed[numbers] = True

    def afford(self, here: Contest, ranked: Iterable[str], *, least: int) -> list[str]:
        """Return the first few candidates whose texts may be indexed, in this order, and at least ``least``.

        Cheaper ones may replace one that cannot be afforded.
        """
        planned = self.indexed.copy()
        taken: list[str] = []
        for name in ranked:
            numbers = here.entrants[name].all_text
            more = int(planned.sum()) + len(np.unique(numbers[~planned[numbers]]))
            if len(taken) < here.rules.wave and (len(taken) < least or more <= here.rules.text_share * self.grid):
                taken.append(name)
                planned[numbers] = True
        return taken
