"""How many units would show a difference of the size that was seen."""

from __future__ import annotations

import math

import numpy as np

from evaluation.statistics.types import SIGNIFICANT

POWER = 0.8
_PRACTICAL = 100_000
"""Beyond this, 'more data' is not advice."""


def units_needed(sums: np.ndarray, *, comparisons: int) -> int | None:
    """Units for 80 % power at the observed effect, alpha shared by the comparisons; None beyond practice.

    The observed effect stands in for the true one, so this is a hint about scale and not a promise.
    """
    from scipy import special  # scipy.stats takes a second to import

    deviation = sums.std(ddof=1) if len(sums) > 1 else 0.0
    if deviation == 0 or sums.mean() == 0:
        return None
    effect = abs(sums.mean()) / deviation
    z_alpha = -special.ndtri(SIGNIFICANT / comparisons / 2)
    # The last term corrects the normal formula for Student's t (Guenther 1981).
    needed = math.ceil(((z_alpha + special.ndtri(POWER)) / effect) ** 2 + z_alpha**2 / 2)
    # Flipping the signs of n units, no p is below 2^(1-n).
    least = math.ceil(1 + math.log2(comparisons / SIGNIFICANT))
    needed = max(needed, len(sums) + 1, least)
    return needed if needed <= _PRACTICAL else None
