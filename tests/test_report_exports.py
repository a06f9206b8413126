"""LaTeX, Markdown, the index of a site and the facts of a page: pieces, columns, labels and names."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_case import HEADLINE, simulated_results

from evaluation.report.documents import _LONGEST, _markdown_table, markdown
from evaluation.report.glossary import Glossary, anchor, compared_words, measure_words, named
from evaluation.report.latex import _GAP, _split, _table, latex, tex, without_paths
from evaluation.report.overview import overview
from evaluation.report.page import _facts, _overall, page
from evaluation.report.site import SiteRun, _folders, index_page
from evaluation.report.tables import Table
from evaluation.report.verdict import sentences
from evaluation.report.view import views
from evaluation.results.comparisons import with_statistics
from evaluation.results.types import Results


@functools.cache
def _run(headline: str = HEADLINE, retrievers: tuple[str, ...] = ("dense",), baseline: str | None = None) -> Results:
    edges = (0.2, 0.0, -0.1)
    return simulated_results(
        names=("a", "b", "c"), edges=edges, headline=headline, retrievers=retrievers, baseline=baseline
    )


def _made(*headers: str, rows: int = 1, **how: Any) -> Table:
    return Table("t", list(headers), [["x" for _ in headers] for _ in range(rows)], [], **how)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.floats(20, 400))
def test_a_table_is_split_only_where_it_is_too_wide(letters: list[int], width: float) -> None:
    """Every column is there once, in its order; a piece has as many as fit, and one where not even one fits."""
    table = _made("name", *("y" * count for count in letters))
    pieces = _split(table, width)
    assert [name for piece in pieces for name in piece.header[1:]] == table.header[1:]
    assert all(piece.header[0] == "name" for piece in pieces)

    def points(headers: list[str]) -> float:
        return sum(4 * len(name) + _GAP for name in headers)

    for piece in pieces:
        assert points(piece.header) <= width or len(piece.header) == 2
    for piece, after in itertools.pairwise(pieces):
        assert points([*piece.header, after.header[1]]) > width


def test_a_heading_with_a_cutoff_is_as_wide_as_its_longer_line() -> None:
    """What fits exactly stays in one piece; marks and words go with their columns."""
    table = _made("name", "naurc@4000tok", "aaaa", "bbbb", best={(0, 1), (0, 3)}, words={0, 3})
    exact = 4 * (4 + 8 + 4 + 4) + 4 * _GAP
    assert len(_split(table, exact)) == 1
    first, second = _split(table, exact - 1)
    assert (first.header, second.header) == (["name", "naurc@4000tok", "aaaa"], ["name", "bbbb"])
    assert (first.best, second.best) == ({(0, 1)}, {(0, 1)})
    assert (first.words, second.words) == ({0}, {0, 1})


def test_a_latex_table_has_its_columns_marks_and_long_names() -> None:
    """Words are on the left and numbers on the right; the best is bold; a name above 22 letters has two lines."""
    table = Table(
        "t", ["chunker", "ndcg@5", "mark"], [["a" * 18 + ":b=1", "1.0", "●"], ["a" * 19 + ":b=1", "2.0", ""]], []
    )
    table = dataclasses.replace(table, best={(1, 1)}, words={0, 2})
    text = _table(table, "A caption", "tab:x")
    assert r"\begin{tabular}{@{}lrl@{}}" in text
    assert r"\caption{A caption}" in text
    assert r"\label{tab:x}" in text
    assert r"chunker & \shortstack[r]{ndcg \\ @5} & mark \\" in text
    assert "a" * 18 + r":b=1 & 1.0 & $\bullet$ \\" in text
    assert r"\shortstack[l]{" + "a" * 19 + r": \\ b=1} & \textbf{2.0} &  \\" in text


def test_latex_says_what_the_numbers_are() -> None:
    """Points of shares, tokens of amounts; marks are explained with the ranking; costs have their units in cells."""
    results = _run()
    text = latex(results, views(results))
    captions = dict(
        zip(re.findall(r"\\label\{tab:chunkbench-([^}]*)\}", text), re.findall(r"\\caption\{(.*)\}", text), strict=True)
    )
    assert next(iter(captions)).startswith("1-ranking")
    ranking = next(words for label, words in captions.items() if "ranking" in label)
    assert "Shares in points of 100. $\\bullet$ may be the best" in ranking
    published = next(words for label, words in captions.items() if "published" in label)
    assert "Shares in points of 100." in published
    assert "may be the best" not in published
    assert "points" not in next(words for label, words in captions.items() if "cost" in label)
    assert "(1 of " not in ranking
    small = latex(results, views(results), columns=2)
    pieces = re.findall(r"\\label\{tab:chunkbench-(1-ranking[^}]*)\}", small)
    assert pieces == [f"1-ranking-{k}" for k in range(1, len(pieces) + 1)]
    assert len(pieces) > 1
    assert all(f"({k} of {len(pieces)})}}" in small for k in range(1, len(pieces) + 1))
    median = latex(_run("tokens_to_recall(0.8)"), views(_run("tokens_to_recall(0.8)")))
    assert "In tokens." in median
    several = _run(retrievers=("dense", "bm25"))
    both = latex(several, views(several))
    assert r"\label{tab:chunkbench-all" in both
    assert r"\label{tab:chunkbench-2-ranking" in both


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/x.py:Mine", "x.py:Mine"),
        ("on /a/b/c, and d/e", "on c, and d/e"),
        (r"C:\me\x.py", "x.py"),
        ("a/b", "a/b"),
        ("./rel/x.py", "./rel/x.py"),
    ],
)
def test_paths_of_a_machine_are_cut_to_their_last_part(text: str, shown: str) -> None:
    """Relative ones and fractions stay."""
    assert without_paths(text) == shown
    assert tex("a_b & 5 %") == r"a\_b \& 5 \%"


def test_a_markdown_table_aligns_words_and_numbers() -> None:
    """Words are on the left; the best cells are bold; a sign of Markdown is text."""
    table = Table("T*", ["a", "b"], [["x|y", "1"], ["z", "2"]], [], best={(1, 1)}, words={0})
    assert _markdown_table(table).splitlines() == [
        "### T*",
        "",
        "| a | b |",
        "| :-- | --: |",
        "| x\\|y | 1 |",
        "| z | **2** |",
    ]


def test_a_summary_keeps_its_folded_tables_as_long_as_they_fit() -> None:
    """One setting has its cautions below the verdict, several have them above all settings."""
    results = _run()
    text = markdown(results, views(results))
    assert len(text) <= _LONGEST
    assert "are left out for their length" not in text
    assert text.index("- Caution: ") > text.index("## simulated · minilm · dense")
    assert "64 queries, 8 repositories." in text
    several = _run(retrievers=("dense", "bm25"))
    both = markdown(several, views(several))
    assert both.index("- Caution: ") < both.index("## simulated · minilm · dense")
    assert both.count("- Caution: ") == text.count("- Caution: ")
    assert "### All settings: naurc@4000tok" in both
    assert "### Failed" not in text
    nothing = dataclasses.replace(results, cells=tuple(dataclasses.replace(c, status="failed") for c in results.cells))
    bare = markdown(nothing, views(nothing))
    assert "|" not in bare
    assert bare.count("\n- ") == 3


def test_a_term_is_explained_under_its_name_alone() -> None:
    """A number in brackets is no part of it; unknown words have no link; each sentence explains a term once."""
    glossary = Glossary.of(["ndcg@10"])
    assert 'href="#term-chunks"' in glossary.name("chunks")
    assert f'href="#{anchor("docstrings")}"' in glossary.name("docstrings (1,234)")
    assert glossary.name("nobody knows (3)") == "nobody knows (3)"
    assert glossary.name("x@y") == "x<wbr>@y"
    said = str(glossary.sentence("either may be best or may be best; maybe best"))
    assert said.count('class="term"') == 1
    assert 'class="term"' not in glossary.sentence("the chunks of files")
    assert 'class="term"' not in glossary.sentence("xmay be bestx")
    terms = [term for _, term, _ in glossary.rows]
    assert terms == sorted(terms, key=lambda term: term.replace("\N{NO-BREAK SPACE}", " "))
    assert Glossary({}).sentence("a < b") == "a &lt; b"


def test_a_measure_is_explained_with_its_better_side() -> None:
    """The first letter is large, one full stop ends it; what does not compare chunkers says so."""
    assert "Less is better." in measure_words("redundancy@4000tok")
    assert "Less is better." not in measure_words(HEADLINE)
    assert measure_words("ndcg@5").endswith(". Each chunker makes its own chunks, so this does not compare chunkers.")
    assert "compare chunkers" not in measure_words(HEADLINE)
    for name in (HEADLINE, "ndcg@5", "redundancy@4000tok"):
        assert measure_words(name)[0].isupper()
        assert ".." not in measure_words(name)
    words = compared_words(simulated_results(names=("cast:size=2000", "nobody"), edges=(0, 0)))
    assert words["cast"].startswith("Chunker: ")
    assert "nobody" not in words
    assert words["dense"].startswith("Retriever: ")


def test_a_long_part_of_a_name_may_break() -> None:
    """Twenty characters stay together; the mark before a name stays with its first part."""
    assert (
        named("a" * 19 + ":b") == f'<span class="part">{"a" * 19}:</span><wbr class="soft"><span class="part">b</span>'
    )
    assert named("a" * 20 + ":b").startswith('<span class="">')
    assert named("ab", before="#") == '<span class="part"># <span class="part">ab</span></span>'


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        (["a", "a", "A"], ["a", "a-2", "A-3"]),
        (["..", ".", "-"], ["run", "run-2", "run-3"]),
        (["index.html"], ["index.html-2"]),
        (["x" * 90], ["x" * 80]),
        (["a b/c", "a-b-c"], ["a-b-c", "a-b-c-2"]),
        (["a-2", "a", "a"], ["a-2", "a", "a-3"]),
    ],
)
def test_every_run_of_a_site_has_a_folder_of_its_own(names: list[str], folders: list[str]) -> None:
    """Safe in an address and different on any file system."""
    assert _folders(names) == folders


def test_the_index_of_a_site_says_what_each_run_compared() -> None:
    """Counts, the first sentence, a row per chunker and setting with its numbers; equal columns become a sentence."""
    one, two = _run(), _run(retrievers=("dense", "bm25"))
    text = index_page([SiteRun("mon", one), SiteRun("tue", two)], ["mon", "tue"])
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text)).replace("\N{NO-BREAK SPACE}", " ")
    assert "3 chunkers, 1 setting, 64 queries, 8 repositories" in plain
    assert "3 chunkers, 2 settings, 64 queries, 8 repositories" in plain
    (view,) = views(one)
    assert sentences(view)[0] in plain
    assert "Over both settings: " in plain
    assert text.count("<tr data-run=") == 3 + 6
    for section in (1, 2):
        assert f'tue/report.html#setting-{section}"' in text
    assert 'mon/report.html#setting-2"' not in text
    for row in view.rows:
        mean, low, high = (100 * (row.part(HEADLINE, name) or 0.0) for name in ("mean", "low", "high"))
        assert f"{mean:.1f}" in plain
        assert f"{low:.1f} … {high:.1f}" in plain
        assert f"{row.cell.chunks.mean_nws:,.0f}" in plain
    assert text.count('data-retriever="bm25"') == 3
    assert text.count('<td class="word">bm25</td>') == 3
    alone = index_page([SiteRun("mon", one)], ["mon"])
    assert '<td class="word">dense</td>' not in alone
    said = re.sub(r"<[^>]+>", "", alone)
    assert "In every row: dataset simulated, embedder minilm, retriever dense, measure naurc@4000tok." in said
    assert "In every row: dataset simulated, measure naurc@4000tok." in plain


def test_a_dataset_is_described_with_what_it_lost() -> None:
    """Queries and repositories, files skipped, rows left out, and lines that were found again by their text."""
    results = _run()
    (dataset,) = results.datasets
    assert _facts(dataset, results) == "64 queries in 8 repositories"
    told = dataclasses.replace(
        dataset,
        mined=True,
        skipped={"binary": 1200},
        details={"skipped": {"no file": 3}, "followed": {"moved": 1500, "gone": 0}, "to_check": ["r1", 2]},
    )
    assert _facts(told, results) == (
        "64 queries in 8 repositories, mined from the code itself rather than asked by people; files skipped: binary "
        "(1,200); rows left out: no file (3); annotated lines: 1,500 moved (check r1; 2)"
    )
    odd = dataclasses.replace(dataset, details={"skipped": 7, "followed": {"moved": 1}})
    assert _facts(odd, results) == "64 queries in 8 repositories; annotated lines: 1 moved"


def test_the_note_on_the_correction_comes_last() -> None:
    """After what is said of retrievers; one setting has no such paragraph."""
    results = _run(retrievers=("dense", "bm25"))
    said = _overall(results, views(results))
    assert said[-1].startswith("(Corrected for both settings; ")
    assert said[-2].startswith("Retrievers: ")
    assert said[0].startswith("Over both settings: ")
    assert _overall(_run(), views(_run())) == []
    none = dataclasses.replace(results, overall=None)
    assert _overall(none, views(none))[0].startswith("Fewer than two settings")
    nothing = dataclasses.replace(results, cells=tuple(dataclasses.replace(c, status="failed") for c in results.cells))
    assert "Nothing was scored, so nothing is compared." in page(nothing)


def test_a_column_of_amounts_is_shaded_over_a_fifth_of_its_best() -> None:
    """Means that are close have one shade; those that are twice as far as another are shaded so."""
    results = _run("tokens_to_recall(0.8)", ("dense", "bm25"))
    table = overview(results, views(results))
    assert table is not None
    for column in range(2):
        held = {row.chunker: row.entries[column] for row in table.rows}
        known = {name: entry.value for name, entry in held.items() if entry.value is not None}
        best = min(known.values())
        reach = max(0.2 * best, *(value - best for value in known.values())) or 1.0
        for name, value in known.items():
            assert held[name].shade == round(7 * (1 - (value - best) / reach))
            assert held[name].best == (value == best)
    assert table.left_out == 0
    one = dataclasses.replace(_run(), queries=tuple(dataclasses.replace(q, language="go") for q in _run().queries))
    assert overview(one, views(one)) is None


def test_a_column_of_a_kind_has_the_queries_of_that_kind() -> None:
    """Where every query of one kind is answered in full and no other is, its column has 100 and the other 0."""
    plain = _run()
    kinds = ["asked" if number % 3 else "other" for number in range(len(plain.queries))]
    queries = tuple(dataclasses.replace(query, kind=kind) for query, kind in zip(plain.queries, kinds, strict=True))
    full = np.array([float(kind == "asked") for kind in kinds])
    cells = tuple(
        dataclasses.replace(cell, scores=dict.fromkeys(cell.scores, full)) if cell.scores else cell
        for cell in plain.cells
    )
    made = dataclasses.replace(plain, queries=queries, cells=cells)
    table = overview(made, views(made))
    assert table is not None
    shown = {column.name: place for place, column in enumerate(table.columns) if column.group == "kind"}
    assert set(shown) == {"asked", "other"}
    for row in table.rows:
        assert row.entries[shown["asked"]].value == pytest.approx(1.0)
        assert row.entries[shown["other"]].value == pytest.approx(0.0)


def test_a_chunker_that_is_missing_stands_behind_the_last_of_a_setting() -> None:
    """Two that are equal elsewhere are in the order of that, not of their names."""
    results = _run(retrievers=("dense", "bm25"))
    means = {("a", "bm25"): 0.5, ("b", "bm25"): 0.9, ("c", "bm25"): 0.5, ("b", "dense"): 0.9, ("c", "dense"): 0.2}
    cells = [
        dataclasses.replace(cell, status="failed")
        if (cell.key.chunker, cell.key.retriever) not in means
        else dataclasses.replace(cell, scores={HEADLINE: np.full(64, means[cell.key.chunker, cell.key.retriever])})
        for cell in results.cells
    ]
    held = with_statistics(dataclasses.replace(results, cells=tuple(cells)))
    table = overview(held, views(held))
    assert table is not None
    assert [row.chunker for row in table.rows] == ["b", "c", "a"]
