"""Shared by all tests: the command in this process, and a small annotated repository."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from scripts.cli import main

# Commands that tests start buffer their output, as they do where people use them.
os.environ.pop("PYTHONUNBUFFERED", None)

# How long an example takes says nothing about the code, only about the machine.
settings.register_profile("chunkbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("chunkbench")

MODULE = '''"""Things about {word}s."""

import {word}_base


def make_{word}(size, colour):
    """Return a new {word}."""
    {word} = {word}_base.new(size)
    {word}.paint(colour)
    return {word}


class {title}Box:
    def __init__(self):
        self.held = []

    def put_{word}(self, {word}):
        if {word} is None:
            raise ValueError("no {word}")
        self.held.append({word})

    def count_heavy_{word}s(self, limit):
        return sum(1 for each in self.held if each.weight > limit)
'''


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


Command = Callable[..., Outcome]


@pytest.fixture
def chunkbench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Run `chunkbench` with these arguments and a cache of the test's own."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["chunkbench", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Outcome(int(end.value.code or 0), captured.out, captured.err)

    logging.getLogger().handlers.clear()
    return run


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a folder with eight small modules; an annotation file is beside it."""
    root = tmp_path / "code"
    root.mkdir()
    rows = []
    for word in ("apple", "bolt", "candle", "drum", "engine", "flute", "glove", "hammer"):
        (root / f"{word}.py").write_text(MODULE.format(word=word, title=word.title()))
        for number, (text, start, end) in enumerate(
            ((f"make a new {word} of a colour", 6, 10), (f"how many {word}s are heavy", 22, 23))
        ):
            rows.append(
                {
                    "query_id": f"{word}{number}",
                    "query": text,
                    "repo": "code",
                    "file": f"{word}.py",
                    "start_line": start,
                    "end_line": end,
                    "relevance": 1,
                }
            )
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root
