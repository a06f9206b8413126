"""report.html needs nothing from outside, shows text as text, and stays small."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_case import simulated_results

from evaluation.report.build import write_report
from evaluation.report.colouring import all_colours, coloured
from evaluation.report.explorer import pack
from evaluation.report.explorer_texts import hidden_lines
from evaluation.report.figures import svg
from evaluation.report.glossary import Glossary
from evaluation.report.linestore import LineStore, text_lines
from evaluation.report.measure_properties import property_table
from evaluation.report.overview import overview
from evaluation.report.page import page
from evaluation.report.view import views
from evaluation.results.comparisons import with_statistics
from evaluation.results.folder import read_results, write_results
from evaluation.results.types import FilePlace, HiddenPart

HOSTILE = "</script><img src=x onerror=alert(1)>"


class _Tags(HTMLParser):
    """Collects the elements of a page and whether they were closed in order."""

    void = frozenset("meta link br img input wbr".split())

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _tags(text: str) -> _Tags:
    parser = _Tags()
    parser.feed(text)
    parser.close()
    return parser


def _data(text: str) -> dict[str, Any]:
    packed = re.search(r'id="x-data">([^<]*)<', text)
    assert packed is not None
    loaded: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return loaded


def test_the_page_is_one_file_that_asks_for_nothing() -> None:
    """Every element is closed, nothing has an address outside the page, and the policy forbids the rest."""
    parser = _tags(page(simulated_results(failed={"bad": "reason"})))
    assert parser.open == []
    assert {tag for tag, _ in parser.seen} & {"img", "link", "iframe", "object", "embed"} == set()
    links = [value for _, attrs in parser.seen for name, value in attrs.items() if name in {"href", "src"}]
    assert all(value is not None and value.startswith("#") for value in links)
    policy = next(attrs["content"] for tag, attrs in parser.seen if attrs.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_hostile_text_stays_text_everywhere() -> None:
    """Markup in code, queries, paths, chunker names, reasons and configuration makes no element."""
    results = simulated_results(hostile=HOSTILE, names=[HOSTILE, "b"], edges=(0.1, 0.0), failed={"f": HOSTILE})
    results = dataclasses.replace(results, config=results.config.model_copy(update={"match_size": HOSTILE}))
    text = page(results)
    parser = _tags(text)
    assert "img" not in {tag for tag, _ in parser.seen}
    assert [tag for tag, _ in parser.seen].count("script") == 2
    assert not any(name.startswith("on") for _, attrs in parser.seen for name in attrs)
    assert HOSTILE not in text
    assert HOSTILE in _data(text)["queries"][0][0]["text"]


def test_every_figure_is_xml_with_a_name_and_a_table() -> None:
    """Each drawing parses on its own and has a label; each figure has its numbers as a table."""
    text = page(simulated_results(embedders=("minilm", "bge")))
    drawings = [each for each in re.findall(r"<svg.*?</svg>", text, re.DOTALL) if 'class="figure"' in each]
    assert len(drawings) > 8
    for drawing in drawings:
        assert ET.fromstring(drawing).attrib["aria-label"]  # noqa: S314 - our own drawing
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert len(figures) >= 8
    assert all("<table" in one and "<figcaption>" in one and 'data-as="svg"' in one for one in figures)
    tables = re.findall(r'<div class="taken">.*?</table>.*?</div>.*?</div>', text, re.DOTALL)
    assert all('data-as="csv"' in one and 'data-as="tex"' in one for one in tables)


def test_the_explorer_carries_what_was_returned() -> None:
    """Unpacked, the data gives back each result's lines exactly, and what reading it costs."""
    results = simulated_results(queries=12)
    data = _data(page(results))
    files = [_lines(file) for file in data["files"]]
    cell = next(c for c in results.cells if c.key.chunker == data["settings"][0]["cells"][0]["chunker"])
    for query, hits in zip(results.queries, data["settings"][0]["cells"][0]["hits"], strict=True):
        for number, record in zip(hits, cell.hits[query.id], strict=True):
            file, first, count, missing, tokens, *_ = data["chunks"][number]
            assert [files[file][first + k] for k in range(count)] == text_lines(results.texts[record.chunk_id])
            assert (missing, tokens) == (0, record.tokens)
            assert tokens > 0


def _lines(file: dict[str, Any]) -> dict[int, str]:
    return {first + k: line for first, run in file["runs"] for k, line in enumerate(run.split("\n"))}


def test_a_whole_file_has_the_cuts_of_every_chunker(tmp_path: Path) -> None:
    """The files with answers are whole, and each chunker's chunks tile them, also through the results folder."""
    results = simulated_results(queries=12)
    write_results(results, tmp_path)
    again = read_results(tmp_path)
    assert (again.files, again.cuts) == (results.files, results.cuts)
    data = _data(page(again))
    whole = {(file["of"][1], file["path"]): number for number, file in enumerate(data["files"]) if "of" in file}
    for query in results.queries:
        number = whole[query.repo, query.gold[0].path]
        lines = _lines(data["files"][number])
        key = FilePlace("simulated", query.repo, query.gold[0].path)
        assert "\n".join(lines.values()) + "\n" == results.files[key].text
        for found in data["cuts"][0].values():
            ends = list(accumulate(found[str(number)]))
            covered = [
                line for first, last in zip(ends[::2], ends[1::2], strict=True) for line in range(first, last + 1)
            ]
            assert covered == sorted(lines)
    assert set(data["cuts"][0]) == {chunker for chunker, _ in results.cuts}


def test_a_folder_without_whole_files_is_read(tmp_path: Path) -> None:
    """Folders of earlier versions have neither files nor costs: the explorer does without."""
    results = simulated_results(queries=12)
    write_results(results, tmp_path)
    for name in ("files", "cuts"):
        (tmp_path / f"{name}.parquet").unlink()
    table = pq.read_table(tmp_path / "hits.parquet")
    pq.write_table(table.drop_columns(["tokens"]), tmp_path / "hits.parquet")
    again = read_results(tmp_path)
    assert (again.files, again.cuts) == ({}, {})
    data = _data(page(again))
    assert data["chunks"][0][4] is None
    assert not any("of" in file for file in data["files"])


def test_what_the_index_did_not_show_is_marked(tmp_path: Path) -> None:
    """Hidden characters of a text reach the explorer as places in its lines, also through the results folder."""
    results = simulated_results(queries=12)
    row = views(results)[0].rows[0]
    hit = row.cell.hits[results.queries[0].id][0]
    first, second = text_lines(results.texts[hit.chunk_id])[:2]
    part = HiddenPart(3, len(first) + 1 + 5)
    results = dataclasses.replace(results, hidden={("simulated", hit.chunk_id): (part,)})
    write_results(results, tmp_path)
    again = read_results(tmp_path)
    assert again.hidden == results.hidden
    data = _data(page(again))
    number = data["settings"][0]["cells"][0]["hits"][0][0]
    assert data["chunks"][number][7] == [[0, 3, len(first)], [1, 0, 5]]
    assert len(second) > 5
    assert all(len(chunk) <= 7 for k, chunk in enumerate(data["chunks"]) if k != number)


def test_a_folder_without_hidden_parts_is_read(tmp_path: Path) -> None:
    """Texts of earlier versions have no such column: nothing is marked, and nothing fails."""
    results = simulated_results(queries=12)
    write_results(results, tmp_path)
    table = pq.read_table(tmp_path / "texts.parquet")
    pq.write_table(table.drop_columns(["hidden"]), tmp_path / "texts.parquet")
    assert read_results(tmp_path).hidden == {}


def test_kinds_categories_and_settings_have_their_tables() -> None:
    """Queries of two kinds give a panel and a table of means; several settings give the matrix with its dots."""
    results = simulated_results(retrievers=("dense", "bm25"))
    queries = tuple(
        dataclasses.replace(query, kind="docstrings" if k % 3 else "comments", category=f"c{k % 2}")
        for k, query in enumerate(results.queries)
    )
    text = page(dataclasses.replace(results, queries=queries))
    assert "naurc@4000tok by kind of query" in text
    assert "By kind</h3>" in text
    assert "By category</h3>" in text
    assert "Overview: " in text
    assert 'data-group="kind"' in text
    assert "● may be best in its setting, corrected for the number of settings" in text
    assert "share a letter" not in text


def test_the_overview_has_a_mean_for_every_setting_kind_and_language() -> None:
    """Its numbers are those of the views, its dots those of the statement over all settings, its links the sections."""
    results = simulated_results(retrievers=("dense", "bm25"))
    kinds = ["docstrings" if k % 3 else "comments" for k in range(len(results.queries))]
    queries = tuple(dataclasses.replace(query, kind=kind) for query, kind in zip(results.queries, kinds, strict=True))
    results = dataclasses.replace(results, queries=queries)
    found = views(results)
    table = overview(results, found)
    assert table is not None
    parts = [("all queries", ""), ("kind", "docstrings"), ("kind", "comments"), ("language", "go")]
    wanted = [(section, *part) for section in (1, 2) for part in [*parts, ("language", "python")]]
    assert [(column.section, column.group, column.name) for column in table.columns] == wanted
    assert sum(column.queries for column in table.columns if column.group == "kind") == 2 * len(queries)
    assert results.overall is not None
    for row in table.rows:
        for k, view in enumerate(found):
            entry = row.entries[5 * k]
            assert entry.value == view.row(row.chunker).mean(view.headline)
            assert bool(entry.mark) == (row.chunker in results.overall.settings[k].found.may_be_best)
        weights = [column.queries for column in table.columns[1:3]]
        values = [entry.value or 0.0 for entry in row.entries[1:3]]
        assert min(values) - 0.05 < (row.entries[0].value or 0.0) < max(values) + 0.05
        assert sum(weights) == len(queries)
    text = page(results)
    assert text.count('href="#setting-2"') >= 5 * len(table.rows)


@pytest.mark.parametrize("headline", ["naurc@4000tok", "redundancy@4000tok"])
def test_the_overview_is_in_the_order_of_mean_places(headline: str) -> None:
    """A chunker that failed in a setting stands last there; the best of a column has the deepest shade."""
    results = simulated_results(retrievers=("dense", "bm25"), headline=headline, edges=(0.3, 0.0, 0.05, -0.1))
    cells = [
        dataclasses.replace(cell, status="failed") if k == 4 else cell  # the first chunker with bm25
        for k, cell in enumerate(results.cells)
    ]
    table = overview(results, views(with_statistics(dataclasses.replace(results, cells=tuple(cells)))))
    assert table is not None
    whole = [k for k, column in enumerate(table.columns) if column.group == "all queries"]
    sign = 1 if headline.startswith("redundancy") else -1
    places: dict[str, list[int]] = {}
    for k in whole:
        known = {row.chunker: sign * value for row in table.rows if (value := row.entries[k].value) is not None}
        for row in table.rows:
            mine = known.get(row.chunker)
            before = [other for other in known.values() if mine is None or other < mine]
            places.setdefault(row.chunker, []).append(len(before))
    assert [row.chunker for row in table.rows] == sorted(places, key=lambda name: (sum(places[name]), name))
    for k in range(len(table.columns)):
        entries = [row.entries[k] for row in table.rows if row.entries[k].value is not None]
        best = min(entries, key=lambda entry: sign * (entry.value or 0.0))
        reach = max(0.1, *(abs((entry.value or 0.0) - (best.value or 0.0)) for entry in entries))
        for entry in entries:
            assert entry.best == (entry.value == best.value)
            assert entry.shade == round(7 * (1 - abs((entry.value or 0.0) - (best.value or 0.0)) / reach))


def test_a_run_with_many_kinds_shows_the_largest_in_the_overview() -> None:
    """Twelve of fourteen have columns, and the page can say how many have none."""
    results = simulated_results(queries=128)
    names = [f"kind {min(k % 16, 13):02}" for k in range(len(results.queries))]
    queries = tuple(dataclasses.replace(query, kind=name) for query, name in zip(results.queries, names, strict=True))
    results = dataclasses.replace(results, queries=queries)
    table = overview(results, views(results))
    assert table is not None
    kinds = [column for column in table.columns if column.group == "kind"]
    assert [column.queries for column in kinds] == [24, *[8] * 11]
    assert kinds[0].name == "kind 13"
    assert table.left_out == 2


def test_a_term_is_explained_where_it_stands() -> None:
    """Every heading and every measure of a sentence that is known leads to its entry, and each entry is there once."""
    text = page(simulated_results(retrievers=("dense", "bm25")))
    asked = set(re.findall(r'class="term" href="#(term-[^"]+)"', text))
    entries = re.findall(r'<div id="(term-[^"]+)"', text)
    assert asked
    assert asked <= set(entries)
    assert len(entries) == len(set(entries))
    glossary = Glossary.of(["ndcg@10"])
    assert str(glossary.sentence("a <b> in ndcg@10, ndcg@10 and ndcg@100")).count('class="term"') == 1
    assert "&lt;b&gt;" in glossary.sentence("a <b> in ndcg@10")


@given(st.sampled_from(["a.py", "a.go", "a.js", "a.none"]), st.text(st.characters(codec="utf-8"), max_size=80))
def test_colours_cover_parts_of_any_text_in_order(path: str, text: str) -> None:
    """Coloured parts lie inside the text, one after the other, whatever the text is."""
    found = coloured(path, text)
    ends = [end for part in found for end in part[:2]]
    assert ends == sorted(ends)
    assert all(0 <= part.start < part.end <= len(text) for part in found)


def test_colours_are_those_of_the_grammar() -> None:
    """Keywords, strings, comments and numbers are found in characters, also after letters of several bytes."""
    text = 'def größe(x):  # für\n    return "ä" + 3\n'
    words = {text[part.start : part.end]: part.letter for part in coloured("a.py", text)}
    assert words == {"def": "k", "# für": "c", "return": "k", '"ä"': "s", "3": "n"}
    assert all_colours([("a.py", "x = 1\n")]) == ["4.1n"]


@given(
    st.text("ab\n", min_size=1, max_size=60), st.lists(st.tuples(st.integers(0, 59), st.integers(1, 60)), max_size=8)
)
def test_the_line_store_gives_back_any_slices_of_a_file(text: str, cuts: list[tuple[int, int]]) -> None:
    """Slices that begin and end anywhere are rebuilt from shared lines and their cut ends."""
    store = LineStore()
    slices = [(text.count("\n", 0, start) + 1, text[start : start + size]) for start, size in cuts]
    added = [(store.add("s", "p", line, text_lines(part)), line, part) for line, part in slices if part]
    files = [{n + k: x for n, run in f["runs"] for k, x in enumerate(run.split("\n"))} for f in store.packed()]
    for number, line, part in added:
        wanted = text_lines(part)
        rebuilt = [files[number][line + k] for k in range(len(wanted))]
        first, last = store.cuts(number, line, wanted)
        rebuilt[0] = rebuilt[0] if first is None else first
        rebuilt[-1] = rebuilt[-1] if last is None else last
        assert rebuilt == wanted


def test_a_page_that_would_be_too_large_keeps_less_and_says_so() -> None:
    """Under a small limit the explorer keeps the queries that differ most, and a note says what is left out."""
    results = simulated_results(queries=120)
    full = pack(results, views(results), limit=4_000_000)
    small = pack(results, views(results), limit=len(full.data) // 3)
    assert full.note == ""
    assert len(small.data) <= len(full.data) // 3
    assert "the results folder has everything" in small.note


def test_twenty_chunkers_and_a_thousand_queries_fit_five_megabytes(tmp_path: Path) -> None:
    """The page of a large run stays below 5 MB."""
    names = [f"chunker-{k:02}:size={100 * k}" for k in range(20)]
    results = simulated_results(names=names, edges=[0.1 - k / 100 for k in range(20)], queries=1000, repositories=20)
    made = {path.name: path for path in write_report(results, tmp_path)}
    assert set(made) == {"report.html", "summary.md", "tables.tex", "table.csv", "comparisons.csv"}
    assert made["report.html"].stat().st_size < 5_000_000


def test_the_same_results_give_the_same_page() -> None:
    """Nothing of the time or the machine enters the page."""
    assert page(simulated_results()) == page(simulated_results())


@given(st.lists(st.floats(0, 100), min_size=1, max_size=15), st.floats(1, 5))
def test_spread_labels_keep_their_distance_and_their_order(wanted: list[float], gap: float) -> None:
    """Labels do not overlap, keep their order, and move only as far as they must."""
    placed = svg.spread(wanted, gap, 0, 100)
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    assert all(placed[b] - placed[a] >= gap - 1e-6 for a, b in pairwise(order))
    assert min(placed) >= -1e-6 or len(wanted) * gap > 100


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-25.3, 1.7), (0, 8000), (3, 3), (0.001, 0.0013)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    """There are a few ticks, inside the range and evenly spaced."""
    found = svg.ticks(low, high)
    assert 1 <= len(found) <= 8
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in found)
    steps = {round(b - a, 9) for a, b in pairwise(found)}
    assert len(steps) <= 1


def test_the_page_says_what_the_measures_promise() -> None:
    """Properties are rows, measures are columns; only what a measure declares is ticked."""
    table = property_table(["naurc@4000tok", "ndcg@5", "ndcg@10"])
    assert table.header == ["property", "naurc@B", "ndcg@k"]
    chance = next(row for row in table.rows if row[0].startswith("a random ranking"))
    assert chance[1:] == ["✓", "·"]


def test_bytes_that_are_not_utf8_are_shown_as_replacements(tmp_path: Path) -> None:
    """Text read with surrogate escapes, in code and query, is written as valid UTF-8."""
    write_report(simulated_results(queries=8, hostile="caf\udce9 "), tmp_path)
    data = _data((tmp_path / "report.html").read_text("utf-8"))
    assert "caf\ufffd " in data["queries"][0][0]["text"]
    assert "caf\ufffd " in data["files"][0]["runs"][0][1]


@given(
    st.lists(st.sampled_from(["", "x", "two", "lines"]), max_size=6),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)).map(lambda pair: HiddenPart(pair[0], sum(pair)))),
)
def test_hidden_parts_are_found_line_by_line(lines: list[str], parts: list[HiddenPart]) -> None:
    """Each hidden character of a line is in one of its marks, and no other; line breaks are in none."""
    place = 0
    marked = hidden_lines(lines, parts)
    for number, line in enumerate(lines):
        for column in range(len(line)):
            hidden = sum(part.start <= place < part.end for part in parts)
            assert hidden == sum(row == number and start <= column < end for row, start, end in marked)
            place += 1
        place += 1
    assert marked == sorted(marked, key=lambda mark: mark[0])
    assert all(0 <= start < end <= len(lines[row]) for row, start, end in marked)
