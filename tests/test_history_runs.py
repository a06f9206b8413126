"""Runs as they are stored, renamed and drawn: means, verdicts, commits and order, and what is damaged."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from report_case import simulated_results
from test_history_folder import NOON, store
from test_history_gate import KEY, SCORES, STAGES, night, record
from test_history_trend import series

from evaluation.history.accepted import accept
from evaluation.history.comparison import compare_runs, limits_of
from evaluation.history.folder import DamagedRunError, History
from evaluation.history.gate import Limits
from evaluation.history.lines import trend_lines
from evaluation.history.pins import renamed
from evaluation.history.trend import known_measures, trends
from evaluation.history.trend_page import _NEWEST, _figures, _row, trend_page
from evaluation.report.figures.marks import marks
from evaluation.report.verdict import verdict
from evaluation.results.types import Results

HEADLINE = "naurc@4000tok"


def test_results_under_another_name_say_the_same() -> None:
    """Nights pair up under the name as written: cells, comparisons, who may be best, and the statement over all."""
    for retrievers in (("dense",), ("dense", "bm25")):
        results: Results = simulated_results(names=("a", "b"), edges=(0.2, 0.0), queries=24, retrievers=retrievers)
        other = renamed(results, {"simulated": "as-written"})
        assert verdict(other) == verdict(results).replace("simulated", "as-written")
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
