"""Power of comparisons with the best, against all pairs by max-T, the previous procedure."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.statistics import SIGNIFICANT, best_set

_FLIPS = 2000
_QUERIES = 15


def power_table(runs: int, seed: int) -> list[dict[str, Any]]:
    """Return the share of truly worse rows that is excluded: a quarter are best, the rest 5 to 24 points worse."""
    rng = np.random.default_rng(seed)
    table = []
    for repositories, rows in ((10, 4), (24, 4), (40, 4), (10, 20), (24, 20), (40, 20)):
        best = rows // 4
        effects = np.concatenate([np.zeros(best), -np.linspace(0.05, 0.24, rows - best)])
        ours = theirs = excluded = 0.0
        for _ in range(runs):
            scores, clusters = _draw(rng, effects, repositories)
            names = [f"c{k}" for k in range(rows)]
            out = set(best_set(scores, clusters, names=names).excluded)
            ours += sum(name in out for name in names[best:]) / (rows - best)
            excluded += sum(name in out for name in names[:best]) / best
            means = scores.reshape(rows, repositories, _QUERIES).mean(axis=2)
            theirs += float(_beaten(means, rng)[best:].mean())
        table.append(
            {
                "repositories": repositories,
                "rows": rows,
                "best_set": round(ours / runs, 3),
                "max_t": round(theirs / runs, 3),
                "best_excluded": round(excluded / runs, 3),
                "runs": runs,
            }
        )
    return table


def _draw(rng: np.random.Generator, effects: np.ndarray, repositories: int) -> tuple[np.ndarray, list[str]]:
    index = np.repeat(np.arange(repositories), _QUERIES)
    shared = rng.normal(0.6, 0.1, len(index))
    leaning = rng.normal(0, 0.1, (len(effects), repositories))[:, index]
    own = rng.normal(0, 0.15, (len(effects), len(index)))
    return (shared + effects[:, None] + leaning + own).clip(0, 1), index.astype(str).tolist()


def _beaten(means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the rows that some other row beats, corrected for all pairs by max-T over joint sign flips."""
    rows, repositories = means.shape
    first, second = np.triu_indices(rows, 1)
    differences = means[first] - means[second]
    norms = np.sqrt(np.square(differences).sum(axis=1))
    signs = rng.choice([-1.0, 1.0], (repositories, _FLIPS))
    largest = np.sort((np.abs(differences @ signs) / norms[:, None]).max(axis=0))
    observed = differences.sum(axis=1) / norms
    p = (1 + _FLIPS - np.searchsorted(largest, np.abs(observed) - 1e-9)) / (1 + _FLIPS)
    shown = p <= SIGNIFICANT
    worse = np.where(observed > 0, second, first)[shown]
    return np.isin(np.arange(rows), worse)
