"""Simulates data whose truth is known and prints how often the statistics are right (python -m scripts.…)."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import click
import numpy as np

from evaluation.statistics import SIGNIFICANT, compare_pairs, mean_interval


class _World(NamedTuple):
    """One way in which queries and repositories may behave."""

    repositories: int
    size: int
    leaning: float
    """Standard deviation of a repository's own difference, beside 1 for a query's."""
    effect: float = 0.0


@click.command()
@click.option("--runs", default=2000, show_default=True, help="Simulated experiments per line.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(runs: int, seed: int, as_json: bool) -> None:  # noqa: FBT001 - click passes flags by keyword
    """Check the level, the power, the coverage and the agreement of the statistics by simulation."""
    rng = np.random.default_rng(seed)
    rows = [_level(_World(g, 15, leaning), runs, rng) for g in (6, 12, 40) for leaning in (0.0, 0.5)]
    rows += [_level(_World(3, 40, 0.0), runs, rng)]
    rows += [_family_level(12, 6, runs // 4, rng)]
    rows += [_power(_World(g, 15, 0.3, 0.3), runs, rng) for g in (6, 12, 40)]
    rows += [_coverage(_World(g, 15, 0.5), runs, rng) for g in (6, 12, 40)]
    rows += [_agreement(runs // 40, rng)]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    else:
        for row in rows:
            click.echo(f"{'ok ' if row['ok'] else 'BAD'} {row['what']:<74} {row['found']}")
    if not all(row["ok"] for row in rows):
        raise SystemExit(1)


def _draw(world: _World, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    clusters = np.repeat(np.arange(world.repositories), world.size)
    values = world.effect + rng.normal(0, world.leaning or 0, world.repositories)[clusters]
    return values + rng.normal(0, 1, len(clusters)), clusters.astype(str).tolist()


def _rates(world: _World, runs: int, rng: np.random.Generator) -> tuple[float, float]:
    """Share of experiments in which the default test, and the t-test that ignores repositories, find something."""
    found = naive = 0
    for _ in range(runs):
        values, clusters = _draw(world, rng)
        pair = np.array([values, np.zeros_like(values)])
        found += compare_pairs(pair, clusters, names=["a", "b"], flips=1999)[0].p <= SIGNIFICANT
        naive += compare_pairs(pair, clusters, names=["a", "b"], test="paired-t")[0].p <= SIGNIFICANT
    return found / runs, naive / runs


def _level(world: _World, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    found, naive = _rates(world, runs, rng)
    target = _attainable(world)
    error = 3 * np.sqrt(target * (1 - target) / runs)
    what = f"false positives, {world.repositories} repositories × {world.size} queries, leaning {world.leaning}"
    return {
        "what": what,
        "found": f"{found:.1%} (expected {target:.1%} ± {error:.1%}; t-test over queries {naive:.1%})",
        "rate": found,
        "naive": naive,
        "ok": bool(abs(found - target) <= error),
    }


def _attainable(world: _World) -> float:
    """Return the level that the test can have: flips of few repositories give steps of 2^(1-G)."""
    step = 2.0 ** (1 - world.repositories) if 6 <= world.repositories <= 12 else 0.0
    return step * float(np.floor(SIGNIFICANT / step)) if step else SIGNIFICANT


def _family_level(repositories: int, chunkers: int, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Share of experiments with equal chunkers in which any pair is called different after max-T."""
    alarms = 0
    for _ in range(runs):
        clusters = np.repeat(np.arange(repositories), 10)
        scores = rng.normal(0, 0.5, (chunkers, repositories))[:, clusters] + rng.normal(0, 1, (chunkers, len(clusters)))
        rows = compare_pairs(scores, clusters.astype(str).tolist(), names=[str(k) for k in range(chunkers)], flips=4000)
        alarms += any(row.shown for row in rows)
    error = 3 * np.sqrt(SIGNIFICANT * (1 - SIGNIFICANT) / runs)
    what = f"any false positive among 15 pairs after max-T, {repositories} repositories"
    found = f"{alarms / runs:.1%} (expected {SIGNIFICANT:.0%} ± {error:.1%})"
    return {"what": what, "found": found, "rate": alarms / runs, "ok": bool(abs(alarms / runs - SIGNIFICANT) <= error)}


def _power(world: _World, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Compare the power with that of a t-test over repository means, which is the best there is for normal data."""
    from scipy import stats

    found, _ = _rates(world, runs, rng)
    spread = np.sqrt(world.leaning**2 + 1 / world.size)
    shift = world.effect / spread * np.sqrt(world.repositories)
    bar = stats.t.isf(_attainable(world) / 2, world.repositories - 1)
    best = float(stats.nct.sf(bar, world.repositories - 1, shift))
    what = f"power on an effect of {world.effect} sd, {world.repositories} repositories, leaning {world.leaning}"
    error = 3 * np.sqrt(best * (1 - best) / runs)
    ok = found >= best - 0.05 - error
    return {
        "what": what,
        "found": f"{found:.1%} (t-test over repositories at the same level {best:.1%})",
        "rate": found,
        "ok": bool(ok),
    }


def _coverage(world: _World, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    inside = 0
    method = ""
    for _ in range(runs):
        values, clusters = _draw(world, rng)
        interval = mean_interval(values, clusters)
        inside += interval.low <= world.effect <= interval.high
        method = interval.method
    error = 3 * np.sqrt(0.05 * 0.95 / runs)
    what = f"coverage of the 95 % interval ({method}), {world.repositories} repositories"
    found = f"{inside / runs:.1%} (expected 95% ± {error:.1%})"
    return {"what": what, "found": found, "rate": inside / runs, "ok": bool(abs(inside / runs - 0.95) <= error)}


def _agreement(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Largest distance from scipy's exact permutation test and from its t-test on small cases."""
    from scipy import stats

    exact = student = 0.0
    for _ in range(runs):
        scores = rng.random((2, 10))
        ours = compare_pairs(scores, ["r"] * 10, names=["a", "b"])[0].p
        theirs = stats.permutation_test(
            (scores[0], scores[1]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            n_resamples=2000,
            vectorized=True,
        ).pvalue
        exact = max(exact, abs(ours - theirs))
        plain = compare_pairs(scores, ["r"] * 10, names=["a", "b"], test="paired-t")[0].p
        student = max(student, abs(plain - stats.ttest_rel(scores[0], scores[1]).pvalue))
    found = f"{exact:.1e} from scipy's exact permutation test, {student:.1e} from its t-test"
    return {"what": f"largest distance on {runs} small cases", "found": found, "ok": bool(max(exact, student) < 1e-9)}


if __name__ == "__main__":
    command()
