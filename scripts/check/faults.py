"""`python -m scripts.check.faults`: kills runs at exact places, and takes away resources and files; exit 1 on failure.

A kill lands inside a window: the process ends itself, by a signal that cannot be handled, at a call made by the
window's function. Afterwards, the same command must finish with the scores of an undisturbed run, and no finished work
may be lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from scripts.check.fault_lab import (
    Disturbance,
    Ended,
    Lab,
    Limits,
    Trial,
    Window,
    as_calm,
    compare_kills,
    kill,
    last_line,
    nothing,
    positions,
    run,
    scores,
)
from scripts.check.split_faults import lost_workers, split_kills, two_runs

if TYPE_CHECKING:
    from evaluation.history.folder import History

COMPARE = (
    Window("store", "experiment/store.py", "put"),
    Window("vectors", "indexing/shards.py", "append_block"),
    Window("results", "results/folder.py", "write_results"),
    Window("report", "report/build.py", "write_report"),
)
NIGHTLY = (
    Window("night: store", "history/folder.py", "store"),
    Window("night: prune", "history/pruning.py", "prune"),
    Window("night: summary", "evaluation/atomic.py", "replace_lines"),
    Window("night: trend", "history/trend_page.py", "write_trend_page"),
)
ACCEPT = Window("accept", "history/accepted.py", "accept")
HISTORY_PRUNE = Window("history prune", "history/pruning.py", "prune")
CACHE_PRUNE = Window("cache prune", "scripts/cache.py", "prune")
CACHE_CLEAR = Window("cache clear", "scripts/cache.py", "clear")
READING = Window("reading of entries", "experiment/store.py", "get")
NOBODY = 65_534
_LATER = 10 * 365 * 86_400


class Row(NamedTuple):
    """The outcome of one kind of fault."""

    fault: str
    tries: int
    landed: int
    same: int
    """Runs that end, at once or when repeated, as if undisturbed."""
    said: int
    """Runs that first ended with one line and their own exit code."""
    wrong: tuple[str, ...]


@click.command()
@click.option("--kills", default=20, show_default=True, type=click.IntRange(min=1), help="Kills inside each window.")
@click.option("--only", multiple=True, help="Only faults whose name holds this; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, kills: int, only: tuple[str, ...], as_json: bool) -> None:
    """Disturb runs and print, for each fault, how many landed and how many ended as if undisturbed."""
    began = time.monotonic()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        lab = Lab(Path(name))
        for fault, trials in faults(lab, kills):
            if only and not any(part in fault for part in only):
                continue
            rows.append(_row(fault, list(trials)))
            if not as_json:
                click.echo(_line(rows[-1]))
    wrong = sum(len(row.wrong) for row in rows)
    if as_json:
        click.echo(json.dumps({"rows": [row._asdict() for row in rows], "wrong": wrong}, indent=1))
    else:
        click.echo(
            f"{sum(row.landed for row in rows)} of {sum(row.tries for row in rows)} faults landed in "
            f"{time.monotonic() - began:.0f} s: {wrong} ended badly"
        )
    sys.exit(1 if wrong or any(not row.landed for row in rows) else 0)


def faults(lab: Lab, kills: int) -> Iterator[tuple[str, Iterator[Trial]]]:
    """Yield each fault with its trials, which run lazily."""
    for window in COMPARE:
        yield f"kill in compare: {window.name}", compare_kills(lab, window, kill, kills)
    yield "kill in a split stage", split_kills(lab, kills)
    yield "a worker killed in a split stage", lost_workers(lab, kills)
    yield "full disk in a split stage", _full_disk(lab, split=True)
    yield "two runs on one cache", two_runs(lab)
    for window in NIGHTLY:
        yield f"kill in {window.name}", _night_kills(lab, window, kills)
    yield "kill in accept", _history_kills(lab, ACCEPT, ("accept", "3", "--why", "better"), kills)
    yield "kill in history prune", _history_kills(lab, HISTORY_PRUNE, ("prune", "--keep", "1"), kills)
    for window, verb in ((CACHE_PRUNE, ("prune", "--days", "0")), (CACHE_CLEAR, ("clear",))):
        yield f"kill in {window.name}", _cache_kills(lab, window, verb, kills)
    yield "SIGTERM in compare: store", compare_kills(lab, COMPARE[0], _terminate, kills)
    yield "entries deleted while a run reads them", _robbed(lab, _delete, kills)
    yield "cache cleared while a run goes", _robbed(lab, _clear_during_run, kills)
    yield "cache pruned while a run goes", _robbed(lab, _prune_during_run, kills)
    yield "full disk", _full_disk(lab)
    yield "files of limited size", _starved(lab, [Limits(largest_file=size) for size in (200, 2_000, 9_000, 30_000)])
    yield "few descriptors", _starved(lab, [Limits(files=count) for count in (8, 12, 16, 20, 24, 32, 64)])
    yield "little memory", _starved(lab, [Limits(more_memory=size << 20) for size in (1, 4, 16, 64, 256)])
    yield "cache of another user", _foreign(lab, warm=False, damaged=False)
    yield "full cache of another user", _foreign(lab, warm=True, damaged=False)
    yield "damaged cache of another user", _foreign(lab, warm=True, damaged=True)
    yield "shared cache, spoiled by another user", _spoiled_by_others(lab)
    yield "clock set back", _clock(lab)


def _row(fault: str, trials: list[Trial]) -> Row:
    wrong = tuple(trial.wrong for trial in trials if trial.wrong)
    said = sum(trial.ended.code in (1, 2) for trial in trials)
    landed = sum(trial.landed for trial in trials)
    return Row(fault, len(trials), landed, len(trials) - len(wrong), said, wrong)


def _line(row: Row) -> str:
    first = f"  e.g. {row.wrong[0]}" if row.wrong else ""
    return f"{row.fault:42} landed {row.landed:3} of {row.tries:3}  same {row.same:3}  said {row.said:3}{first}"


def _night_kills(lab: Lab, window: Window, kills: int) -> Iterator[Trial]:
    calls = lab.night(lab.place("nights"), Disturbance(window, 0, nothing)).calls
    for at in positions(calls, kills):
        place = lab.place("nights")
        ended = lab.night(place, Disturbance(window, at, kill))
        yield Trial(ended.code < 0, ended, _next_night(lab, place))


def _next_night(lab: Lab, place: Path) -> str:
    """Return what is wrong with a history after a killed night and one more, or nothing."""
    from evaluation.history.folder import History

    between = lab.history(place, "verify")
    if between.code:
        return f"verify: code {between.code}: {last_line(between.err or between.out)}"
    again = lab.night(place)
    if again.code:
        return f"again: code {again.code}: {last_line(again.err)}"
    return _lacking(lab, History(place / "history")) or _verified(lab, place)


def _lacking(lab: Lab, history: History) -> str:
    """Return what is missing from a history of three nights, a killed one and one more."""
    from evaluation.history.accepted import acceptances

    numbers = history.numbers()
    left = [path.name for place in (history.root, history.root / "runs") for path in place.glob(".draft-*")]
    checks = {
        f"the runs are {numbers}": set(numbers) == {1, *numbers[-2:]} and numbers[-1] in (4, 5),  # keep = 2
        "the acceptance is gone": [given.run for given in acceptances(history).given] == [1],
        "other scores": scores(history.folder(numbers[-1])) == lab.expected,
        "no summary": (history.root / "summary.md").is_file(),
        "no trend": (history.root / "trend.html").is_file(),
        f"left behind: {left}": not left,
    }
    return next((wrong for wrong, held in checks.items() if not held), "")


def _verified(lab: Lab, place: Path) -> str:
    after = lab.history(place, "verify")
    return f"verify: code {after.code}: {last_line(after.err or after.out)}" if after.code else ""


def _history_kills(lab: Lab, window: Window, verb: tuple[str, ...], kills: int) -> Iterator[Trial]:
    from evaluation.history.accepted import acceptances
    from evaluation.history.folder import History

    def state(place: Path) -> object:
        history = History(place / "history")
        return history.numbers(), [given.run for given in acceptances(history).given]

    calm = lab.place("nights")
    calls = lab.history(calm, *verb, disturbance=Disturbance(window, 0, nothing)).calls
    before, after = state(lab.home / "nights"), state(calm)
    for at in positions(calls, kills):
        place = lab.place("nights")
        ended = lab.history(place, *verb, disturbance=Disturbance(window, at, kill))
        wrong = _verified(lab, place)
        done = state(place) == after
        if not wrong and not done:
            again = lab.history(place, *verb)
            wrong = f"again: code {again.code}: {last_line(again.err)}" if again.code else ""
            wrong = wrong or ("" if state(place) == after else f"{state(place)}, not {after} (before: {before})")
        yield Trial(ended.code < 0, ended, wrong or _verified(lab, place))


def _cache_kills(lab: Lab, window: Window, verb: tuple[str, ...], kills: int) -> Iterator[Trial]:
    calls = _cache(lab.place("calm"), verb, Disturbance(window, 0, nothing)).calls
    for at in positions(calls, kills):
        place = lab.place("calm")
        ended = _cache(place, verb, Disturbance(window, at, kill))
        shutil.rmtree(place / "out")
        yield Trial(ended.code < 0, ended, as_calm(lab, place))


def _cache(place: Path, verb: tuple[str, ...], disturbance: Disturbance) -> Ended:
    return run(("cache", *verb), cache=place / "cache", disturbance=disturbance)


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _delete() -> None:
    for entry in Path(os.environ["CHUNKBENCH_CACHE"]).glob("**/manifest.json"):
        shutil.rmtree(entry.parent, ignore_errors=True)


def _clear_during_run() -> None:
    _beside(("cache", "clear"))


def _prune_during_run() -> None:
    _beside(("cache", "prune", "--days", "0"))


def _beside(arguments: tuple[str, ...]) -> None:
    """Run a command at the same time, as another user of the cache would; it may wait for a lock that we hold."""
    sys.setprofile(None)
    if os.fork():
        return
    with contextlib.suppress(BaseException):
        from scripts.cli import main

        sys.argv = ["chunkbench", *arguments]
        main()
    os._exit(0)


def _robbed(lab: Lab, act: Callable[[], None], kills: int) -> Iterator[Trial]:
    """Remove entries while a run that has all of them is reading."""
    calm = lab.place("calm")
    shutil.rmtree(calm / "out")
    calls = lab.compare(calm, Disturbance(READING, 0, nothing)).calls
    for at in positions(calls, kills):
        place = lab.place("calm")
        shutil.rmtree(place / "out")
        ended = lab.compare(place, Disturbance(READING, at, act))
        wrong = "" if ended.in_order else f"code {ended.code}: {last_line(ended.err)}"
        if not wrong and ended.code == 0 and scores(place / "out") != lab.expected:
            wrong = "other scores"
        yield Trial(ended.calls == at, ended, wrong or as_calm(lab, place))


def _starved(lab: Lab, shortages: list[Limits]) -> Iterator[Trial]:
    for limits in shortages:
        place = lab.place()
        ended = lab.compare(place, limits=limits)
        wrong = "" if ended.in_order else f"{limits}: code {ended.code}: {last_line(ended.err)}"
        if not wrong and ended.code == 0 and scores(place / "out") != lab.expected:
            wrong = f"{limits}: other scores"
        yield Trial(landed=True, ended=ended, wrong=wrong or as_calm(lab, place))


def _full_disk(lab: Lab, *, split: bool = False) -> Iterator[Trial]:
    """Put cache and results on a disk of a few pages; if none can be mounted, there is no trial."""
    lab = lab.split if split else lab
    for pages in (1, 4, 10, 20, 40, 60, 80) if not split else (4, 60, 200, 400, 800, 1_200, 1_600):
        place = lab.place()
        if not _mounted("-t", "tmpfs", "-o", f"size={pages * 4}k,mode=755", "none", str(place)):
            return
        try:
            ended = lab.compare(place)
            wrong = "" if ended.in_order else f"{pages} pages: code {ended.code}: {last_line(ended.err)}"
            if not wrong and not ended.code and scores(place / "out") != lab.expected:
                wrong = f"{pages} pages: other scores"
            _mounted("-o", "remount,size=64m", str(place))
            yield Trial(landed=True, ended=ended, wrong=wrong or as_calm(lab, place))
        finally:
            # A worker may still be ending in there.
            subprocess.run(["umount", "--lazy", str(place)], check=False)  # noqa: S603, S607 - the system's own


def _mounted(*arguments: str) -> bool:
    with contextlib.suppress(OSError):
        done = subprocess.run(["mount", *arguments], check=False, capture_output=True)  # noqa: S603, S607 - as above
        return done.returncode == 0
    return False


def _foreign(lab: Lab, *, warm: bool, damaged: bool) -> Iterator[Trial]:
    """Run as a user who can read the cache but not write to it; only root can change the user."""
    if os.getuid():
        return
    cache = lab.home / "calm" / "cache" if warm and not damaged else lab.place("calm" if warm else "")
    cache = cache / "cache" if damaged else cache
    if damaged:
        for file in cache.rglob("*"):
            if file.is_file() and file.stat().st_size and file.name != "manifest.json":
                file.write_bytes(b"x" + file.read_bytes()[1:])
    place = lab.place()
    place.chmod(0o777)
    ended = lab.compare(place, limits=Limits(user=NOBODY), cache=cache)
    wrong = "" if ended.in_order else f"code {ended.code}: {last_line(ended.err)}"
    if not wrong and not ended.code and scores(place / "out") != lab.expected:
        wrong = "other scores"
    yield Trial(landed=True, ended=ended, wrong=wrong)


def _spoiled_by_others(lab: Lab) -> Iterator[Trial]:
    """Run as a user who may write to the cache, but not to the entries of others, which are all damaged."""
    for way in (_spoil_values, _spoil_manifests, _link_elsewhere) if not os.getuid() else ():
        cache, place = lab.place("calm") / "cache", lab.place()
        place.chmod(0o777)
        for path in (cache, *cache.rglob("*")):
            if path.is_dir() and not (path / "manifest.json").exists():
                path.chmod(0o777)
            elif path.name in (".lock", "usage.jsonl") or path.suffix == ".shard":
                path.chmod(0o666)
        for manifest in list(cache.rglob("manifest.json")):
            way(manifest.parent)
        ended = lab.compare(place, limits=Limits(user=NOBODY), cache=cache)
        wrong = f"{way.__name__}: code {ended.code}: {last_line(ended.err)}" if ended.code else ""
        if not wrong and scores(place / "out") != lab.expected:
            wrong = f"{way.__name__}: other scores"
        yield Trial(landed=True, ended=ended, wrong=wrong)


def _spoil_values(entry: Path) -> None:
    for file in entry.iterdir():
        if file.name != "manifest.json":
            file.write_bytes(b"x" + file.read_bytes()[1:])


def _spoil_manifests(entry: Path) -> None:
    (entry / "manifest.json").write_text("{}", "ascii")


def _link_elsewhere(entry: Path) -> None:
    entry.rename(entry.with_name("moved"))
    entry.symlink_to(entry.parent.parent)
    shutil.rmtree(entry.with_name("moved"))


def _clock(lab: Lab) -> Iterator[Trial]:
    """Give every file a time in the future, as after a clock was set back."""
    for template in ("calm", "nights"):
        place = lab.place(template)
        later = time.time() + _LATER
        for path in place.rglob("*"):
            os.utime(path, (later, later))
        if template == "calm":
            shutil.rmtree(place / "out")
            ended = lab.compare(place)
            yield Trial(landed=True, ended=ended, wrong=as_calm(lab, place))
        else:
            ended = lab.night(place)
            yield Trial(landed=True, ended=ended, wrong=_next_night(lab, place))


if __name__ == "__main__":
    command()
