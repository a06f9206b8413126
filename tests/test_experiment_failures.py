"""A cell that fails is a result: its reason is written, the others finish, and the exit code is 1."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from evaluation.results.folder import read_results

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


FAILS_ON_ONE = """
from dataclasses import dataclass

from chunkers.fixed_lines import FixedLines


@dataclass(frozen=True, kw_only=True)
class Choosy(FixedLines):
    def split(self, source):
        if source.path == "bolt.py":
            raise RuntimeError("no bolts, please")
        return super().split(source)
"""


REPEATS = """
from dataclasses import dataclass

from chunkers.fixed_lines import FixedLines


@dataclass(frozen=True, kw_only=True)
class Twice(FixedLines):
    def split(self, source):
        return [piece for piece in super().split(source) for _ in range(2)]
"""


DELETES = """
from dataclasses import dataclass
from pathlib import Path

from chunkers.fixed_lines import FixedLines


@dataclass(frozen=True, kw_only=True)
class Tidy(FixedLines):
    root: str = ""

    def split(self, source):
        if source.path == "apple.py":
            Path(self.root, "bolt.py").unlink(missing_ok=True)
        return super().split(source)
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
        *("--retriever", "dense"),
    )
    assert result.code == 1
    failed, finished = result.json["cells"]
    assert (failed["chunker"], failed["status"], failed["measures"]) == ("failing", "failed", {})
    assert "RuntimeError: cannot cut" in failed["reason"]
    assert finished["status"] == "ok"
    assert "failing" in result.err
    assert json.loads((tmp_path / "out" / "results.json").read_text())["cells"] == result.json["cells"]


@pytest.fixture
def choosy(repository: Path, tmp_path: Path) -> str:
    """Return a chunker that raises on one of two files."""
    for path in repository.glob("*.py"):
        if path.stem not in ("apple", "bolt"):
            path.unlink()
    gold = tmp_path / "gold.jsonl"
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    kept = [json.dumps(row) + "\n" for row in rows if (repository / row["file"]).exists()]
    assert len(kept) == 4
    gold.write_text("".join(kept))
    (tmp_path / "choosy.py").write_text(FAILS_ON_ONE)
    return f"{tmp_path / 'choosy.py'}:Choosy,lines=5"


def test_a_chunker_that_raises_on_one_file_is_scored_and_the_file_is_named(
    chunkbench: Command, repository: Path, tmp_path: Path, choosy: str
) -> None:
    """The table, every form of the report, and the report made again from the folder name the file and the error."""
    out = tmp_path / "out"
    ran = chunkbench(*compare(repository, out), "--embedder", "hashing", "--chunker", choosy, "--chunker", "whole-file")
    assert ran.code == 0, ran.err
    assert "whole-file" in ran.out
    assert "code/bolt.py (RuntimeError: no bolts, please)" in " ".join(ran.out.split())
    cell = next(each for each in read_results(out).cells if each.key.chunker == choosy)
    assert cell.status == "ok"
    assert cell.chunks.failed_files == {"code/bolt.py": "RuntimeError: no bolts, please"}
    assert cell.judgements.uncovered_queries == 2
    for name in ("summary.md", "report.html"):
        text = (out / name).read_text("utf-8")
        assert "code/bolt.py" in text
        assert "no bolts, please" in text
    page = (out / "report.html").read_bytes()
    again = chunkbench("report", out)
    assert again.code == 0, again.err
    assert (out / "report.html").read_bytes() == page


def test_a_chunker_that_gives_pieces_twice_has_each_chunk_once(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """Its scores are those of the pieces given once; its contract names the first."""
    (tmp_path / "twice.py").write_text(REPEATS)
    twice = f"{tmp_path / 'twice.py'}:Twice"
    chunkers = ("--chunker", f"{twice},lines=5", "--chunker", "fixed-lines:lines=5")
    ran = chunkbench(*compare(repository, tmp_path / "out"), "--embedder", "hashing", *chunkers, "--json")
    assert ran.code == 0, ran.err
    cells = {cell["chunker"]: (cell["measures"], cell["chunks"]["count"]) for cell in ran.json["cells"]}
    assert cells[f"{twice},lines=5"] == cells["fixed-lines:lines=5"]
    checked = chunkbench("check-plugin", "chunker", twice)
    assert checked.code == 1
    assert re.search(r"box\.py: the piece from 0 to \d+ is there 2 times", checked.out)


def test_a_file_that_is_deleted_during_a_run_is_named(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """The cell's reason says which one, and what to do."""
    (tmp_path / "tidy.py").write_text(DELETES)
    chunker = f"{tmp_path / 'tidy.py'}:Tidy,lines=5,root={repository}"
    ran = chunkbench(*compare(repository, tmp_path / "out"), "--embedder", "hashing", "--chunker", chunker, "--json")
    assert ran.code == 1
    reasons = {cell["reason"] for cell in ran.json["cells"]}
    assert reasons == {"code/bolt.py has gone since the dataset was loaded: run again"}


def test_a_night_with_a_file_that_cannot_be_cut_is_stored(
    chunkbench: Command, repository: Path, tmp_path: Path, choosy: str
) -> None:
    """The night is kept, its report names the file, and the next night has it as its baseline."""
    experiment = tmp_path / "nightly.toml"
    experiment.write_text(
        f'datasets = ["annotations:path={tmp_path / "gold.jsonl"},root={repository}"]\n'
        f'chunkers = ["{choosy}", "whole-file"]\nembedders = ["hashing"]\nretrievers = ["bm25"]\n'
        "flips = 100\n"
        '[run]\nengine = "serial"\n[nightly]\nhistory = "history"\n'
    )
    first, second = (chunkbench("nightly", experiment, "--json") for _ in range(2))
    assert (first.code, second.code) == (0, 0), first.err + second.err
    run = tmp_path / "history" / "runs" / "00001"
    assert "code/bolt.py" in (run / "report.html").read_text("utf-8")
    (failed,) = (each.chunks.failed_files for each in read_results(run).cells if each.key.chunker == choosy)
    assert list(failed) == ["code/bolt.py"]
    assert "code/bolt.py (RuntimeError: no bolts, please)" in second.json["not_cut"][0]
    assert "## Files that were not cut" in (run / "night.md").read_text("utf-8")
    assert {row["verdict"] for row in second.json["findings"]} == {"no change"}


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
