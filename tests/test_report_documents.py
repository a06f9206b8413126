"""The terminal table fits, and what is pasted elsewhere is well formed."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import re

import pytest
from report_case import simulated_results
from rich.console import Console

from evaluation.report.documents import comparisons_csv, csv_text, markdown
from evaluation.report.glance import facts, overall_facts
from evaluation.report.latex import latex
from evaluation.report.overall import OVERALL_LEGEND
from evaluation.report.page import page
from evaluation.report.terminal import render_screen, render_table
from evaluation.report.verdict import sentences
from evaluation.report.view import views
from evaluation.results.types import Results


def _printed(results: Results, *, width: int, wide: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(render_table(results, wide=wide))
    return out.getvalue()


def _screen(results: Results, *, width: int = 80, wide: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(render_screen(results, wide=wide))
    return out.getvalue()


def test_the_table_fits_a_hundred_columns_even_with_long_names() -> None:
    """No line is longer than 100 characters, no number is cut, and a long name is folded, not lost."""
    names = ["peers.some-library:model=very-long-name,size=2000,overlap=200,unit=tokens", "cast:size=2000"]
    text = _printed(simulated_results(names=names, edges=(0.1, 0.0)), width=100)
    assert max(len(line) for line in text.splitlines()) <= 100
    # Only the interval "low…high" holds an ellipsis, between digits: nothing was cut off.
    assert all(f"{text[k - 1]}{text[k + 1]}".isdigit() for k, character in enumerate(text) if character == "…")
    assert all(part in text for part in ("peers.some-library:", "model=very-long-name,", "unit=tokens"))
    endless = _printed(simulated_results(names=["x" * 90, "b"], edges=(0.1, 0.0)), width=80)
    assert endless.count("x") >= 90


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


def test_the_summary_fits_a_comment_on_a_pull_request() -> None:
    """However many chunkers there are it is short enough; what is left out is said; the answer comes first."""
    names = [f"chunker-{k:02}:size={100 * k}" for k in range(24)]
    results = simulated_results(names=names, edges=[0.1 - k / 100 for k in range(24)], retrievers=("dense", "bm25"))
    text = markdown(results, views(results))
    assert len(text) < 65_536
    assert "are left out for their length" in text
    assert all(name in text for name in names)
    short = markdown(few := simulated_results(), views(few))
    assert short.index("**Verdict.**") < min(short.index("Caution"), short.index("|"))
    assert short.count("<details>") == short.count("</details>") == 1


def test_latex_escapes_and_closes_what_it_opens() -> None:
    """The tables balance, and special characters of names are escaped."""
    results = simulated_results(names=["a_b:x=50%", "c&d"], edges=(0.1, 0.0))
    text = latex(results, views(results))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") >= 2
    assert r"a\_b:x=50\%" in text
    assert r"c\&d" in text
    for table in text.split(r"\begin{table}")[1:]:
        rows = [line.replace(r"\&", "") for line in table.splitlines() if line.endswith(r"\\")]
        assert len({row.count("&") for row in rows}) == 1


@pytest.mark.parametrize("columns", [1, 2])
def test_latex_pieces_hold_every_number_once_and_no_path(columns: int) -> None:
    """A table that is too wide becomes several, each with the chunkers, a label of its own and no machine's path."""
    names = ["/home/me/lab/my_chunker.py:Mine,size=1000,overlap=5", "fixed-lines:lines=50"]
    results = simulated_results(names=names, edges=(0.1, 0.0))
    (view,) = views(results)
    text = latex(results, [view], columns=columns)
    assert "home" not in text
    assert r"my\_chunker.py:" in text
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) == len(set(labels)) == text.count(r"\begin{tabular}")
    assert "Shares in points of 100" in text
    for name in view.fair:
        value = f"{100 * (view.rows[0].mean(name) or 0.0):.1f}"
        assert value in text
    assert len(labels) > (2 if columns == 2 else 1)


@functools.cache
def _long_names(retrievers: tuple[str, ...]) -> Results:
    names = ["a-chunker-with-a-long-name:size=1000,overlap=50", "fixed-lines:lines=50", "c", "d"]
    return simulated_results(names=names, retrievers=retrievers)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("wide", [False, True])
def test_the_screen_fits_any_width_and_breaks_no_word(width: int, wide: bool) -> None:  # noqa: FBT001 - parametrized
    """No line is wider than the terminal, every part of a name is whole, and columns that are left out are named."""
    for retrievers in (("dense",), ("dense", "bm25", "hybrid")):
        results = _long_names(retrievers)
        text = _screen(results, width=width, wide=wide)
        assert max(map(len, text.splitlines())) <= width
        assert not [line for line in text.splitlines() if line != line.rstrip()]
        assert not re.search(r"\n *(%|points?\b|…)", text), "a number and its unit are torn apart"
        for part in ("a-chunker-with-a-long-name:", "size=1000,", "overlap=50", "fixed-lines:lines=50"):
            assert part in text
        measures = [name for view in views(results) for name in view.measures] if wide else []
        words = text.replace("\n", " ")
        for name in measures:
            label, _, cut = name.partition("@")
            assert f"@{cut}" in words
            assert label in words


@pytest.mark.parametrize("retrievers", [("dense",), ("dense", "bm25", "hybrid")])
def test_the_answer_and_its_facts_stand_before_the_first_table(retrievers: tuple[str, ...]) -> None:
    """The first words are the answer; then who may be best, over what, what could be shown, chance, and cautions."""
    results = simulated_results(retrievers=retrievers)
    found = views(results)
    text = _screen(results)
    words = " ".join(text.split())
    title = " ".join((found[0].setting.title if len(found) == 1 else f"simulated · {found[0].headline}").split())
    before = words[: words.index(f" {title}")]
    if len(found) == 1:
        assert before.startswith(sentences(found[0])[0])
    else:
        assert before.startswith("Over all 3 settings: ")
    known = facts(found[0]) if len(found) == 1 else overall_facts(results, found)
    assert len(known) >= 4
    places = [before.index(f"{fact.name} ") for fact in known]
    assert places == sorted(places)
    assert before.count("Caution: ") == words.count("Caution: ") > 0
    assert before.rindex(known[-1].name) < before.index("Caution: ")


def test_the_wide_screen_has_every_setting_in_words() -> None:
    """Each sentence on each setting but what the run could show, which is among its facts."""
    results = simulated_results(retrievers=("dense", "bm25"))
    words = " ".join(_screen(results, wide=True).split())
    for view in views(results):
        assert " ".join(sentences(view, power=False)) in words
        assert all(fact.words in words for fact in facts(view))


def test_columns_that_are_left_out_are_on_the_page() -> None:
    """Whatever the terminal has no room for, report.html has."""
    results = simulated_results()
    left = " ".join(_screen(results, width=60, wide=True).split())
    names = [name for part in re.findall(r"Left out for want of room: (.*?)\. A", left) for name in part.split(", ")]
    assert {"p95 size", "reading curve", "query p50"} <= set(names)
    text = page(results).replace("<wbr>", "").replace("\N{NO-BREAK SPACE}", " ")
    headings = {"95 %": ">95 % interval<", "reading curve": "Answer read against text read"}
    for name in names:
        assert headings.get(name, f">{name}<") in text


def test_a_mark_beside_other_settings_is_corrected_and_says_so() -> None:
    """Where a setting alone rules out more than all of them together, each table has its own marks and legend."""
    for seed in range(40):
        results = simulated_results(edges=(0.03, 0.0, 0.01, -0.08), retrievers=("dense", "bm25", "hybrid"), seed=seed)
        assert results.overall is not None
        beside = [set(each.found.may_be_best) for each in results.overall.settings]
        alone = [set(view.best.may_be_best) for view in views(results) if view.best]
        if beside != alone:
            break
    assert beside != alone, "no seed tells the two apart"
    text, wide = _screen(results, width=100), _screen(results, width=100, wide=True)
    table = text[text.index("simulated · naurc") : text.index("naurc@4000tok: ")]
    assert table.count("●") == sum(map(len, beside))
    assert OVERALL_LEGEND in " ".join(text.split())
    assert "● may be the best of this setting, taken by itself" in " ".join(wide.split())
    assert OVERALL_LEGEND not in " ".join(wide.split())


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
