"""`chunkbench nightly`: run an experiment on a moving repository and report what really changed."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.errors import UsageError
from chunkers.tokens import usable_cache

if TYPE_CHECKING:
    from evaluation.history.comparison import Night
    from evaluation.history.notice import Form

FORMS = ("slack", "teams", "github", "json")
"""`evaluation.history.notice.Form`, written out so that --help imports nothing heavy."""

_EXAMPLES = """\b
Examples:
  chunkbench nightly nightly.toml
  chunkbench nightly nightly.toml --quiet                   prints only when something failed or regressed
  chunkbench nightly nightly.toml --summary night.json      for a program
  chunkbench nightly nightly.toml --summary slack.json --notify slack --url https://ci.example/chunkbench

\b
nightly.toml:
  datasets = ["mined:root=/srv/project,ref=origin/main"]    without ref=: the folder as it is
  chunkers = ["cast:size=1500", "fixed-lines:lines=50"]
  [nightly]
  history = "history"          # beside this file
  fetch = true                 # git fetch first
  measures = ["naurc@4000tok", "ndcg@10"]
  minimum_effect = 0.01
  keep = 90

\b
Exit codes: 0 nothing got worse, 1 some cells failed, 2 usage (also: another run is going), 3 regression.
"""


@click.command(epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--history", type=click.Path(path_type=Path), help="History folder [as FILE says].")
@click.option("--engine", help="serial, processes, ray or ray://HOST:PORT [as FILE says].")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes [as FILE says, or all cores].")
@click.option("--summary", type=click.Path(path_type=Path), help="Also write the JSON summary to this file.")
@click.option(
    "--notify",
    type=click.Choice(FORMS),
    default="json",
    help="What --summary holds: a message for Slack or Teams, title and text of a GitHub issue, or JSON [json].",
)
@click.option("--url", default="", metavar="URL", help="Where the history folder is published, for links.")
@click.option("--quiet", is_flag=True, help="Print nothing when nothing failed and nothing got worse.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON summary.")
def command(
    *,
    file: Path,
    history: Path | None,
    engine: str | None,
    jobs: int | None,
    summary: Path | None,
    notify: Form,
    url: str,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the experiment of FILE, store it in the history, and compare it with the last accepted run."""
    from datetime import UTC, datetime

    from evaluation.config import NightlyConfig, load_config
    from evaluation.experiment.executors import make_executor
    from evaluation.history.folder import History
    from evaluation.history.night import run_night
    from evaluation.history.night_results import Workplace
    from evaluation.history.notice import failure_notice, night_notice
    from evaluation.history.summary import night_json
    from scripts.progress import shown_progress

    if summary is not None:
        if summary.is_dir() or not summary.parent.is_dir():
            raise UsageError(f"--summary {summary} cannot be written: name a file in a folder that exists")
        # A webhook must not be sent last night's news if this night fails.
        summary.unlink(missing_ok=True)
    place = history
    try:
        config = load_config(file)
        # Beside the file, not the scheduler's current folder: cron starts in the home folder.
        place = history or file.parent / Path((config.nightly or NightlyConfig()).history).expanduser()
        executor = make_executor(engine or config.run.engine, jobs or config.run.jobs)
        with shown_progress() as progress, closing(executor):
            workplace = Workplace(usable_cache(), executor, progress)
            night = run_night(config, History(place), workplace, now=datetime.now(UTC))
    except BaseException as error:
        # The recipient of the message must be told about this night too.
        if summary is not None:
            earlier = place is not None and (place / "trend.html").is_file()
            code = _exit_code(error)
            _write(summary, failure_notice(_reason(error), notify, exit_code=code, url=url, earlier=earlier))
        raise
    if summary is not None:
        _write(summary, night_notice(night, notify, url=url))
    found = json.dumps(night_json(night), indent=1, ensure_ascii=False)
    if as_json:
        click.echo(found)
    elif night.exit_code or not quiet:
        _print(night, place)
    else:
        # Damage to the history is worth a mail even on a quiet night.
        for note in night.notes:
            click.echo(f"chunkbench: {note}", err=True)
    sys.exit(night.exit_code)


def _write(summary: Path, message: dict[str, Any]) -> None:
    from evaluation.atomic import replace_text

    replace_text(summary, json.dumps(message, indent=1, ensure_ascii=False) + "\n")


def _reason(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__


def _exit_code(error: BaseException) -> int:
    """Return the exit code for this error."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    return error.exit_code if isinstance(error, UsageError) else 1


def _print(night: Night, place: Path) -> None:
    from evaluation.history.lines import night_lines

    for line in night_lines(night):
        click.echo(line)
    click.echo(f"\n{place}/summary.md · trend.html · runs/{night.record.number:05}/report.html")
