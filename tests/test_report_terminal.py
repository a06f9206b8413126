"""The tables of a terminal hold the numbers of the run where their headings say, and fit whatever the width is."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_case import HEADLINE, simulated_results
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluation.report.costs import cost_table
from evaluation.report.documents import markdown
from evaluation.report.fitting import (
    Prose,
    Trimmed,
    in_pieces,
    name_lines,
    new_table,
    that_fit,
    to_the_right,
    width_of,
    wrapped,
)
from evaluation.report.formats import sparkline
from evaluation.report.latex import latex
from evaluation.report.page import page
from evaluation.report.tables import group_table
from evaluation.report.terminal import _thinned, render_screen, render_table
from evaluation.report.view import View, views
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import Results


@functools.cache
def _run(retrievers: tuple[str, ...] = ("dense",), embedders: tuple[str, ...] = ("minilm",)) -> Results:
    """Return a run with queries of two kinds."""
    results = simulated_results(
        names=("a:size=2000", "b", "c"), edges=(0.2, 0.0, -0.1), retrievers=retrievers, embedders=embedders
    )
    queries = [dataclasses.replace(q, kind="comments" if k % 3 else "") for k, q in enumerate(results.queries)]
    return dataclasses.replace(results, queries=tuple(queries))


def _printed(what: Any, *, width: int = 200) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(what)
    return out.getvalue()


def _tables(text: str) -> list[tuple[str, list[str]]]:
    """Return title and lines of each table, the two lines of headings first."""
    lines = text.splitlines()
    found = []
    for k, line in enumerate(lines):
        if line.strip().startswith("──"):
            start = next(j for j in range(k, -1, -1) if not lines[j].strip())
            heads = lines[start + 1 : k]
            rows = list(itertools.takewhile(str.strip, lines[k + 1 :]))
            found.append((lines[start - 1].strip(), [*heads, *rows]))
    return found


def _cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _starred(view: View, chunker: str, measure: str) -> str:
    row = view.row(chunker)
    return _points(row.mean(measure)) + ("★" if measure in row.best_in else "")


@pytest.mark.parametrize("wide", [False, True])
def test_each_column_of_a_setting_is_what_its_heading_says(wide: bool) -> None:  # noqa: FBT001 - parametrized
    """Mean with a star for the best, interval, mark, measures, chunks, sizes and the curve, best chunker first."""
    results = _run()
    (view,) = views(results)
    title, (above, heads, *rows) = _tables(_printed(render_table(results, wide=wide)))[0]
    assert title == "simulated · minilm · dense"
    measures = [*view.fair[1:], *view.published] if wide else view.fair[1:3]
    cuts = [name.partition("@") for name in measures]
    assert _cells(above) == [
        "naurc",
        *(label for label, _, _ in cuts),
        *(["p95"] if wide else []),
        "recall to",
    ]
    sizes = ["chunks", "size", *(["size"] if wide else [])]
    assert _cells(heads) == ["chunker", "@4000tok", "95 %", *(f"@{cut}" for _, _, cut in cuts), *sizes, "8,000"]
    for row, line in zip(view.rows, rows, strict=True):
        chunks, low, high = row.cell.chunks, row.part(HEADLINE, "low"), row.part(HEADLINE, "high")
        assert _cells(line) == [
            row.chunker,
            _starred(view, row.chunker, HEADLINE),
            f"{_points(low)}…{_points(high)}",
            *([row.mark] if row.mark else []),
            *(_starred(view, row.chunker, name) for name in measures),
            f"{chunks.count:,}",
            f"{chunks.mean_nws:,.0f}",
            *([f"{chunks.p95_nws:,.0f}"] if wide else []),
            sparkline(row.curve),
        ]
    place = above.index("naurc") + len("naurc")
    assert heads[:place].endswith("@4000tok")
    assert {line[place - 1] for line in rows} == {"★", " "}


def test_the_kinds_of_queries_have_their_own_table() -> None:
    """One setting alone, and several side by side, as the table of text has them."""
    results = _run()
    (view,) = views(results)
    wanted = group_table(view, "kind")
    assert wanted is not None
    title, (heads, *rows) = _tables(_printed(render_table(results)))[1]
    assert title == "by kind of query"
    assert _cells(heads) == wanted.header
    assert [_cells(line) for line in rows] == wanted.rows
    several = _run(("dense", "bm25"))
    found = views(several)
    title, (heads, *rows) = _tables(_printed(render_table(several)))[1]
    assert title == "by kind of query (dense / bm25)"
    tables = [group_table(each, "kind") for each in found]
    for line in rows:
        name, *cells = _cells(line)
        for place, cell in enumerate(cells, start=1):
            means = [next(row[place] for row in each.rows if row[0] == name) for each in tables if each]
            assert cell == " / ".join(means)
    narrow = _tables(_printed(render_table(several), width=40))
    assert [title for title, _ in narrow].count("by kind of query (dense)") == 1
    assert [title for title, _ in narrow].count("by kind of query (bm25)") == 1


def test_categories_of_queries_have_a_table_too() -> None:
    """Beside that of kinds, in the terminal, in Markdown, in LaTeX and on the page; one category is no table."""
    results = _run()
    queries = [dataclasses.replace(query, category=("api", "")[k % 2]) for k, query in enumerate(results.queries)]
    several = dataclasses.replace(results, queries=tuple(queries))
    assert [title for title, _ in _tables(_printed(render_table(several)))][1:] == [
        "by kind of query",
        "by category of query",
    ]
    found = views(several)
    for text in (markdown(several, found), latex(several, found), page(several)):
        assert "by category of query" in text
    assert "by category of query" not in _printed(render_table(results))


def test_kinds_for_which_there_is_no_room_are_named() -> None:
    """What fits is shown in its order."""
    results = _run()
    queries = [dataclasses.replace(q, kind=f"a-very-long-kind-{k % 4}") for k, q in enumerate(results.queries)]
    text = _printed(render_table(dataclasses.replace(results, queries=tuple(queries))), width=60)
    _, (heads, *_) = _tables(text)[1]
    kept = _cells(heads)[1:]
    names = [f"a-very-long-kind-{k} (16)" for k in range(4)]
    assert kept == names[: len(kept)]
    assert 0 < len(kept) < 4
    left = " ".join(text.split()).rpartition("Left out for want of room: ")[2]
    assert left.startswith(f"{', '.join(names[len(kept) :])}. A wider terminal or report.html has them.")


def test_settings_side_by_side_have_their_means_and_marks() -> None:
    """A column per setting with its retriever and embedder, a star for the best and a dot for who may be best."""
    results = _run(("dense", "bm25"), ("minilm", "bge"))
    found = views(results)
    title, (above, heads, *rows) = _tables(_printed(render_table(results)))[0]
    assert title == "simulated · naurc@4000tok"
    assert _cells(above) == ["dense", "dense"]
    assert _cells(heads) == ["chunker", "minilm", "bm25", "bge", "chunks", "size"]
    assert results.overall is not None
    assert [_cells(line)[0] for line in rows] == [row.chunker for row in found[0].rows]
    for line in rows:
        name, *cells = _cells(line)
        chunks = found[0].row(name).cell.chunks
        assert cells[3:] == [f"{chunks.count:,}", f"{chunks.mean_nws:,.0f}"]
        for cell, view, each in zip(cells[:3], found, results.overall.settings, strict=True):
            dot = "●" if name in each.found.may_be_best else ""
            assert cell.replace(" ", "") == _starred(view, name, HEADLINE) + dot
    one = _tables(_printed(render_table(_run(("dense", "hybrid")))))[0]
    assert one[0] == "simulated · naurc@4000tok · minilm"
    assert _cells(one[1][0]) == ["chunker", "dense", "hybrid", "chunks", "size"]


def test_kinds_of_several_embedders_name_them() -> None:
    """Two embedders with one retriever would have the same heading."""
    text = " ".join(_printed(render_table(_run(("dense",), ("minilm", "bge")))).split())
    assert "by kind of query (minilm · dense / bge · dense)" in text
    titles = [title for title, _ in _tables(_printed(render_table(_run(("dense", "hybrid")))))]
    assert "by kind of query (dense / hybrid)" in titles


def test_a_chunker_alone_in_its_setting_has_no_star() -> None:
    """Beside other settings, its mean in each of them would look like the best of all."""
    results = simulated_results(names=("a",), edges=(0.0,), retrievers=("dense", "bm25"))
    assert "★" not in "".join(_tables(_printed(render_table(results)))[0][1])


def test_settings_that_do_not_fit_side_by_side_are_in_several_tables() -> None:
    """Each with the chunkers; together they have every setting once."""
    results = _run(("dense", "bm25", "hybrid"))
    text = _printed(render_table(results), width=40)
    tables = [rows for title, rows in _tables(text) if title.startswith("simulated · naurc")]
    assert len(tables) > 1
    heads = [name for rows in tables for name in _cells(rows[0])[1:-2]]
    assert heads == ["dense", "bm25", "hybrid"]
    assert all(len(rows) == 4 for rows in tables)


def test_a_chunker_that_failed_in_a_setting_has_a_dash_there_and_stands_behind() -> None:
    """Places are means over the settings, the last place where one is missing; what failed is said below."""
    results = simulated_results(names=("a", "b"), edges=(0.3, 0.0), retrievers=("dense", "bm25", "hybrid"))
    cells = [
        dataclasses.replace(cell, status="failed", reason="no memory") if k in (0, 2) else cell
        for k, cell in enumerate(results.cells)
    ]
    held = with_statistics(dataclasses.replace(results, cells=tuple(cells)))
    text = _printed(render_table(held))
    _, (*_, first, second) = _tables(text)[0]
    assert [_cells(line)[0] for line in (first, second)] == ["b", "a"]
    assert _cells(second)[1:3] == ["–", "–"]
    assert text.count("failed: a: no memory") == 2
    one = [dataclasses.replace(cell, status="failed") if k == 0 else cell for k, cell in enumerate(results.cells)]
    text = _printed(render_table(with_statistics(dataclasses.replace(results, cells=tuple(one)))))
    assert [_cells(line)[0] for line in _tables(text)[0][1][-2:]] == ["a", "b"]
    broken = dataclasses.replace(results.cells[1].chunks, failed_files={"x.py": "bad"})
    cut = dataclasses.replace(
        results,
        cells=tuple(dataclasses.replace(c, chunks=broken) if k == 1 else c for k, c in enumerate(results.cells)),
    )
    assert "not cut by b: x.py (bad)" in _printed(render_table(cut))
    assert "failed" not in _printed(render_table(results))


def test_costs_stand_in_the_wide_screen_as_in_their_table() -> None:
    """All columns where they fit; those that do not are named."""
    results = _run()
    (view,) = views(results)
    wanted = cost_table(view)
    assert wanted is not None
    title, (heads, *rows) = _tables(_printed(render_screen(results, wide=True)))[2]
    assert title == "Cost beside quality"
    assert _cells(heads) == wanted.header
    assert [_cells(line) for line in rows] == wanted.rows
    assert "Cost beside quality" not in _printed(render_screen(results))
    assert _printed(render_screen(results, wide=True)).count("a:size=2000 is best.") == 1
    text = _printed(render_screen(results, wide=True), width=60)
    _, (heads, *_) = _tables(text)[2]
    kept = len(_cells(heads))
    assert f"Left out for want of room: {', '.join(wanted.header[kept:])}. A wider" in " ".join(text.split())


def test_what_one_table_has_explained_is_not_explained_again() -> None:
    """Of several settings each line of the legend stands once, and the last lines say where more is."""
    results = _run(("dense", "bm25"))
    wide = " ".join(_printed(render_screen(results, wide=True)).split())
    assert wide.count("naurc@4000tok: how much of the code") == 1
    assert wide.count("Half read, 80 % read: ") == 1
    assert wide.count("● may be the best of this setting, taken by itself") == 1
    assert "More: " not in wide
    assert "Retrievers with b · minilm: " in wide
    plain = " ".join(_printed(render_screen(results)).split())
    assert plain.endswith(
        "More: --wide (each setting by itself, all measures, costs), report.html (figures, every query)."
    )
    assert "Retrievers with" not in plain
    alone = " ".join(_printed(render_screen(_run())).split())
    assert alone.endswith("More: --wide (all measures, costs), report.html (figures, every query).")
    assert [("on chunk ids have none" in text) for text in (wide, plain, alone)] == [True, False, False]
    assert _printed(render_table(_run())).endswith("is among those marked.\n\n")
    tables = " ".join(_printed(render_table(_run())).split())
    assert tables.startswith("simulated · minilm · dense ")
    assert "(random ranking " in tables
    assert "More: " not in tables


@pytest.mark.parametrize("count", [1, 10, 11, 25])
def test_a_long_curve_is_thinned_and_keeps_its_ends(count: int) -> None:
    """At most ten values, evenly chosen, the first and the last among them."""
    values = [k / 25 for k in range(count)]
    found = _thinned(values)
    assert len(found) == min(count, 10)
    assert (found[0], found[-1]) == (values[0], values[-1])
    places = [values.index(value) for value in found]
    steps = {b - a for a, b in itertools.pairwise(places)}
    assert steps <= {round((count - 1) / 9) + d for d in (-1, 0, 1)} or count <= 10
    assert np.allclose(places, np.linspace(0, count - 1, len(found)), atol=0.5)


@given(st.text("ab:,+ ", min_size=1, max_size=40), st.integers(8, 20))
def test_a_name_goes_on_below_after_a_separator_only(name: str, most: int) -> None:
    """Nothing is lost, lines are as long as they may be, and a word is cut only where it is longer than any line."""
    lines = str(name_lines(name, most)).split("\n")
    assert lines[0] + "".join(line[2:] for line in lines[1:]) == name
    assert all(line.startswith("  ") for line in lines[1:])
    for line, below in itertools.pairwise(lines):
        assert line[-1] in ":,+ " or len(line) >= 2 * most - 2
        word = re.match(r"[^:,+ ]*[:,+ ]?", below[2:])
        assert word is not None
        assert len(line) + len(word[0][: 2 * most - 2]) > most


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("cast:size=2000", ["cast:size=2000"]),
        ("cast:size=20001", ["cast:", "  size=20001"]),
        ("a:b=1,c=2,d=3,e=4", ["a:b=1,c=2,d=3,", "  e=4"]),
        ("x" * 27, ["x" * 26, "  x"]),
        ("x" * 26, ["x" * 26]),
    ],
)
def test_a_name_that_fits_its_column_is_one_line(name: str, lines: list[str]) -> None:
    """Fourteen characters here; a word may be almost twice as long before it is cut."""
    assert str(name_lines(name, 14)).split("\n") == lines


def _sized(widths: list[int]) -> Table:
    table = new_table("")
    for width in widths:
        table.add_column("x" * width, no_wrap=True)
    return table


def test_as_many_columns_are_kept_as_fit_exactly() -> None:
    """One character less and the last one goes; what has no room at all is left out."""
    items = [str(width) for width in (5, 6, 7)]

    def make(some: Any) -> Table:
        return _sized([int(each) for each in some])

    whole = width_of(make(items))
    assert that_fit(items, make, whole) == items
    assert that_fit(items, make, whole - 1) == items[:2]
    assert that_fit(items, make, 1) == []
    assert [len(table.columns) for table in in_pieces(items, make, whole)] == [4]
    assert [len(table.columns) for table in in_pieces(items, make, whole - 1)] == [3, 2]
    assert [len(table.columns) for table in in_pieces(items, make, 1)] == [2, 2, 2]
    assert in_pieces([], make, 9) == []


def test_cells_end_below_each_other() -> None:
    """Headings of two lines too, each line by itself."""
    cells = [Text("1"), Text("12345"), Text("123 ")]
    assert to_the_right("ab\nc", cells) == "   ab\n    c"
    assert [cell.plain for cell in cells] == ["    1", "12345", " 123 "]
    short = [Text("1")]
    assert to_the_right("abc", short) == "abc"
    assert short[0].plain == "  1"


def test_prose_is_as_wide_as_the_terminal_with_its_beginning_in_bold() -> None:
    """Lines after the first are indented; spaces at the ends of lines are not printed."""
    assert wrapped("aa bb cc dd", 5) == "aa bb\ncc dd"
    assert wrapped("aa bb cc", 5, hang=2) == "aa bb\n  cc"
    assert wrapped("a 12 % b", 5) == "a\n12 %\nb"
    out = io.StringIO()
    Console(file=out, width=40, force_terminal=True, color_system="standard").print(Prose("one two", strong="one"))
    assert out.getvalue() == "\x1b[1mone\x1b[0m two\n"
    assert _printed(Trimmed(Text("a  \n\n b   "))) == "a\n\n b\n"
    assert _printed(Trimmed(Text.assemble("x", ("   ", "bold"), "  "))) == "x\n"
