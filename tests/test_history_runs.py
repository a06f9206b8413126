"""Runs as they are stored, renamed and drawn: means, verdicts, commits and order, and what is damaged."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from report_case import simulated_results
from test_history_folder import NOON, store
from test_history_gate import KEY, SCORES, STAGES, night, record
from test_history_trend import series

from chunkers.errors import UsageError
from evaluation.config import make_config
from evaluation.experiment.executors import Serial
from evaluation.history.accepted import accept, acceptances
from evaluation.history.comparison import compare_runs, limits_of
from evaluation.history.folder import DamagedRunError, History
from evaluation.history.gate import Limits
from evaluation.history.lines import trend_lines
from evaluation.history.night import run_night
from evaluation.history.night_results import Workplace
from evaluation.history.pins import CommitRange, renamed
from evaluation.history.pruning import prune
from evaluation.history.summary import night_json, night_markdown
from evaluation.history.trend import Note, known_measures, trends
from evaluation.history.trend_page import _NEWEST, _figures, _row, trend_page
from evaluation.report.figures.marks import marks
from evaluation.report.verdict import verdict
from evaluation.results.types import Results
from scripts.check.nightly_lab import Lab

HEADLINE = "naurc@4000tok"


def test_results_under_another_name_say_the_same() -> None:
    """Nights pair up under the name as written: cells, comparisons, who may be best, and the statement over all."""
    for retrievers in (("dense",), ("dense", "bm25")):
        results: Results = simulated_results(names=("a", "b"), edges=(0.2, 0.0), queries=24, retrievers=retrievers)
        other = renamed(results, {"simulated": "as-written"})
        assert verdict(other) == verdict(results).replace("simulated", "as-written")
        assert "simulated" not in repr((other.overall, other.best, other.comparisons, other.cells))
        # As text: numbers that are undefined are equal to nothing.
        assert repr(renamed(other, {"as-written": "simulated"})) == repr(results)
        assert "simulated" not in {key.dataset for key in other.files} | {query.dataset for query in other.queries}


def test_a_trend_has_the_means_verdicts_and_commits_of_its_runs(tmp_path: Path) -> None:
    """A cell that failed or has no mean has no point; a damaged run is skipped and said."""
    history = History(tmp_path)
    for number in (1, 2, 3):
        store(history, number, seed=number)
    found_, skipped, changes = trends(history, [HEADLINE, "nothing@1"])
    assert (skipped, changes) == ([], [])
    assert {one.measure for one in found_} == {HEADLINE}
    results = history.results(history.record(2))
    for one in found_:
        summary = next(cell for cell in results.cells if cell.key == one.key).measures[HEADLINE]
        point = one.points[1]
        assert (point.run, point.mean, point.low, point.high) == (2, summary.mean, summary.low, summary.high)
        assert point.commit == f"{2:040}"
        assert (point.broken, point.verdict, point.quiet) == (False, "", None)
        assert one.uses_vectors
    (history.folder(3) / "results.json").write_text("{}")
    again = trends(history, [HEADLINE])
    assert [point.run for point in again.series[0].points] == [1, 2]
    assert "results.json is damaged: run 3 is skipped" in again.skipped[0]
    assert known_measures(history)[0] == HEADLINE
    assert len(known_measures(history)) == len(set(known_measures(history)))


def test_what_changed_underneath_is_a_note_at_its_run(tmp_path: Path) -> None:
    """Another grammar pack is named where it came; a dataset that moved on is expected to."""
    history = History(tmp_path)
    for number, grammars in ((1, "1"), (2, "2"), (3, "2")):
        store(history, number, grammars=grammars)
    assert trends(history, [HEADLINE]).changes == [Note(2, "changed", "grammar pack was 1 and is 2")]


def test_the_page_lists_the_newest_runs_first(tmp_path: Path) -> None:
    """Sixty of a chunker; a night that raised an alarm is marked; acceptances stand at their run."""
    long = series("a", [0.5] * 70)
    ((_, figure),) = _figures([long], marks(["a"]), [])
    assert [row[1] for row in figure.table.rows] == [str(run) for run in range(71, 71 - _NEWEST, -1)]
    assert figure.table.rows[0] == ["a", "71", "day 71", "50.0", "45.0 … 55.0", "c0ffee", "no change"]
    assert [row["run"] for row in figure.table.data] == list(range(71, 11, -1))
    for measure, words in (
        ("ndcg@10", "in points of 100"),
        ("tokens_to_recall(0.5)", "in tokens"),
        ("ild@5", "as it is"),
    ):
        ((_, figure),) = _figures([dataclasses.replace(long, measure=measure)], marks(["a"]), [])
        assert f"Mean {measure} of each run, {words}. " in figure.caption
    run = dataclasses.replace(record(STAGES), number=7, sources={"x": {"commit": "c" * 40}, "y": {"commit": None}})
    for code in (0, 1, 3):
        held = dataclasses.replace(run, night={"exit_code": code, "baseline": 5, "headline": "h"})
        row = _row(held)
        assert (row["alarm"], row["baseline"], row["headline"]) == (code == 3, 5, "h")
        assert (row["folder"], row["commits"]) == ("runs/00007", "c" * 12)
    assert not _row(run)["alarm"]
    history = History(tmp_path)
    for number in (1, 2):
        store(history, number, seed=number)
        accept(history, run=number, who=f"me{number}", why="good", now=NOON)
    text = trend_page(history)
    assert text.index("runs/00002/report.html") < text.index("runs/00001/report.html")
    plain = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
    assert plain.index("me2") < plain.index("me1")


def test_lines_of_a_trend_are_as_wide_as_the_terminal() -> None:
    """A name that fits the column of names is beside its blocks; a longer one stands above them."""
    rows = [series("a" * 30, [0.5, 0.6]), series("b", [0.5])]
    title, first, second = trend_lines(rows, width=80)
    assert title == "naurc@4000tok · code · hashing · dense"
    assert first == f"  {'a' * 30}  {rows[0].spark}  60.0 (55.0 … 65.0)"
    assert second == f"  {'b':<30}  {rows[1].spark:<2}  50.0 (45.0 … 55.0)"
    long = [series("a" * 31, [0.5] * 3), series("b", [0.5] * 3)]
    lines = list(trend_lines(long, width=80))
    assert lines[1] == f"  {'a' * 31}"
    assert lines[2] == f"  {'':<30}  {long[0].spark}  50.0 (45.0 … 55.0)"
    many = [series("a", [0.5] * 100)]
    *titles, line = trend_lines(many, width=60)
    assert len(line) == 60
    assert " ".join(map(str.strip, titles)).endswith(f", the newest {60 - 1 - 18 - 6} of 100 runs")
    *_, line = trend_lines(many, width=10)
    assert line.count(many[0].spark[-1]) == 8
    fits = [series("a", [0.5] * 35)]
    assert "newest" not in next(iter(trend_lines(fits, width=60)))
    two = [rows[1], dataclasses.replace(rows[1], measure="ndcg@5")]
    assert list(trend_lines(two, width=80))[2] == ""


def test_a_run_that_says_another_number_is_damaged(tmp_path: Path) -> None:
    """As is one of which a file is gone; a folder that is no number is no run."""
    history = History(tmp_path)
    store(history, 1)
    history.folder(1).rename(history.folder(4))
    (tmp_path / "runs" / "0001").mkdir()
    (tmp_path / "runs" / "00009").write_text("a file")
    assert history.numbers() == [4]
    with pytest.raises(DamagedRunError, match="it says that it is 1"):
        history.record(4)
    history.folder(4).rename(history.folder(1))
    (history.folder(1) / "scores.parquet").unlink()
    with pytest.raises(DamagedRunError, match=r"scores\.parquet is gone: run 1 is skipped"):
        history.results(history.record(1))
    assert history.folder(1).stat().st_mode & 0o777 == 0o755


def test_limits_are_those_of_the_experiment() -> None:
    """What counts as a change is written in its file; without it the usual limits hold."""
    run = record(STAGES)
    assert limits_of(run.config) == Limits(0.05, 0.01, run.config.flips, run.config.seed)
    failed = dataclasses.replace(
        night({KEY: SCORES}),
        cells=tuple(
            dataclasses.replace(c, chunks=dataclasses.replace(c.chunks, failed_files={"x": "y"}))
            for c in night({KEY: SCORES}).cells
        ),
    )
    alone = compare_runs((run, failed), None, measures=["ndcg@10"], limits=Limits())
    assert alone.not_cut == ("cast: x (y)",)
    assert alone.baseline is None
    twice = alone.with_notes(["a", "b", "a"])
    assert twice.notes == ("a", "b")


def test_commits_are_looked_for_where_both_runs_name_another_one(tmp_path: Path) -> None:
    """The same commit, or one that a run does not know, is no range; a folder that is no clone cannot count."""

    def commits(old: str | None, new: str | None) -> dict[str, CommitRange]:
        runs = [
            dataclasses.replace(record(STAGES), sources={"code": {"commit": each, "root": str(tmp_path)}})
            for each in (new, old)
        ]
        held = night({KEY: SCORES})
        return dict(
            compare_runs((runs[0], held), (runs[1], held), measures=["ndcg@10"], limits=Limits(flips=99)).commits
        )

    assert commits("a" * 40, "b" * 40) == {"code": CommitRange("a" * 40, "b" * 40, None, ())}
    for old, new in (("a", "a"), (None, "a"), ("a", None), (None, None)):
        assert commits(old, new) == {}


def test_the_newest_eight_runs_are_named_to_whoever_asks_for_another(tmp_path: Path) -> None:
    """An empty history has none."""
    history = History(tmp_path)
    with pytest.raises(UsageError, match="has no run 5; the newest are: none"):
        history.record(5)
    for number in range(10, 20):
        history.folder(number).mkdir(parents=True)
    with pytest.raises(UsageError, match=r"the newest are: 12, 13, 14, 15, 16, 17, 18, 19$"):
        history.record(5)


def test_pruning_removes_nothing_that_nobody_asked_to_remove(tmp_path: Path) -> None:
    """Fewer runs than are kept, a time without an age; of many acceptances only the last one holds its run."""
    history = History(tmp_path)
    for number in range(1, 6):
        store(history, number)
    for run in (1, 2, 3):
        accept(history, run=run, who="me", why="good", now=NOON)
    assert prune(history, keep=9) == prune(history, keep=5) == prune(history, now=NOON + timedelta(days=999)) == []
    assert prune(history, keep=1, dry=True) == [1, 2, 4]
    assert history.numbers() == [1, 2, 3, 4, 5]
    assert prune(history, keep=2) == [1, 2]
    assert history.numbers() == [3, 4, 5]


def test_nights_on_a_branch_leave_reports_with_their_verdict(tmp_path: Path) -> None:
    """The first is accepted; each has its files, its commit and a report that compares; the next counts the commits."""
    lab = Lab(tmp_path, queries=20)
    lab.set_up("packaging")
    spec = f"mined:root={lab.clone},ref=main,queries=20"
    chunkers = ["fixed-lines:lines=10", "fixed-lines:lines=60"]
    config = make_config(
        {"datasets": spec, "chunkers": chunkers, "embedders": "hashing", "retrievers": "bm25", "flips": 200}
        | {"measures": ["ndcg@10"], "headline": "ndcg@10", "nightly": {"alpha": 0.1}}
    )
    history, place = History(lab.history), Workplace(lab.root / "cache", Serial())
    first = run_night(config, history, place, now=NOON)
    assert (first.record.number, first.baseline) == (1, None)
    (accepted,) = acceptances(history).given
    assert (accepted.run, accepted.who, accepted.why) == (1, "chunkbench", "the first run")
    folder = history.folder(1)
    assert json.loads((folder / "night.json").read_text("utf-8")) == json.loads(json.dumps(night_json(first)))
    assert (folder / "night.md").read_text("utf-8") == night_markdown(first, links="")
    assert (lab.history / "summary.md").read_text("utf-8") == night_markdown(first, links="runs/00001/")
    assert "runs/00001/report.html" in (lab.history / "trend.html").read_text("utf-8")
    summary = (folder / "summary.md").read_text("utf-8")
    assert "no comparison was computed" not in summary
    assert "best" in summary
    source = history.record(1).sources[spec]
    assert (source["root"], source["ref"], len(source["commit"])) == (str(lab.clone), "main", 40)
    lab.edit(2)
    second = run_night(config, history, place, now=NOON)
    assert second.baseline is not None
    assert (second.record.number, second.baseline.number, second.commits[spec].count) == (2, 1, 1)
    assert second.limits.alpha == 0.1
    assert len(acceptances(history).given) == 1
