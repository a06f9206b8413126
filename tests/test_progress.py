"""Progress without a terminal: lines that tell the truth, and not too many of them."""

from __future__ import annotations

import threading

import pytest

from scripts import progress
from scripts.progress import ProgressLines


def test_a_line_says_what_is_left_at_the_rate_so_far() -> None:
    """What is done, and the time that the rest takes at this rate; of work without a finished unit how long it took."""
    now = [0.0]
    said: list[str] = []
    lines = ProgressLines(say=said.append, clock=lambda: now[0])
    lines.beat()
    lines.phase("chunk", 4)
    lines.tick("chunk", 4)
    now[0] = 95
    lines.beat()
    lines.phase("embed", 1_000)
    now[0] += 20
    lines.beat()
    for _ in range(3):
        now[0] += 50
        lines.tick("embed", 180)
        lines.beat()
    assert said == [
        "loading",
        "chunking: 4 of 4; what follows has taken 2 min so far",
        "embedding: 0 of 1,000 after 20 s",
        "embedding: 180 of 1,000, about 5 min left",
        "embedding: 360 of 1,000, about 4 min left",
        "embedding: 540 of 1,000, about 2 min left",
    ]


def test_a_phase_without_work_ended_when_it_began() -> None:
    """Where everything is cached, the time of what follows counts from there."""
    now = [5_000.0]
    said: list[str] = []
    lines = ProgressLines(say=said.append, clock=lambda: now[0])
    lines.phase("embed", 0)
    now[0] += 30
    lines.beat()
    assert said == ["embedding: 0 of 0; what follows has taken 30 s so far"]


def test_verbose_lines_name_every_phase() -> None:
    """With --verbose each phase is announced with its size."""
    said: list[str] = []
    lines = ProgressLines(say=said.append, clock=lambda: 0.0, verbose=True)
    lines.phase("score", 12)
    assert said == ["searching and scoring: 12"]


def test_a_unit_that_takes_long_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come while nothing is finished, and none after the work has ended."""
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    heard = threading.Semaphore(0)
    said: list[str] = []

    def note(line: str) -> None:
        said.append(line)
        heard.release()

    monkeypatch.setattr(progress, "note", note)
    with progress.shown_progress() as shown:
        shown.phase("levels", 3)
        for _ in range(3):
            assert heard.acquire(timeout=60)
    assert set(said) <= {"loading", "chance and ceiling: 0 of 3 after 0 s"}
    assert not any(thread.name.startswith("progress") and thread.is_alive() for thread in threading.enumerate())
