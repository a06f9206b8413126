"""The only place that runs git. It reads a clone's objects, and nothing that the clone says about itself.

Git is started in an empty repository of our own, created for the call, that borrows the clone's objects
(``GIT_OBJECT_DIRECTORY``). So no configuration key, hook, attribute, filter, signature program, replace ref, graft,
remote or commit graph of the clone applies, whatever git's version; and its environment is written here, not inherited.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from chunkers.errors import UsageError
from chunkers.programs import find_program, search_path
from ground_truth.git_layout import Layout
from ground_truth.git_objects import is_own_file

LARGEST_OUTPUT = 2**30
"""Maximum bytes printed by one call; the history of the largest repositories takes a tenth of it."""

_SECONDS = 1_800
_NOWHERE = os.devnull
_CONFIG = """[core]
	repositoryformatversion = 1
	bare = true
	commitGraph = false
	bigFileThreshold = 16m
	hooksPath = {nowhere}
	attributesFile = {nowhere}
	fsmonitor = false
	alternateRefsCommand = true
	logAllRefUpdates = false
[protocol]
	allow = never
[gc]
	auto = 0
[maintenance]
	auto = false
[extensions]
	objectFormat = {format}
"""
_KEPT = ("TMPDIR", "TEMP", "TMP", "SYSTEMROOT")


class Pipes(NamedTuple):
    """Both ends of a running git process."""

    asking: IO[bytes]
    answering: IO[bytes]


class GitError(UsageError):
    """Git failed; ``said`` is its stderr output."""

    def __init__(self, layout: Layout, verb: str, code: int, said: str) -> None:
        lines = said.strip().splitlines()
        super().__init__(f"{layout.clone}: git {verb} failed: {lines[0] if lines else f'exit {code}'}")
        self.code = code
        self.said = lines


class TooMuchError(UsageError):
    """Git printed more than the limit."""


def read_git(layout: Layout, *arguments: str, asked: bytes = b"", largest: int = LARGEST_OUTPUT) -> bytes:
    """Return git's output when run on the clone's objects; raise GitError if it fails."""
    with scratch(layout) as home:
        return run(layout, *arguments, environment=_environment(home, layout), cwd=home, asked=asked, largest=largest)


@contextmanager
def open_git(layout: Layout, *arguments: str) -> Iterator[Pipes]:
    """Run git on the clone's objects interactively; it ends with the block."""
    with scratch(layout) as home:
        process = _start(arguments, environment=_environment(home, layout), cwd=home, err=subprocess.DEVNULL)
        try:
            assert process.stdin is not None  # noqa: S101 - asked for above
            assert process.stdout is not None  # noqa: S101 - asked for above
            yield Pipes(process.stdin, process.stdout)
        finally:
            _end(process)


@contextmanager
def scratch(layout: Layout) -> Iterator[Path]:
    """Create an empty repository for one call, and remove it."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="chunkbench-git-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UsageError(f"no temporary folder can be made to read {layout.clone}: {error.strerror}") from None
    with folder as name:
        home = Path(name).resolve()
        (home / "refs").mkdir()
        (home / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
        form = "sha256" if layout.sha256 else "sha1"
        (home / "config").write_text(_CONFIG.format(nowhere=_NOWHERE, format=form), "ascii")
        yield home


def run(
    layout: Layout,
    *arguments: str,
    environment: Mapping[str, str],
    cwd: Path,
    asked: bytes = b"",
    largest: int = LARGEST_OUTPUT,
) -> bytes:
    """Return git's output; its output, stderr and time are bounded."""
    with tempfile.TemporaryFile(dir=cwd) as words, tempfile.TemporaryFile(dir=cwd) as questions:
        questions.write(asked)
        questions.seek(0)
        process = _start(arguments, environment=environment, cwd=cwd, err=words, stdin=questions)
        late = threading.Timer(_SECONDS, process.kill)
        late.daemon = True  # no exit of this program waits for it
        try:
            late.start()
            assert process.stdout is not None  # noqa: S101 - asked for above
            printed = process.stdout.read(largest + 1)
            if len(printed) > largest:
                raise TooMuchError(f"{layout.clone}: git {arguments[0]} prints over {largest // 2**20} MB")
            code = process.wait()
        finally:
            late.cancel()
            _end(process)
        if code == -signal.SIGKILL:
            raise UsageError(f"{layout.clone}: git {arguments[0]} was stopped, or took over {_SECONDS // 60} minutes")
        if code:
            words.seek(0)
            raise GitError(layout, arguments[0], code, words.read(10_000).decode("utf-8", "replace"))
    return printed


def base_environment(home: Path, layout: Layout) -> dict[str, str]:
    """Return the options of every call: they select the repository, and forbid prompts, programs and replacements."""
    return {
        "PATH": search_path(),
        "LC_ALL": "C",
        "GIT_DIR": str(home),
        "GIT_OBJECT_DIRECTORY": str(layout.objects),
        # A shallow clone's history ends there; all its other claims about its objects are ignored.
        **({"GIT_SHALLOW_FILE": str(shallow)} if is_own_file(shallow := layout.common / "shallow") else {}),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ADVICE": "0",
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
    }


def _environment(home: Path, layout: Layout) -> dict[str, str]:
    return {
        **base_environment(home, layout),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": _NOWHERE,
        "GIT_CONFIG_GLOBAL": _NOWHERE,
        # No protocol at all: reading never uses the network, nor a program in its place.
        "GIT_ALLOW_PROTOCOL": "",
    }


def _start(
    arguments: tuple[str, ...],
    *,
    environment: Mapping[str, str],
    cwd: Path,
    err: int | IO[bytes],
    stdin: int | IO[bytes] = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - a fixed program, arguments passed as a list
            [_program(), "--no-pager", *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=err,
            env=dict(environment),
            cwd=cwd,
        )
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes and wait; terminate git if it still has output."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    process.kill()
    process.wait()


@functools.cache
def _program() -> str:
    found = find_program("git")
    if found is None:
        raise UsageError("git is not installed: install git to read clones")
    return found
