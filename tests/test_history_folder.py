"""The history folder: whole runs in the order of their numbers, whatever happens to files and clocks."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.history.accepted import accept, acceptances
from evaluation.history.baseline import find_baseline
from evaluation.history.folder import DamagedRunError, History
from evaluation.history.pruning import prune
from evaluation.history.record import CellOrigin, RunRecord
from evaluation.history.trend import trends
from evaluation.history.trend_page import trend_page
from evaluation.results.folder import write_results
from evaluation.results.types import Results

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)
STAGES = {"chunk": {"versions": {"grammars": "1"}}}


def store(history: History, number: int, *, now: datetime = NOON, seed: int = 0, grammars: str = "1") -> RunRecord:
    """Store a run with simulated results."""
    results: Results = simulated_results(queries=12, repositories=3, seed=seed)
    stages = {"chunk": {"versions": {"grammars": grammars}}}
    record = RunRecord(
        number=number,
        time=now.isoformat(timespec="seconds"),
        key="k",
        config=results.config,
        environment=results.environment,
        sources={"simulated": {"commit": f"{number:040}", "root": "."}},
        cells=tuple(CellOrigin(cell.key, cell.status, cell.reason, stages) for cell in results.cells),
    )
    with history.writing(), history.draft() as draft:
        write_results(results, draft)
        return history.store(record, draft)


def _write_half(draft: Path) -> None:
    (draft / "half.txt").write_text("half")
    raise ZeroDivisionError


def test_a_stored_run_is_read_back(tmp_path: Path) -> None:
    """What was stored comes back, with its scores, and every file has its checksum."""
    history = History(tmp_path)
    stored = store(history, 1)
    read = history.record(1)
    assert read == stored
    assert set(read.files) >= {"results.json", "scores.parquet", "queries.parquet"}
    assert len(history.results(read).queries) == 12


def test_runs_are_in_the_order_of_their_numbers_whatever_the_clock_says(tmp_path: Path) -> None:
    """A clock that goes back reorders neither the list nor the trend."""
    history = History(tmp_path)
    for number, day in ((1, 0), (2, -400), (3, -200)):
        store(history, number, now=NOON + timedelta(days=day))
    assert [run.number for run in history.records().runs] == [1, 2, 3]
    found = trends(history, ["naurc@4000tok"]).series[0]
    assert [point.run for point in found.points] == [1, 2, 3]


@pytest.mark.parametrize("name", ["run.json", "results.json", "scores.parquet"])
def test_a_file_damaged_by_hand_is_named_and_the_run_skipped(tmp_path: Path, name: str) -> None:
    """Damage to any file of a run is found when the file is used, and names it."""
    history = History(tmp_path)
    store(history, 1)
    store(history, 2)
    file = history.folder(1) / name
    file.write_bytes(file.read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(DamagedRunError, match=rf"00001/{name}"):
        history.results(history.record(1))
    if name == "run.json":
        assert [run.number for run in history.records().runs] == [2]
        assert "00001" in history.records().damaged[0]
    assert trends(history, ["ndcg@5"]).series[0].points[-1].run == 2


def test_a_damaged_baseline_gives_way_to_the_one_accepted_before(tmp_path: Path) -> None:
    """The newest acceptance that can be used is in force, and what was skipped is told."""
    history = History(tmp_path)
    for number in (1, 2):
        store(history, number)
        accept(history, run=number, who="someone", why="good", now=NOON)
    (history.folder(2) / "scores.parquet").write_bytes(b"")
    found = find_baseline(history)
    assert found.record is not None
    assert found.record.number == 1
    assert "scores.parquet" in found.notes[0]


def test_a_torn_acceptance_swallows_no_other(tmp_path: Path) -> None:
    """A line that was cut off is named and skipped, and the next one is whole."""
    history = History(tmp_path)
    store(history, 1)
    (tmp_path / "accepted.jsonl").write_text('{"run": 1, "who": "so')
    accept(history, run=1, who="someone", why="ümlaut", now=NOON)
    given, damaged = acceptances(history)
    assert [(one.run, one.why) for one in given] == [(1, "ümlaut")]
    assert "line 1" in damaged[0]


def test_an_unknown_run_cannot_be_accepted(tmp_path: Path) -> None:
    """The error names the runs that there are."""
    history = History(tmp_path)
    store(history, 1)
    with pytest.raises(UsageError, match="has no run 5; the newest are: 1"):
        accept(history, run=5, who="someone", why="typo", now=NOON)


def test_a_run_that_is_not_stored_leaves_nothing(tmp_path: Path) -> None:
    """A run that fails half-way leaves no folder, and what a killed one left is swept by the next."""
    history = History(tmp_path)
    with pytest.raises(ZeroDivisionError), history.writing(), history.draft() as draft:
        _write_half(draft)
    assert list((tmp_path / "runs").iterdir()) == []
    (tmp_path / "runs" / ".draft-killed_1").mkdir()
    store(history, 1)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["00001"]


def test_only_one_writes(tmp_path: Path) -> None:
    """A second writer is told at once."""
    told = pytest.raises(UsageError, match="another run is going")
    with History(tmp_path).writing(), told, History(tmp_path).writing():
        pass


def test_pruning_keeps_the_baseline_and_the_newest(tmp_path: Path) -> None:
    """Runs go by count or age; the one accepted last and the newest never do."""
    history = History(tmp_path)
    for number in range(1, 7):
        store(history, number, now=NOON + timedelta(days=number))
    for run in (1, 2):
        accept(history, run=run, who="someone", why="good", now=NOON)
    assert prune(history, keep=3, dry=True) == [1, 3]
    assert prune(history, keep=3) == [1, 3]
    assert history.numbers() == [2, 4, 5, 6]
    at = NOON + timedelta(days=35)
    assert prune(history, older_than=timedelta(days=30), now=at, dry=True) == [4], "run 5 is exactly as old"
    late = NOON + timedelta(days=100)
    assert prune(history, older_than=timedelta(days=30), now=late) == [4, 5]
    assert history.numbers() == [2, 6]


def test_the_record_is_plain_json(tmp_path: Path) -> None:
    """Another program can read a run without chunkbench."""
    history = History(tmp_path)
    store(history, 1)
    body = json.loads((history.folder(1) / "run.json").read_text("utf-8"))
    assert body["number"] == 1
    assert body["cells"][0]["stages"] == STAGES


def test_the_trend_breaks_where_runs_cannot_be_compared(tmp_path: Path) -> None:
    """A new grammar pack cuts the line; the page draws it and loads nothing from elsewhere."""
    history = History(tmp_path)
    for number, grammars in ((1, "1"), (2, "1"), (3, "2")):
        store(history, number, seed=number, grammars=grammars)
    points = trends(history, ["naurc@4000tok"]).series[0].points
    assert [point.broken for point in points] == [False, False, True]
    assert len(trends(history, ["naurc@4000tok"]).series[0].spark) == 3
    page = trend_page(history)
    assert "naurc@4000tok · simulated" in page
    assert "recall@5 · simulated" in trend_page(history, measures=["recall@5"])
    assert "naurc@4000tok · simulated" not in trend_page(history, measures=["recall@5"])
    assert "default-src &#39;none&#39;" in page
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "runs/00003/report.html" in page


def test_nothing_is_removed_behind_a_link(tmp_path: Path) -> None:
    """With a link in place of the runs, nothing is written or swept where it leads."""
    mine = tmp_path / "mine" / ".draft-abcdefgh"
    mine.mkdir(parents=True)
    root = tmp_path / "history"
    root.mkdir()
    (root / "runs").symlink_to(mine.parent)
    with pytest.raises(UsageError, match="runs is a link"):
        store(History(root), 1)
    assert list(mine.parent.iterdir()) == [mine]
    (root / "runs").unlink()
    store(History(root), 1)
    (root / "accepted.jsonl").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(UsageError, match=r"accepted\.jsonl is a link"):
        accept(History(root), run=1, who="someone", why="fine", now=NOON)
    assert not (tmp_path / "mine.txt").exists()


def test_only_runs_and_drafts_are_removed(tmp_path: Path) -> None:
    """Folders of the user among the runs stay, and do not count; a damaged run goes by its turn."""
    history = History(tmp_path)
    for number in (3, 4, 5):
        store(history, number)
    (history.folder(3) / "run.json").unlink()
    for name in ("00001", "00007", ".draft-of-my-thesis"):
        (tmp_path / "runs" / name).mkdir()
        (tmp_path / "runs" / name / "mine").write_text("mine")
    (tmp_path / "runs" / "00002").symlink_to(history.folder(4))
    assert prune(history, keep=1) == [3, 4]
    with history.writing(), history.draft():
        pass
    left = {path.name for path in (tmp_path / "runs").iterdir()}
    assert left == {"00001", "00002", "00005", "00007", ".draft-of-my-thesis"}
