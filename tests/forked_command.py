"""Runs `chunkbench` many times, quickly and for real: one process imports everything, each run is a fork of it.

As a script it reads one JSON list of runs per line, runs them at once, and answers with one line.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent


class Ended(NamedTuple):
    """How a run ended: its exit code, negative for a signal, what it said, and the processor time it took."""

    code: int
    err: str
    seconds: float


class Runner:
    """Asks the prepared process for runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, *arguments: object, cache: Path, largest_file: int = 0, kill_after: float = 0.0) -> Ended:
        """Run `chunkbench` once; no file may grow over the limit, and it is killed after so much processor time.

        Processor time, unlike the clock, is about the same on a busy machine.
        """
        return self.run_together(
            [{**_order(arguments, cache), "largest_file": largest_file, "kill_after": kill_after}]
        )[0]

    def run_together(self, orders: list[dict[str, Any]]) -> list[Ended]:
        """Run several at once."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(orders) + "\n")
        self._process.stdin.flush()
        return [Ended(*each) for each in json.loads(self._process.stdout.readline())]


def _order(arguments: tuple[object, ...], cache: Path) -> dict[str, Any]:
    return {"arguments": list(map(str, arguments)), "cache": str(cache)}


def order(*arguments: object, cache: Path) -> dict[str, Any]:
    """Return a run for `run_together`."""
    return {**_order(arguments, cache), "largest_file": 0, "kill_after": 0.0}


@contextmanager
def started() -> Iterator[Runner]:
    """Start the process, and end it."""
    with subprocess.Popen(
        [sys.executable, __file__],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    ) as process:
        yield Runner(process)


def _serve() -> None:
    _import_everything()
    for line in sys.stdin:
        runs = [_start(each) for each in json.loads(line)]
        sys.stdout.write(json.dumps([_end(*run) for run in runs]) + "\n")
        sys.stdout.flush()


def _import_everything() -> None:
    import importlib

    for name in (
        *(
            "bm25s",
            "faiss",
            "pyarrow.parquet",
            "pyarrow.dataset",
            "scipy.stats",
            "pytrec_eval",
            "filelock",
            "jinja2",
            "rich.table",
        ),
        *("evaluation.experiment.stages", "evaluation.report.build", "evaluation.results.folder", "scripts.compare"),
    ):
        importlib.import_module(name)
    from chunkers.cast import Cast
    from chunkers.sizes import ruler
    from chunkers.types import SourceFile

    # Grammars and token tables are loaded by use.
    list(Cast().split(SourceFile("a.py", b"a = 1\n", "python")))
    ruler(b"a = 1\n", "tokens")


def _start(order: dict[str, Any]) -> tuple[int, int]:
    # A pipe, since the largest size of files is one for the file of messages too.
    said, say = os.pipe()
    pid = os.fork()
    if not pid:
        _become(order, say)
    os.close(say)
    return pid, said


def _become(order: dict[str, Any], say: int) -> NoReturn:
    from scripts.cli import main

    code = 70
    try:
        with Path(os.devnull).open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(say, 2)
            os.environ["CHUNKBENCH_CACHE"] = order["cache"]
            sys.argv = ["chunkbench", *order["arguments"]]
            signal.setitimer(signal.ITIMER_PROF, order["kill_after"])  # nobody handles SIGPROF, so it kills
            if order["largest_file"]:
                resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"], order["largest_file"]))
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - a fork may never go on as its parent
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _end(pid: int, said: int) -> list[Any]:
    _, status, used = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    # What a killed run has started may still hold the other end: take what is there, do not wait for the last of it.
    os.set_blocking(said, False)
    with open(said, "rb", buffering=0) as messages:
        err = (messages.read() or b"").decode()
    return [code, err, used.ru_utime + used.ru_stime]


if __name__ == "__main__":
    _serve()
