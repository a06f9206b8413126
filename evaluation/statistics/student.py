"""Student's t over repositories, widened where their differences are skewed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.statistics.samples import Level, Samples

_COCHRAN = 0.2
"""Cochran's rule n > 25·skewness²: beyond |skewness|/√n = 0.2 a mean is not normal enough for t."""
_LIMIT_ROUNDING = 1e-9
"""A skewness this near the limit is on it, whatever the order of the repositories: few whole numbers often meet it."""
_WIDEST = 1.5
"""The correction for skewness makes neither side of an interval longer than this many times Student's."""
_ROUNDING = 1e-12
"""A spread below this share of the values' size is rounding: the differences are equal."""


@dataclass(frozen=True, slots=True)
class StudentT:
    """The t test over G unit means (Ibragimov & Müller 2010), inverted: valid for units of any sizes and variances.

    A true mean μ is tested by t over weight·(value - μ), which has mean 0 whatever the weights. For equal weights, the
    values of μ that pass are the textbook interval; for unequal ones they are Fieller's (1954). Where Cochran's rule is
    violated, Hall's (1992) correction for skewness may widen the interval, up to a limit, and never narrows it: the
    skewness of few units is too uncertain to narrow the interval, or to be followed without limit.
    """

    estimates: np.ndarray
    errors: np.ndarray
    freedom: np.ndarray
    skews: np.ndarray
    """Skewness of the estimate itself, 0 where Cochran's rule holds."""
    inequality: np.ndarray
    """Squared coefficient of variation of the weights, over G: 0 for equal ones."""
    leaning: np.ndarray
    """Covariance of weights and weighted values, over G."""

    def p_above(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at most 0"."""
        return self._tail(self._ratios(), self.skews)

    def p_below(self) -> np.ndarray:
        """Return the one-sided p against "the true mean is at least 0"."""
        return self._tail(-self._ratios(), -self.skews)

    def lower(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is below with at most this probability; -inf where there is none."""
        return np.asarray(self.estimates - self._distance(self._reach(level, self.skews), self.leaning))

    def upper(self, level: Level) -> np.ndarray:
        """Return the bound that the true mean is above with at most this probability; inf where there is none."""
        return np.asarray(self.estimates + self._distance(self._reach(level, -self.skews), -self.leaning))

    def _ratios(self) -> np.ndarray:
        """Return t at 0, or at infinity if t is smaller there."""
        variances = (
            np.square(self.errors) - 2 * self.estimates * -self.leaning + np.square(self.estimates) * self.inequality
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.estimates / np.sqrt(np.maximum(variances, 0.0))
            farthest = 1 / np.sqrt(self.inequality)
        # Equal values: no doubt about a difference, nor about its absence.
        ratios = np.where(variances > 0, ratios, np.copysign(np.inf, self.estimates))
        return np.where(self.estimates == 0, 0.0, np.clip(ratios, -farthest, farthest))

    def _tail(self, ratios: np.ndarray, skews: np.ndarray) -> np.ndarray:
        from scipy import special  # scipy.stats takes a second to import

        plain, corrected, widest = (
            special.stdtr(self.freedom, -each) for each in (ratios, _straight(ratios, skews), ratios / _WIDEST)
        )
        return np.asarray(np.minimum(np.maximum(plain, corrected), np.maximum(plain, widest)))

    def _reach(self, level: Level, skews: np.ndarray) -> np.ndarray:
        from scipy import special  # scipy.stats takes a second to import

        plain = -special.stdtrit(self.freedom, level)
        return np.asarray(np.clip(_skewed(plain, skews), plain, _WIDEST * plain))

    def _distance(self, reach: np.ndarray, leaning: np.ndarray) -> np.ndarray:
        """Solve distance = reach·(standard error at the bound), a quadratic; infinite where no bound exists."""
        rest = 1 - np.square(reach) * self.inequality
        with np.errstate(divide="ignore", invalid="ignore"):
            half = np.square(reach) * leaning
            found = (half + np.sqrt(np.square(half) + rest * np.square(reach * self.errors))) / rest
        return np.where(rest > 0, found, np.inf)


def student_t(samples: Samples) -> StudentT:
    """Estimate mean, standard error and skewness of every sample."""
    weights, estimates, counts = samples.weights, samples.estimates, np.maximum(samples.counts, 1)
    present = weights > 0
    parts = weights * np.where(present, samples.values - estimates[:, None], 0.0)
    parts[np.abs(parts) <= _ROUNDING * np.abs(weights * samples.values).max(axis=1, initial=0.0, keepdims=True)] = 0.0
    excess = np.where(present, weights - 1 / counts[:, None], 0.0)
    excess[np.abs(excess) <= _ROUNDING] = 0.0
    scale = counts / np.maximum(counts - 1, 1)
    squares = np.square(parts).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        skews = (parts**3).sum(axis=1) / squares**1.5 * np.sqrt(counts * (counts - 1)) / (counts - 2)
    return StudentT(
        estimates,
        np.sqrt(squares * scale),
        counts - 1.0,
        np.where(np.abs(skews) > _COCHRAN * (1 + _LIMIT_ROUNDING), np.nan_to_num(skews), 0.0),
        np.square(excess).sum(axis=1) * scale,
        (parts * excess).sum(axis=1) * scale,
    )


def _straight(ratios: np.ndarray, skews: np.ndarray) -> np.ndarray:
    """Hall's transformation of a t ratio: the result is symmetric up to the order 1/n."""
    slope = np.where(skews == 0, 1.0, skews / 3)
    with np.errstate(over="ignore", invalid="ignore"):
        bent = ((1 + slope * ratios) ** 3 - 1) / (3 * slope) + skews / 6
    return np.where((skews == 0) | np.isinf(ratios), ratios, bent)


def _skewed(straight: np.ndarray, skews: np.ndarray) -> np.ndarray:
    """Invert `_straight`."""
    slope = np.where(skews == 0, 1.0, skews / 3)
    return np.where(skews == 0, straight, (np.cbrt(1 + 3 * slope * (straight - skews / 6)) - 1) / slope)
