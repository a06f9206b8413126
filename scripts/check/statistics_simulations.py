"""How often intervals, tests and decisions are right in simulated worlds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np

from evaluation.statistics import MARGIN, SIGNIFICANT, Comparison, Standing, TestName, Weight, best_set, compare_pairs
from evaluation.statistics.evidence import Ends, Settings, Span, weigh, within
from scripts.check.statistics_worlds import HARD, Line, World, exponential, heavy, normal, rare_loss

_BLOCKS = 10
_WEIGHTS: tuple[Weight, ...] = ("repository", "query")
_SPAN = Span(-1.0, 1.0, known=True)


def coverage_and_level(world: World, runs: int, seed: int) -> Iterator[Line]:
    """Yield false positives and coverage at a true difference of 0.1, for both weights if they differ.

    Many experiments are rows of one matrix, compared by the components of `compare_pairs`.
    """
    weights = _WEIGHTS[:1] if world.equal else _WEIGHTS
    alarms, covered = dict.fromkeys(weights, 0), dict.fromkeys(weights, 0)
    rng = np.random.default_rng(seed)
    # Random sizes differ from block to block.
    blocks = 1 if world.sizes else _BLOCKS
    each = max(1, runs // blocks)
    for _ in range(blocks):
        differences, clusters = world.draw(rng, each)
        for weight in weights:
            found = _intervals(differences, clusters, weight)
            alarms[weight] += int(((found.low > 0) | (found.high < 0)).sum())
            # Rare losses reach to -0.99: a shift of 0.1 keeps all differences inside the range.
            found = _intervals(differences + 0.1, clusters, weight)
            covered[weight] += int(((found.low <= 0.1) & (found.high >= 0.1)).sum())
    total = each * blocks
    kind = "skewed" if world.skewed else "symmetric"
    for weight in weights:
        said = world.name if world.equal else f"{world.name}, each {weight} once"
        limit = 0.07 if world.skewed else 0.06
        yield Line(f"false positives, {kind}", said, alarms[weight] / total, limit, total)
        yield Line(f"coverage, {kind}", said, covered[weight] / total, round(1 - limit, 2), total, at_least=True)


def same_at_the_margin(world: World, runs: int, seed: int) -> Line:
    """Return how often a true difference as large as the margin is called practically the same."""
    differences, clusters = world.draw(np.random.default_rng(seed), max(1, runs // 2))
    found = _intervals(differences + MARGIN, clusters, "repository")
    wrong = (found.low > -MARGIN) & (found.high < MARGIN)
    return Line("wrong 'practically the same'", world.name, float(wrong.mean()), 0.05, len(wrong))


def hard_cases(runs: int, seed: int) -> Iterator[Line]:
    """Yield false positives in worlds for which the procedure guarantees nothing; they have no target."""
    for world in HARD:
        differences, clusters = world.draw(np.random.default_rng(seed), runs)
        found = _intervals(differences, clusters, "repository")
        alarms = (found.low > 0) | (found.high < 0)
        yield Line("false positives, not promised", world.name, float(alarms.mean()), 1.0, runs)


def _intervals(differences: np.ndarray, clusters: list[str], weight: Weight) -> Ends:
    """Return the intervals of many experiments, which decide; `disagreements` checks that p agrees."""
    (group,) = weigh(differences, clusters, span=_SPAN, settings=Settings(weight, "t", 0, 0))
    level = SIGNIFICANT / 2
    return within(_SPAN, group.evidence.lower(level), group.evidence.upper(level))


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
    *((2, 10, 12, kind) for kind in ("symmetric", "skewed")),
    *((4, 6, 12, kind) for kind in ("symmetric", "heavy-tailed", "skewed", "rare-large")),
    *((20, 10, 12, kind) for kind in ("symmetric", "heavy-tailed", "skewed", "rare-large")),
    *((6, 1, 200, kind) for kind in ("symmetric", "heavy-tailed", "skewed", "rare-large")),
    (20, 6, 12, "symmetric"),
    (20, 40, 8, "symmetric"),
]


def families(runs: int, seed: int, *, every: int) -> Iterator[Line]:
    """Yield how often any of a family of true null hypotheses is called a difference, and a best row is excluded.

    All rows are equally good, so each of them is a best one.
    """
    for rows, repositories, size, kind in _FAMILIES[::every]:
        rng = np.random.default_rng(seed)
        names = [f"c{k}" for k in range(rows)]
        pairs = base = excluded = 0
        for _ in range(runs):
            scores, clusters = _scores(rng, rows=rows, repositories=repositories, size=size, kind=kind)
            pairs += any(row.shown for row in compare_pairs(scores, clusters, names=names))
            base += any(row.shown for row in compare_pairs(scores, clusters, names=names, family="c0"))
            excluded += "c0" in best_set(scores, clusters, names=names).excluded
        where = f"{rows} rows, {repositories} repositories × {size}, {kind}"
        yield Line("family error, all pairs", where, pairs / runs, 0.06, runs)
        yield Line("family error, a baseline", where, base / runs, 0.06, runs)
        yield Line("true best excluded", where, excluded / runs, 0.05, runs)


def disagreements(runs: int, seed: int) -> Line:
    """Return how often p, interval, `shown` and decision of a comparison, or of a set, contradict each other.

    Scores have ties, constant rows, missing values and repositories of any sizes.
    """
    rng = np.random.default_rng(seed)
    wrong = total = 0
    for run in range(runs):
        rows, repositories = int(rng.integers(2, 6)), int(rng.integers(1, 13))
        queries = int(rng.integers(1, 60))
        scores = (rng.random((rows, queries)) * rng.random((rows, 1))).round(run % 4)
        if run % 3 == 0:
            scores[0] = scores[0, 0]
        if run % 4 == 0:
            scores[rng.random(scores.shape) < 0.3] = np.nan
        clusters = [f"r{k}" for k in (repositories * rng.random(queries) ** 2).astype(int)]
        names = [f"c{k}" for k in range(rows)]
        for weight in _WEIGHTS:
            for test in get_args(TestName)[: 2 if run % 5 == 0 else 1]:
                found = compare_pairs(scores, clusters, names=names, weight=weight, test=test, flips=999)
                best = best_set(scores, clusters, names=names, weight=weight, test=test, flips=999, corrections=3)
                wrong += sum(_contradicts(row) for row in found) + sum(_wrong_place(each) for each in best.standings)
                total += len(found) + len(best.standings)
    return Line("disagreements of p, interval and decision", f"{total:,} comparisons", wrong, 0.0, total)


def _wrong_place(one: Standing) -> bool:
    """Return whether p or interval of a standing contradicts its membership in the set."""
    known = not np.isnan(one.mean)
    return known and not ((one.p > SIGNIFICANT) == (not one.high < 0) == one.may_be_best)


def _contradicts(row: Comparison) -> bool:
    corrected, alone = row.low > 0 or row.high < 0, row.low_alone > 0 or row.high_alone < 0
    return not (
        corrected == row.shown == (row.p <= SIGNIFICANT) == (row.decision == "better")
        and alone == (row.p_alone <= SIGNIFICANT)
        and (row.decision != "practically the same" or max(-row.low, row.high) < row.margin)
    )
