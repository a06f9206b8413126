"""Places that other tools name, row by row: which bytes they are, and what is said of those that are none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import loaded, repository, word_dataset

from chunkers.errors import UsageError
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.span_places import Place, PlaceError, PlaceFinder, SpanRun
from evaluation.experiment.span_runs import NamedFile, read_span_runs
from evaluation.spans.rows import PlaceRow
from ground_truth.types import Dataset, Query

QUERY = Query("q", "text", "one")


def corpus(
    texts: Mapping[str, str | bytes], *, scope: Any = "repository", repos: tuple[str, ...] = ("one",)
) -> Dataset:
    """Return repositories of these files and one query."""
    return Dataset("d", tuple(repository(name, texts) for name in repos), (QUERY,), (), scope=scope)


def find(texts: Mapping[str, str | bytes], units: tuple[Any, ...] = (), **row: Any) -> Place:
    """Return the place of a row in the only repository."""
    return PlaceFinder(loaded(corpus(texts)), units=units).find(PlaceRow(**{"file": "a.py", **row}), QUERY)


def problem(texts: Mapping[str, str | bytes], units: tuple[Any, ...] = (), **row: Any) -> str:
    """Return what is said of a row."""
    with pytest.raises(PlaceError) as caught:
        find(texts, units, **row)
    return str(caught.value)


@given(st.lists(st.sampled_from(["x", "yy\r", "", "é"]), max_size=6), st.sampled_from([b"", b"\n"]), st.data())
def test_lines_are_the_bytes_that_they_are(lines: list[str], end: bytes, data: st.DataObject) -> None:
    """Of every first and last line, with or without a line feed at the end; one line more is not in the file."""
    text = "\n".join(lines).encode() + end
    held = text.split(b"\n")
    held = [each + b"\n" for each in held[:-1]] + ([held[-1]] if held[-1] else [])
    finder = PlaceFinder(loaded(corpus({"a.py": text, "b.py": "b"})))
    if held:
        first = data.draw(st.integers(1, len(held)))
        last = data.draw(st.integers(first, len(held)))
        place = finder.find(PlaceRow(file="a.py", start_line=first, end_line=last), QUERY)
        assert text[place.start : place.end] == b"".join(held[first - 1 : last])
        assert finder.lines(place)[2:] == (first, last)
    with pytest.raises(PlaceError, match=rf"a\.py has {len(held)} lines"):
        finder.find(PlaceRow(file="a.py", start_line=1, end_line=len(held) + 1), QUERY)


def test_bytes_are_taken_as_they_are() -> None:
    """From the first to the last, none at all, and with lines beside them that agree."""
    text = "one\ntwo\nthree"
    assert find({"a.py": text}, start_byte=0, end_byte=13)[:3] == (CorpusFile("one", "a.py", "python"), 0, 13)
    assert find({"a.py": text}, start_byte=5, end_byte=5)[1:3] == (5, 5)
    assert find({"a.py": text}, start_byte=4, end_byte=9, start_line=2, end_line=3)[1:3] == (4, 9)
    assert find({"a.py": text}, start_byte=4, end_byte=8, start_line=2)[1:3] == (4, 8)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "start_line is missing: give start_line and end_line, or start_byte and end_byte"),
        ({"start_line": 1}, "end_line is missing: give start_line and end_line, or start_byte and end_byte"),
        ({"end_line": 1}, "start_line is missing: give start_line and end_line, or start_byte and end_byte"),
        ({"end_byte": 1}, "start_byte is missing: give start_byte and end_byte, or lines"),
        ({"start_byte": 1}, "end_byte is missing: give start_byte and end_byte, or lines"),
        (
            {"start_line": 1, "end_line": 1, "end_byte": 3},
            "start_byte is missing: give start_byte and end_byte, or lines",
        ),
        ({"start_line": 2, "end_line": 1}, "end_line 1 is before start_line 2: swap or correct them"),
        (
            {"start_line": 2, "end_line": 4},
            "a.py has 3 lines; lines 2-4 are not in it: correct the lines, or score on the commit they are from",
        ),
        ({"start_byte": 3, "end_byte": 2}, "end_byte 2 is before start_byte 3: swap or correct them"),
        (
            {"start_byte": 3, "end_byte": 14},
            "a.py has 13 bytes; bytes 3-14 are not in it: correct the bytes, or score on the commit they are from",
        ),
        (
            {"start_byte": 4, "end_byte": 8, "start_line": 1},
            "start_line is 1, but the bytes say 2: correct one, or leave the lines out",
        ),
        (
            {"start_byte": 4, "end_byte": 8, "end_line": 3},
            "end_line is 3, but the bytes say 2: correct one, or leave the lines out",
        ),
        (
            {"file": "b.py", "start_line": 1, "end_line": 1},
            "'b.py' is not a file of 'one' in this corpus: correct the path",
        ),
        (
            {"file": "./a.py", "start_line": 1, "end_line": 1},
            "'./a.py' is not a file of 'one' in this corpus: write 'a.py'",
        ),
        (
            {"file": "./b.py", "start_line": 1, "end_line": 1},
            "'./b.py' is not a file of 'one' in this corpus: correct the path",
        ),
        ({"repo": "on", "start_line": 1, "end_line": 1}, "the dataset has no repository 'on': Did you mean 'one'?"),
        (
            {"repo": "elsewhere", "start_line": 1, "end_line": 1},
            "the dataset has no repository 'elsewhere': name one of the dataset's",
        ),
        (
            {"start_line": 1, "end_line": 1, "header": "", "header_tokens": 0},
            "it has both header and header_tokens: give the header, which every unit can count",
        ),
        (
            {"start_line": 1, "end_line": 1, "header": "\ud800"},
            "header has half of a surrogate pair: write whole characters",
        ),
    ],
)
def test_what_is_no_place_is_told_with_its_remedy(row: dict[str, Any], said: str) -> None:
    """Every way to be wrong has its own sentence."""
    assert problem({"a.py": "one\ntwo\nthree"}, **row) == said


def test_a_header_is_text_or_a_number_of_tokens() -> None:
    """Tokens alone are enough where nothing else is counted; a header of no tokens is none."""
    line: dict[str, Any] = {"start_line": 1, "end_line": 1}
    assert find({"a.py": "x"}, header="above", **line)[3:5] == ("above", None)
    assert find({"a.py": "x"}, ("tokens",), header_tokens=7, **line)[3:5] == ("", 7)
    assert find({"a.py": "x"}, ("tokens", "lines"), header_tokens=0, **line)[3:5] == ("", 0)
    said = problem({"a.py": "x"}, ("tokens", "nws", "lines"), header_tokens=7, **line)
    assert said.startswith("header_tokens is a number of tokens, and a measure counts lines: give the header itself")


def test_a_place_is_in_the_repository_that_its_query_searches() -> None:
    """Or in the one that it names, where all are searched; with several of them it must name one."""
    line: dict[str, Any] = {"file": "a.py", "start_line": 1, "end_line": 1}
    texts = {"a.py": "x"}
    own = PlaceFinder(loaded(corpus(texts, repos=("one", "two"))))
    assert own.find(PlaceRow(**line), QUERY).file.repo == "one"
    assert own.find(PlaceRow(**line, repo="one"), QUERY).file.repo == "one"
    with pytest.raises(PlaceError, match="query 'q' searches 'one', not 'two': leave out places of other"):
        own.find(PlaceRow(**line, repo="two"), QUERY)
    both = PlaceFinder(loaded(corpus(texts, repos=("one", "two"), scope="all")))
    assert both.find(PlaceRow(**line, repo="two"), QUERY).file.repo == "two"
    with pytest.raises(PlaceError, match="repo is missing: queries of this dataset search all repositories"):
        both.find(PlaceRow(**line), QUERY)
    alone = PlaceFinder(loaded(corpus(texts, repos=("two",), scope="all")))
    assert alone.find(PlaceRow(**line), QUERY).file.repo == "two"


def test_a_query_of_a_repository_that_is_not_there_has_no_places() -> None:
    """It is named, not looked up."""
    finder = PlaceFinder(loaded(corpus({"a.py": "x"})))
    stray = Query("q", "text", "gone")
    with pytest.raises(PlaceError, match="is not a file of 'gone' in this corpus: correct the path"):
        finder.find(PlaceRow(file="./a.py", start_line=1, end_line=1), stray)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("run.jsonl", ("", "run.jsonl")), ("mine=run.jsonl", ("mine", "run.jsonl")), ("a=b=c", ("a", "b=c"))],
)
def test_a_span_run_is_named_by_the_user_or_by_its_file(text: str, expected: tuple[str, str]) -> None:
    """NAME=FILE or FILE."""
    assert NamedFile.parse(text) == NamedFile(expected[0], Path(expected[1]))


@pytest.mark.parametrize("text", ["=run.jsonl", "mine=", "my run=run.jsonl", "\ud800=run.jsonl", "="])
def test_what_is_no_name_is_refused(text: str) -> None:
    """A name has no spaces and is writable, and something follows it."""
    with pytest.raises(UsageError, match="is not NAME=FILE"):
        NamedFile.parse(text)


def test_a_file_whose_name_has_an_equals_sign_is_a_file(tmp_path: Path) -> None:
    """Where it exists."""
    (tmp_path / "a=b.jsonl").write_text("")
    assert NamedFile.parse(f"{tmp_path}/a=b.jsonl") == NamedFile("", tmp_path / "a=b.jsonl")


def read(folder: Path, *rows: dict[str, Any], name: str = "", dataset: Dataset | None = None) -> list[SpanRun]:
    """Return the runs of a file of these rows."""
    file = folder / "file.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_span_runs(NamedFile(name, file), loaded(dataset or word_dataset()))


def row(query: str = "one-apple", file: str = "apple.py", **more: Any) -> dict[str, Any]:
    """Return a row on the dataset of words."""
    return {"query_id": query, "file": file, "start_line": 1, "end_line": 2, **more}


def test_runs_have_the_names_of_their_rows_and_their_file(tmp_path: Path) -> None:
    """The user's name, the row's, the file's; of several runs under one name, both."""
    one = row(rank=1)
    assert [run.name for run in read(tmp_path, one)] == ["file"]
    assert [run.name for run in read(tmp_path, {**one, "run": "r"})] == ["r"]
    assert [run.name for run in read(tmp_path, one, name="mine")] == ["mine"]
    assert [run.name for run in read(tmp_path, {**one, "run": "r"}, name="mine")] == ["mine"]
    several = [{**one, "run": "r"}, {**one, "run": "s"}, one]
    assert [run.name for run in read(tmp_path, *several, name="mine")] == ["mine/r", "mine/s", "mine"]
    assert [run.name for run in read(tmp_path, *several)] == ["r", "s", "file"]


def test_places_are_by_rank_or_by_score_and_then_by_where_they_are(tmp_path: Path) -> None:
    """Whatever the order of the rows; of the same score, by path, first and last byte."""
    (run,) = read(tmp_path, row(file="bolt.py", rank=7), row(file="drum.py", rank=2), row(rank=3))
    assert [place.file.path for place in run.places["one-apple"]] == ["drum.py", "apple.py", "bolt.py"]
    assert {place.score for place in run.places["one-apple"]} == {0.0}
    scored = [
        ("bolt.py", 1, 0.5),
        ("apple.py", 3, 0.5),
        ("apple.py", 2, 0.5),
        ("drum.py", 1, 2.0),
        ("bolt.py", 2, -1.0),
    ]
    (run,) = read(tmp_path, *(row(file=file, score=score, end_line=end) for file, end, score in scored))
    found = [(place.file.path, place.score) for place in run.places["one-apple"]]
    assert found == [("drum.py", 2.0), ("apple.py", 0.5), ("apple.py", 0.5), ("bolt.py", 0.5), ("bolt.py", -1.0)]
    first, second = run.places["one-apple"][1:3]
    assert first.end < second.end


def test_a_rank_is_given_once_to_a_query_of_a_run(tmp_path: Path) -> None:
    """Another query, or another run, may have the same; scores may be equal."""
    assert len(read(tmp_path, row(rank=1), row("one-bolt", rank=1), row(rank=1, run="other"))) == 2
    (run,) = read(tmp_path, row(score=1.0), row(score=1.0))
    assert len(run.places["one-apple"]) == 2
    for rows, said in (
        ([row(rank=1), row(rank=1)], "2: rank 1 of query 'one-apple' is there already, in row 1"),
        ([row(score=1.0), row(rank=1)], "2: query 'one-apple' has results with ranks and results with scores"),
        ([row(rank=1), row(score=1.0)], "2: query 'one-apple' has results with ranks and results with scores"),
        ([row(rank=1, score=1.0)], "1: it has both rank and score: give one of them"),
        ([row()], "1: it has neither rank nor score: give one of them"),
        ([row("one-aple", rank=1)], "1: 'one-aple' is not a query of words: Did you mean 'one-apple'?"),
        ([row("?", rank=1)], "1: '?' is not a query of words: score it on the dataset it was made for"),
        ([row(rank=1, run="\ud800")], "1: run is '\\ud800': name it in whole characters"),
        (
            [row(rank=1, dataset="other"), row(rank=1, dataset="another")],
            "has no rows for words: its rows are about another, other",
        ),
        ([], "has no rows for words: write one JSON object per line"),
    ):
        with pytest.raises(UsageError) as caught:
            read(tmp_path, *rows)
        assert said in str(caught.value)


def test_rows_of_queries_that_were_not_drawn_are_counted(tmp_path: Path) -> None:
    """Where only a part of the queries is asked; rows about another dataset are not counted."""
    whole = word_dataset()
    part = Dataset("words", whole.repositories, whole.queries[:2], whole.annotations[:2], details={"queries_drawn": 2})
    rows = [row(rank=1), row("one-drum", rank=1), row("one-flute", rank=1), row(rank=1, dataset="other")]
    (run,) = read(tmp_path, *rows, dataset=part)
    assert (list(run.places), run.diagnostics) == (["one-apple"], {"rows_not_drawn": 2.0})
    (run,) = read(tmp_path, row(rank=1, dataset="words"), dataset=part)
    assert run.diagnostics == {}
