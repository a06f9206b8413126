"""The trend: its drawings are as they were approved, the page's order is that of the last run, names are checked."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from test_history_folder import store
from test_history_gate import STAGES, record

from chunkers.errors import UsageError
from evaluation.history.comparison import limits_of
from evaluation.history.folder import History
from evaluation.history.lines import trend_lines
from evaluation.history.trend import Note, Point, Series, _quiet, check_measure, trends
from evaluation.history.trend_figure import trend_figure
from evaluation.history.trend_page import _figures
from evaluation.report.figures.marks import marks
from evaluation.types import CellKey

APPROVED = Path(__file__).parent / "fixtures" / "figures"


def series(chunker: str, means: list[float], *, half: float | None = 0.05, **marks: int) -> Series:
    """Return means with intervals, run 2 on; ``broken`` and ``regression`` are the places of such points."""
    points = [
        Point(
            run,
            f"day {run}",
            mean,
            None if half is None else mean - half,
            None if half is None else mean + half,
            "c0ffee",
            marks.get("broken") == place,
            "regression" if marks.get("regression") == place else "no change",
            None if half is None or place == 0 else (means[0] - half, means[0] + half),
        )
        for place, (run, mean) in enumerate(enumerate(means, 2))
    ]
    return Series(CellKey("code", chunker, "hashing", "dense"), "naurc@4000tok", tuple(points))


ROWS = [
    series("cast:size=1500", [0.6, 0.62, 0.5, 0.51], regression=2),
    series("recursive:size=1500", [0.55, 0.56, 0.57, 0.2], broken=3),
    series("a-chunker-with-a-very-long-name:size=1000,overlap=5", [0.3, 0.3, 0.31, 0.3], half=None),
    series("fixed-lines:lines=50", [0.4, 0.41, 0.42, 0.43], half=0.3),
    *(series(f"low-{number}", [0.25, 0.25, 0.25, 0.16]) for number in range(3)),
    *(series(f"high-{number}", [0.25, 0.25, 0.25, 0.66]) for number in range(3)),
]
NOTES = [Note(3, "accepted", "me: <b>"), Note(9, "accepted", "later"), Note(5, "changed", "package x was 1 and is 2")]
MARKS = marks(row.key.chunker for row in ROWS)
DRAWN = {
    f"trend-{kind}": trend_figure(ROWS, MARKS, notes=NOTES, narrow=kind == "narrow") for kind in ("wide", "narrow")
}


@pytest.mark.parametrize("name", DRAWN)
def test_each_drawing_is_as_it_was_approved(name: str) -> None:
    """After a change that was looked at, `python tests/test_history_trend.py` draws them again."""
    assert str(DRAWN[name]) + "\n" == (APPROVED / f"{name}.svg").read_text("utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_is_what_is_known(name: str) -> None:
    """A line for the accepted run that is shown, bands of the first three where there are intervals, cut lines."""
    root = ET.fromstring(DRAWN[name])  # noqa: S314 - our own drawing

    def drawn(tag: str, kind: str) -> list[ET.Element]:
        return [each for each in root.iter(tag) if kind in each.get("class", "").split()]

    accepted, changed = drawn("line", "dashed")
    titles = [each.text for each in root.iter("title")]
    assert titles[:2] == ["accepted: me: <b>", "changed: package x was 1 and is 2"]
    assert changed.get("x1") == changed.get("x2")
    lines = [re.findall(r"-?[\d.]+", path.get("d", "")) for path in drawn("path", "line")]
    assert len(lines) == len(ROWS) + 1, "one of them is cut in two"
    assert accepted.get("x1") == accepted.get("x2")
    assert float(accepted.get("x1", "")) == pytest.approx(float(lines[0][2]), abs=0.1), "at the second of the runs"
    assert len(drawn("path", "band")) == 2, "no interval is no band, and from the fourth on there is none"
    assert len(drawn("g", "hollow")) == 1, "the regression"


def test_noise_does_not_look_like_a_collapse() -> None:
    """What chance does is at most a third of the drawing, and a share is drawn over ten points at least."""
    for half in (0.0005, 0.02, 0.1):
        drawing = trend_figure([series("cast", [0.6, 0.6, 0.6], half=half)], marks(["cast"]))
        root = ET.fromstring(drawing)  # noqa: S314 - our own drawing
        (band,) = [each for each in root.iter("path") if "band" in each.get("class", "")]
        heights = [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", band.get("d", ""))]
        high = float(root.get("height", "")) - 60
        assert max(heights) - min(heights) <= high / 3 + 0.5
        assert max(heights) - min(heights) <= high * 2 * half / 0.1 + 0.5


def test_many_chunkers_have_a_label_each() -> None:
    """Thirty labels lie inside the drawing, a line apart."""
    rows = [series(f"chunker-{number:02}", [0.5, 0.5]) for number in range(30)]
    root = ET.fromstring(trend_figure(rows, marks(row.key.chunker for row in rows)))  # noqa: S314 - our own drawing
    height = float(root.get("viewBox", "").split()[3])
    labels = [float(each.get("y", "")) for each in root.iter("text") if (each.text or "").startswith("chunker-")]
    assert len(labels) == 30
    assert min(labels) > 10
    assert max(labels) < height - 40, "below is the axis"
    assert all(below - above >= 18.9 for above, below in pairwise(sorted(labels)))


def test_many_runs_have_few_numbers_and_no_dots() -> None:
    """From 41 runs on only what was found has a mark; whole numbers name runs."""
    for runs, dots in ((40, 40), (41, 0)):
        root = ET.fromstring(trend_figure([series("cast", [0.5] * runs)], marks(["cast"])))  # noqa: S314 - our own drawing
        # The disc at the end is beside the drawing, with the name.
        assert len([each for each in root.iter("circle") if each.get("r") == "3"]) == dots
        words = [each.text or "" for each in root.iter("text")]
        assert len([word for word in words if word.isdigit()]) <= 12


@pytest.mark.parametrize(("measure", "order"), [("ndcg@10", ["b", "c", "a"]), ("split_rate", ["a", "c", "b"])])
def test_the_best_of_the_last_run_is_first(measure: str, order: list[str]) -> None:
    """In the direction of the measure, whatever came before; the newest point is the first row of each."""
    rows = [replace(series(name, [0.5, last]), measure=measure) for name, last in (("a", 0.1), ("b", 0.3), ("c", 0.2))]
    ((title, figure),) = _figures(rows, marks("abc"), [])
    assert title == f"{measure} · code · hashing · dense"
    assert [row[0] for row in figure.table.rows[::2]] == order
    assert [row[1] for row in figure.table.rows] == ["3", "2"] * 3
    assert [figure.table.header[column] for column in sorted(figure.table.words)] == ["chunker", "commit", "verdict"]


@pytest.mark.parametrize("runs", [1, 4, 90])
def test_lines_of_a_trend_fit_and_name_an_embedder_only_where_one_is_used(runs: int) -> None:
    """A heading per setting, no line over 80 columns, every name whole; of many runs the newest, and it says so."""
    means = [0.1 + 0.8 * (k % 7) / 7 for k in range(runs)]
    long = "a-chunker-with-a-very-long-name:size=1000,overlap=50,unit=tokens"
    rows = [replace(series(name, means), uses_vectors=used) for used in (True, False) for name in ("cast", long)]
    rows = [replace(row, key=row.key._replace(dataset=f"mined:root=/home/{'x' * 90}/code")) for row in rows]
    lines = list(trend_lines(rows, width=80))
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("naurc")] == [
        f"naurc@4000tok · mined:root=code · {used}dense{', the newest 26 of 90 runs' if runs == 90 else ''}"
        for used in ("hashing · ", "")
    ]
    assert sum(long in line for line in lines) == 2
    shown = [line.split()[1] for line in lines if line.startswith("  cast")]
    assert shown == [rows[0].spark[-26:]] * 2


@pytest.mark.parametrize("runs", [(2, 3), (2, 3, 4, 5), (2, 5), (3, 4)])
@pytest.mark.parametrize("label", ["x", "accepted", "a longer word of what was changed"])
def test_words_at_runs_do_not_touch(runs: tuple[int, ...], label: str) -> None:
    """Each run has its line; its words stand on either side of it, beside those of no other run, inside the figure."""
    markup = str(trend_figure(ROWS, MARKS, notes=[Note(run, label, "why") for run in runs]))
    drawn = ET.fromstring(markup)  # noqa: S314 - our own drawing
    assert sum("zero dashed" in each.get("class", "") for each in drawn.iter()) == len(runs)
    words = [each for each in drawn.iter() if "halo" in each.get("class", "") and each.text == label]
    lefts = [float(each.get("x", "")) - 6.5 * len(label) * (each.get("text-anchor") == "end") for each in words]
    assert all(after - before >= 6.5 * len(label) for before, after in pairwise(sorted(lefts)))
    edge = max(float(each.get("x2", "0")) for each in drawn.iter() if each.get("class") == "grid")
    assert all(0 <= left <= edge - 6.5 * len(label) for left in lefts)
    assert len(words) == len(runs) or len(label) > 8


@pytest.mark.parametrize(("measure", "least"), [("ndcg@10", 0.01), ("tokens_to_recall(0.5)", 0.01 * 0.4)])
def test_the_band_of_a_run_is_its_interval_or_the_least_effect(measure: str, least: float) -> None:
    """It lies as far from the drawn mean as the shared queries moved; where a number is unknown there is none."""
    run = record(STAGES)
    assert limits_of(run.config).minimum_effect == 0.01
    for half in (0.1, 0.0001):
        finding = {"measure": measure, "before": 0.4, "now": 0.6, "low": 0.2 - half, "high": 0.2 + half}
        wide = max(half, least)
        assert _quiet(finding, run, mean=0.6) == pytest.approx((0.4 - wide, 0.4 + wide))
        assert _quiet(finding, run, mean=0.75) == pytest.approx((0.55 - wide, 0.55 + wide)), "new queries are easier"
        for name in ("before", "now", "low", "high"):
            assert _quiet({**finding, name: None}, run, mean=0.6) is None


def test_the_last_runs_are_the_newest(tmp_path: Path) -> None:
    """As many as are asked for, or all."""
    history = History(tmp_path)
    for number in (1, 2, 3):
        store(history, number, seed=number)
    for last, runs in ((2, [2, 3]), (None, [1, 2, 3])):
        assert [point.run for point in trends(history, ["naurc@4000tok"], last=last).series[0].points] == runs


def test_a_measure_that_was_not_taken_is_named(tmp_path: Path) -> None:
    """With what is near; one that was taken is returned."""
    history = History(tmp_path)
    with pytest.raises(UsageError, match="has no runs yet"):
        check_measure(history, "naurc@4000tok")
    store(history, 1)
    assert check_measure(history, "naurc@4000tok") == "naurc@4000tok"
    with pytest.raises(UsageError, match=r"the newest run did not measure 'naurc@4001tok'\. Did you mean"):
        check_measure(history, "naurc@4001tok")


def _approve() -> None:
    for name, drawing in DRAWN.items():
        (APPROVED / f"{name}.svg").write_text(str(drawing) + "\n", "utf-8")


if __name__ == "__main__":
    _approve()
