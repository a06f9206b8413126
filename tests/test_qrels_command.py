"""`chunkbench qrels` as a person calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"


def chunkbench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command from the checkout."""
    root = Path(__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "scripts", *arguments], cwd=root, capture_output=True, text=True, check=False
    )


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with annotations beside it."""
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "m.py").write_text(CODE)
    rows = [
        {"query_id": "q1", "query": "add", "file": "m.py", "start_line": 1, "end_line": 2},
        {"query_id": "q2", "query": "blank", "file": "m.py", "start_line": 3, "end_line": 4},
    ]
    (tmp_path / "ann.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_trec_on_stdout_and_statistics_on_stderr(repo: Path) -> None:
    """Four columns; a query whose gold is blank has no row and is counted."""
    done = chunkbench(
        "qrels", str(repo / "ann.jsonl"), "--root", str(repo / "repo"), "--chunker", "fixed-lines:lines=2"
    )
    assert done.returncode == 0, done.stderr
    (row,) = done.stdout.splitlines()
    assert [row.split()[i] for i in (0, 1, 3)] == ["q1", "0", "1"]
    assert "1 without any (50.0%)" in done.stderr


def test_json_carries_rule_counts_and_qrels(repo: Path) -> None:
    """One object with all of it."""
    done = chunkbench(
        "qrels", str(repo / "ann.jsonl"), "--root", str(repo / "repo"), "--chunker", "fixed-lines:lines=2", "--rule",
        "any(blank=true)", "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["rule"] == "any(blank=true)"
    assert told["relevant"] == {"q1": 1, "q2": 1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["qrels"], "either an annotation file or --dataset"),
        (["qrels", "ann.jsonl", "--rule", "some"], "unknown overlap rule 'some'"),
        (["qrels", "absent.jsonl"], "absent.jsonl cannot be read"),
        (["qrels", "--dataset", "instaled"], "Did you mean 'installed'?"),
        (["qrels", "--dataset", "repoeval:pat=x"], "Did you mean 'path'?"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(arguments: list[str], words: str) -> None:
    """No traceback, the remedy in the line."""
    done = chunkbench(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
