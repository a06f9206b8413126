"""`chunkbench mine` as a person calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ground_truth.datasets.annotations import Annotations

CODE = "".join(
    f"// Step{number} moves the {word} pointer along.\n"
    f"func Step{number}(a int) int {{\n\tb := a\n\tb += {number}\n\treturn b\n}}\n\n"
    for number, word in enumerate("red green blue white".split())
)


def mine(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command from the checkout."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "scripts", "mine", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a Go repository with four documented functions."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "m.go").write_text("package m\n\n" + CODE)
    return tmp_path / "project"


def test_what_is_mined_loads_as_a_dataset_with_hidden_text(repo: Path, tmp_path: Path) -> None:
    """The file is an annotation file; its dataset hides the comments that ask."""
    out = tmp_path / "mined.jsonl"
    done = mine(str(repo), "--limit", "3", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "3 queries kept; dropped: 1 over the cap; go 100% of the code and 3 queries" in done.stderr
    dataset = Annotations(path=str(out), root=str(repo)).load()
    assert len(dataset.queries) == 3
    assert all(query.text.startswith("moves the") for query in dataset.queries)
    source = dataset.repositories[0].read("m.go")
    assert source is not None
    hidden = [source.data[span.start_byte : span.end_byte] for span in dataset.hidden]
    assert [text.count(b"pointer") for text in hidden] == [1] * 4


def test_counts_as_json_and_rows_on_stdout(repo: Path, tmp_path: Path) -> None:
    """Without --out the rows are the data; with --json the counts are."""
    rows = [json.loads(line) for line in mine(str(repo)).stdout.splitlines()]
    assert [row["file"] for row in rows] == ["m.go"] * 4
    told = json.loads(mine(str(repo), "--out", str(tmp_path / "x.jsonl"), "--json").stdout)
    assert (told["kept"], told["dropped"]) == (4, {})
    assert "rows" not in told


def test_only_the_named_file_is_written(repo: Path, tmp_path: Path) -> None:
    """A file beside it, whatever its name, stays; no draft is left."""
    beside = tmp_path / "mined.jsonl.part"
    beside.write_text("mine")
    assert mine(str(repo), "--out", str(tmp_path / "mined.jsonl")).returncode == 0
    assert beside.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mined.jsonl", "mined.jsonl.part", "project"]


def test_json_alone_holds_counts_and_rows(repo: Path) -> None:
    """`mine PATH --json` is one object, whatever the text of a query holds."""
    text = (repo / "m.go").read_text("utf-8").replace("the red pointer", "the r\u2028d pointer")
    (repo / "m.go").write_text(text, "utf-8")
    told = json.loads(mine(str(repo), "--json").stdout)
    assert told["kept"] == 4
    assert told["rows"] == [json.loads(line) for line in mine(str(repo)).stdout.strip("\n").split("\n")]


def test_several_kinds_are_one_file(repo: Path, tmp_path: Path) -> None:
    """Rows name their kind, all hide the same text, and each kind has its own counts."""
    inner = "\t// Collect every prime factor of the window sizes.\n\tfor n := range a {\n\t\tb += n\n\t}\n"
    (repo / "n.go").write_text("package m\n\nfunc Sum(a []int) int {\n\tb := 0\n" + inner + "\treturn b\n}\n")
    out = tmp_path / "x.jsonl"
    told = json.loads(mine(str(repo), "--kind", "docstrings", "--kind", "comments", "--out", str(out), "--json").stdout)
    assert {kind: counts["kept"] for kind, counts in told["kinds"].items()} == {"docstrings": 4, "comments": 1}
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["kind"], row["mask"]) for row in rows] == [("docstrings", "comments")] * 4 + [("comments", "comments")]
    assert (rows[-1]["query"], rows[-1]["start_line"], rows[-1]["end_line"]) == (
        "Collect every prime factor of the window sizes.",
        6,
        9,
    )
    kinds = {query.kind for query in Annotations(path=str(out), root=str(repo)).load().queries}
    assert kinds == {"docstrings", "comments"}


def test_no_result_says_which_languages_were_seen_and_why(tmp_path: Path) -> None:
    """Whoever gets nothing learns what was looked at."""
    (tmp_path / "a.c").write_text("/* Adds. */\nint add(int a)\n{\n  return a;\n}\n")
    done = mine(str(tmp_path))
    assert done.returncode == 2
    assert "c 100% of the code and 0 queries" in done.stderr
    assert "1 trivial body" in done.stderr
    assert "--kind comments" in done.stderr


def test_no_source_at_all_is_said(tmp_path: Path) -> None:
    """A folder of prose or of tests alone has no language to name."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").write_text(
        'def f(a):\n    """Add up all of the values."""\n    b = 1\n    c = 2\n    return a\n'
    )
    done = mine(str(tmp_path))
    assert done.returncode == 2
    assert "no source file outside tests was seen, in any known language; dropped: 1 test file" in done.stderr


def test_nothing_is_overwritten_or_half_written(repo: Path, tmp_path: Path) -> None:
    """An existing file stays unless --force; a folder without queries leaves no file."""
    out = tmp_path / "mined.jsonl"
    out.write_text("mine")
    assert mine(str(repo), "--out", str(out)).returncode == 2
    assert out.read_text() == "mine"
    assert mine(str(repo), "--out", str(out), "--force").returncode == 0
    (tmp_path / "empty").mkdir()
    done = mine(str(tmp_path / "empty"), "--out", str(tmp_path / "none.jsonl"))
    assert done.returncode == 2
    assert "gives no queries. docstrings: no source file" in done.stderr
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize("arguments", [["absent"], ["."], ["absent", "--kind", "commits"]])
def test_wrong_use_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    """A folder that is not there, or a plain folder for commits, is one line and exit 2."""
    path = str(tmp_path / arguments[0])
    done = mine(path, *arguments[1:])
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
