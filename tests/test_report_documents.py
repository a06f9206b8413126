"""The terminal table fits, and what is pasted elsewhere is well formed."""

from __future__ import annotations

import csv
import io
import itertools
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from evaluation.report.documents import comparisons_csv, csv_text, latex, markdown
from evaluation.report.terminal import render_table
from evaluation.report.view import views
from evaluation.results.types import Results

_CASE = runpy.run_path(str(Path(__file__).with_name("report_case.py")))
simulated_results: Callable[..., Results] = _CASE["simulated_results"]


def _printed(results: Results, *, width: int, wide: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(render_table(results, wide=wide))
    return out.getvalue()


def test_the_table_fits_a_hundred_columns_even_with_long_names() -> None:
    """No line is longer than 100 characters, no number is cut, and a long name is folded, not lost."""
    names = ["peers.some-library:model=very-long-name,size=2000,overlap=200,unit=tokens", "cast:size=2000"]
    text = _printed(simulated_results(names=names, edges=(0.1, 0.0)), width=100)
    assert max(len(line) for line in text.splitlines()) <= 100
    # Only the interval "low…high" holds an ellipsis, between digits: nothing was cut off.
    assert all(f"{text[k - 1]}{text[k + 1]}".isdigit() for k, character in enumerate(text) if character == "…")
    squeezed = "".join(line.split("  ")[0].strip() for line in text.splitlines())
    assert "unit=tokens" in squeezed


def test_rows_are_sorted_and_the_best_is_starred_without_colour() -> None:
    """The best chunker comes first, its mean carries a star, and a dot marks who may be best."""
    lines = _printed(simulated_results(edges=(0.0, 0.3, 0.1, -0.2)), width=100).splitlines()
    rows = [line for line in lines if line.strip().startswith(("cast:", "fixed-", "functions", "sliding:"))]
    assert rows[0].strip().startswith("fixed-lines:lines=50")
    assert "★" in rows[0]
    assert "★" not in rows[-1]
    assert ["●" in row for row in rows] == [True, False, False, False]


def test_the_wide_table_has_every_measure() -> None:
    """--wide shows the measures on chunk ids too, unmarked: they give no order between chunkers."""
    results = simulated_results()
    (view,) = views(results)
    text = _printed(results, width=200, wide=True)
    assert "ndcg" in text
    best = 0
    for measure in view.fair:
        means = [cell.measures[measure].mean for cell in results.cells]
        best += means.count(max(mean for mean in means if mean is not None))
    assert len(view.fair) == 3
    assert "p95" in text
    assert "p95" not in _printed(results, width=100)
    assert text.count("★") == best + 1  # the legend has one too


def test_markdown_has_the_verdict_every_table_and_the_failures() -> None:
    """summary.md carries verdict, both protocols with chance, comparisons and failures; markup in names stays text."""
    results = simulated_results(failed={"a|b<img>": "x * y"})
    text = markdown(results, views(results))
    assert "**Verdict.** cast:size=2000 or functions may be best" in text
    assert "| ndcg@5 | recall@5 |" in text
    assert f"({100 * results.cells[0].judgements.chance['ndcg@5']:.1f})" in text
    assert "a\\|b\\<img\\>: x \\* y" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") - line.count("\\|") for line in tables} <= {10, 9, 14, 8, 12}


def test_latex_escapes_and_closes_what_it_opens() -> None:
    """The tables balance, and special characters of names are escaped."""
    results = simulated_results(names=["a_b:x=50%", "c&d"], edges=(0.1, 0.0))
    text = latex(results, views(results))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert r"a\_b:x=50\%" in text
    assert r"c\&d" in text
    for row in [line for line in text.splitlines() if line.endswith(r"\\")]:
        assert row.replace(r"\&", "").count("&") in (8, 7)


def test_csv_is_unrounded_and_reads_back() -> None:
    """table.csv has one line per cell and measure with full precision; comparisons.csv one per pair."""
    results = simulated_results()
    rows = list(csv.DictReader(io.StringIO(csv_text(views(results)))))
    assert len(rows) == 4 * 5
    first = next(row for row in rows if row["chunker"] == "cast:size=2000" and row["measure"] == "naurc@4000tok")
    assert float(first["mean"]) == pytest.approx(results.cells[0].measures["naurc@4000tok"].mean, abs=0)
    pairs = list(csv.DictReader(io.StringIO(comparisons_csv(views(results)))))
    assert len(pairs) == 6
    assert {"a", "b", "difference", "p_alone", "decision", "seed", "flips"} <= pairs[0].keys()


def _cells_of(text: str, title: str) -> list[list[str]]:
    """Return the rows of the Markdown table below a title, header and rule left out."""
    lines = text[text.index(f"### {title}") :].splitlines()[2:]
    table = list(itertools.takewhile(lambda line: line.startswith("|"), lines))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def test_markdown_and_latex_mark_the_best_of_each_column_and_nothing_else() -> None:
    """Bold is what has the best mean of its measure, the first row in the headline; sizes and intervals never are."""
    results = simulated_results(edges=(0.0, 0.3, 0.1, -0.2))
    (view,) = views(results)
    rows = _cells_of(markdown(results, [view]), "Measures on gold text")
    assert [row[0] for row in rows] == [row.chunker for row in view.rows]
    columns = {1: view.headline, **{3 + k: name for k, name in enumerate(view.fair) if k}}
    for column in range(len(rows[0])):
        bold = {place for place, row in enumerate(rows) if row[column].startswith("**") and row[column].endswith("**")}
        if column not in columns:
            assert bold == set()
            continue
        means = [row.mean(columns[column]) or 0.0 for row in view.rows]
        assert bold == {place for place, mean in enumerate(means) if mean == max(means)}
    assert rows[0][1].startswith("**")
    assert r"\textbf{" + rows[0][1].strip("*") + "}" in latex(results, [view])
    assert latex(results, [view]).count(r"\textbf{") == sum(cell.startswith("**") for row in rows for cell in row)
    assert "**" not in "".join(map("".join, _cells_of(markdown(results, [view]), "Published protocol")))
