"""The two scripts about the statistics run and say what they found."""

from __future__ import annotations

import json

from click.testing import CliRunner

from scripts.bench.statistics import command as bench
from scripts.check.statistics import command as check


def test_the_simulations_find_the_statistics_right() -> None:
    """Level, family level, power, coverage and agreement hold in a short run of every simulation."""
    result = CliRunner().invoke(check, ["--runs", "60", "--json"], catch_exceptions=False)
    rows = json.loads(result.output)
    assert [row["what"] for row in rows if not row["ok"]] == []
    assert len(rows) == 15
    leaning = [row for row in rows if row["what"].endswith("leaning 0.5")]
    assert all(row["naive"] > 0.1 for row in leaning)


def test_the_benchmark_prints_its_ratio() -> None:
    """The benchmark times both sides of a small case and gives the ratio per pair."""
    arguments = ["--chunkers", "4", "--queries", "60", "--flips", "2000", "--repeat", "1", "--json"]
    found = json.loads(CliRunner().invoke(bench, arguments, catch_exceptions=False).output)
    assert found["pairs"] == 6
    assert found["ratio_per_pair"] > 0
