"""Progress without a terminal: lines that tell the truth, and not too many of them."""

from __future__ import annotations

from scripts.progress import ProgressLines


def test_a_line_every_half_minute_says_what_is_left_at_the_rate_so_far() -> None:
    """Nothing is said of quick work; of slow work what is done, and the time that the rest takes at this rate."""
    now = [0.0]
    said: list[str] = []
    lines = ProgressLines(say=said.append, clock=lambda: now[0])
    lines.phase("chunk", 4)
    lines.tick("chunk", 4)
    assert said == []
    lines.phase("embed", 1_000)
    for _ in range(10):
        now[0] += 12
        lines.tick("embed", 60)
    assert said == [
        "embedding: 180 of 1,000, about 3 min left",
        "embedding: 360 of 1,000, about 2 min left",
        "embedding: 540 of 1,000, about 2 min left",
    ]


def test_verbose_lines_name_every_phase() -> None:
    """With --verbose each phase is announced with its size."""
    said: list[str] = []
    lines = ProgressLines(say=said.append, clock=lambda: 0.0, verbose=True)
    lines.phase("score", 12)
    assert said == ["searching and scoring: 12"]
