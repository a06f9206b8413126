"""The query explorer keeps what it can, says what it left out, and shares the lines of files between results."""

from __future__ import annotations

import base64
import dataclasses
import functools
import gzip
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_case import HEADLINE, simulated_results

from evaluation.report.colouring import all_colours, coloured
from evaluation.report.explorer import _COLOURS, _FILLS, _LEVEL, _Fill, _most_different, _note, explorer_data, pack
from evaluation.report.linestore import LineStore, text_lines
from evaluation.report.view import View, views
from evaluation.results.types import Results

FEWER = "of 1,000 queries the 400 on which the chunkers differ most, the first 40 lines of a result"


@functools.cache
def _run(queries: int = 12) -> Results:
    return simulated_results(names=("a", "b"), edges=(0.2, 0.0), queries=queries)


def _scored(view: View, *scores: list[float]) -> View:
    rows = [
        dataclasses.replace(row, cell=dataclasses.replace(row.cell, scores={view.headline: np.array(values)}))
        for row, values in zip(view.rows, scores, strict=True)
    ]
    return dataclasses.replace(view, rows=tuple(rows))


def test_of_many_queries_those_on_which_the_chunkers_differ_most_are_kept() -> None:
    """In their order, with their places; the largest spread of any setting counts, and no value is no spread."""
    (view,) = views(_run())
    spread = [0.1, 0.9, 0.3, np.nan, 0.8, 0.0, 0.7, 0.2, 0.6, 0.05, 0.5, 0.4]
    held = _scored(view, [1.0] * 12, [1.0 - value for value in spread])
    found = _most_different([held], "simulated", 3)
    assert [place for _, place in found] == [1, 4, 6]
    assert [query for query, _ in found] == [view.queries[k] for k in (1, 4, 6)]
    for most in (None, 12, 13):
        assert [place for _, place in _most_different([held], "simulated", most)] == list(range(12))
    assert len(_most_different([held], "simulated", 11)) == 11
    other = _scored(view, [1.0] * 12, [0.0 if k == 5 else 1.0 for k in range(12)])
    assert [place for _, place in _most_different([held, other], "simulated", 2)] == [1, 5]
    bare = dataclasses.replace(view, rows=())
    assert len(_most_different([bare], "simulated", 3)) == 12


@pytest.mark.parametrize(
    ("fill", "said"),
    [
        (_FILLS[0], ""),
        (_Fill(5), "the first 5 results of each query; the results"),
        (_Fill(5, colours=False), "the first 5 results of each query, and no syntax colours; the results"),
        (
            _Fill(3, 400, 40, files=False, colours=False),
            f"the first 3 results of each query, {FEWER}, and no syntax colours and no whole files; the results",
        ),
        (_Fill(3, 1000, files=False), "the first 3 results of each query, and no whole files; the results"),
    ],
)
def test_what_is_left_out_of_the_page_is_named(fill: _Fill, said: str) -> None:
    """Results, queries, lines, colours and files; the fullest page says nothing."""
    note = _note(fill, 1000)
    assert note == (f"To keep this page small it holds {said} folder has everything." if said else "")


def _unpacked(data: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(data)))
    return loaded


def test_the_fullest_data_that_fits_is_packed() -> None:
    """Exactly the limit is enough; a character less takes less, which the note says."""
    results = _run()
    found = views(results)
    full = pack(results, found, limit=4_000_000)
    assert full.note == ""
    again = pack(results, found, limit=len(full.data))
    assert again == full
    less = pack(results, found, limit=len(full.data) - 1)
    assert "the first 5 results" in less.note
    assert len(less.data) < len(full.data)
    assert all(len(hits) <= 5 for cell in _unpacked(less.data)["settings"][0]["cells"] for hits in cell["hits"])
    assert max(len(hits) for cell in _unpacked(full.data)["settings"][0]["cells"] for hits in cell["hits"]) == 10


def test_a_quick_look_leaves_out_nothing_that_would_have_fitted() -> None:
    """Whatever the limit, the data are those that trying each way in turn finds; below all, the smallest.

    Colours are left out, too, where less than their usual part of the limit is left for them.
    """
    results = _run()
    found = views(results)
    sizes = []
    for fill in _FILLS:
        raw = json.dumps(explorer_data(results, found, fill), ensure_ascii=False, separators=(",", ":"))
        sizes.append(len(base64.b64encode(gzip.compress(raw.encode(), _LEVEL, mtime=0))))
    plain = [fill.colours for fill in _FILLS].index(False)
    for limit in {size + more for size in sizes for more in (-1, 0)} | {1, int(1.09 * sizes[plain])}:
        first = next((size for size in sizes if size <= limit), sizes[-1])
        if first in sizes[:plain] and sizes[plain] * (1 + _COLOURS) > limit:
            first = sizes[plain]
        assert len(pack(results, found, limit=limit).data) == first


def test_the_data_of_a_setting_is_what_its_cells_hold() -> None:
    """Scores to four places and None where there is none; budget, scale and digits are those of the headline."""
    results = _run()
    (view,) = views(results)
    held = _scored(view, [0.123456, np.nan, np.inf, *[0.5] * 9], [1.0] * 12)
    data = explorer_data(results, [held])
    (setting,) = data["settings"]
    assert setting["cells"][0]["scores"][:4] == [0.1235, None, None, 0.5]
    assert (setting["headline"], setting["scale"], setting["digits"], setting["budget"]) == (HEADLINE, 100, 1, 4000)
    assert setting["title"] == "simulated · minilm · dense"
    mark = view.marks[view.rows[0].chunker]
    assert setting["cells"][0]["mark"] == [mark.number, mark.colour]
    assert len(data["queries"][0]) == 12
    first = view.queries[0]
    assert data["queries"][0][0] == {
        "id": first.id,
        "text": first.text,
        "repo": first.repo,
        "language": first.language,
        "kind": "",
        "gold": [list(gold) for gold in first.gold],
    }
    plain = dataclasses.replace(view, headline="ndcg@5")
    assert explorer_data(results, [plain])["settings"][0]["budget"] is None


def test_a_result_without_its_text_says_where_it_was() -> None:
    """Its path, first line and length; one that is cut to a few lines says how many are missing."""
    results = _run()
    found = views(results)
    cell = next(row.cell for row in found[0].rows if row.chunker == "a")
    hit = cell.hits[results.queries[0].id][0]
    bare = dataclasses.replace(results, texts={})
    data = explorer_data(bare, found)
    number = next(each for each in data["settings"][0]["cells"] if each["chunker"] == "a")["hits"][0][0]
    length = hit.end_line - hit.start_line + 1
    assert data["chunks"][number] == [-1, hit.start_line, length, length, hit.tokens, hit.path]
    cut = explorer_data(results, found, _Fill(10, lines=3))
    number = next(each for each in cut["settings"][0]["cells"] if each["chunker"] == "a")["hits"][0][0]
    assert cut["chunks"][number][1:5] == [hit.start_line, 3, length - 3, hit.tokens]


LINES = st.lists(st.text("abc", min_size=2, max_size=6), min_size=2, max_size=8)


@given(LINES, st.data())
def test_any_slices_of_a_file_are_one_file_with_their_cut_ends(lines: list[str], data: st.DataObject) -> None:
    """Slices begin and end inside lines; each is rebuilt from the shared lines, its first and its last cut."""
    text = "\n".join(lines)
    store = LineStore()
    places = st.integers(0, len(text))
    ends = data.draw(st.lists(st.tuples(places, places).map(sorted), min_size=1, max_size=6))
    slices = [(text.count("\n", 0, a) + 1, text_lines(text[a:b])) for a, b in ends if text[a:b].strip("\n")]
    numbers = [store.add("s", "p", line, pieces) for line, pieces in slices]
    files = [{n + k: x for n, run in f["runs"] for k, x in enumerate(run.split("\n"))} for f in store.packed()]
    for number, (line, pieces) in zip(numbers, slices, strict=True):
        held = [files[number][line + k] for k in range(len(pieces))]
        first, last = store.cuts(number, line, pieces)
        assert (first is None) == (held[0] == pieces[0])
        assert (last is None) == (len(pieces) == 1 or held[-1] == pieces[-1])
        rebuilt = list(held)
        rebuilt[0] = held[0] if first is None else first
        rebuilt[-1] = rebuilt[-1] if last is None else last
        assert rebuilt == pieces


def test_a_whole_file_takes_in_all_its_slices() -> None:
    """What was known of cut lines is replaced by the whole ones; a text that contradicts it is another file."""
    store = LineStore()
    assert store.add("s", "p", 2, ["wo", "three", "fo"]) == 0
    assert store.add("s", "p", 1, ["one", "two", "three", "four", "five"]) == 0
    assert store.packed()[0]["runs"] == [[1, "one\ntwo\nthree\nfour\nfive"]]
    assert store.cuts(0, 2, ["wo", "three", "fo"]) == ("wo", "fo")
    assert store.cuts(0, 2, ["two"]) == (None, None)
    assert store.cuts(0, 2, ["tw"]) == ("tw", None)
    # Lines inside a slice are whole: another text for one of them is another version of the file.
    assert store.add("s", "p", 1, ["one", "2", "three"]) == 1
    assert store.add("s", "p", 2, ["tw", "other", "x"]) == 1 + 1
    assert store.add("s", "q", 1, ["one"]) == 3
    assert store.add("t", "p", 1, ["one"]) == 4
    assert [file["path"] for file in store.packed()] == ["p", "p", "p", "q", "p"]


def test_an_end_that_grows_stays_an_end_until_it_is_seen_whole() -> None:
    """The longest part of a line is kept; a part that is not of it is of another file."""
    store = LineStore()
    store.add("s", "p", 1, ["abc"])
    assert store.add("s", "p", 1, ["abcdef"]) == 0
    assert store.packed()[0]["runs"] == [[1, "abcdef"]]
    assert store.add("s", "p", 1, ["bcd"]) == 0
    assert store.packed()[0]["runs"] == [[1, "abcdef"]]
    assert store.add("s", "p", 1, ["xyz"]) == 1
    store.add("s", "p", 5, ["end", "next"])
    assert store.packed()[0]["runs"] == [[1, "abcdef"], [5, "end\nnext"]]


def test_colours_of_a_very_long_text_are_left_out() -> None:
    """Two hundred thousand bytes are coloured still."""
    line = "x = 1\n"
    fits = line * (200_000 // len(line)) + "x "
    assert len(fits) == 200_000
    assert len(coloured("a.py", fits)) == 200_000 // len(line)
    assert coloured("a.py", fits + "\n") == []
    texts = [("a.py", "x = 1 + 2\n"), ("a.py", '"a"\n'), ("a.none", "x = 1\n")]
    assert all_colours(texts) == ["4.1n3.1n", ".3s", ""]


def test_a_page_without_whole_files_has_no_cuts() -> None:
    """Cuts are places in files: where those are left out there is nothing to point into."""
    results = _run()
    found = views(results)
    assert explorer_data(results, found, _Fill(3, files=False))["cuts"] == [{}]
    assert set(explorer_data(results, found)["cuts"][0]) == {"a", "b"}
