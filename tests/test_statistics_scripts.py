"""The two scripts about the statistics run and say what they found."""

from __future__ import annotations

import json

from click.testing import CliRunner

from scripts.bench.statistics import command as bench
from scripts.check.statistics import command as check


def test_the_simulations_find_the_statistics_right() -> None:
    """Every target is met in a short run of every kind of simulation, and comparisons with the best have more power."""
    result = CliRunner().invoke(check, ["--runs", "60", "--every", "6", "--json"], catch_exceptions=False)
    found = json.loads(result.output)
    assert [row["what"] for row in found["checks"] if not row["ok"]] == []
    assert {row["what"] for row in found["checks"]} == {
        "false positives, symmetric",
        "false positives, skewed",
        "false positives, not promised",
        "coverage, symmetric",
        "coverage, skewed",
        "wrong 'practically the same'",
        "family error, all pairs",
        "family error, a baseline",
        "true best excluded",
        "disagreements of p, interval and decision",
    }
    assert all(row["best_set"] > row["max_t"] for row in found["power"] if row["rows"] == 20)


def test_the_benchmark_prints_its_ratio() -> None:
    """The benchmark times both sides of a small case and gives the ratio per pair."""
    arguments = ["--chunkers", "4", "--queries", "60", "--flips", "2000", "--repeat", "1", "--json"]
    found = json.loads(CliRunner().invoke(bench, arguments, catch_exceptions=False).output)
    assert found["pairs"] == 6
    assert found["ratio_per_pair"] > 0
