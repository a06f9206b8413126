"""Environments for libraries that conflict with the others, each queried over JSON lines."""

from __future__ import annotations

import functools
import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.errors import MissingExtraError, UsageError
from chunkers.tokens import cache_folder


class Environment(NamedTuple):
    """The packages of an environment, and the worker script that runs in it."""

    name: str
    packages: tuple[str, ...]
    worker: str
    """A file in this folder; it runs in the environment and imports nothing from this project."""

    @property
    def folder(self) -> Path:
        """The folder of the environment."""
        return cache_folder() / "peers" / self.name

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


CHUNKHOUND = Environment("chunkhound", ("chunkhound==6.1.0", "tree-sitter>=0.25.2,<0.26"), "chunkhound_worker.py")
ENVIRONMENTS = (CHUNKHOUND,)


class MissingEnvironmentError(MissingExtraError):
    """A library's environment has not been created."""

    def __init__(self, name: str) -> None:
        UsageError.__init__(self, f"the environment of {name!r} is not made: python -m scripts.setup_peers {name}")
        self.extra = name


def set_up(environment: Environment) -> None:
    """Recreate the environment, with its packages."""
    import venv

    venv.create(environment.folder, clear=True, with_pip=True)
    command = [str(environment.python), "-m", "pip", "install", "--quiet", *environment.packages]
    done = subprocess.run(command, check=False)  # noqa: S603 - our own interpreter and pinned packages
    if done.returncode:
        raise UsageError(f"pip could not install {' '.join(environment.packages)}; its message is above")


class Worker:
    """A process that answers each JSON line with another; it exits when its input is closed."""

    def __init__(self, environment: Environment) -> None:
        if not environment.python.exists():
            raise MissingEnvironmentError(environment.name)
        _check_owner(environment)
        # -I keeps this folder, whose modules have the same names as the libraries, out of the worker's search path.
        self._command = [str(environment.python), "-I", str(Path(__file__).parent / environment.worker)]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer; a process that has died is restarted for the next request."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = self._started()
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        parsed: dict[str, Any] = json.loads(answer) if answer else {"error": "the process has died"}
        return parsed

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(  # noqa: S603 - our own script in our own environment
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        if process.stdout is None or process.stdout.readline() != "ready\n":
            process.communicate()
            raise UsageError(f"a library's process does not start; to see why: {' '.join(self._command)}")
        return process

    def close(self) -> None:
        """Stop the process."""
        if self._process is not None:
            self._process.communicate()  # closes its input, which makes it exit
            self._process = None


def _check_owner(environment: Environment) -> None:
    """Raise if another user can change what runs: a cache may be shared, programs in it may not."""
    if not hasattr(os, "getuid"):
        return
    for place in (environment.folder, environment.python.parent, environment.python):
        found = place.stat()
        if found.st_uid not in (0, os.getuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise UsageError(
                f"{place} belongs to somebody else, or others can write to it, and would be run: "
                f"set CHUNKBENCH_CACHE to a folder of your own, then python -m scripts.setup_peers {environment.name}"
            )


@functools.cache
def worker(environment: Environment) -> Worker:
    """Return this process's single worker for the environment."""
    import atexit

    made = Worker(environment)
    atexit.register(made.close)
    return made
