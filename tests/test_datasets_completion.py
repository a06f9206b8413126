"""Official formats of completion tasks (RepoBench-R, CrossCodeEval's context, RepoEval's levels) and of Cocha."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Literal

import pytest

from chunkers.errors import UsageError
from ground_truth.datasets.cocha import Cocha
from ground_truth.datasets.crosscodeeval import CrossCodeEval
from ground_truth.datasets.repobench import RepoBench
from ground_truth.datasets.repoeval import RepoEval
from ground_truth.types import Dataset


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))


def lines(path: Path, *rows: object) -> str:
    """Write JSON Lines and return the path as a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def places(dataset: Dataset) -> list[tuple[str, str, int, int]]:
    """Return the gold."""
    return [(note.query_id, note.path, note.start_line, note.end_line) for note in dataset.annotations]


ADD = "def add(a, b):\n    total = a + b\n    return total\n"
SUB = "def sub(a, b):\n    return a - b\n"


def repobench(**changes: object) -> dict:
    """Return a row of RepoBench v1.1, with its fields as published."""
    row = {
        "repo_name": "o/r",
        "file_path": "main.py",
        "context": [
            {"identifier": "sub", "path": "lib/m.py", "snippet": SUB},
            {"identifier": "add", "path": "lib/m.py", "snippet": ADD},
        ],
        "import_statement": "from lib.m import add, sub",
        "token_num": 40,
        "cropped_code": "from lib.m import add, sub\n\n\ndef main():\n    x = 1\n    y = 2\n",
        "all_code": "…",
        "next_line": "    print(add(x, y))",
        "gold_snippet_index": 1,
        "created_at": "2023-10-06",
        "level": "2k",
    }
    return {**row, **changes}


def test_repobench_candidates_are_the_corpus_of_their_row(tmp_path: Path) -> None:
    """The query is the end of the code, the gold snippet is a file of its row's own small corpus."""
    path = lines(tmp_path / "rb.jsonl", repobench(), repobench(gold_snippet_index=0))
    dataset = RepoBench(path=path).load()
    assert [query.text for query in dataset.queries] == ["def main():\n    x = 1\n    y = 2"] * 2
    assert dataset.queries[0].expected == "    print(add(x, y))"
    assert {query.cluster for query in dataset.queries} == {"o/r"}
    assert places(dataset) == [("1", "1/lib/m.py", 1, 3), ("2", "0/lib/m.py", 1, 2)]
    assert [len(list(repository.files())) for repository in dataset.repositories] == [2, 2]
    (pooled,) = RepoBench(path=path, pool="repository").load().repositories
    assert [(source.path, source.language) for source in pooled.files()] == [
        ("0/lib/m.py", "python"),
        ("1/lib/m.py", "python"),
    ]


def test_repobench_first_release_has_texts_without_paths(tmp_path: Path) -> None:
    """``context`` of plain texts, ``code`` and ``golden_snippet_index``."""
    row = repobench(context=[SUB, ADD], code="x = 1\n", golden_snippet_index=1)
    del row["gold_snippet_index"], row["cropped_code"]
    assert places(RepoBench(path=lines(tmp_path / "rb.jsonl", row)).load()) == [("1", "1.py", 1, 3)]
    (tmp_path / "python_cff.gz").write_bytes(b"\x80\x04.")
    with pytest.raises(UsageError, match=r"is a pickle, which would run its code: save its rows"):
        RepoBench(path=str(tmp_path / "python_cff.gz")).load()


def test_repobench_jaccard_takes_candidates_that_are_nearly_the_gold_one(tmp_path: Path) -> None:
    """Seven of ten tokens are enough, two of ten are not."""
    near = {"identifier": "add2", "path": "lib/n.py", "snippet": ADD.replace("def add(a, b):", "def add2(a, b):")}
    path = lines(tmp_path / "rb.jsonl", repobench(context=[*repobench()["context"], near]))
    assert [place[1] for place in places(RepoBench(path=path).load())] == ["1/lib/m.py"]
    assert [place[1] for place in places(RepoBench(path=path, gold="jaccard").load())] == ["1/lib/m.py", "2/lib/n.py"]


def test_repobench_snippets_are_placed_in_their_repository(tmp_path: Path) -> None:
    """Whole, whatever the indentation; else the most similar lines; else the row is refused or counted."""
    (tmp_path / "raw" / "o__r" / "lib").mkdir(parents=True)
    indented = "".join("    " + line for line in ADD.splitlines(keepends=True))
    (tmp_path / "raw" / "o__r" / "lib" / "m.py").write_text(f"{SUB}\n\nclass C:\n\n{indented}\n\nx = 1\n")
    edited = {"identifier": "sub", "path": "lib/m.py", "snippet": SUB.replace("return a - b", "return a - b  # new")}
    gone = {"identifier": "mul", "path": "lib/m.py", "snippet": "def mul(a, b):\n    return a * b\n"}
    rows = [
        repobench(),
        repobench(context=[edited], gold_snippet_index=0),
        repobench(context=[gone], gold_snippet_index=0),
    ]
    path = lines(tmp_path / "rb.jsonl", *rows)
    with pytest.raises(UsageError, match=r"jsonl:3: gold snippet not in the repository"):
        RepoBench(path=path, root=str(tmp_path / "raw")).load()
    dataset = RepoBench(path=path, root=str(tmp_path / "raw"), problems="skip").load()
    assert places(dataset) == [("1", "lib/m.py", 7, 9), ("2", "lib/m.py", 1, 2)]
    assert dataset.details["gold"] == {"found whole": 1, "most similar lines, Jaccard 0.7 or more": 1}
    assert dataset.details["skipped"] == {"gold snippet not in the repository": 1}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gold_snippet_index": 2}, "no gold snippet: gold_snippet_index is 2, and there are 2 candidates"),
        ({"gold_snippet_index": -1}, "no gold snippet"),
        ({"context": [{"path": "m.py"}]}, "identifier, path and snippet"),
        ({"context": None}, "context and gold_snippet_index were expected"),
    ],
)
def test_repobench_rows_that_are_wrong_name_file_and_row(tmp_path: Path, changes: dict, words: str) -> None:
    """One line each."""
    with pytest.raises(UsageError, match=words) as caught:
        RepoBench(path=lines(tmp_path / "rb.jsonl", repobench(**changes))).load()
    assert "rb.jsonl:1" in str(caught.value)


def completion(number: int, **changes: object) -> dict:
    """Return a row of CrossCodeEval's line_completion_rg1_bm25.jsonl, with its fields as published."""
    meta = {
        "task_id": f"project_cc_python/{number}",
        "repository": "o-r-1a2b3c",
        "file": "main.py",
        "context_start_lineno": 0,
        "groundtruth_start_lineno": 3,
        "right_context_start_lineno": 4,
    }
    pieces = [
        {"retrieved_chunk": SUB, "filename": "lib/m.py", "score": 0.3},
        {"retrieved_chunk": ADD, "filename": "lib/m.py", "score": 0.2},
    ]
    context = {"text": "# Here are some relevant code fragments …", "list": pieces}
    row = {
        "prompt": "import lib\nx = 1\ny = lib.m.",
        "groundtruth": "add(x, x)",
        "right_context": "\n",
        "metadata": meta,
    }
    return {**row, "crossfile_context": context, **changes}


def test_crosscodeeval_own_context_is_a_corpus_without_the_repositories(tmp_path: Path) -> None:
    """Gold is the piece that holds the completion's new identifiers; what no piece holds is refused or counted."""
    rows = [completion(1), completion(2, groundtruth="mul(x)"), completion(3, crossfile_context="")]
    path = lines(tmp_path / "line_completion_rg1_bm25.jsonl", *rows)
    with pytest.raises(UsageError, match=r"jsonl:2: the context lacks the completion's identifiers: mul"):
        CrossCodeEval(path=path).load()
    dataset = CrossCodeEval(path=path, problems="skip", query_lines=1).load()
    assert places(dataset) == [("project_cc_python/1", "1/lib/m.py", 1, 3)]
    (repository,) = dataset.repositories
    assert [(source.path, source.language) for source in repository.files()] == [
        ("0/lib/m.py", "python"),
        ("1/lib/m.py", "python"),
    ]
    assert dataset.queries[0].text == "y = lib.m."
    assert dataset.details["skipped"] == {
        "the context lacks the completion's identifiers": 1,
        "no cross-file context": 1,
    }


def test_crosscodeeval_without_context_or_repositories_says_what_to_give(tmp_path: Path) -> None:
    """line_completion.jsonl alone has no corpus; a context of another shape is refused."""
    row = completion(1)
    del row["crossfile_context"]
    with pytest.raises(UsageError, match=r"has no crossfile_context: give line_completion_rg1_bm25\.jsonl or the like"):
        CrossCodeEval(path=lines(tmp_path / "line_completion.jsonl", row)).load()
    other = completion(1, crossfile_context={"list": ["text"]})
    with pytest.raises(UsageError, match=r"jsonl:1: .*retrieved_chunk and filename were expected"):
        CrossCodeEval(path=lines(tmp_path / "other.jsonl", other), problems="skip").load()


REPOEVAL = "import lib\nx = lib.load(\n    path,\n)\nprint(x)\n"


def official(home: Path, level: str, **changes: object) -> Path:
    """Write RepoCoder's archives: datasets/datasets.zip and repositories/line_and_api_level.zip."""
    meta = {
        "task_id": "o_r/0", "ground_truth": "x = lib.load(\n    path,\n)", "fpath_tuple": ["o_r", "pkg", "m.py"],
        "context_start_lineno": 0, "line_no": 1, **changes,
    }  # fmt: skip
    (home / "datasets").mkdir(parents=True)
    (home / "repositories").mkdir()
    with zipfile.ZipFile(home / "datasets" / "datasets.zip", "w") as packed:
        row = json.dumps({"prompt": "import lib\n", "metadata": meta})
        packed.writestr(f"{level}_level_completion_1k_context_codegen.test.jsonl", "not read\n")
        packed.writestr(f"{level}_level_completion_2k_context_codex.test.jsonl", row + "\n")
    with zipfile.ZipFile(home / "repositories" / "line_and_api_level.zip", "w") as packed:
        packed.writestr("o_r/pkg/m.py", REPOEVAL)
    return home


@pytest.mark.parametrize(
    ("level", "changes", "gold"),
    [("api", {}, (2, 4)), ("line", {"ground_truth": "print(x)", "line_no": 4}, (5, 5))],
)
def test_repoeval_lines_and_apis_are_read_from_the_official_archives(
    tmp_path: Path, level: Literal["api", "line"], changes: dict, gold: tuple[int, int]
) -> None:
    """The 2k context is chosen; ``line_no`` is counted from 0; an API call may have several lines."""
    home = official(tmp_path / "RepoCoder", level, **changes)
    dataset = RepoEval(path=str(home), level=level).load()
    assert [place[1:] for place in places(dataset)] == [("pkg/m.py", *gold)]
    assert dataset.details["used"] == 1
    with pytest.raises(UsageError, match="those tasks complete lines, not functions"):
        RepoEval(path=str(home), level=level, gold="function")


def test_repoeval_tasks_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    """Another text in the line, a file that is gone: file and row, or a count."""
    home = official(tmp_path / "RepoCoder", "line", ground_truth="print(y)", line_no=4)
    with pytest.raises(UsageError, match=r"jsonl:1: the lines are not the task's ground_truth"):
        RepoEval(path=str(home), level="line").load()
    with pytest.raises(UsageError, match="none of 1 tasks can be used: 1 the lines are not"):
        RepoEval(path=str(home), level="line", problems="skip").load()


def test_a_zip_that_leaves_its_folder_is_not_unpacked(tmp_path: Path) -> None:
    """As for tar archives: a member that climbs is an error, a link is left out."""
    home = official(tmp_path / "RepoCoder", "line")
    with zipfile.ZipFile(home / "repositories" / "line_and_api_level.zip", "w") as packed:
        packed.writestr("../evil.py", "x = 1\n")
    with pytest.raises(UsageError, match="leaves the archive's folder"):
        RepoEval(path=str(home), level="line").load()
    assert not (tmp_path / "cache" / "archives" / "evil.py").exists()
    (home / "datasets" / "datasets.zip").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(UsageError, match="damaged or truncated"):
        RepoEval(path=str(home), level="line").load()


def cocha(home: Path, *questions: dict) -> str:
    """Write an MTCB folder with two files of code, in Parquet as on the hub."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = [
        {"file_name": "a", "language": "python", "text": f"import os\n\n\n{ADD}\n\n{SUB}"},
        {"file_name": "b", "language": "C++", "text": "int x;\nint y;\n"},
    ]
    for part, rows in {"corpus": files, "questions": list(questions)}.items():
        (home / part).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), home / part / "train-00000-of-00001.parquet")
    return str(home)


def asked(question: str, passage: str) -> dict:
    """Return a row of questions."""
    return {"question": question, "answer": "…", "chunk-must-contain": passage}


def test_cocha_passages_have_places(tmp_path: Path) -> None:
    """A part of a line, several lines, other indentation; of equal places any one is the answer."""
    path = cocha(
        tmp_path / "cocha",
        asked("how is it summed?", "total = a + b"),
        asked("what is added?", ADD),
        asked("and without indentation?", "def sub(a, b):\nreturn a - b"),
        asked("which numbers?", "int"),
    )
    dataset = Cocha(path=path).load()
    assert [
        (note.query_id, note.path, note.start_line, note.end_line, note.alternative) for note in dataset.annotations
    ] == [
        ("1", "1", 5, 5, ""),
        ("2", "1", 4, 6, ""),
        ("3", "1", 9, 10, ""),
        ("4", "2", 1, 1, "1"),
        ("4", "2", 2, 2, "2"),
    ]
    (corpus,) = dataset.repositories
    assert [source.language for source in corpus.files()] == ["python", "cpp"]
    assert {query.cluster for query in dataset.queries} == {"cocha"}
    assert dataset.details["in_several_places"] == 1


def test_cocha_passages_that_are_nowhere_are_refused_or_counted(tmp_path: Path) -> None:
    """File and row are named; a question that is there twice is one too."""
    rows = [
        asked("q", "total = a + b"),
        asked("q", "total = a + b"),
        asked("where?", "nowhere at all"),
        asked("e", " "),
    ]
    path = cocha(tmp_path / "cocha", *rows)
    with pytest.raises(UsageError, match=r"parquet:2: duplicate question"):
        Cocha(path=path).load()
    dataset = Cocha(path=path, problems="skip").load()
    assert dataset.details["skipped"] == {"duplicate question": 1, "passage not in the corpus": 1, "empty passage": 1}
    lines(tmp_path / "half" / "corpus.jsonl", {"text": "x"})
    with pytest.raises(UsageError, match="has no questions/"):
        Cocha(path=str(tmp_path / "half")).load()
