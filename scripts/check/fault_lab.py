"""A small experiment whose runs are forks of this process, disturbed at an exact place in the code."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

_WORDS = ("apple", "bolt", "candle", "drum", "engine", "flask")
_MODULE = '''"""Things about the {word}."""


def make_{word}(size, colour):
    """Return a {word} of the size and colour."""
    parts = [size, colour]
    for part in parts:
        if not part:
            raise ValueError("a {word} lacks a part")
    return parts


class {title}Shop:
    """Sells every {word}."""

    def sell(self, count):
        """Take the {word} off the shelf."""
        self.shelf -= count
        return self.shelf
'''


class Window(NamedTuple):
    """A function of the code, by its file and name; the window is open while it runs."""

    name: str
    file: str
    function: str


class Disturbance(NamedTuple):
    """The disturbance after a number of calls in the window; ``act`` runs inside the disturbed process."""

    window: Window
    at: int
    act: Callable[[], None]


class Ended(NamedTuple):
    """How a run ended: its exit code (negative for a signal), stderr, stdout, and the number of calls in the window."""

    code: int
    err: str
    out: str
    calls: int

    @property
    def in_order(self) -> bool:
        """Whether a failure is one that a user understands."""
        return "Traceback" not in self.err and self.code in (0, 1, 2, 3, 130)


class Limits(NamedTuple):
    """The resource limits of the run."""

    largest_file: int | None = None
    files: int | None = None
    more_memory: int | None = None
    """Bytes in addition to what the process has when it starts."""
    user: int | None = None


def make_experiment(root: Path, *, copies: int = 1) -> None:
    """Write a repository with some files, each repeated this many times, its annotations, and an experiment."""
    code = root / "code"
    code.mkdir(parents=True)
    rows = []
    for word in _WORDS:
        names = [word, *(f"{word}_{number}" for number in range(1, copies))]
        text = "".join(_MODULE.format(word=name, title=name.title()) for name in names)
        (code / f"{word}.py").write_text(text, "utf-8")
        for number, (first, last) in enumerate(((4, 10), (13, 19)), start=1):
            row = {"query_id": f"{word}{number}", "query": f"{('make', 'sell')[number - 1]} the {word}", "repo": "code"}
            rows.append({**row, "file": f"{word}.py", "start_line": first, "end_line": last, "relevance": 1})
    (root / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (root / "x.toml").write_text(
        f'datasets = ["annotations:path={root}/gold.jsonl,root={code}"]\n'
        'chunkers = ["fixed-lines:lines=5", "cast:size=120"]\n'
        'retrievers = ["bm25", "dense"]\nembedders = ["hashing:dimensions=64"]\n'
        'measures = ["ndcg@5", "recall@400tok"]\nheadline = "ndcg@5"\nflips = 100\n'
        f'[run]\nengine = "serial"\n[nightly]\nhistory = "history"\nkeep = 2\n',
        "utf-8",
    )


def load_modules(arguments: Sequence[object], *, cache: Path, note: Path) -> None:
    """Import what a run of the command imports, so that its forks need not."""
    run(arguments, cache=cache, modules=note)
    for name in note.read_text("utf-8").split("\n"):
        with contextlib.suppress(Exception):  # some are created dynamically and cannot be imported by name
            importlib.import_module(name)


def run(
    arguments: Sequence[object],
    *,
    cache: Path,
    disturbance: Disturbance | None = None,
    limits: Limits | None = None,
    modules: Path | None = None,
) -> Ended:
    """Run `chunkbench` once, in a fork of this process, and return how it ended; ``modules`` gets what it imported."""
    return start(arguments, cache=cache, disturbance=disturbance, limits=limits, modules=modules).end()


class Started(NamedTuple):
    """A run in progress."""

    pid: int
    pipes: list[tuple[int, int]]

    def end(self) -> Ended:
        """Wait for it, and return how it ended."""
        _, status = os.waitpid(self.pid, 0)
        texts = []
        for hear, _ in self.pipes:
            os.set_blocking(hear, False)  # children of a killed run may hold the other end
            with open(hear, "rb") as said:  # noqa: PTH123 - a descriptor, not a path
                texts.append((said.read() or b"").decode("utf-8", "replace"))
        out, err, calls = texts
        return Ended(os.waitstatus_to_exitcode(status), err, out, int(calls.rpartition(" ")[2] or 0))


def start(
    arguments: Sequence[object],
    *,
    cache: Path,
    disturbance: Disturbance | None = None,
    limits: Limits | None = None,
    modules: Path | None = None,
) -> Started:
    """Start what `run` waits for."""
    pipes = [os.pipe() for _ in range(3)]
    child = os.fork()
    if not child:
        _become(list(map(str, arguments)), cache, disturbance, limits or Limits(), [say for _, say in pipes], modules)
    for _, say in pipes:
        os.close(say)
    return Started(child, pipes)


def _become(  # noqa: PLR0917 - what a fork inherits
    arguments: list[str],
    cache: Path,
    disturbance: Disturbance | None,
    limits: Limits,
    pipes: list[int],
    modules: Path | None,
) -> NoReturn:
    from scripts.cli import main

    code = 70
    watch = _Watch(disturbance, pipes[2]) if disturbance else None
    try:
        os.dup2(pipes[0], 1)
        os.dup2(pipes[1], 2)
        for pipe in pipes[:2]:
            # A report is longer than a pipe's buffer, and nobody reads before the end.
            with contextlib.suppress(OSError):
                _enlarge(pipe)
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), "utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", closefd=False), "utf-8", write_through=True)
        os.environ["CHUNKBENCH_CACHE"] = str(cache)
        sys.argv = ["chunkbench", *arguments]
        _limit(limits)
        sys.setprofile(watch)
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - a fork must never continue as its parent
        import traceback

        sys.setprofile(None)
        traceback.print_exc()
    finally:
        sys.setprofile(None)
        if watch:
            watch.tell()
        if modules:
            modules.write_text("\n".join(sys.modules), "utf-8")
        os._exit(code)


def _enlarge(pipe: int) -> None:
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 2**20)


def _limit(limits: Limits) -> None:
    if limits.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits.largest_file,) * 2)
    if limits.files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits.files,) * 2)
    if limits.more_memory is not None:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + limits.more_memory,) * 2)
    if limits.user is not None:
        os.setgid(limits.user)
        os.setuid(limits.user)


class _Watch:
    """Counts calls while a window is open, and acts at one of them."""

    def __init__(self, disturbance: Disturbance, pipe: int) -> None:
        self._window, self._at, self._act = disturbance
        self._pipe = pipe
        self._calls = 0
        self._open: list[FrameType] = []

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:  # noqa: ANN401 - Python's signature
        code = frame.f_code
        if code.co_name == self._window.function and code.co_filename.endswith(self._window.file):
            if event == "call":
                self._open.append(frame)
            elif event == "return" and frame in self._open:
                self._open.remove(frame)
        if self._open and event in ("call", "c_call", "return"):
            self._calls += 1
            if self._calls == self._at:
                os.write(self._pipe, f" {self._calls}".encode())
                self._act()

    def tell(self) -> None:
        """Write the number of calls, if no disturbance was requested."""
        if not self._at:
            os.write(self._pipe, f" {self._calls}".encode())


def scores(folder: Path) -> list[tuple[object, ...]]:
    """Return the sorted per-query scores of a results folder."""
    import pyarrow.parquet as pq

    names = ("dataset", "chunker", "embedder", "retriever", "query_id", "measure", "value")
    rows = pq.ParquetFile(folder / "scores.parquet").read().to_pylist()
    return sorted((tuple(row[name] for name in names) for row in rows), key=repr)


class Trial(NamedTuple):
    """One disturbed run: whether the fault landed, how it ended, and what is wrong afterwards."""

    landed: bool
    ended: Ended
    wrong: str


class Lab:
    """An experiment, its undisturbed results, and copies of it to disturb."""

    def __init__(self, home: Path, *, copies: int = 1, jobs: int = 1) -> None:
        self.home = home
        self.number, self.jobs = 0, 1
        make_experiment(home, copies=copies)
        if jobs == 1:
            self._load(home)
        self.calm = self.compare(home / "calm")
        self.expected = scores(home / "calm" / "out")
        if self.calm.code or not self.expected:
            raise RuntimeError(f"the undisturbed run fails: {self.calm.err}")
        self.jobs = jobs
        for _ in range(3 if jobs == 1 else 0):
            self.night(home / "nights")

    @functools.cached_property
    def split(self) -> Lab:
        """A lab whose repository is so large that its files, words and searches are divided between two processes."""
        return Lab(self.home / "split", copies=300, jobs=2)

    def _load(self, home: Path) -> None:
        for number, arguments in enumerate(
            (("compare", home / "x.toml", "--out", home / "first"), ("nightly", home / "x.toml"))
        ):
            load_modules(arguments, cache=home / "first-cache", note=home / f"modules{number}")
        shutil.rmtree(home / "history")

    def place(self, template: str = "") -> Path:
        """Return a new folder, empty or a copy."""
        self.number += 1
        place = self.home / f"try{self.number}"
        if template:
            shutil.copytree(self.home / template, place)
        else:
            place.mkdir()
        return place

    def compare(
        self,
        place: Path,
        disturbance: Disturbance | None = None,
        limits: Limits | None = None,
        cache: Path | None = None,
    ) -> Ended:
        """Run the comparison into a folder."""
        place.mkdir(exist_ok=True)
        return run(self.arguments(place), cache=cache or place / "cache", disturbance=disturbance, limits=limits)

    def arguments(self, place: Path) -> tuple[object, ...]:
        """Return the comparison's command."""
        several = ("--engine", "processes", "--jobs", self.jobs) if self.jobs > 1 else ()
        return ("compare", self.home / "x.toml", "--out", place / "out", "--quiet", *several)

    def night(self, place: Path, disturbance: Disturbance | None = None) -> Ended:
        """Run a night; the history is in the folder."""
        place.mkdir(exist_ok=True)
        shutil.copy(self.home / "x.toml", place / "x.toml")
        return run(("nightly", place / "x.toml", "--quiet"), cache=place / "cache", disturbance=disturbance)

    def history(self, place: Path, *arguments: object, disturbance: Disturbance | None = None) -> Ended:
        """Run `chunkbench history`."""
        verb, *rest = arguments
        return run(
            ("history", verb, *rest, "--history", place / "history"), cache=place / "cache", disturbance=disturbance
        )


def as_calm(lab: Lab, place: Path, cache: Path | None = None) -> str:
    """Return what is wrong after repeating the same command, or nothing."""
    again = lab.compare(place, cache=cache)
    if again.code:
        return f"again: code {again.code}: {last_line(again.err)}"
    if scores(place / "out") != lab.expected:
        return "again: other scores"
    left = [path for path in (place / "out").rglob("*") if path.name.startswith(".draft")]
    return f"left behind: {left[0].name}" if left else ""


def last_line(text: str) -> str:
    """Return the last line of stderr."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:200] if lines else "nothing said"


def kill() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def nothing() -> None:
    """Do nothing: for counting."""


def positions(calls: int, kills: int) -> list[int]:
    """Return calls spread over the window; if it has fewer, some repeat."""
    if not calls:
        return []
    return [1 + number * calls // kills for number in range(kills)]


def compare_kills(lab: Lab, window: Window, act: Callable[[], None], kills: int) -> Iterator[Trial]:
    """Yield a comparison that is disturbed at each of several calls inside the window, and repeated."""
    calls = lab.compare(lab.place(), Disturbance(window, 0, nothing)).calls
    for at in positions(calls, kills):
        place = lab.place()
        ended = lab.compare(place, Disturbance(window, at, act))
        yield Trial(ended.code < 0, ended, as_calm(lab, place))
