"""`chunkbench history`: past nightly runs, listed, compared, drawn, pruned, checked and accepted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.errors import UsageError

if TYPE_CHECKING:
    from evaluation.history.folder import History

_EXAMPLES = """\b
Examples:
  chunkbench history list
  chunkbench history show 12 --history nightly.toml
  chunkbench history diff 5 12
  chunkbench history trend --measure naurc@4000tok --html trend.html
  chunkbench history accept 12 --why "new chunker, checked by hand"
  chunkbench history prune --keep 90
  chunkbench history verify
"""


@click.group(epilog=_EXAMPLES)
def command() -> None:
    """Past nightly runs: list, show, diff, trend, prune, verify, accept."""


def _shared(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options shared by every verb."""
    place = click.option(
        "--history",
        "place",
        type=click.Path(path_type=Path),
        default=Path("history"),
        show_default=True,
        help="The history folder, or the experiment file that names it.",
    )
    return place(click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function))


@command.command("list", epilog="\b\nExample:\n  chunkbench history list --last 14")
@click.option("--last", type=click.IntRange(min=1), help="Only the newest runs.")
@_shared
def list_runs(*, last: int | None, place: Path, as_json: bool) -> None:
    """List the runs, oldest first, with what each found; the baseline is marked."""
    from evaluation.history.accepted import acceptances

    history = _open(place)
    runs, damaged = history.records()
    given, torn = acceptances(history)
    baseline = given[-1].run if given else None
    shown = runs[-last:] if last else runs
    rows = [
        {
            "run": run.number,
            "time": run.time,
            "commits": {name: source.get("commit") for name, source in run.sources.items()},
            "baseline": run.number == baseline,
            "compared_with": run.night.get("baseline"),
            "exit_code": run.night.get("exit_code"),
            "headline": run.night.get("headline", ""),
        }
        for run in shown
    ]
    if as_json:
        _json({"runs": rows, "skipped": [*damaged, *torn]})
    else:
        for line in _columns([_HEADER, *map(_run_words, rows)]) if rows else ():
            click.echo(line)
        if any(row["baseline"] for row in rows):
            click.echo("* is the baseline that later runs are compared with")
    _skipped([*damaged, *torn])


_HEADER = ("", "run", "time", "commit", "against", "exit", "found")


def _run_words(row: dict[str, Any]) -> tuple[str, ...]:
    commits = ", ".join(str(commit)[:12] for commit in row["commits"].values() if commit) or "-"
    known = (row[name] for name in ("compared_with", "exit_code"))
    against, code = ("-" if value is None else str(value) for value in known)
    return ("*" if row["baseline"] else "", str(row["run"]), row["time"], commits, against, code, row["headline"])


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows as lines with aligned columns; the last column has no fixed width."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


@command.command(epilog="\b\nExample:\n  chunkbench history show 12")
@click.argument("run", type=int)
@_shared
def show(*, run: int, place: Path, as_json: bool) -> None:
    """Show what a RUN found against its baseline, as it was that night."""
    history = _open(place)
    record = history.record(run)
    if as_json:
        _json(record.night)
        return
    history.check(record, "night.md")
    click.echo((history.folder(run) / "night.md").read_text("utf-8"), nl=False)


@command.command(epilog="\b\nExample:\n  chunkbench history diff 5 12 --measure ndcg@10")
@click.argument("before", type=int)
@click.argument("after", type=int)
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Measures [those that AFTER gates].")
@_shared
def diff(*, before: int, after: int, measures: tuple[str, ...], place: Path, as_json: bool) -> None:
    """Compare run AFTER with run BEFORE: scores, what changed, and the queries that moved."""
    from evaluation.history.comparison import compare_runs, limits_of, measures_of
    from evaluation.history.lines import night_lines
    from evaluation.history.summary import night_json
    from evaluation.measures.registry import parse_measure

    history = _open(place)
    old, new = history.record(before), history.record(after)
    config = new.config
    chosen = [parse_measure(name).name for name in measures] or measures_of(config)
    unknown = [name for name in chosen if name not in config.measures]
    if unknown:
        raise UsageError(f"run {after} did not measure {unknown[0]!r}; it has {', '.join(config.measures)}")
    night = compare_runs(
        (new, history.results(new)), (old, history.results(old)), measures=chosen, limits=limits_of(config)
    )
    if as_json:
        _json(night_json(night))
    else:
        for line in night_lines(night):
            click.echo(line)


@command.command(epilog="\b\nExample:\n  chunkbench history trend --measure ndcg@10 --last 30 --html trend.html")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Measures [the headline].")
@click.option("--last", type=click.IntRange(min=1), help="Only the newest runs.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write the plots to this file.")
@_shared
def trend(*, measures: tuple[str, ...], last: int | None, html: Path | None, place: Path, as_json: bool) -> None:
    """Print a measure over the runs, one line per chunker, with the newest mean and its interval."""
    from evaluation.history.lines import trend_lines
    from evaluation.history.trend import check_measure, known_measures, trends
    from evaluation.history.trend_page import write_trend_page
    from evaluation.measures.registry import parse_measure

    history = _open(place)
    chosen = [check_measure(history, parse_measure(name).name) for name in measures] or known_measures(history)[:1]
    found = trends(history, chosen, last=last)
    if html is not None:
        write_trend_page(history, html, measures=chosen)
    if as_json:
        rows = [
            {**one.key._asdict(), "measure": one.measure, "points": [point._asdict() for point in one.points]}
            for one in found.series
        ]
        _json({"series": rows, "skipped": found.skipped})
    else:
        for line in trend_lines(found.series, width=shutil.get_terminal_size((80, 24)).columns):
            click.echo(line)
    _skipped(found.skipped)


@command.command(epilog="\b\nExample:\n  chunkbench history prune --older-than 180 --dry-run")
@click.option("--keep", type=click.IntRange(min=1), help="Keep this many of the newest runs.")
@click.option("--older-than", type=click.IntRange(1, 100_000), metavar="DAYS", help="Remove runs older than this.")
@click.option("--dry-run", is_flag=True, help="Only say which runs would go.")
@_shared
def prune(*, keep: int | None, older_than: int | None, dry_run: bool, place: Path, as_json: bool) -> None:
    """Remove old runs by count or age; the baseline and the newest run stay."""
    from datetime import UTC, datetime, timedelta

    from evaluation.history.pruning import prune as remove

    if keep is None and older_than is None:
        raise UsageError("say what may go: --keep RUNS or --older-than DAYS")
    history = _open(place)
    age = timedelta(days=older_than) if older_than else None
    with history.writing():
        gone = remove(history, keep=keep, older_than=age, now=datetime.now(UTC), dry=dry_run)
    if as_json:
        _json({"removed": gone, "dry_run": dry_run})
    else:
        verb = "would be removed" if dry_run else "removed"
        click.echo(f"{len(gone)} runs {verb}{': ' + ', '.join(map(str, gone)) if gone else ''}")


@command.command(epilog="\b\nExample:\n  chunkbench history verify --json")
@_shared
def verify(*, place: Path, as_json: bool) -> None:
    """Check every file of every run; exit 1 and name what is damaged."""
    from evaluation.history.accepted import acceptances
    from evaluation.history.folder import DamagedRunError

    history = _open(place)
    runs, damaged = history.records()
    damaged += acceptances(history).damaged
    whole = 0
    for run in runs:
        try:
            history.check(run)
            whole += 1
        except DamagedRunError as error:
            damaged.append(str(error))
    if as_json:
        _json({"whole": whole, "damaged": damaged})
    else:
        click.echo(f"{whole} runs are whole, {len(damaged)} files or lines are damaged")
        _skipped(damaged)
    if damaged:
        raise SystemExit(1)


@command.command(epilog='\b\nExample:\n  chunkbench history accept 12 --why "new chunker, checked by hand"')
@click.argument("run", type=int)
@click.option("--why", required=True, help="The reason, for those who look later.")
@click.option("--who", help="Who accepts [the user of this machine].")
@_shared
def accept(*, run: int, why: str, who: str | None, place: Path, as_json: bool) -> None:
    """Make RUN the baseline that later nights are compared with."""
    import getpass
    from datetime import UTC, datetime

    from evaluation.history.accepted import accept as make_baseline

    if not why.strip():
        raise UsageError("--why is empty: say why this run is the new baseline")
    made = make_baseline(_open(place), run=run, who=who or getpass.getuser(), why=why, now=datetime.now(UTC))
    if as_json:
        _json(made._asdict())
    else:
        click.echo(f"run {made.run} is the baseline now, accepted by {made.who}: {made.why}")


def _open(place: Path) -> History:
    from evaluation.config import NightlyConfig, load_config
    from evaluation.history.folder import History

    if place.suffix == ".toml":
        config = load_config(place)
        place = place.parent / Path((config.nightly or NightlyConfig()).history).expanduser()
    if not (place / "runs").is_dir():
        raise UsageError(f"{place} is no history: name its folder, or the experiment file, with --history")
    return History(place)


def _json(value: object) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))


def _skipped(lines: list[str]) -> None:
    for line in lines:
        click.echo(f"chunkbench: {line}", err=True)
