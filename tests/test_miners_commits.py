"""Queries from history."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from ground_truth.datasets.mined import MinedRepository
from ground_truth.miners.commits import mine_commits
from ground_truth.spans import annotated_lines, gold_spans


def git(folder: Path, *arguments: str, author: str = "A") -> str:
    """Run git without any configuration of the machine."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": author,
        "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": author, "GIT_COMMITTER_EMAIL": "a@b.c",
        "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
    }  # fmt: skip
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a history with one commit for every reason to keep or drop one."""
    git(tmp_path, "init", "-q", "-b", "main")
    source = tmp_path / "m.py"

    def commit(message: str, files: dict[str, str], author: str = "A") -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", message, author=author)

    lines = [f"line_{number} = {number}" for number in range(300)]
    commit("Add the very first file of all", {"m.py": "\n".join(lines) + "\n"})
    lines[9], lines[20] = "line_9 = 'nine'", "line_20 = 'twenty'"
    commit(
        "Spell nine and twenty out (#12)\n\nThey are words.\n\nCo-authored-by: B <b@c.d>",
        {"m.py": "\n".join(lines) + "\n"},
    )
    commit("Indent all the lines differently", {"m.py": "\n".join("  " + line for line in lines) + "\n"})
    commit("Bump the version of everything", {"m.py": source.read_text().replace("= 1", "= 2")})
    commit("Update the requests library to 2.0", {"m.py": "x = 1\n"}, author="dependabot[bot]")
    commit("Reformat everything with black", {"m.py": "x  = 1\n"})
    commit("Short one", {"m.py": "x = 3\n"})
    commit("Explain how it works in prose", {"README.md": "words\n"})
    commit("Test the thing more thoroughly", {"tests/test_m.py": "y = 1\n"})
    commit("Write a great deal of code", {"m.py": "\n".join(lines) + "\n", "n.py": "z = 1\n"})
    commit("Rewrite all that code once more", {"m.py": "a = 1\n"})
    return tmp_path


def test_one_commit_is_kept_and_each_other_has_its_reason(clone: Path) -> None:
    """The message without trailer and number asks; the old lines answer at the parent."""
    mined = mine_commits(clone, name="r")
    spelled = next(query for query in mined.queries if query.text.startswith("Spell"))
    assert spelled.text == "Spell nine and twenty out They are words."
    assert spelled.cluster == "r"
    notes = [note for note in mined.annotations if note.query_id == spelled.id]
    assert [(note.path, note.start_line, note.end_line) for note in notes] == [("m.py", 10, 10), ("m.py", 21, 21)]
    parent = mined.commits[spelled.id]
    assert git(clone, "show", f"{parent}:m.py").splitlines()[9] == "line_9 = 9"
    assert spelled.repo == f"r@{parent[:12]}"
    assert mined.dropped == {
        "first commit": 1,
        "changes whitespace only": 1,
        "release, revert or chore": 1,
        "bot": 1,
        "formatting or documentation": 1,
        "message too short": 1,
        "only new files, whitespace or binary changes": 2,
        "too many lines": 1,
    }


def test_the_cap_and_the_seed_decide_the_draw(clone: Path) -> None:
    """One of two is drawn; the rest is counted."""
    assert len(mine_commits(clone, name="r").queries) == 2
    one = mine_commits(clone, name="r", limit=1, seed=3)
    assert one.queries == mine_commits(clone, name="r", limit=1, seed=3).queries
    draws = {mine_commits(clone, name="r", limit=1, seed=seed).queries for seed in range(8)}
    assert len(draws) == 2


def test_history_needs_a_clone(tmp_path: Path) -> None:
    """A plain folder is refused in one line."""
    with pytest.raises(UsageError, match="not a git clone"):
        mine_commits(tmp_path, name="r")


def test_a_clone_is_a_dataset_of_snapshots(clone: Path) -> None:
    """Each query searches the parent of its commit; the gold lines are there."""
    dataset = MinedRepository(root=str(clone), kind="commits").load()
    assert len(dataset.queries) == len(dataset.repositories) == 2
    assert gold_spans(dataset.annotations, annotated_lines(dataset)).keys() == {query.id for query in dataset.queries}
    assert dataset.mined
