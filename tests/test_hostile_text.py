"""Text from outside is text wherever it goes: terminal, messages, CSV, Markdown, LaTeX."""

from __future__ import annotations

import csv
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st

from chunkers.plain_text import csv_cell, one_line, shown
from evaluation.report.documents import _md, _tex

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
    for made in (_md(text), _tex(text)):
        assert len(made.splitlines()) == 1
        assert "\x1b" not in made
    assert "|" not in _md(text).replace("\\|", "")
    assert "\\end" not in _tex(text)


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
