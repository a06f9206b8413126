"""Measures of one's own that are not what they declare: each is named, and takes down no more than its cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Command, Outcome

import chunkbench as cb
from chunkers.errors import UsageError
from evaluation.api import evaluate_run
from evaluation.measures import evaluate
from evaluation.types import Answer, Case

ODD = """
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.measures.measure import Measure


@dataclass(frozen=True, kw_only=True)
class Odd(Measure):
    label: ClassVar[str] = "odd"
    pattern: ClassVar[str] = "odd"
    definition: ClassVar[str] = "a number"
    citation: ClassVar[str] = "nobody"
    needs: ClassVar[frozenset] = frozenset({"text"})
    unit: ClassVar[str] = "share"
    range: ClassVar[tuple] = (0.0, 1.0)
    value: float = 3.0

    def score(self, batch):
        return np.full(len(batch), self.value)


@dataclass(frozen=True, kw_only=True)
class Endless(Odd):
    label: ClassVar[str] = "endless"

    def score(self, batch):
        return np.full(len(batch), np.inf)


@dataclass(frozen=True, kw_only=True)
class Undefined(Odd):
    label: ClassVar[str] = "undefined"

    def score(self, batch):
        return np.full(len(batch), np.nan)


@dataclass(frozen=True, kw_only=True)
class Raising(Odd):
    label: ClassVar[str] = "raising"

    def score(self, batch):
        raise KeyError("gold")


@dataclass(frozen=True, kw_only=True)
class Leaving(Odd):
    label: ClassVar[str] = "leaving"

    def score(self, batch):
        sys.exit(0)


@dataclass(frozen=True, kw_only=True)
class Short(Odd):
    label: ClassVar[str] = "short"

    def score(self, batch):
        return np.zeros(1)


@dataclass(frozen=True, kw_only=True)
class Behind(Odd):
    label: ClassVar[str] = "behind"

    def score(self, batch):
        # Only what a reader shows is wrong: it hands over whole files.
        whole = any(text.results and text.results[0][2] - text.results[0][1] > 400 for text in batch.texts)
        return np.full(len(batch), 3.0 if whole else 0.5)


@dataclass(frozen=True, kw_only=True)
class Seconds(Odd):
    label: ClassVar[str] = "seconds"
    unit: ClassVar[str] = "seconds"
    needs: ClassVar[frozenset] = frozenset({"grades"})


@dataclass(frozen=True, kw_only=True)
class Sideways(Odd):
    label: ClassVar[str] = "sideways"
    direction: ClassVar[str] = "sideways"


@dataclass(frozen=True, kw_only=True)
class Pointless(Odd):
    label: ClassVar[str] = "pointless"
    range: ClassVar[float] = 1.0
"""
WRONG = {
    "Odd": "measure odd (odd.py:Odd) scored 3 for query 'apple0', outside its range, 0 to 1: declare the range",
    "Endless": "measure endless (odd.py:Endless) scored inf for query 'apple0', outside its range, 0 to 1",
    "Raising": "measure raising (odd.py:Raising) failed: KeyError: 'gold'",
    "Leaving": "measure leaving (odd.py:Leaving) failed: SystemExit: 0",
    "Short": "measure short (odd.py:Short) gave values of shape (1,) for 16 queries: return one for each",
}
REFUSED = {
    "Seconds": "measure odd.py:Seconds: unit is 'seconds': one of share, number, count, tokens, nws, lines",
    "Sideways": "measure odd.py:Sideways: direction is 'sideways': higher, lower or none",
    "Pointless": "measure odd.py:Pointless: it raised TypeError",
}


@pytest.fixture
def odd(tmp_path: Path) -> str:
    """Return where measures are that do not do what they say."""
    (tmp_path / "odd.py").write_text(ODD)
    return f"{tmp_path / 'odd.py'}:"


def compare(chunkbench: Command, repository: Path, *more: object) -> Outcome:
    """Return what a comparison of two chunkers left behind."""
    gold, out = repository.parent / "gold.jsonl", repository.parent / "out"
    return chunkbench(
        *("compare", repository, "--annotations", gold, "--out", out, "--engine", "serial", "--retriever", "bm25"),
        *("--embedder", "hashing", "--chunker", "whole-file", "--chunker", "fixed-lines:lines=4", *more),
    )


@pytest.mark.parametrize("name", WRONG)
def test_a_measure_that_fails_is_named_by_its_cells(chunkbench: Command, repository: Path, odd: str, name: str) -> None:
    """The results are written, each cell has the reason, and the exit code is 1."""
    done = compare(chunkbench, repository, "--measure", odd + name, "--measure", "naurc@4000tok", "--json")
    assert done.code == 1
    assert [cell["status"] for cell in done.json["cells"]] == ["failed", "failed"]
    assert done.json["cells"][0]["reason"].startswith(WRONG[name])
    assert (repository.parent / "out" / "report.html").exists()


def test_a_measure_that_fails_under_a_reader_takes_down_that_cell(
    chunkbench: Command, repository: Path, odd: str
) -> None:
    """The cells that are read as they were found have their scores."""
    done = compare(
        chunkbench, repository, "--reader", "file", "--measure", odd + "Behind", "--chunker", "fixed-lines:lines=3",
        "--measure", "naurc@4000tok", "--json",
    )  # fmt: skip
    assert done.code == 1
    by_reader = {cell["chunker"]: cell for cell in done.json["cells"]}
    assert by_reader["fixed-lines:lines=3"]["status"] == "ok"
    assert "measure behind (odd.py:Behind) scored 3" in by_reader["fixed-lines:lines=3 + file"]["reason"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_check_plugin_refuses_is_refused_where_a_measure_is_used(
    chunkbench: Command, repository: Path, tmp_path: Path, odd: str, name: str
) -> None:
    """In one line by `compare`, `score` and from Python; `check-plugin` still shows every rule."""
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 2.0 r\n")
    runs = ("score", "--qrels", tmp_path / "qrels", "--run", tmp_path / "run", "-m", odd + "Seconds")
    done = compare(chunkbench, repository, "--measure", odd + name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"chunkbench: {REFUSED[name]}")
    assert not (repository.parent / "out").exists()
    assert (chunkbench(*runs).code, chunkbench("check-plugin", "measure", odd + name).code) == (2, 1)
    with pytest.raises(UsageError, match=r"odd\.py:"):
        evaluate_run({"q": ["a"]}, {"q": {"a"}}, [odd + name])
    gold = tmp_path / "gold.jsonl"
    with pytest.raises(UsageError, match=r"odd\.py:"):
        cb.compare(repository, annotations=gold, chunkers=["whole-file"], measures=[cb.measure(odd + name)])


def test_values_are_checked_wherever_a_measure_scores(odd: str) -> None:
    """A value that is undefined is no error; of several answers, the query is named and not its answer."""
    case = Case("q", ["a"], {"a": 1.0})
    (value,) = evaluate([cb.measure(odd + "Undefined")], [case])["q"].values()
    assert np.isnan(value)
    several = replace(case, answers=(Answer(grades={"a": 1.0}, gold=()),))
    for each in (case, several):
        with pytest.raises(UsageError, match=r"measure odd .* scored 3 for query 'q', outside"):
            evaluate([cb.measure(odd + "Odd")], [each])
