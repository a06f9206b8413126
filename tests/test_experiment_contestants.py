"""Contestants that are no pipeline of ours, and rankings as rows: tools that are asked, names, and what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_corpora import Clock, loaded, module, session_of, word_dataset

from chunkers.errors import UsageError
from chunkers.sizes import ruler
from evaluation.experiment import stages
from evaluation.experiment.contestants import Contestant, contestant_record, contestants
from evaluation.experiment.executors import Serial
from evaluation.experiment.run import run_experiment
from evaluation.experiment.span_writing import write_spans
from evaluation.experiment.tool_runs import run_tool
from evaluation.tools.asking import FunctionTool, Question, ToolError
from evaluation.types import CellKey
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Dataset, HiddenSpan, Query


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rankings_are_written_as_rows(tmp_path: Path) -> None:
    """Ranks from 1, bytes and lines of each chunk, headers; runs are counted; a dataset is named among several."""
    session = session_of(word_dataset(), tmp_path / "cache", chunkers=("fixed-lines:lines=5,header=path", "whole-file"))
    run_experiment(session, Serial())
    assert write_spans(session, tmp_path / "rows.jsonl") == 2
    rows = rows_of(tmp_path / "rows.jsonl")
    cell = session.cells[0]
    chunks, ranking = stages.chunk(session, "words", cell.chunker), stages.retrieve(session, cell).ranking
    own = [row for row in rows if row["run"] == " · ".join(cell[1:])]
    expected = [
        {
            "query_id": query,
            "rank": rank,
            "repo": "one",
            "file": chunks.files[chunks.columns["file"][hit.position]].path,
            "start_line": int(chunks.columns["start_line"][hit.position]),
            "end_line": int(chunks.columns["end_line"][hit.position]),
            "start_byte": int(chunks.columns["start"][hit.position]),
            "end_byte": int(chunks.columns["end"][hit.position]),
            "header": chunks.headers[hit.position],
            "run": " · ".join(cell[1:]),
        }
        for query, hits in ranking.items()
        for rank, hit in enumerate(hits, start=1)
    ]
    assert own == expected
    assert all("header" not in row for row in rows if row["run"] != own[0]["run"])
    with pytest.raises(UsageError, match="cannot be written"):
        write_spans(session, tmp_path / "nowhere" / "rows.jsonl")


def test_only_finished_cells_are_written_and_span_runs_with_them(tmp_path: Path) -> None:
    """With header_tokens where a run has no header, and each under its own name and dataset."""
    place = {"query_id": "one-apple", "rank": 3, "file": "apple.py", "start_line": 6, "end_line": 7, "header_tokens": 4}
    (tmp_path / "mine.jsonl").write_text(json.dumps(place) + "\n")
    second = replace(word_dataset(hidden=(HiddenSpan("one", "drum.py", 0, 3),)), name="more")
    session = session_of(
        word_dataset(),
        tmp_path / "cache",
        plugins={"more": InMemory(dataset=second)},
        datasets=("words", "more"),
        spans=(f"mine={tmp_path / 'mine.jsonl'}",),
    )
    for other in contestants(session):
        contestant_record(session, other)
    stages.score(session, session.cells[1])
    assert write_spans(session, tmp_path / "rows.jsonl") == 3
    rows = rows_of(tmp_path / "rows.jsonl")
    assert {(row["run"], row["dataset"]) for row in rows} == {
        (" · ".join(session.cells[1][1:]), "more"),
        ("mine", "words"),
        ("mine", "more"),
    }
    mine = next(row for row in rows if row["run"] == "mine")
    start = module("apple").index("def")
    assert mine == {
        "query_id": "one-apple",
        "rank": 1,
        "repo": "one",
        "file": "apple.py",
        "dataset": "words",
        "run": "mine",
        "start_byte": start,
        "end_byte": module("apple").index("\n\n\nAPPLE") + 1,
        "header_tokens": 4,
        "start_line": 6,
        "end_line": 7,
    }


def test_a_header_that_is_no_text_is_written_as_its_tokens(tmp_path: Path) -> None:
    """With the line feed below it, as a budget counts it; one that is text is written as it is."""
    row = {"query_id": "one-apple", "file": "apple.py", "start_line": 6, "end_line": 7}
    rows = [{**row, "rank": rank, "header": header} for rank, header in ((1, "\udcff above"), (2, "above"))]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    session = session_of(word_dataset(), tmp_path / "cache", spans=(f"mine={tmp_path / 'mine.jsonl'}",))
    for other in contestants(session):
        contestant_record(session, other)
    assert write_spans(session, tmp_path / "rows.jsonl") == 1
    data = b"\xff above\n"
    first, second = rows_of(tmp_path / "rows.jsonl")
    assert first["header_tokens"] == ruler(data, "tokens").count(0, len(data))
    assert "header" not in first
    assert (second["header"], "header_tokens" in second) == ("above", False)


def test_names_of_contestants_are_their_own(tmp_path: Path) -> None:
    """Not those of a chunker, nor of each other, on each dataset; without any nothing is checked."""
    row = {"query_id": "one-apple", "rank": 1, "file": "apple.py", "start_line": 6, "end_line": 7}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    mine = f"mine={tmp_path / 'a.jsonl'}"
    found = contestants(session_of(word_dataset(), tmp_path, spans=(mine,), tools=("grep-read",)))
    assert [each.key for each in found] == [CellKey.of_span_run("words", name) for name in ("mine", "grep-read")]
    with pytest.raises(UsageError, match="two span runs or tools are called 'mine'"):
        contestants(session_of(word_dataset(), tmp_path, spans=(mine,), tools=("mine=true",)))
    with pytest.raises(UsageError, match="'whole-file' is a chunker of this comparison"):
        contestants(session_of(word_dataset(), tmp_path, chunkers=("whole-file",), tools=("whole-file=true",)))
    ranks: dict[str, Any] = {"measures": ("ndcg@5",), "headline": "ndcg@5"}
    with pytest.raises(UsageError, match="choose a headline on text"):
        contestants(session_of(word_dataset(), tmp_path, spans=(mine,), **ranks))
    assert contestants(session_of(word_dataset(), tmp_path, **ranks)) == []


def line(number: int, **more: Any) -> dict[str, Any]:
    """Return one line of a file."""
    return {"file": "apple.py", "start_line": number, "end_line": number, **more}


def test_answers_of_a_tool_are_cut_at_the_depth_and_counted() -> None:
    """As long as the depth is not too long; the time of each question is measured, and an index has no cost."""
    asked: list[str] = []

    def answer(_folder: Path, question: Question) -> list[Any]:
        asked.append(question.repo)
        return [line(number) for number in range(1, 4 if question.query_id.endswith("apple") else 3)]

    held = loaded(word_dataset(("one", "two")))
    run = run_tool(FunctionTool("t", answer), held, depth=2)
    assert {query: len(places) for query, places in run.places.items()} == {
        query.id: 2 for query in held.dataset.queries
    }
    assert (run.diagnostics["answers_cut_off"], run.diagnostics["places_cut_off"]) == (2.0, 2.0)
    assert asked == ["one"] * 6 + ["two"] * 6
    assert run.cost.queries_timed == 12
    assert (run.cost.index_bytes, run.cost.texts_embedded, run.cost.build_seconds) == (0, 0, 0)
    assert run.diagnostics["query_seconds_p95"] >= run.diagnostics["query_seconds_p50"] >= 0
    far = run_tool(FunctionTool("t", answer), held, depth=3)
    assert (far.diagnostics["answers_cut_off"], far.diagnostics["places_cut_off"]) == (0.0, 0.0)


def test_a_dataset_without_queries_of_a_repository_asks_nothing_there() -> None:
    """The tool is not even opened for it."""
    whole = word_dataset(("one", "two"))
    held = loaded(Dataset("words", whole.repositories, whole.queries[6:], ()))
    opened: list[set[str]] = []

    def answer(folder: Path, question: Question) -> list[Any]:
        opened.append({question.repo, *(path.name for path in folder.iterdir())})
        return []

    run = run_tool(FunctionTool("t", answer), held, depth=5)
    assert len(opened) == 6
    assert all("two" in each for each in opened)
    assert all(places == [] for places in run.places.values())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([line(1), line(99)], "query 'one-apple', place 2: apple.py has 10 lines; lines 99-99 are not in it"),
        ([line(1, score=1.0), line(2, score=2.0)], "query 'one-apple', place 2: its score"),
        ([line(1), {"fil": "apple.py"}], "query 'one-apple', place 2: "),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_by_query_and_place(answer: list[Any], said: str, tmp_path: Path) -> None:
    """The cell fails with it."""
    held = loaded(word_dataset())
    with pytest.raises(ToolError) as caught:
        run_tool(FunctionTool("t", lambda _folder, _question: answer), held, depth=5)
    assert str(caught.value).startswith(said)

    def fails() -> Any:
        raise caught.value

    made = contestant_record(session_of(word_dataset(), tmp_path), Contestant(CellKey.of_span_run("words", "t"), fails))
    assert (made.record.status, made.record.reason) == ("failed", str(caught.value))


def test_the_time_of_each_question_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the microsecond among what is said of a run, and as it is in its cost; without a question there is none."""
    monkeypatch.setattr("evaluation.experiment.tool_runs.time", Clock(step=0.1234567, now=0.0))
    tool = FunctionTool("t", lambda _folder, _question: [])
    run = run_tool(tool, loaded(word_dataset()), depth=5)
    assert (run.diagnostics["query_seconds_p50"], run.diagnostics["query_seconds_p95"]) == (0.123457, 0.123457)
    assert run.cost.query_seconds_p50 == pytest.approx(0.1234567, abs=1e-9)
    assert run.cost.query_seconds_p95 == pytest.approx(0.1234567, abs=1e-9)
    assert run.seconds["retrieve"] == pytest.approx(13 * 0.1234567)
    stray = replace(word_dataset(), queries=(Query("q", "x", "gone"),), annotations=())
    nobody = run_tool(tool, loaded(stray), depth=5)
    assert (nobody.diagnostics["query_seconds_p50"], nobody.diagnostics["query_seconds_p95"]) == (0.0, 0.0)
    assert (nobody.cost.query_seconds_p50, nobody.cost.query_seconds_p95, nobody.cost.queries_timed) == (None, None, 0)
