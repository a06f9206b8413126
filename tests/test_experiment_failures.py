"""A cell that fails is a result: its reason is written, the others finish, and the exit code is 1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

FAILING = """
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Failing:
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = None

    def split(self, source):
        raise RuntimeError("cannot cut " + source.path)


@dataclass(frozen=True, kw_only=True)
class Mute:
    version: ClassVar[str] = "1"
    max_tokens = None

    def identity(self):
        return {"encoder": "mute"}

    def encode(self, texts, *, kind):
        raise ConnectionError("nobody answers")

    def count_tokens(self, texts):
        return [0] * len(texts)
"""


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution whose chunker and embedder always raise."""
    place = tmp_path / "site"
    info = place / "failing-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "failing_plugins.py").write_text(FAILING)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[chunkbench.chunkers]\nfailing = failing_plugins:Failing\n"
        "[chunkbench.embedders]\nmute = failing_plugins:Mute\n"
    )
    monkeypatch.syspath_prepend(str(place))


def compare(repository: Path, out: Path) -> tuple[object, ...]:
    """Return the arguments that every test here has."""
    gold = repository.parent / "gold.jsonl"
    return ("compare", repository, "--annotations", gold, "--engine", "serial", "--flips", "100", "--out", out)


@pytest.mark.usefixtures("third_party")
def test_a_chunker_that_always_raises_fails_its_cell(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """The reason names the first file and what the chunker raised; the other chunker has its scores."""
    result = chunkbench(
        *compare(repository, tmp_path / "out"),
        *("--embedder", "hashing", "--chunker", "failing", "--chunker", "fixed-lines:lines=5", "--json"),
    )
    assert result.code == 1
    failed, finished = result.json["cells"]
    assert (failed["chunker"], failed["status"], failed["measures"]) == ("failing", "failed", {})
    assert "RuntimeError: cannot cut" in failed["reason"]
    assert finished["status"] == "ok"
    assert "failing" in result.err
    assert json.loads((tmp_path / "out" / "results.json").read_text())["cells"] == result.json["cells"]


@pytest.mark.usefixtures("third_party")
def test_an_embedder_that_raises_fails_the_cells_that_need_it(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """A retriever that reads words needs no vectors, and finishes."""
    result = chunkbench(
        *compare(repository, tmp_path / "out"),
        *("--embedder", "mute", "--chunker", "fixed-lines:lines=5", "--retriever", "dense", "--retriever", "bm25"),
        "--json",
    )
    assert result.code == 1
    dense, words = result.json["cells"]
    assert (dense["retriever"], dense["status"]) == ("dense", "failed")
    assert dense["reason"] == "ConnectionError: nobody answers"
    assert words["status"] == "ok"
    assert np.isfinite(words["measures"]["naurc@4000tok"]["mean"])
