"""How often intervals, tests and answers are right in simulated worlds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np

from evaluation.statistics import SIGNIFICANT, Comparison, TestName, Weight, best_set, compare_pairs
from evaluation.statistics.evidence import Settings, Span, two_sided, weigh
from scripts.check.statistics_worlds import Line, World, exponential, heavy, normal, rare_loss

_BLOCKS = 10
_WEIGHTS: tuple[Weight, ...] = ("repository", "query")
_SPAN = Span(-1.0, 1.0, known=True)
_MARGIN = 0.02


def coverage_and_level(world: World, runs: int, seed: int) -> Iterator[Line]:
    """Yield false positives and coverage at a true difference of 0.1 for both weights.

    Many experiments are rows of one matrix, compared by what `compare_pairs` is made of.
    """
    alarms, covered = dict.fromkeys(_WEIGHTS, 0), dict.fromkeys(_WEIGHTS, 0)
    rng = np.random.default_rng(seed)
    # Sizes that are drawn differ from block to block.
    blocks = 1 if world.sizes else _BLOCKS
    each = max(1, runs // blocks)
    for _ in range(blocks):
        differences, clusters = world.draw(rng, each)
        for weight in _WEIGHTS:
            (group,) = weigh(differences, clusters, span=_SPAN, settings=Settings(weight, "t", 0, 0))
            alarms[weight] += int((two_sided(group.evidence, _SPAN).p <= SIGNIFICANT).sum())
            # Rare losses reach to -0.99: a shift of 0.1 keeps all differences inside the range.
            (group,) = weigh(differences + 0.1, clusters, span=_SPAN, settings=Settings(weight, "t", 0, 0))
            found = two_sided(group.evidence, _SPAN)
            covered[weight] += int(((found.low <= 0.1) & (found.high >= 0.1)).sum())
    total = each * blocks
    for weight in _WEIGHTS:
        said = f"{world.name}, each {weight} once"
        yield Line(f"false positives: {said}", alarms[weight] / total, 0.07 if world.skewed else 0.06, total)
        yield Line(f"coverage: {said}", covered[weight] / total, 0.93 if world.skewed else 0.94, total, at_least=True)


def same_at_the_margin(worlds: tuple[World, ...], runs: int, seed: int) -> Iterator[Line]:
    """Yield how often a true difference as large as the margin is called practically the same."""
    rng = np.random.default_rng(seed)
    for world in worlds:
        differences, clusters = world.draw(rng, max(1, runs // 2))
        (group,) = weigh(differences + _MARGIN, clusters, span=_SPAN, settings=Settings("repository", "t", 0, 0))
        found = two_sided(group.evidence, _SPAN)
        wrong = (found.low > -_MARGIN) & (found.high < _MARGIN)
        yield Line(f"wrong 'practically the same': {world.name}", float(wrong.mean()), 0.05, len(wrong))


def _scores(
    rng: np.random.Generator, *, rows: int, repositories: int, size: int, kind: str
) -> tuple[np.ndarray, list[str]]:
    """Return scores of alternatives that are equally good on average; queries differ in difficulty."""
    of_repository, of_query = {
        "symmetric": (normal(0.05), normal(0.15)),
        "heavy-tailed": (heavy(0.06), heavy(0.15)),
        "skewed": (exponential(0.04), exponential(0.06)),
        "rare-large": (normal(0.02), rare_loss(0.05, 0.02)),
    }[kind]
    index = np.repeat(np.arange(repositories), size)
    difficulty = rng.uniform(0.45, 0.55, len(index))
    # Half of each difference: the difference of two rows then stays inside the range of a share.
    own = of_query(rng, (rows, len(index)))
    if repositories > 1:
        # A single repository's own effect would be a true difference.
        own += of_repository(rng, (rows, repositories))[:, index]
    return (difficulty + own / 2).clip(0, 1), index.astype(str).tolist()


_FAMILIES = [
    *((4, 6, 12, kind) for kind in ("symmetric", "heavy-tailed", "skewed", "rare-large")),
    *((20, 10, 12, kind) for kind in ("symmetric", "heavy-tailed", "skewed", "rare-large")),
    *((6, 1, 200, kind) for kind in ("symmetric", "heavy-tailed", "skewed", "rare-large")),
    (20, 6, 12, "symmetric"),
    (20, 40, 8, "symmetric"),
]


def families(runs: int, seed: int, *, every: int) -> Iterator[Line]:
    """Yield how often any of a family of true null hypotheses is called a difference: all pairs, and a baseline."""
    rng = np.random.default_rng(seed)
    for rows, repositories, size, kind in _FAMILIES[::every]:
        names = [f"c{k}" for k in range(rows)]
        alarms = {"all": 0, "c0": 0}
        for _ in range(runs):
            scores, clusters = _scores(rng, rows=rows, repositories=repositories, size=size, kind=kind)
            for family in alarms:
                found = compare_pairs(scores, clusters, names=names, family=family)
                alarms[family] += any(row.shown for row in found)
        for family, count in alarms.items():
            of = "all pairs" if family == "all" else "a baseline"
            what = f"family error, {of}: {rows} rows, {repositories} repositories × {size}, {kind}"
            yield Line(what, count / runs, 0.06, runs)


def true_best_excluded(runs: int, seed: int, *, every: int) -> Iterator[Line]:
    """Yield how often one of equally good rows, which is a best one, is excluded."""
    rng = np.random.default_rng(seed)
    for rows, repositories, size, kind in [(2, 10, 12, "symmetric"), *_FAMILIES[::every]]:
        names = [f"c{k}" for k in range(rows)]
        count = 0
        for _ in range(runs):
            scores, clusters = _scores(rng, rows=rows, repositories=repositories, size=size, kind=kind)
            count += "c0" in best_set(scores, clusters, names=names).excluded
        what = f"true best excluded: {rows} rows, {repositories} repositories × {size}, {kind}"
        yield Line(what, count / runs, 0.05, runs)


def disagreements(runs: int, seed: int) -> Line:
    """Return how often p, interval, `shown` and decision of a comparison, or of a set, contradict each other."""
    rng = np.random.default_rng(seed)
    wrong = total = 0
    for run in range(runs):
        rows, repositories = int(rng.integers(2, 6)), int(rng.integers(1, 13))
        queries = int(rng.integers(1, 60))
        scores = (rng.random((rows, queries)) * rng.random((rows, 1))).round(run % 4)
        clusters = [f"r{k}" for k in rng.integers(0, repositories, queries)]
        names = [f"c{k}" for k in range(rows)]
        for weight in _WEIGHTS:
            for test in get_args(TestName)[: 2 if run % 5 == 0 else 1]:
                found = compare_pairs(scores, clusters, names=names, weight=weight, test=test, flips=999)
                wrong += sum(_contradicts(row) for row in found)
                total += len(found)
        best = best_set(scores, clusters, names=names)
        wrong += sum(
            (each.p > SIGNIFICANT) != each.may_be_best or (each.high >= 0) != each.may_be_best
            for each in best.standings
        )
        total += len(best.standings)
    return Line(f"disagreements of p, interval and decision in {total} comparisons", wrong, 0.0, total)


def _contradicts(row: Comparison) -> bool:
    corrected, alone = row.low > 0 or row.high < 0, row.low_alone > 0 or row.high_alone < 0
    return not (
        corrected == row.shown == (row.p <= SIGNIFICANT) == (row.decision == "better")
        and alone == (row.p_alone <= SIGNIFICANT)
        and (row.decision != "practically the same" or max(-row.low, row.high) < row.margin)
    )
