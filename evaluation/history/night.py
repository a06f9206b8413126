"""One night: pin the snapshot, run what changed, compare with the baseline, store the run, report the findings."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime
from pathlib import Path

from chunkers.errors import UsageError
from evaluation.atomic import replace_text
from evaluation.config import ExperimentConfig, NightlyConfig
from evaluation.experiment.environment import environment
from evaluation.experiment.session import Session
from evaluation.experiment.spread_work import spread_work
from evaluation.history.accepted import accept, acceptances
from evaluation.history.baseline import Baseline, find_baseline
from evaluation.history.comparison import Night, compare_runs, limits_of, measures_of
from evaluation.history.folder import History
from evaluation.history.night_results import Produced, Workplace, night_key, produce
from evaluation.history.pins import pin
from evaluation.history.pruning import prune
from evaluation.history.record import RunRecord
from evaluation.history.summary import night_json, night_markdown
from evaluation.history.trend_page import write_trend_page


def run_night(config: ExperimentConfig, history: History, workplace: Workplace, *, now: datetime) -> Night:
    """Run, compare and store; the findings are in the run's folder, in the history's summary and returned."""
    if config.match_size is not None:
        raise UsageError(
            "match_size would choose other limits whenever the code changes, and a night compares chunkers with their "
            "own past: name them with limits, such as those that chunkbench compare prints, and leave match_size out"
        )
    session = Session.resolve(config, workplace.cache)
    config = session.config
    nightly = config.nightly or NightlyConfig()
    with history.writing():
        records, damaged = history.records()
        base = find_baseline(history)
        pins = [pin(each, fetch=nightly.fetch) for each in config.datasets]
        session = session.with_config(config.model_copy(update={"datasets": tuple(each.spec for each in pins)}))
        with spread_work(session.store, workplace.executor):
            key = night_key(config, session, pins)
        same = records[-1] if records and records[-1].key == key else None
        with history.draft() as draft:
            made = produce(session, pins, workplace, draft, history=history, same=same)
            record = _record(config, made, number=_next_number(history), key=key, now=now)
            night = _compared(record, made, base).with_notes([*damaged, *base.notes])
            _write_night(night, draft)
            history.store(dataclasses.replace(record, night=night_json(night)), draft)
        if base.record is None and not base.notes and not night.failed:
            accept(history, run=record.number, who="chunkbench", why="the first run", now=now)
        if nightly.keep:
            prune(history, keep=nightly.keep)
        replace_text(history.root / "summary.md", night_markdown(night, links=f"runs/{record.number:05}/"))
        write_trend_page(history, history.root / "trend.html")
    return night


def _compared(record: RunRecord, made: Produced, base: Baseline) -> Night:
    before = (base.record, base.results) if base.record and base.results else None
    config = record.config
    return compare_runs((record, made.results), before, measures=measures_of(config), limits=limits_of(config))


def _record(config: ExperimentConfig, made: Produced, *, number: int, key: str, now: datetime) -> RunRecord:
    return RunRecord(
        number=number,
        time=now.isoformat(timespec="seconds"),
        key=key,
        config=config,
        environment=environment(),
        sources=made.sources,
        cells=made.cells,
    )


def _next_number(history: History) -> int:
    """Return a number above all that were ever used, as far as the folder shows; the clock is not used."""
    return max([0, *history.numbers(), *(given.run for given in acceptances(history).given)]) + 1


def _write_night(night: Night, draft: Path) -> None:
    (draft / "night.json").write_text(json.dumps(night_json(night), indent=1, ensure_ascii=False) + "\n", "utf-8")
    (draft / "night.md").write_text(night_markdown(night, links=""), "utf-8")
