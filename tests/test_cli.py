"""The command itself: help, start-up, errors."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Command

from scripts.cli import _VERBS

HEAVY = ("torch", "transformers", "faiss", "pyarrow", "scipy", "ray", "sentence_transformers")


def test_help_imports_nothing_heavy() -> None:
    """`chunkbench --help` answers without the libraries that take seconds to load."""
    probe = (
        "import sys; sys.argv = ['chunkbench', '--help']\n"
        "from scripts.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("verb", list(_VERBS))
def test_every_verb_explains_itself(chunkbench: Command, verb: str) -> None:
    """Each verb has help with an example, and --json."""
    result = chunkbench(verb, "--help")
    assert result.code == 0
    assert f"chunkbench {verb}" in result.out
    assert "--json" in result.out or verb == "history"


@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_has_seen_enough_is_no_failure(*, buffered: bool) -> None:
    """`chunkbench … | head -1` ends with 0 and says nothing: 1 would mean that cells failed."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    code = str(Path(__file__).with_name("fixtures") / "code")
    order = [sys.executable, "-m", "scripts", "chunk", code, "--chunker", "fixed-lines:lines=1", "--json"]
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("{")
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


@pytest.mark.parametrize("buffered", [True, False])
def test_output_that_cannot_be_written_is_one_line(*, buffered: bool) -> None:
    """A full device: exit code 2 and its reason, whether the output fails at once or at the end."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "scripts", "list", "chunkers", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"},
        )
    assert done.returncode == 2
    assert done.stderr.startswith("chunkbench: the output cannot be")
    assert done.stderr.count("\n") == 1


def test_an_unknown_verb_is_answered_with_the_nearest(chunkbench: Command) -> None:
    """A slip of the finger gets a suggestion."""
    result = chunkbench("compair")
    assert result.code == 2
    assert "Did you mean 'compare'" in result.err


def test_help_names_the_command_however_it_was_started() -> None:
    """`python -m scripts` speaks of chunkbench, as the installed command does."""
    ended = subprocess.run([sys.executable, "-m", "scripts", "-h"], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("Usage: chunkbench ")


@pytest.mark.parametrize("kind", ["chunkers", "embedders", "retrievers", "datasets", "measures", "rules"])
def test_lists_are_complete_and_machine_readable(chunkbench: Command, kind: str) -> None:
    """`chunkbench list KIND` prints every plug-in with what it is."""
    assert chunkbench("list", kind).code == 0
    rows = chunkbench("list", kind, "--json").json
    assert len(rows) > 3 or kind == "retrievers"
    assert all(row for row in rows)


@pytest.mark.parametrize("kind", ["datasets", "measures"])
def test_lists_with_sentences_are_read_at_80_columns(
    chunkbench: Command, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A definition has the width of the terminal, not a column of a few letters."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = chunkbench("list", kind).out.splitlines()
    rows = chunkbench("list", kind, "--json").json
    assert max(map(len, shown)) <= 80
    assert [line for line in shown if not line.startswith(" ")] == [row["name"] for row in rows]
    text = " ".join(" ".join(shown).split())
    assert all(row["what"] in text for row in rows)


def test_a_terminal_without_a_width_hides_nothing(chunkbench: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that start others without a terminal set 0 columns, on which every table was empty."""
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = chunkbench("list", "chunkers").out
    monkeypatch.setenv("COLUMNS", "0")
    assert chunkbench("list", "chunkers").out == shown != ""


@pytest.mark.parametrize("verb", ["list", "check-plugin"])
def test_kinds_are_whole_words_at_80_columns(chunkbench: Command, verb: str) -> None:
    """The kinds are in the text of the help, not in a usage line that is cut in the middle of a word."""
    assert f"Usage: chunkbench {verb} [OPTIONS] KIND" in chunkbench(verb, "--help").out
    assert "dataset" in chunkbench(verb, "--help").out.partition("Options:")[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A full disk behind stdout, or a terminal that does not know the letters, is no traceback."""
    command = [sys.executable, "-m", "scripts", "list", "measures"]
    root = Path(__file__).parents[1]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=root)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "No space left on device" in done.stderr
    latin = {**os.environ, "PYTHONIOENCODING": "ascii"}
    (tmp_path / "a.py").write_text("x = 'é'\n", "utf-8")
    command[3:] = ["chunk", str(tmp_path / "a.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, env=latin)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "PYTHONIOENCODING=utf-8" in done.stderr


def test_a_summary_that_cannot_be_written_is_refused_before_the_night(chunkbench: Command, tmp_path: Path) -> None:
    """Otherwise the run would be stored and its exit code lost."""
    file = tmp_path / "nightly.toml"
    file.write_text('embedders = ["hashing"]\n')
    for wrong in (tmp_path, tmp_path / "absent" / "night.json"):
        done = chunkbench("nightly", file, "--summary", wrong)
        assert done.code == 2
        assert "name a file in a folder that exists" in done.err
    assert not (tmp_path / "history").exists()


def test_a_closed_output_is_one_line() -> None:
    """Data that nobody could receive is refused before the work."""
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "scripts", "list", "measures"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "stdout is closed" in done.stderr


ENDLESS = """
import time
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Endless:
    number: int
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = None

    def split(self, source):
        while True:
            time.sleep(1)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells the children of a process")
def test_ctrl_c_while_workers_start_is_one_word(repository: Path, tmp_path: Path) -> None:
    """The terminal sends it to the workers too; none of them answers with a traceback.

    The chunkers never finish, so that however late the signal comes it meets a run that goes on.
    """
    gold, out = repository.parent / "gold.jsonl", tmp_path / "out"
    (tmp_path / "endless.py").write_text(ENDLESS)
    for name in ("first", "second"):  # enough code for two tasks: a single one needs no workers
        (repository / f"{name}.py").write_text("x = 1\n" * 30_000)
    command = [sys.executable, "-m", "scripts", "compare", str(repository), "--annotations", str(gold)]
    options = ["--embedder", "hashing", "--engine", "processes", "--jobs", "2", "--out", str(out)]
    options += [f"--chunker={tmp_path}/endless.py:Endless,number={number}" for number in (1, 2)]
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "CHUNKBENCH_CACHE": str(tmp_path / "cache")},
        # A test run in the background of a shell ignores Ctrl-C, and its children would inherit that.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 3:  # the tracker and both workers
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert said.strip() == "chunkbench: interrupted"
    assert not out.exists()


@pytest.mark.parametrize("arguments", [("list",), ("compare", "--chunker"), ("compare", "--reader")])
def test_a_very_long_name_is_not_quoted_whole(chunkbench: Command, arguments: tuple[str, ...]) -> None:
    """The beginning says which one it is, and the remedy stays in sight."""
    done = chunkbench(*arguments, "x" * 100_000)
    assert done.code == 2
    assert f"'{'x' * 300}" in done.err
    assert "chunk" in done.err.splitlines()[-1].rpartition("…")[2]
    assert len(done.err) < 2_000


def test_a_removed_current_folder_is_named(
    chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the output, which has nothing to do with it."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = chunkbench("plan", ".")
    assert (done.code, done.err) == (2, "chunkbench: the current folder has been removed: change to another\n")


@pytest.mark.parametrize("verb", ["plan", "compare"])
def test_an_unknown_reader_is_refused_before_anything_runs(
    chunkbench: Command, repository: Path, tmp_path: Path, verb: str
) -> None:
    """Both commands refuse what the run would refuse at its end."""
    file = tmp_path / "e.toml"
    file.write_text(f'datasets = ["mined:root={repository}"]\nchunkers = ["cast"]\nreaders = ["chunk", "nosuch"]\n')
    done = chunkbench(verb, file)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("chunkbench: unknown reader 'nosuch'")
