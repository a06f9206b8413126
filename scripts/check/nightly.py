"""Shows that nightly runs alarm when they should and only then: python -m scripts.check.nightly [PART …].

Parts: week, trouble, quiet, cost; all of them where none is named. Exit 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluation.config import DEFAULT_CHUNKERS
from scripts.check.nightly_lab import CHUNKER, Lab

_PARTS = ["week", "trouble", "quiet", "cost"]
Check = tuple[str, bool, str]
"""The requirement, whether it holds, and the figures."""


def week(lab: Lab, *, nights: int = 7, spoiled_after: int = 5) -> Iterator[Check]:
    """Yield the results of a week of ordinary commits, with a refactored and a degraded chunker, and new versions."""
    alarms = []
    for night in range(1, nights + 1):
        if night > 1:
            lab.edit(night)
        if night == 3:
            lab.install("refactored")
        ran = lab.night()
        alarms.append(ran.code)
        if night == 3:
            changed = {change["kind"] for change in ran.summary["changes"]}
            quiet = ran.code == 0 and "chunker code" in changed
            yield "a harmless refactoring raises no alarm, and is named", quiet, f"exit {ran.code}, {sorted(changed)}"
        if night == spoiled_after:
            yield from _spoiled(lab)
    yield "ordinary commits raise no alarm", set(alarms) == {0}, f"exits {alarms}"
    ran = lab.night(path=[lab.upgrade_grammars("99.1")])
    yield _not_comparable(ran.summary, "grammar pack", ran.code)
    lab.configure(embedder="hashing:dimensions=1024")
    ran = lab.night()
    yield _not_comparable(ran.summary, "model", ran.code)
    lab.configure()


def _spoiled(lab: Lab) -> Iterator[Check]:
    lab.install("spoiled")
    ran = lab.night()
    found = ran.summary
    named = {row["chunker"] for row in found["findings"] if row["verdict"] == "regression"}
    yield "a spoiled chunker is caught and named", ran.code == 3 and named == {CHUNKER}, f"exit {ran.code}, {named}"
    movers = [row for row in found["movers"] if row["chunker"] == CHUNKER and row["now"] < row["before"]]
    text = (lab.history / "summary.md").read_text("utf-8")
    told = bool(movers) and f"report.html#query={movers[0]['link'].partition('query=')[2]}" in text
    shown = f"{movers[0]['query_id']}: {movers[0]['before']:.2f} → {movers[0]['now']:.2f}" if movers else "none"
    yield "the query that shows it is named with a link", told, shown
    lab.install("refactored")


def _not_comparable(summary: dict[str, object], kind: str, code: int) -> Check:
    findings = json.loads(json.dumps(summary["findings"]))
    same = all(row["verdict"] == "not comparable" and kind in row["reason"] for row in findings)
    return f"a {kind} change is not comparable, and says so", same and code == 0, str(findings[0]["reason"])


def trouble(lab: Lab) -> Iterator[Check]:
    """Yield how the history handles a second run, a kill, manual damage and a clock that goes back."""
    lab.night()
    lab.edit(20)
    slow = lab.start_night(seconds_per_file=600.0)
    try:
        _wait(lambda: any((lab.history / "runs").glob(".draft-*")))
        second = lab.run("nightly", str(lab.experiment), "--engine", "serial")
        yield "a second run says so and exits 2", second.code == 2 and "another run" in second.err, second.err.strip()
    finally:
        slow.kill()
        slow.wait()
    whole = lab.run("history", "verify", "--history", str(lab.history), "--json")
    yield "a killed run leaves the history whole", whole.code == 0, " ".join(whole.out.split())
    after = lab.night()
    finished = after.code == 0 and after.summary["run"] == 2 and not list((lab.history / "runs").glob(".draft-*"))
    yield "the next night finishes", finished, f"exit {after.code}, run {after.summary['run']}"
    lab.edit(21)
    lab.night()
    broken = lab.history / "runs" / "00002" / "run.json"
    broken.write_text(broken.read_text("utf-8").replace('"number": 2', '"number": 7'), "utf-8")
    lab.edit(22)
    ran = lab.night()
    named = any("00002" in note for note in ran.summary["notes"])
    yield "a damaged run is named and skipped", ran.code == 0 and named, " ".join(ran.summary["notes"])
    yield _clock(lab)


def _clock(lab: Lab) -> Check:
    """Run one more night ten years ago by the clock."""
    from datetime import UTC, datetime

    from evaluation.config import load_config
    from evaluation.experiment.executors import Serial
    from evaluation.history.folder import History
    from evaluation.history.night import run_night
    from evaluation.history.night_results import Workplace

    # This process does not have the third party's chunker on its path.
    lab.configure(chunkers=lab.chunkers[1:])
    history = History(lab.history)
    place = Workplace(lab.root / "cache", Serial())
    last = history.numbers()[-1]
    run_night(load_config(lab.experiment), history, place, now=datetime(2016, 1, 1, tzinfo=UTC))
    order = [run.number for run in history.records().runs]
    times = [run.time[:4] for run in history.records().runs]
    held = order == sorted(order) and order[-1] == last + 1 and times[-1] == "2016"
    return "a clock that goes back does not reorder runs", held, f"runs {order}, years {times}"


def quiet_nights(*, nights: int = 200, alpha: float = 0.05, seed: int = 0) -> Iterator[Check]:
    """Yield the share of simulated nights without any true change in which something was reported."""
    from scripts.check.quiet_nights import false_alarms

    for repositories in (1, 8):
        alarms = false_alarms(nights, alpha=alpha, repositories=repositories, seed=seed)
        error = float(np.sqrt(alpha * (1 - alpha) / nights))
        held = abs(alarms / nights - alpha) <= 2 * error
        figures = f"{alarms} of {nights} = {alarms / nights:.3f}; promised {alpha} ± {2 * error:.3f} (2 SE)"
        yield f"false alarms keep the promised rate, {repositories} repositories", held, figures


def cost(lab: Lab) -> Iterator[Check]:
    """Yield the time of a night with 1 % of the files changed, and of one without a change, relative to the first."""
    first = _measured(lab)
    same = _measured(lab)
    lab.edit(30, share=0.01)
    small = _measured(lab)
    figures = f"first {first}; 1 % changed {small.against(first)}; no change {same.against(first)}"
    yield (
        "1 % of the files changed takes at most 10 % of the first night",
        small.seconds <= 0.10 * first.seconds,
        figures,
    )
    yield (
        "no change takes at most 3 % of the first night, and embeds nothing",
        same.seconds <= 0.03 * first.seconds and not same.embedded,
        figures,
    )


class Cost(NamedTuple):
    """The cost of a night."""

    seconds: float
    embedded: int

    def __str__(self) -> str:
        """Return both figures."""
        return f"{self.seconds:.1f} s, {self.embedded:,} texts embedded"

    def against(self, first: Cost) -> str:
        """Return both figures and the share of the first night's time."""
        return f"{self} = {self.seconds / first.seconds:.1%}"


def _measured(lab: Lab) -> Cost:
    before, started = _vectors(lab), time.perf_counter()
    ran = lab.night()
    if ran.code != 0:
        raise SystemExit(f"a night exits {ran.code}: {ran.err}")
    return Cost(time.perf_counter() - started, _vectors(lab) - before)


def _vectors(lab: Lab) -> int:
    """Return the number of vectors in the lab's cache: each is a text that was embedded once."""
    return sum(part["vectors"] for part in json.loads(lab.run("cache", "--json").out)["parts"])


def _wait(condition: Callable[[], bool], *, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("the night did not start")
        time.sleep(0.05)


def main() -> int:
    """Run the parts and print one line for each requirement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--package", default="jinja2", help="the installed package whose source moves")
    parser.add_argument("--cost-package", default="networkx", help="the same for the part that takes the time")
    parser.add_argument("--embedder", default="minilm", help="its embedder; with the model it takes ten minutes")
    chosen = parser.parse_args()
    parts = chosen.parts or _PARTS
    if unknown := set(parts) - set(_PARTS):
        parser.error(f"no part {unknown.pop()!r}: write {', '.join(_PARTS)}")
    held = True
    with tempfile.TemporaryDirectory() as home:

        def lab(name: str, package: str, **options: object) -> Lab:
            made = Lab(Path(home) / name, **options)  # type: ignore[arg-type]  # its own fields
            made.set_up(package)
            return made

        for part in parts:
            if part == "week":
                checks = week(lab(part, chosen.package))
            elif part == "trouble":
                checks = trouble(lab(part, chosen.package, queries=20))
            elif part == "quiet":
                checks = quiet_nights()
            else:
                options = {"embedder": chosen.embedder, "queries": 200, "chunkers": DEFAULT_CHUNKERS}
                checks = cost(lab(part, chosen.cost_package, **options))
            for what, holds, figures in checks:
                held = held and holds
                print(f"{'ok  ' if holds else 'FAIL'} {what}: {figures}", flush=True)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
