"""report.html needs nothing from outside, shows text as text, and stays small."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
import runpy
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.report.build import write_report
from evaluation.report.explorer import pack
from evaluation.report.figures import svg
from evaluation.report.linestore import LineStore, text_lines
from evaluation.report.measure_properties import property_table
from evaluation.report.page import page
from evaluation.report.view import views
from evaluation.results.folder import read_results, write_results
from evaluation.results.types import HiddenPart, Results

_CASE = runpy.run_path(str(Path(__file__).with_name("report_case.py")))
simulated_results: Callable[..., Results] = _CASE["simulated_results"]
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
    assert HOSTILE in _data(text)["settings"][0]["queries"][0]["text"]


def test_every_figure_is_xml_with_a_name_and_a_table() -> None:
    """Each drawing parses on its own and has a label; each figure has its numbers as a table."""
    text = page(simulated_results(embedders=("minilm", "bge")))
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) > 8
    for drawing in drawings:
        assert ET.fromstring(drawing).attrib["aria-label"]  # noqa: S314 - our own drawing
    figures = re.findall(r"<figure>.*?</figure>", text, re.DOTALL)
    assert all("<table" in one and "<figcaption>" in one for one in figures)
    assert "All settings" in text


def test_the_explorer_carries_what_was_returned() -> None:
    """Unpacked, the data gives back each result's lines exactly."""
    results = simulated_results(queries=12)
    data = _data(page(results))
    files = [{n + k: line for n, run in f["runs"] for k, line in enumerate(run.split("\n"))} for f in data["files"]]
    cell = next(c for c in results.cells if c.key.chunker == data["settings"][0]["cells"][0]["chunker"])
    for query, hits in zip(results.queries, data["settings"][0]["cells"][0]["hits"], strict=True):
        for hit, record in zip(hits, cell.hits[query.id], strict=True):
            lines = [files[hit[0]][hit[1] + k] for k in range(hit[2])]
            assert lines == text_lines(results.texts[record.chunk_id])


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
    assert data["settings"][0]["cells"][0]["hits"][0][0][7] == [[0, 3, len(first)], [1, 0, 5]]
    assert len(second) > 5
    others = [one for cell in data["settings"][0]["cells"][1:] for hits in cell["hits"] for one in hits]
    assert all(len(one) <= 7 for one in others)


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
    assert "All settings: naurc@4000tok" in text
    assert "● may be best in its setting, corrected for the number of settings" in text
    assert "share a letter" not in text


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
    full = pack(results, views(results))
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
    assert "caf\ufffd " in data["settings"][0]["queries"][0]["text"]
    assert "caf\ufffd " in data["files"][0]["runs"][0][1]
