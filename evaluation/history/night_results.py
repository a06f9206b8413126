"""Tonight's results: taken from the last run if nothing that determines them has changed, else computed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.config import ExperimentConfig
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.environment import environment
from evaluation.experiment.executors import Executor, Serial
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.experiment.span_runs import NamedFile
from evaluation.experiment.spread_work import spread_work
from evaluation.history.folder import DamagedRunError, History
from evaluation.history.pins import Pin, renamed
from evaluation.history.record import CellOrigin, RunRecord
from evaluation.report.build import write_report
from evaluation.results.document import environment_json
from evaluation.results.folder import read_results, write_results
from evaluation.results.types import Results
from evaluation.types import CellKey
from ground_truth.registry import DATASETS
from indexing.identity import vectors_identity
from indexing.readers.registry import READERS

_OF_THE_NIGHT = ("night.json", "night.md", "run.json")


@dataclass(frozen=True)
class Workplace:
    """Where the work is done, and the progress callbacks."""

    cache: Path
    executor: Executor
    progress: Progress = field(default_factory=Progress)


class Produced(NamedTuple):
    """The results, their inputs, and whether they were taken from an earlier run."""

    results: Results
    sources: dict[str, dict[str, Any]]
    cells: tuple[CellOrigin, ...]
    reused: bool


def night_key(config: ExperimentConfig, session: Session, pins: Sequence[Pin]) -> str:
    """Return a hash of everything that determines the results, apart from what a tool answers.

    A dataset pinned to a commit is not loaded for it.
    """
    inputs = {
        "config": config.model_dump(mode="json", exclude={"nightly"}),
        "datasets": [
            {
                "loader": plugin_inputs(DATASETS.create(each.spec)),
                "fingerprint": None if each.commit else session.dataset(each.spec).fingerprint,
            }
            for each in pins
        ],
        "chunkers": [plugin_inputs(session.chunker(each)) for each in config.chunkers],
        "embedders": [vectors_identity(session.encoder(each)) for each in config.embedders],
        "retrievers": [plugin_inputs(session.retriever(each)) for each in config.retrievers],
        "code": code_of("evaluation.experiment.run"),
        "environment": environment_json(environment()),
        "measures": [plugin_inputs(each) for each in session.measures],
        "readers": [plugin_inputs(READERS.create(each)) for each in config.readers],
        "spans": [NamedFile.parse(each).digest() for each in config.spans],
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()


def produce(
    session: Session,
    pins: Sequence[Pin],
    workplace: Workplace,
    draft: Path,
    *,
    history: History,
    same: RunRecord | None,
) -> Produced:
    """Leave results and report in the draft; ``same`` is an earlier run with tonight's key."""
    # What a tool answers tonight is known only when it has been asked.
    if same is not None and not session.config.tools and all(cell.status == "ok" for cell in same.cells):
        try:
            return _take_over(same, history, draft)
        except DamagedRunError:
            # The history reports this elsewhere; the stages are cached, so recomputing the results is cheap.
            pass
    return _make(session, pins, workplace, draft)


def _take_over(same: RunRecord, history: History, draft: Path) -> Produced:
    history.check(same)
    shutil.copytree(
        history.folder(same.number), draft, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_OF_THE_NIGHT)
    )
    sources = {name: dict(source) for name, source in same.sources.items()}
    return Produced(read_results(draft), sources, same.cells, reused=True)


def _make(session: Session, pins: Sequence[Pin], workplace: Workplace, draft: Path) -> Produced:
    made = run_experiment(session, workplace.executor, progress=workplace.progress)
    written = {each.spec: each.written for each in pins}
    cells = []
    for cell in made.cells:
        key = cell.key._replace(dataset=written[cell.key.dataset])
        cells.append(CellOrigin(key, cell.status, cell.reason, _stages(session, cell.key)))
    results = renamed(made, written)
    write_results(results, draft)
    with spread_work(session.store, Serial()):
        write_report(results, draft)
    sources = {each.written: _source(session, each) for each in pins}
    return Produced(results, sources, tuple(cells), reused=False)


def _stages(session: Session, key: CellKey) -> dict[str, Mapping[str, Any]]:
    """Return stage → its inputs; a ranking that another tool made has none."""
    if key.is_span_run:
        return {}
    found: dict[str, Mapping[str, Any]] = {name: each.inputs for name, each in session.stage_keys(key.searched).items()}
    return found | ({"read": {"reader": plugin_inputs(READERS.create(key.reader))}} if key.is_read else {})


def _source(session: Session, pinned: Pin) -> dict[str, Any]:
    loader = plugin_inputs(DATASETS.create(pinned.spec))
    return {
        "loader": {name: loader[name] for name in ("class", "version", "code")}
        | {"duplicates": session.config.duplicates},
        "fingerprint": session.dataset(pinned.spec).fingerprint,
        "root": str(pinned.root) if pinned.root else None,
        "ref": pinned.ref,
        "commit": pinned.commit,
    }
