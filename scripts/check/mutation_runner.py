"""Runs chosen tests of a tree many times: one process imports what the code needs, each run is a fork of it.

It is started by path and imports none of our packages: every run imports them from scratch, mutations included. It
reads one JSON order per line and answers each with one line.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

# Not what pytest itself must import: hypothesis, for example, must be imported by its plug-in.
_IMPORTED = (
    *("pytest", "numpy", "scipy.stats", "pyarrow.parquet", "pyarrow.dataset", "pydantic"),
    *("faiss", "bm25s", "pytrec_eval", "tiktoken", "tree_sitter_language_pack", "click", "rich.table", "jinja2"),
)


class Chosen:
    """A pytest plug-in that selects tests, in a given order, and records how each one ended."""

    def __init__(self, names: list[str] | None) -> None:
        self.names = names
        self.ended: dict[str, tuple[bool, float]] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Select the chosen tests."""
        if self.names is not None:
            place = {name: number for number, name in enumerate(self.names)}
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 - pytest's report
        """Record whether the test has passed so far, and its seconds."""
        passed, seconds = self.ended.get(report.nodeid, (True, 0.0))
        self.ended[report.nodeid] = passed and not report.failed, seconds + report.duration


def _serve(tree: Path) -> None:
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    sys.dont_write_bytecode = True
    for name in _IMPORTED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run(tree, json.loads(line))) + "\n")
        sys.stdout.flush()


def _run(tree: Path, order: dict[str, Any]) -> dict[str, Any]:
    """Return pytest's exit code, or None if the tests took too long, and how each test ended."""
    answer = tree / ".answer.json"
    answer.unlink(missing_ok=True)
    pid = os.fork()
    if not pid:
        _become(order, answer)
    end = time.monotonic() + order["seconds"]
    while not (status := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return {"code": None, "ended": {}}
        time.sleep(0.02)
    ended = json.loads(answer.read_text("utf-8")) if answer.exists() else {}
    return {"code": os.waitstatus_to_exitcode(status[1]), "ended": ended}


def _become(order: dict[str, Any], answer: Path) -> NoReturn:
    import pytest

    code = 70
    try:
        os.setsid()
        with _silence():
            chosen = Chosen(order["tests"])
            code = int(pytest.main(order["arguments"], plugins=[chosen]))
            answer.write_text(json.dumps(chosen.ended), "utf-8")
    except BaseException:  # noqa: BLE001 - a fork must never continue as its parent
        traceback.print_exc()
    finally:
        os._exit(code)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with Path(".pytest.log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        yield
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
