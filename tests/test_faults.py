"""A short form of `python -m scripts.check.faults`: its kills land where they are aimed, and it can fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from scripts.check.fault_lab import Disturbance, Ended, Trial, Window, positions
from scripts.check.faults import _row

ROOT = Path(__file__).parents[1]


def test_kills_inside_windows_leave_no_trace() -> None:
    """One kill in each of three windows; the same command given again ends as if nothing had happened."""
    chosen = ("compare: results", "night: store", "accept")
    only = [part for name in chosen for part in ("--only", name)]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.check.faults", "--kills", "1", "--json", *only],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    assert done.returncode == 0, found
    assert [(row["landed"], row["same"]) for row in found["rows"]] == [(1, 1)] * 3


def test_kills_are_spread_over_a_window() -> None:
    """From its first call to its last but few; a window without calls has none."""
    assert positions(100, 4) == [1, 26, 51, 76]
    assert positions(2, 4) == [1, 1, 2, 2]
    assert positions(0, 4) == []


def test_a_fault_that_does_not_land_or_ends_badly_is_counted() -> None:
    """What is wrong is kept, what only said so in its own code is no failure."""
    killed = Ended(-signal.SIGKILL, "", "", 7)
    row = _row("x", [Trial(True, killed, ""), Trial(False, Ended(2, "no room", "", 0), "other scores")])
    assert (row.tries, row.landed, row.same, row.said, row.wrong) == (2, 1, 1, 1, ("other scores",))
    assert not Ended(1, "Traceback (most recent call last):", "", 0).in_order
    assert not Ended(-6, "", "", 0).in_order
    assert Disturbance(Window("a", "b", "c"), 1, print).at == 1
