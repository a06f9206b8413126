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
    commit("Address the concerns and update the tests", {"m.py": "x = 2\n"})
    commit("Short one", {"m.py": "x = 3\n"})
    commit("Explain how it works in prose", {"README.md": "words\n"})
    commit("Test the reader of tables more thoroughly", {"tests/test_m.py": "y = 1\n"})
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
        "message says too little": 1,
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


def _commit(folder: Path, message: str, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


def test_generated_moved_and_test_files_are_no_gold(tmp_path: Path) -> None:
    """The grammar is gold and not the parser made from it; a file that moves away answers nothing; nor do tests."""
    git(tmp_path, "init", "-q", "-b", "main")
    parser = "/* A Bison parser, made by GNU Bison 3.0. */\nint state = {};\n"
    rule = "%%\nexpr: A {{ {} }} ;\n"
    files = {"parse.y": rule.format(1), "parse.c": parser.format(1), "old/a.c": "int a;\n", "testsuite/t.c": "int t;\n"}
    _commit(tmp_path, "Begin with all of the files", {**files})
    _commit(tmp_path, "Count the states of the parser", {"parse.y": rule.format(2), "parse.c": parser.format(2)})
    _commit(tmp_path, "Build the parser once more today", {"parse.c": parser.format(3)})
    _commit(tmp_path, "Keep the sources in another folder", {"old/a.c": None, "new/a.c": "int a;\n"})
    _commit(tmp_path, "Check the sums of larger numbers", {"testsuite/t.c": "int u;\n"})
    _commit(tmp_path, "Check the sums of smaller numbers", {"testsuite/t.c": "int v;\n"})
    mined = mine_commits(tmp_path, name="r")
    assert [(query.text, query.kind) for query in mined.queries] == [("Count the states of the parser", "commits")]
    assert [note.path for note in mined.annotations] == ["parse.y"]
    assert mined.dropped == {
        "first commit": 1,
        "changes generated files only": 1,
        "only moves or deletes files": 1,
        "no source lines changed": 2,
    }


def test_the_template_of_a_request_is_not_asked(tmp_path: Path) -> None:
    """Types, headings, tables, check lists, links and hashes are gone; what was done is left."""
    git(tmp_path, "init", "-q", "-b", "main")
    _commit(tmp_path, "Begin with all of the files", {"a.c": "int a = 0;\n"})
    message = (
        "feat(rows): handle empty rows of tables (#12)\r\n\r\n## What is this?\r\n- [ ] a fix\r\n\r\n## Description\r\n"
        "Rows without cells were read as cells, see https://example.org/1\r\n\r\n| a | b |\r\n|---|---|\r\n"
    )
    _commit(tmp_path, message, {"a.c": "int a = 1;\n"})
    [query] = mine_commits(tmp_path, name="r").queries
    assert query.text == "handle empty rows of tables Rows without cells were read as cells"


def test_what_a_squash_repeats_is_asked_once(tmp_path: Path) -> None:
    """The list of squashed commits and the subject said twice are gone; the same message twice is one query."""
    git(tmp_path, "init", "-q", "-b", "main")
    _commit(tmp_path, "Begin with all of the files", {"a.c": "int a = 0;\n"})
    message = (
        "Handle empty rows of tables (#12)\n\n* Handle empty rows of tables\n* wip\n\nHandle empty rows of tables.\n\n"
    )
    _commit(tmp_path, message + "Rows without cells were read as cells.", {"a.c": "int a = 1;\n"})
    _commit(tmp_path, message + "Rows without cells were read as cells!", {"a.c": "int a = 2;\n"})
    mined = mine_commits(tmp_path, name="r")
    texts = {query.text.rstrip(".!") for query in mined.queries}
    assert texts == {"Handle empty rows of tables Rows without cells were read as cells"}
    assert mined.dropped == {"first commit": 1, "same message as another": 1}
