"""Text from outside is text wherever it goes: terminal, messages, CSV, Markdown, LaTeX."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st

from chunkers.plain_text import csv_cell, one_line, shown
from evaluation.report.documents import _md
from evaluation.report.latex import tex
from evaluation.results.folder import read_results

ROOT = Path(__file__).parents[1]
NASTY = (
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "\x9b31m",
    "a\u202eb",
    "[/x]",
    "[bold]x",
    "[link=x]y",
    ":smile:",
    "=1+1",
    "a\rb",
)


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    """Whatever the text is: no control but tab and line end, no turn of direction; other letters stay."""
    safe = shown(text)
    assert not any((ord(sign) < 32 and sign not in "\n\t") or 0x7F <= ord(sign) < 0xA0 for sign in safe)
    assert "\u202e" not in safe
    assert shown(safe) == safe
    assert "\n" not in one_line(text)
    if text.isascii() and text.isprintable():
        assert safe == text


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-x", "@SUM(A1)", "  =x", "=cmd|' /C calc'!A0", "-2+3"])
def test_a_cell_that_begins_as_a_formula_is_a_text(cell: str) -> None:
    """Spreadsheets run what begins with one of four signs; numbers stay numbers."""
    assert csv_cell(cell) == "'" + cell
    assert [csv_cell(each) for each in ("-1.5", "+2e-3", -1.5, None, "a=b")] == ["-1.5", "+2e-3", -1.5, None, "a=b"]


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("how", [[], ["--per-query"], ["--csv"], ["--json"]])
def test_score_prints_ids_as_they_are(chunkbench: Command, tmp_path: Path, nasty: str, how: list[str]) -> None:
    """Ids that look like markup, formulas or commands neither vanish, nor fail, nor act."""
    name = "_".join(nasty.split())
    (tmp_path / "q").write_bytes(f"{name} 0 d 1\n".encode())
    (tmp_path / "r").write_bytes(f"{name} Q0 d 1 1 t\n".encode())
    done = chunkbench("score", "--qrels", tmp_path / "q", "--run", tmp_path / "r", "-m", "mrr", *how)
    assert done.code == 0, done.err
    if how == ["--per-query"]:
        assert shown(name) in done.out
        assert "\x1b" not in done.out
    if how == ["--csv"]:
        rows = list(csv.reader(io.StringIO(done.out)))
        assert rows[1][0] == csv_cell(name)


@pytest.mark.parametrize("nasty", [nasty for nasty in NASTY if not nasty.isprintable()])
def test_a_message_has_no_commands_in_it(chunkbench: Command, tmp_path: Path, nasty: str) -> None:
    """A file's content and name come back in an error written out."""
    place = tmp_path / f"x{nasty}"
    done = chunkbench("score", "--qrels", place, "--run", place)
    assert done.code == 2
    assert done.err.strip() == shown(done.err).strip()
    assert "Traceback" not in done.err


@pytest.mark.parametrize("text", ["a\nb", "a\u2028b", "\x1b[2Jx", "| a", "\\end{document}", "<b>", "a\rb"])
def test_documents_hold_it_on_one_line(text: str) -> None:
    """A line end would end a table's row, and a command would act where the file is shown."""
    for made in (_md(text), tex(text)):
        assert len(made.splitlines()) == 1
        assert "\x1b" not in made
    assert "|" not in _md(text).replace("\\|", "")
    assert "\\end" not in tex(text)


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run the real command."""
    command = [sys.executable, "-m", "scripts", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, check=False, **options)  # type: ignore[call-overload,no-any-return] # options


def test_a_terminal_gets_no_commands(tmp_path: Path) -> None:
    """On a real terminal, colours are the tool's own and nothing else moves the cursor."""
    (tmp_path / "q").write_bytes(b"a\x1b[2Jb 0 d 1\n")
    (tmp_path / "r").write_bytes(b"a\x1b[2Jb Q0 d 1 1 t\n")
    main, terminal = pty.openpty()
    with os.fdopen(main, "rb", buffering=0) as screen:
        done = run("score", "--qrels", tmp_path / "q", "--run", tmp_path / "r", "--per-query", "-m", "mrr",
                   stdout=terminal, stderr=terminal)  # fmt: skip
        os.close(terminal)
        seen = b""
        try:
            while part := screen.read(65_536):
                seen += part
        except OSError:  # the other end is closed
            pass
    assert done.returncode == 0
    assert b"a\\x1b[2Jb" in seen
    assert b"\x1b[2J" not in seen


@pytest.mark.parametrize("code", [0, 2])
@pytest.mark.parametrize("how", ["closed", "full", "nobody reads"])
def test_a_message_that_cannot_be_shown_is_no_reason_to_fail(tmp_path: Path, how: str, code: int) -> None:
    """Stderr closed, on a full device, or a pipe without a reader: the exit code is what it would have been."""
    (tmp_path / "q").write_bytes(b"a 0 d 1\nb 0 d 1\n")
    (tmp_path / "r").write_bytes(b"a Q0 d 1 1 t\nc Q0 d 1 1 t\n" if code == 0 else b"nonsense\n")
    arguments = ["score", "--qrels", tmp_path / "q", "--run", tmp_path / "r", "-m", "mrr", "--json"]
    if how == "closed":
        line = " ".join([sys.executable, "-m", "scripts", *map(str, arguments), "2>&-"])
        done = subprocess.run(["sh", "-c", line], cwd=ROOT, check=False, stdout=subprocess.PIPE)
    elif how == "full":
        with Path("/dev/full").open("w") as full:
            done = run(*arguments, stdout=subprocess.PIPE, stderr=full)
    else:
        reading, writing = os.pipe()
        os.close(reading)
        done = run(*arguments, stdout=subprocess.PIPE, stderr=writing)
        os.close(writing)
    assert done.returncode == code
    assert (b"mrr" in done.stdout) == (code == 0)


def test_a_line_is_as_long_as_its_limit_and_no_longer() -> None:
    """What fits is whole; what does not is cut to the limit, the mark of the cut included."""
    assert one_line("a" * 10, limit=10) == "a" * 10
    assert one_line("a" * 11, limit=10) == "a" * 9 + "…"


EDITS: dict[str, Callable[[Any], Any]] = {
    "an empty object": lambda _found: {},
    "a list": lambda found: [found],
    "no cells": lambda found: {**found, "cells": []},
    "a cell that is a number": lambda found: {**found, "cells": [7]},
    "a cell without its name": lambda found: {**found, "cells": [{**found["cells"][0], "chunker": None}]},
    "measures as a list": lambda found: {**found, "cells": [{**found["cells"][0], "measures": []}]},
    "a text for a mean": lambda found: {
        **found, "cells": [{**cell, "measures": {"hit@5": {"mean": "x"}}} for cell in found["cells"]]},
    "comparisons of nothing": lambda found: {**found, "comparisons": [{}]},
    "a measure that is none": lambda found: {**found, "config": {**found["config"], "headline": "nope@@"}},
    "another version": lambda found: {**found, "version": [1]},
    "no datasets": lambda found: {**found, "datasets": []},
    "budgets as words": lambda found: {**found, "config": {**found["config"], "budgets": ["a"]}},
    "a number of many digits": lambda found: {**found, "config": {**found["config"], "seed": 10**400}},
    "names that command": lambda found: {
        **found, "cells": [{**cell, "chunker": "\x1b[2J[/x]", "reason": "=1"} for cell in found["cells"]]},
}  # fmt: skip
"""What somebody has done to results.json."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a small comparison."""
    home = tmp_path_factory.mktemp("finished")
    (home / "code").mkdir()
    rows = []
    for word in ("apple", "bolt", "candle"):
        (home / "code" / f"{word}.py").write_text(f"def make_{word}(size):\n    return size\n")
        rows.append({"query_id": word, "query": f"make a {word}", "file": f"{word}.py", "start_line": 1, "end_line": 2})
    (home / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("compare", home / "code", "--annotations", home / "gold.jsonl", "--chunker", "fixed-lines", "--chunker",
               "whole-file", "--retriever", "bm25", "--embedder", "hashing", "--measure", "hit@5",
               "--headline", "hit@5", "--flips", 100, "--engine", "serial", "--out", home / "out", capture_output=True,
               env={**os.environ, "CHUNKBENCH_CACHE": str(home / "cache")})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return home / "out"


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_results_folder_is_a_report_or_one_line(
    chunkbench: Command, finished: Path, tmp_path: Path, edit: str
) -> None:
    """`report` and `compare --out` on results that somebody has edited: code 0 or 2, and never a traceback."""
    shutil.copytree(finished, tmp_path / "out")
    marker = tmp_path / "out" / "results.json"
    marker.write_text(json.dumps(EDITS[edit](json.loads(marker.read_text()))))
    done = chunkbench("report", tmp_path / "out")
    assert done.code in (0, 2), (edit, done.err)
    assert "Traceback" not in done.err
    assert "\x1b" not in done.out + done.err
    assert len(done.err.strip().splitlines()) <= 1 or done.code == 0, done.err
    for page in (tmp_path / "out").glob("*.md"):
        assert "\x1b" not in page.read_text()


@pytest.mark.parametrize("table", ["queries", "scores", "curves", "hits", "texts"])
@pytest.mark.parametrize("how", ["gone", "cut", "another table"])
def test_a_table_that_is_not_what_it_was(
    chunkbench: Command, finished: Path, tmp_path: Path, table: str, how: str
) -> None:
    """The line names the folder."""
    shutil.copytree(finished, tmp_path / "out")
    file = tmp_path / "out" / f"{table}.parquet"
    if how == "gone":
        file.unlink()
    elif how == "cut":
        file.write_bytes(file.read_bytes()[:-9])
    else:
        shutil.copy(tmp_path / "out" / ("texts.parquet" if table != "texts" else "hits.parquet"), file)
    done = chunkbench("report", tmp_path / "out")
    assert done.code == 2
    assert str(tmp_path / "out") in done.err
    assert "Traceback" not in done.err


def test_two_writers_of_one_folder_take_turns(finished: Path, tmp_path: Path) -> None:
    """Four processes write the same results into one folder at once: all end well, and what is there is whole."""
    code = (
        "import sys; from pathlib import Path; from evaluation.results.folder import read_results, write_results\n"
        "found = read_results(Path(sys.argv[1]), rankings=True)\n"
        "for _ in range(8): write_results(found, Path(sys.argv[2]))\n"
    )
    arguments = [sys.executable, "-c", code, str(finished), str(tmp_path / "out")]
    running = [subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(4)]
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    assert read_results(tmp_path / "out", rankings=True).cells
    assert sorted(file.name for file in (tmp_path / "out").iterdir() if file.name.startswith(".")) == []


def test_plan_reaches_for_no_network(chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model or dataset of the hub that is not here is named; no connection is opened to find it."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    for key, value in (
        ("embedders", "st:model=nobody/nothing-at-all"),
        ("datasets", f"swebench:path=hub:nobody/nothing@{'0' * 40},repos={tmp_path}"),
    ):
        (tmp_path / "x.toml").write_text(f'{key} = ["{value}"]\nchunkers = ["fixed-lines", "whole-file"]\n')
        done = chunkbench("plan", tmp_path / "x.toml")
        assert done.code in (2, 4), done.err
        assert "downloads nothing" in done.err or "not installed" in done.err
