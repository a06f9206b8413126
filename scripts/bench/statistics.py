"""Times comparisons against scipy's permutation test in one run: python -m scripts.bench.statistics."""

from __future__ import annotations

import json
import time
from typing import get_args

import click
import numpy as np

from evaluation.statistics import FLIPS, TestName, compare_pairs


@click.command()
@click.option("--chunkers", default=20, show_default=True)
@click.option("--queries", default=1000, show_default=True)
@click.option("--flips", default=FLIPS, show_default=True)
@click.option("--repeat", default=3, show_default=True, help="Ours is run this often; the median counts.")
@click.option("--json", "as_json", is_flag=True)
def command(chunkers: int, queries: int, flips: int, repeat: int, as_json: bool) -> None:  # noqa: FBT001 - click's flag
    """Compare all pairs of chunkers, then one pair by scipy.stats.permutation_test, and print the ratio per pair."""
    from scipy import stats

    scores = np.random.default_rng(0).random((chunkers, queries))
    names = [f"c{k}" for k in range(chunkers)]
    pairs = chunkers * (chunkers - 1) // 2
    # One repository: its queries are the units, which is the most to flip and to bound.
    seconds = {test: _seconds(scores, names, test=test, flips=flips, repeat=repeat) for test in get_args(TestName)}
    ours = seconds["sign-flip"]
    start = time.perf_counter()
    stats.permutation_test(
        (scores[0], scores[1]),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=flips,
        vectorized=True,
        # scipy's own default holds all resamples at once: 1.6 GB here.
        batch=2000,
    )
    theirs = time.perf_counter() - start
    result = {
        "chunkers": chunkers,
        "queries": queries,
        "flips": flips,
        "pairs": pairs,
        "seconds_all_pairs": round(ours, 3),
        "seconds_default": round(seconds["t"], 3),
        "seconds_scipy_one_pair": round(theirs, 3),
        "ratio_per_pair": round(theirs / (ours / pairs), 1),
    }
    if as_json:
        click.echo(json.dumps(result))
    else:
        click.echo(f"{pairs} pairs, {queries} queries, {flips} flips: {ours:.2f} s; scipy, one pair: {theirs:.2f} s")
        click.echo(f"the default, without flips: {seconds['t']:.2f} s")
        click.echo(f"{result['ratio_per_pair']} times faster per pair")


def _seconds(scores: np.ndarray, names: list[str], *, test: TestName, flips: int, repeat: int) -> float:
    """Return the median time of comparing all pairs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        compare_pairs(scores, ["r"] * scores.shape[1], names=names, flips=flips, test=test)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


if __name__ == "__main__":
    command()
