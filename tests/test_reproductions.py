"""The published protocols: on the real data where it is at hand, and on a small dataset of the same shape."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from chunkers.registry import CHUNKERS
from chunkers.splitting import chunk_file
from ground_truth.registry import DATASETS
from scripts.cli import exit_with
from scripts.reproduce import cast as reproduce_cast
from scripts.reproduce import code_chunk as reproduce_code_chunk

DATA = Path(os.environ.get("CHUNKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "repoeval"
VECTORS = DATA / "text-embedding-3-small_1500nws.npz"
needs_data = pytest.mark.skipif(not VECTORS.exists(), reason=f"RepoEval and its vectors are not in {DATA}")

FILE = '''import {word}


def first(items):
    """Return the first {word}."""
    for item in items:
        return item
    return None


def second(items):
    """Return the second {word}."""
    found = list(items)
    if len(found) < 2:
        return None
    return found[1]
'''


class Script:
    """Runs a script's command in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capture = monkeypatch, capsys

    def __call__(self, command: click.Command, *arguments: object) -> tuple[int, Any, str]:
        """Return the exit code, the JSON it printed, and stderr."""
        self._patch.setattr(sys, "argv", ["script", *map(str, arguments)])
        self._capture.readouterr()
        with pytest.raises(SystemExit) as end:
            exit_with(command)
        captured = self._capture.readouterr()
        return int(end.value.code or 0), json.loads(captured.out) if captured.out else None, captured.err


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Script:
    """Return a runner whose cache is the test's own."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    return Script(monkeypatch, capsys)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder of RepoEval's shape with the six repositories of code-chunk's protocol."""
    home = tmp_path / "repoeval"
    rows = []
    for name in reproduce_code_chunk.REPOSITORIES:
        file = home / "repositories" / name / "pkg" / "items.py"
        file.parent.mkdir(parents=True)
        text = FILE.format(word=name.split("_")[0].replace("-", ""))
        file.write_text(text)
        lines = text.splitlines(keepends=True)
        rows.append(
            {
                "prompt": "".join(lines[:12]),
                "metadata": {
                    "task_id": f"{name}/idx",
                    "ground_truth": "".join(lines[12:16]),
                    "fpath_tuple": [name, "pkg", "items.py"],
                    "context_start_lineno": 0,
                    "lineno": 12,
                    "function_name": "second",
                },
            }
        )
    (home / "function_level_completion_2k_context_codex.test.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    return home


def write_vectors(home: Path, path: Path, *, without: int = 0) -> None:
    """Write vectors for all texts of the protocol at 60 nws, keyed without the last line feed, as code-chunk's are."""
    chunker = CHUNKERS.create("fixed-nws:size=60")
    texts = set()
    for name in reproduce_code_chunk.REPOSITORIES:
        dataset = DATASETS.create(reproduce_code_chunk.dataset(home, name, "prompt")).load()
        texts |= {query.text for query in dataset.queries}
        for repository in dataset.repositories:
            for source in repository.files():
                texts |= {chunk.text.removesuffix("\n") for chunk in chunk_file(chunker, source)}
    ordered = sorted(texts)[without:]
    keys = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in ordered]
    vectors = np.random.default_rng(0).normal(size=(len(keys), 8)).astype(np.float32)
    np.savez(path, keys=np.array(keys), vectors=vectors)


def test_the_code_chunk_protocol_runs_on_data_of_its_shape(script: Script, small: Path, tmp_path: Path) -> None:
    """Every repository has its three means and its number of queries, and the macro mean is theirs."""
    write_vectors(small, tmp_path / "v.npz")
    code, found, err = script(
        reproduce_code_chunk.command, "--data", small, "--vectors", tmp_path / "v.npz", "--size", 60, "--json"
    )
    assert code == 0, err
    assert found["missing_vectors"] == 0
    assert set(found["repositories"]) == set(reproduce_code_chunk.REPOSITORIES)
    for measure in ("precision@5", "recall@5", "ndcg@5"):
        values = [row[measure] for row in found["repositories"].values()]
        assert found["macro"][measure] == pytest.approx(sum(values) / 6)
    assert all(row["queries"] == 1 for row in found["repositories"].values())


def test_missing_vectors_are_counted_and_fail_their_repository_only(
    script: Script, small: Path, tmp_path: Path
) -> None:
    """A vector that is not in the file is counted; the other repositories keep their numbers."""
    write_vectors(small, tmp_path / "v.npz", without=1)
    code, found, _ = script(
        reproduce_code_chunk.command, "--data", small, "--vectors", tmp_path / "v.npz", "--size", 60, "--json"
    )
    assert code == 1
    assert found["missing_vectors"] >= 1
    assert any("failed" in row for row in found["repositories"].values())


@needs_data
def test_the_published_fixed_row_comes_out_to_four_digits(script: Script) -> None:
    """code-chunk's fixed chunks of 1500 nws with its own OpenAI vectors give its published numbers for tracr."""
    code, found, err = script(reproduce_code_chunk.command, "--data", DATA, "--vectors", VECTORS, "--json")
    assert code == 0, err
    assert found["missing_vectors"] == 0
    tracr = found["repositories"]["deepmind_tracr"]
    assert (round(tracr["precision@5"], 4), round(tracr["recall@5"], 4), round(tracr["ndcg@5"], 4)) == (
        0.4904,
        0.8655,
        0.8898,
    )
    assert sum(row["queries"] for row in found["repositories"].values()) == 373


def test_cast_tables_have_every_protocol(script: Script, small: Path) -> None:
    """The paper's rows, the reference windows, the projection, own ids and the fair measures stand in one table."""
    code, found, err = script(
        reproduce_cast.command,
        *("--data", small, "--repositories", "6", "--model", "hashing", "--engine", "serial", "--json"),
        *("--ast", "cast:size=80", "--fixed", "fixed-nws:size=80", "--reference", "sliding-window:window=6,step=3"),
    )
    assert code == 0, err
    rows = found["repoeval"]["rows"]
    assert {row["protocol"] for row in rows} == {"published", "coderag", "projected", "own-ids", "fair"}
    ours = [row for row in rows if row["source"] == "hashing"]
    assert all(0 <= value <= 100 for row in ours for value in row["scores"].values())
    assert found["repoeval"]["comparisons"]
    assert {row["measure"] for row in found["repoeval"]["comparisons"]} >= {"naurc@4000tok"}


def test_a_reference_projected_onto_itself_keeps_its_scores(script: Script, small: Path) -> None:
    """Projecting fixed lines onto the same fixed lines changes nothing."""
    code, found, err = script(
        reproduce_cast.command,
        *("--data", small, "--repositories", "6", "--model", "hashing", "--engine", "serial", "--json"),
        *("--ast", "fixed-lines:lines=6", "--fixed", "fixed-nws:size=80", "--reference", "fixed-lines:lines=6"),
    )
    assert code == 0, err
    rows = {
        (row["protocol"], row["chunker"]): row["scores"]
        for row in found["repoeval"]["rows"]
        if row["source"] == "hashing"
    }
    assert rows["projected", "fixed-lines:lines=6"] == rows["own-ids", "fixed-lines:lines=6"]


def test_nothing_to_reproduce_is_a_usage_error(script: Script) -> None:
    """Without data there is one line that says what to name."""
    code, _, err = script(reproduce_cast.command)
    assert code == 2
    assert "--data" in err
