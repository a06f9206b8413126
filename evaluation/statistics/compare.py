"""From a matrix of per-query scores to one comparison per pair of chunkers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.statistics.classic import holm, paired_t, wilcoxon
from evaluation.statistics.flips import sign_flip_test
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.power import units_needed
from evaluation.statistics.tukey import tukey_hsd
from evaluation.statistics.types import SIGNIFICANT, Comparison, TestName
from evaluation.statistics.units import Units, choose_units, cluster_caveat

FLIPS = 100_000
_EQUAL = 1e-12


def compare_pairs(
    scores: np.ndarray,
    clusters: Sequence[str],
    *,
    names: Sequence[str],
    family: str = "all",
    flips: int = FLIPS,
    seed: int = 0,
    test: TestName = "sign-flip",
) -> list[Comparison]:
    """Compare all pairs of rows of [chunkers × queries], or each row with the one named by ``family``.

    A NaN is a score that is undefined for its query: a pair is compared on the queries where both have one, and the
    caveat counts the others.
    """
    scores = np.asarray(scores, dtype=np.float64)
    pairs = _pairs(scores, clusters, names=names, family=family)
    if not pairs:
        return []
    if test == "tukey-hsd" and family != "all":
        raise UsageError("tukey-hsd compares all pairs: leave the baseline out, or use sign-flip")
    units = choose_units(clusters) if test in ("sign-flip", "tukey-hsd") else _query_units(clusters)
    differences = np.array([scores[i] - scores[j] for i, j in pairs])
    if test == "tukey-hsd":
        # A renaming needs every chunker's score, so an incomplete query leaves all pairs.
        differences[:, np.isnan(scores).any(axis=0)] = np.nan
    p, p_maxt, tried, exact = _p_values(scores, differences, pairs, units=units, flips=flips, seed=seed, test=test)
    p_holm = p if test == "tukey-hsd" else holm(p)
    return [
        _comparison(
            differences[k],
            clusters,
            (names[i], names[j]),
            p=(float(p[k]), None if p_maxt is None else float(p_maxt[k]), float(p_holm[k])),
            units=units,
            family=len(pairs),
            run=(test, tried, exact, seed),
        )
        for k, (i, j) in enumerate(pairs)
    ]


def _pairs(scores: np.ndarray, clusters: Sequence[str], *, names: Sequence[str], family: str) -> list[tuple[int, int]]:
    if scores.ndim != 2 or scores.shape != (len(names), len(clusters)):
        raise ValueError(f"scores {scores.shape} do not match {len(names)} names and {len(clusters)} queries")
    if len(set(names)) != len(names):
        raise ValueError(f"names are not unique: {list(names)}")
    if np.isinf(scores).any():
        raise ValueError("scores hold an infinite value")
    if not len(clusters):
        raise UsageError("there are no queries to compare on")
    if family == "all":
        return list(combinations(range(len(names)), 2))
    if family not in names:
        raise UsageError(f"the baseline {family!r} is not among the chunkers compared.{nearest(family, list(names))}")
    base = list(names).index(family)
    return [(k, base) for k in range(len(names)) if k != base]


def _query_units(clusters: Sequence[str]) -> Units:
    return Units("query", np.arange(len(clusters)), len(clusters), len(set(clusters)))


def _p_values(
    scores: np.ndarray,
    differences: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    *,
    units: Units,
    flips: int,
    seed: int,
    test: TestName,
) -> tuple[np.ndarray, np.ndarray | None, int, bool]:
    """p, the max-T p where the test has one, the number of flips, and whether these were all there are."""
    if test in ("paired-t", "wilcoxon"):
        one = paired_t if test == "paired-t" else wilcoxon
        return np.array([one(row[~np.isnan(row)]) for row in differences]), None, 0, False
    if test == "tukey-hsd":
        folded = _fold_complete(scores, units)
        sums = np.nansum(differences, axis=1)
        p = tukey_hsd(folded, sums, shuffles=flips, seed=seed)
        return p, p, flips, False
    if np.isnan(scores).any():
        # Each pair has its own queries, so each is a column of its own against a column of zeros.
        columns = np.vstack([units.fold(np.nan_to_num(differences)), np.zeros((1, units.count))])
        pairs = [(k, len(differences)) for k in range(len(differences))]
    else:
        columns = units.fold(scores)
    result = sign_flip_test(columns, pairs, flips=flips, seed=seed)
    return result.p, result.p_maxt, result.flips, result.exact


def _fold_complete(scores: np.ndarray, units: Units) -> np.ndarray:
    incomplete = np.isnan(scores).any(axis=0)
    return units.fold(np.where(incomplete[None, :], 0.0, scores))


def _comparison(
    difference: np.ndarray,
    clusters: Sequence[str],
    pair: tuple[str, str],
    *,
    p: tuple[float, float | None, float],
    units: Units,
    family: int,
    run: tuple[TestName, int, bool, int],
) -> Comparison:
    test, flips, exact, seed = run
    kept = ~np.isnan(difference)
    values = difference[kept]
    interval = mean_interval(difference, clusters, seed=seed)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    p_alone, p_maxt, p_holm = p
    shown = (p_holm if p_maxt is None else p_maxt) <= SIGNIFICANT
    sums = units.fold(np.where(kept, difference, 0.0)[None, :])[0]
    return Comparison(
        a=pair[0],
        b=pair[1],
        difference=interval.mean,
        low=interval.low,
        high=interval.high,
        p=p_alone,
        p_maxt=p_maxt,
        p_holm=p_holm,
        effect=interval.mean / deviation if deviation > _EQUAL else None,
        wins=int((values > _EQUAL).sum()),
        ties=int((np.abs(values) <= _EQUAL).sum()),
        losses=int((values < -_EQUAL).sum()),
        unit=units.unit,
        n_clusters=len({c for c, k in zip(clusters, kept, strict=True) if k}),
        n_queries=len(values),
        caveat=_caveat(interval.caveat, clusters, test),
        needed=None if shown else units_needed(sums, comparisons=family),
        test=test,
        family=family,
        flips=flips,
        exact=exact,
        seed=seed,
        method=interval.method,
    )


def _caveat(caveat: str, clusters: Sequence[str], test: TestName) -> str:
    if test in ("paired-t", "wilcoxon") and len(set(clusters)) < len(clusters):
        ignores = f"{test} takes the queries of one repository for independent, so its p is too small"
        return "; ".join(filter(None, [caveat, ignores]))
    return caveat or cluster_caveat(clusters)
