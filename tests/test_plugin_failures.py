"""Other people's code that fails while it is loaded, made or asked for data: one line names it, whatever it raises."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Command

from chunkers.registry import CHUNKERS
from ground_truth.datasets.in_memory import InMemory
from ground_truth.loading import load_from
from ground_truth.types import Dataset

PLUGINS = """
import sys
from dataclasses import dataclass
from typing import ClassVar

from chunkers.fixed_lines import FixedLines


@dataclass(frozen=True, kw_only=True)
class Given:
    version: ClassVar[str] = "1"

    def load(self):
        return {"queries": []}


@dataclass(frozen=True, kw_only=True)
class Raising(Given):
    def load(self):
        raise KeyError("file")


@dataclass(frozen=True, kw_only=True)
class Leaving(Given):
    def load(self):
        sys.exit(0)


@dataclass(frozen=True, kw_only=True)
class Broken(FixedLines):
    def __post_init__(self):
        raise RuntimeError("not\\ntoday")


@dataclass(frozen=True, kw_only=True)
class Gone(FixedLines):
    def __post_init__(self):
        sys.exit(0)


@dataclass(frozen=True, kw_only=True)
class Reader:
    version: ClassVar[str] = "1"

    def read(self, stretches, files):
        sys.exit(0)
"""


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return a file of plug-ins, none of which works; beside it is one that ends whoever loads it."""
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    path = tmp_path / "plugins.py"
    path.write_text(PLUGINS)
    return path


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Given", "load() returned dict, not a Dataset"),
        ("Raising", "KeyError: 'file'"),
        ("Leaving", "SystemExit: 0"),
    ],
)
@pytest.mark.parametrize("verb", ["compare", "qrels", "recommend"])
def test_a_dataset_that_cannot_be_loaded_is_named(
    chunkbench: Command, plugins: Path, verb: str, name: str, reason: str
) -> None:
    """With what it raised or returned; the exit code is 2."""
    done = chunkbench(verb, "--dataset", f"{plugins}:{name}")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"chunkbench: dataset {plugins}:{name} cannot be loaded: {reason}\n"


@pytest.mark.parametrize(("name", "reason"), [("Broken", "RuntimeError: not today"), ("Gone", "SystemExit: 0")])
def test_a_plugin_that_cannot_be_made_is_named(
    chunkbench: Command, plugins: Path, repository: Path, name: str, reason: str
) -> None:
    """Whatever its class raises."""
    for verb in ("compare", "chunk"):
        done = chunkbench(verb, repository, "--chunker", f"{plugins}:{name}")
        assert (done.code, done.err) == (2, f"chunkbench: chunker {plugins}:{name} cannot be made: {reason}\n")


def test_a_file_that_ends_whoever_loads_it_is_named(chunkbench: Command, plugins: Path, repository: Path) -> None:
    """A command that ended with it would have said nothing, and exit code 0."""
    spec = f"{plugins.parent / 'leaving.py'}:Any"
    for verb in ("compare", "chunk"):
        done = chunkbench(verb, repository, "--chunker", spec)
        assert (done.code, done.err) == (2, f"chunkbench: chunker {spec!r} cannot be loaded: SystemExit: 0\n")


def test_a_reader_that_ends_the_process_fails_its_cell(chunkbench: Command, plugins: Path, repository: Path) -> None:
    """The cell that it reads has its scores."""
    done = chunkbench(
        *("compare", repository, "--annotations", repository.parent / "gold.jsonl", "--out", plugins.parent / "out"),
        *("--chunker", "whole-file", "--embedder", "hashing", "--retriever", "bm25", "--engine", "serial", "--json"),
        *("--reader", f"{plugins}:Reader"),
    )
    assert done.code == 1
    assert [(cell["status"], cell["reason"]) for cell in done.json["cells"]] == [
        ("ok", ""),
        ("failed", "SystemExit: 0"),
    ]


def test_check_plugin_outlives_a_plugin_that_ends_the_process(chunkbench: Command, plugins: Path) -> None:
    """It is a rule that is broken."""
    done = chunkbench("check-plugin", "dataset", f"{plugins}:Leaving")
    assert done.code == 1
    assert "it raised SystemExit: 0" in done.out


def test_a_fault_of_our_own_stays_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a built-in plug-in raises is a bug, whose traceback is needed."""
    monkeypatch.setattr("chunkers.fixed_lines.FixedLines.__post_init__", lambda _self: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        CHUNKERS.create("fixed-lines")
    dataset = Dataset("d", (), (), ())
    assert load_from(InMemory(dataset=dataset)) is dataset
