"""The benchmark and the check, run as modules on the code fixtures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from scripts.check.chunkers import check_file

ROOT = Path(__file__).parent.parent
CODE = Path(__file__).parent / "fixtures" / "code"


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the repository."""
    command = [sys.executable, "-m", f"scripts.{script}", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


def test_the_check_finds_nothing_wrong_here() -> None:
    """All own chunkers keep their promises on the fixtures and on this package."""
    done = run("check.chunkers", CODE, ROOT / "chunkers", "--every", "2", "--workers", "1", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["problems"]) == (0, [])
    assert found["chunks"] > found["files"] > 25


def test_the_check_reports_what_is_lost(tmp_path: Path) -> None:
    """A chunker that is not lossless is caught: the check itself works."""
    file = tmp_path / "a.py"
    file.write_text("x = 1\n" * 100)
    assert check_file(file, ["cast"]).problems == []
    (problem,) = check_file(file, ["fixed-nws:size=no-number"]).problems
    assert "UsageError" in problem


def test_the_benchmark_has_a_row_per_contestant() -> None:
    """Bare parsing is 1; what chunkers keep is beside how fast they are."""
    chosen = ["--chunker", "cast", "--chunker", "sliding-window"]
    done = run("bench.chunkers", CODE, "--repeat", "1", "--tree", "1", *chosen, "--json")
    *found, last = map(json.loads, done.stdout.splitlines())
    rows = {row["chunker"]: row for row in found}
    least = "parse and sizes of files over 2000 nws"
    assert list(rows) == ["bare parse", least, "bare tiktoken", "cast", "sliding-window"]
    assert rows["bare parse"]["times_parse"] == 1
    assert (rows["cast"]["kept"], rows["cast"]["joins"], rows["cast"]["over_limit"]) == (1, 1, 0)
    assert rows["sliding-window"]["doubled"] > 0
    assert last["cast_two_processes"] > 0
    assert 0 < last["cast_peak_mb_above_interpreter"] < 300


def test_a_folder_without_code_is_a_usage_error(tmp_path: Path) -> None:
    """There is nothing to time, and the message says so."""
    done = run("bench.chunkers", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds no source files" in done.stderr
