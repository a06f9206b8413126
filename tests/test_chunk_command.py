"""`chunkbench chunk`: its JSON is a contract, its views are for people, its errors are one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CODE = Path(__file__).parent / "fixtures" / "code"


def run(*arguments: str | Path, columns: int = 120) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "scripts", "chunk", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns)}
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment)


def rows(*arguments: str | Path) -> list[dict[str, Any]]:
    """Return the objects that the command prints."""
    return [json.loads(line) for line in run(*arguments, "--json").stdout.splitlines()]


def test_json_has_the_keys_of_the_contract_and_joins_back() -> None:
    """One object per chunk and line; paths are relative to the folder; texts join to the file."""
    found = rows(CODE, "--chunker", "cast:size=100")
    keys = "id path language start_byte end_byte start_line end_line text header"
    assert all(list(row) == keys.split() for row in found)
    for path in CODE.iterdir():
        assert "".join(str(row["text"]) for row in found if row["path"] == path.name) == path.read_text()


def test_a_file_is_named_by_its_name() -> None:
    """The path of a single file is its name, with its language."""
    (row,) = rows(CODE / "stack.go")
    assert (row["path"], row["language"], row["start_line"], row["end_line"]) == ("stack.go", "go", 1, 36)


def test_bytes_that_are_not_utf8_survive_json(tmp_path: Path) -> None:
    """They are surrogate escapes in the text, so that the bytes can be had back."""
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    (row,) = rows(tmp_path)
    assert str(row["text"]).encode("utf-8", "surrogateescape") == b"x = '\xff'\n"


def test_two_chunkers_are_told_apart() -> None:
    """With more than one chunker each object says whose it is."""
    found = rows(CODE / "stack.go", "--chunker", "whole-file", "--chunker", "fixed-lines:lines=20")
    assert [row["chunker"] for row in found] == ["whole-file", "fixed-lines:lines=20", "fixed-lines:lines=20"]


def test_skipped_files_are_counted_with_reasons(tmp_path: Path) -> None:
    """What is left out is on stderr, not in the data."""
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_bytes(b"\0\1")
    (tmp_path / "c.unknown").write_text("?")
    done = run(tmp_path, "--json")
    assert done.stderr == "2 skipped (1 binary, 1 no known language)\n"
    assert len(done.stdout.splitlines()) == 1


def test_a_file_is_shown_with_numbered_boundaries() -> None:
    """Each chunk has a number, its lines and its size; two chunkers stand side by side."""
    shown = run(CODE / "stack.go", "--chunker", "whole-file", "--chunker", "fixed-lines:lines=20").stdout
    assert "━━ 1 · lines 1-36 · 454 nws" in shown
    assert "━━ 2 · lines 21-36" in shown
    assert "   12 │ type Stack[T any] struct {" in shown


def test_headers_and_control_characters_are_shown(tmp_path: Path) -> None:
    """A header stands above its chunk, and nothing in a file can move the cursor."""
    (tmp_path / "a.py").write_bytes(b"def f():\n    return '\x1b[2J'\n")
    shown = run(tmp_path / "a.py", "--chunker", "code-chunk").stdout
    assert "# Defines: def f()" in shown
    assert "\x1b" not in shown


def test_stats_of_a_folder() -> None:
    """Counts, sizes, coverage, fallbacks and throughput, for people and as JSON."""
    assert "cast" in run(CODE, "--stats").stdout
    (row,) = rows(CODE, "--stats", "--chunker", "fixed-lines:lines=10,overlap=5")
    assert (row["files"], row["lost"], row["fallbacks"]) == (len(list(CODE.iterdir())), 0, {})
    assert isinstance(row["doubled"], int)
    assert row["doubled"] > 0
    assert sum(row["histogram"]["counts"]) == row["chunks"]


def test_fallbacks_are_shown(tmp_path: Path) -> None:
    """A language without known definitions is counted and named."""
    (tmp_path / "a.vhdl").write_text("entity e is end;\n")
    done = run(tmp_path, "--stats", "--chunker", "definitions")
    assert "definitions: 1 files cut by lines: no definitions known for vhdl" in done.stderr


def test_matched_sizes_say_what_was_chosen() -> None:
    """The chosen limit is on stderr and in the name of the row, beside the parameters that were given."""
    done = run(CODE, "--match-size", "nws=200", "--chunker", "code-chunk:header=false", "--stats", "--json")
    assert "gives a mean of" in done.stderr
    assert json.loads(done.stdout)["chunker"].startswith("code-chunk:header=false,size=")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((CODE, "--chunker", "castt"), "unknown chunker 'castt'. Did you mean 'cast'?"),
        ((CODE, "--chunker", "cast:sise=3"), "chunker 'cast' has no parameter 'sise'. Did you mean 'size'?"),
        ((CODE, "--chunker", "cast:size=-3"), "cast:size=-3: size must be above 0, not -3"),
        ((CODE, "--chunker", "cast:size=many"), "size in 'cast:size=many' is 'many'; it must be a whole number"),
        ((CODE / "missing",), f"{CODE / 'missing'} does not exist"),
        ((CODE, "--match-size", "1200"), "'1200' is not a size"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments: tuple[str | Path, ...], message: str) -> None:
    """What was given is named, and there is no traceback."""
    done = run(*arguments, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"chunkbench: {message}")
    assert done.stderr.count("\n") == 1


def test_an_empty_folder_is_an_error_that_says_why(tmp_path: Path) -> None:
    """No source files is not an empty success."""
    (tmp_path / "data.csv").write_text("1,2\n")
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (2, f"chunkbench: {tmp_path} holds no source files (1 data file)\n")


def test_hidden_text_is_marked_and_stays_in_the_chunk(tmp_path: Path) -> None:
    """--hide names the bytes that an index leaves out, cut at each chunk; the view breaks the bar of their lines."""
    path = tmp_path / "a.py"
    code = (
        'import os\n\n\ndef add(a):\n    """Add\n    é numbers."""\n    # Walk over all of them.\n    return sum(a)\n'
    )
    path.write_text(code, "utf-8")
    data = code.encode()
    found = rows(path, "--chunker", "fixed-lines:lines=5", "--hide", "docstrings")
    parts = [part for row in found for part in row["hidden"]]
    assert b"".join(data[start:end] for start, end in parts) == data[data.index(b'"""') : data.rindex(b'"""') + 3]
    assert len(parts) == 2
    assert "".join(str(row["text"]) for row in found) == code
    assert all("hidden" not in row for row in rows(path))
    lines = run(path, "--hide", "docstrings").stdout.splitlines()
    assert [line.strip()[0] for line in lines if " ┊ " in line] == ["━", "5", "6"]
    for place, *more in ((tmp_path,), (path, "--stats")):
        refused = run(place, *more, "--hide", "docstrings")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "--hide marks text, and sizes show none" in refused.stderr
