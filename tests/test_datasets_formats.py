"""Datasets in one folder or file: CrossCodeEval, BEIR and CoIR, a small JSON set; and the registry of all."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from chunkers.parameters import parameters_of
from ground_truth.availability import availability
from ground_truth.datasets.beir import Beir
from ground_truth.datasets.crosscodeeval import CrossCodeEval
from ground_truth.datasets.simple_json import SimpleJson
from ground_truth.registry import DATASETS


def lines(path: Path, *rows: object) -> Path:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def completion(**changes: object) -> dict:
    """Return one task of CrossCodeEval."""
    meta = {"task_id": "project/1", "repository": "o-r-1", "file": "m.py", "groundtruth_start_lineno": 2, **changes}
    return {"prompt": "import x\n\ny = x.", "groundtruth": "call(1)", "right_context": "\n", "metadata": meta}


def test_crosscodeeval_gold_is_the_completed_line(tmp_path: Path) -> None:
    """Lines are counted from 0 there and from 1 here; the query is the end of the prompt."""
    (tmp_path / "raw" / "o-r-1").mkdir(parents=True)
    (tmp_path / "raw" / "o-r-1" / "m.py").write_text("import x\n\ny = x.call(1)\n")
    path = lines(
        tmp_path / "line_completion.jsonl", completion(), completion(task_id="p/2", groundtruth_start_lineno=0)
    )
    with pytest.raises(UsageError, match=r"jsonl:2.*not the task's groundtruth"):
        CrossCodeEval(path=str(path), root=str(tmp_path / "raw")).load()
    dataset = CrossCodeEval(path=str(path), root=str(tmp_path / "raw"), problems="skip", query_lines=1).load()
    assert [(note.start_line, note.end_line) for note in dataset.annotations] == [(3, 3)]
    assert dataset.queries[0].text == "y = x."
    assert dataset.details["skipped"] == {"the line is not the task's groundtruth": 1}


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """Return a BEIR folder with all that real ones have: an unjudged query, an unknown document, an empty one."""
    folder = tmp_path / "set"
    documents = [
        {"_id": "d2", "title": "", "text": "def f():\n    pass\n"},
        {"_id": "d1", "title": "T", "text": "ü\n\n"},
        {"_id": "d3", "text": " "},
    ]
    lines(folder / "corpus.jsonl", *documents)
    lines(folder / "queries.jsonl", *({"_id": name, "text": f"text {name}"} for name in ("q1", "q2", "q3")))
    (folder / "qrels").mkdir()
    rows = ["query-id\tcorpus-id\tscore", "q1\td1\t2", "q1\td9\t1", "q2\td3\t1", "q9\td1\t1", "q3\td2\t0"]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n")
    return folder


def test_beir_documents_are_files_and_gold_as_a_whole(beir: Path) -> None:
    """Documents come in the order of ids; judgements that name nothing are counted, and so are unjudged queries."""
    dataset = Beir(path=str(beir), language="python").load()
    (corpus,) = dataset.repositories
    assert [(source.path, source.data) for source in corpus.files()] == [
        ("d1", "T\nü\n\n".encode()),
        ("d2", b"def f():\n    pass\n"),
    ]
    assert [(note.query_id, note.path, note.end_line, note.grade) for note in dataset.annotations] == [
        ("q1", "d1", 3, 2.0),
        ("q3", "d2", 2, 0.0),
    ]
    assert [query.id for query in dataset.queries] == ["q1", "q3"]
    assert dataset.details["unjudged_queries"] == 1
    assert {query.cluster for query in dataset.queries} == {"set"}
    assert dataset.details["languages"] == {"python": 2}
    assert dataset.details["skipped"] == {
        "document not in the corpus, or empty": 2,
        "query not in queries.jsonl": 1,
    }
    assert dataset.details["rows"] == 5, "what is left out is a share of them"
    again = pickle.loads(pickle.dumps(dataset))  # noqa: S301 - made in the line itself
    assert (again.queries, again.annotations) == (dataset.queries, dataset.annotations)


def test_beir_problems_are_refused_by_row_or_counted(beir: Path) -> None:
    """Rows that are there twice and judgements of nothing: file and row with problems=error, counts otherwise."""
    with pytest.raises(UsageError, match=r"test\.tsv:3: document not in the corpus, or empty: d9"):
        Beir(path=str(beir), problems="error").load()
    lines(beir / "queries.jsonl", {"_id": "q1", "text": "first"}, {"_id": "q1", "text": "again"})
    (beir / "qrels" / "test.tsv").write_text("q1\td1\t2\nq1\td1\t1\nq1\td2\t-1\n")
    with pytest.raises(UsageError, match=r"queries\.jsonl:2: duplicate query: 'q1'"):
        Beir(path=str(beir), problems="error").load()
    dataset = Beir(path=str(beir)).load()
    assert [query.text for query in dataset.queries] == ["first"]
    assert [note.grade for note in dataset.annotations] == [2.0]
    assert dataset.details["skipped"] == {"duplicate query": 1, "duplicate judgement": 1, "negative grade": 1}


def test_beir_documents_may_each_have_a_language(beir: Path) -> None:
    """A column, at the top or in the metadata, in any usual spelling; ``language`` for all of them comes first."""
    rows = [
        {"_id": "d1", "text": "int x;", "language": "C++"},
        {"_id": "d2", "text": "x = 1", "metadata": {"language": "python"}},
        {"_id": "d3", "text": "x", "language": "Klingon"},
        {"_id": "d1", "text": "again"},
    ]
    lines(beir / "corpus.jsonl", *rows)
    dataset = Beir(path=str(beir)).load()
    assert [source.language for source in dataset.repositories[0].files()] == ["cpp", "python", None]
    assert dataset.details["languages"] == {"cpp": 1, "python": 1, "unknown": 1}
    assert dataset.details["skipped"]["duplicate document"] == 1
    corpus = Beir(path=str(beir), language="java").load().repositories[0]
    assert {source.language for source in corpus.files()} == {"java"}


def test_beir_broken_rows_are_named(beir: Path) -> None:
    """A row without tabs, a split that is not there and a document without an id are one line each."""
    with pytest.raises(UsageError, match=r"qrels/dev\.tsv is not there"):
        Beir(path=str(beir), split="dev").load()
    (beir / "qrels" / "test.tsv").write_text("q1 d1 1\n")
    with pytest.raises(UsageError, match=r"test\.tsv:1"):
        Beir(path=str(beir)).load()
    (beir / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{"text": "x"}\n')
    with pytest.raises(UsageError, match=r"corpus\.jsonl:2"):
        Beir(path=str(beir)).load()
    with pytest.raises(UsageError, match="no grammar"):
        Beir(path=str(beir), language="klingon")


def test_simple_json_names_files_or_lines(tmp_path: Path) -> None:
    """A path alone is the whole file; a query without gold stays and is told."""
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text("1\n2\n3\n")
    path = tmp_path / "set.json"
    queries = [
        {"id": 1, "text": "one", "relevant": ["a.py", "a.py:2-3", "a.py#L1"]},
        {"id": "two", "text": "two", "relevant": []},
    ]
    path.write_text(json.dumps({"name": "small", "queries": queries}))
    dataset = SimpleJson(path=str(path), root=str(tmp_path / "repo")).load()
    assert [(note.start_line, note.end_line) for note in dataset.annotations] == [(1, 3), (2, 3), (1, 1)]
    assert dataset.details == {"rows": 3, "without_gold": ["two"], "skipped": {}}
    assert {query.cluster for query in dataset.queries} == {"repo"}


def test_simple_json_places_that_are_gone_are_skipped_and_counted(tmp_path: Path) -> None:
    """With problems=skip the query stays with the places that are there."""
    (tmp_path / "a.py").write_text("1\n")
    queries = [{"id": 1, "text": "one", "relevant": ["a.py", "b.py", "a.py:7", "a.py:1-1"]}]
    (tmp_path / "set.json").write_text(json.dumps({"name": "small", "queries": queries}))
    dataset = SimpleJson(path=str(tmp_path / "set.json"), root=str(tmp_path), problems="skip").load()
    assert [note.path for note in dataset.annotations] == ["a.py"]
    assert dataset.details["skipped"] == {
        "file not in the folder": 1,
        "lines outside the file": 1,
        "duplicate place": 1,
    }
    assert dataset.details["rows"] == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ('{"name": "x"}', "queries: field required"),
        (
            '{"name": "x", "queries": [{"id": "1", "text": "t", "relevant": ["b.py"]}]}',
            r"query 1 \('1'\): .*'b.py' is not in",
        ),
        ('{"name": "x", "queries": [{"id": "1", "text": "t", "relevant": ["a.py:2-9"]}]}', "which has 1"),
        ('{"name": "x", "queries": [{"id": "1", "text": " ", "relevant": []}]}', "is empty"),
    ],
)
def test_simple_json_problems_are_one_line(tmp_path: Path, content: str, words: str) -> None:
    """Broken JSON, missing keys, missing files and lines outside a file are named."""
    (tmp_path / "a.py").write_text("1\n")
    (tmp_path / "set.json").write_text(content)
    with pytest.raises(UsageError, match=words) as caught:
        SimpleJson(path=str(tmp_path / "set.json"), root=str(tmp_path)).load()
    assert "\n" not in str(caught.value)


def test_every_registered_dataset_loads_as_a_class_and_says_what_it_needs() -> None:
    """One row per dataset, none without needs; the loaders are frozen dataclasses with a version."""
    rows = {row.name: row for row in availability()}
    assert rows.keys() == DATASETS.entries().keys()
    assert all(row.needs for row in rows.values())
    assert rows["repoeval"].looked


@pytest.mark.parametrize("name", sorted(DATASETS.builtin))
def test_a_missing_path_is_a_usage_error_for_every_dataset(name: str, tmp_path: Path) -> None:
    """No loader answers a path that is not there with a traceback."""
    spec = {
        "installed": "installed:packages=no_such_package",
        "repoeval": f"repoeval:path={tmp_path}/absent",
        "beir": f"beir:path={tmp_path}/absent",
    }.get(name, f"{name}:path={tmp_path}/absent,root={tmp_path},repos={tmp_path}")
    fields = DATASETS.load(name).__dataclass_fields__
    spec = ",".join(part for part in spec.split(",") if part.split("=")[0].split(":")[-1] in fields)
    with pytest.raises(UsageError):
        DATASETS.create(spec).load()


def test_any_folder_is_a_dataset(tmp_path: Path) -> None:
    """A folder without labels is mined, masked and says so; one without documentation says what to do."""
    code = 'def f{0}(x):\n    """Turn the {1} knob of the machine."""\n    y = x\n    y += 1\n    return y\n\n\n'
    (tmp_path / "m.py").write_text("".join(code.format(n, w) for n, w in enumerate(["left", "right", "upper"])))
    dataset = DATASETS.create(f"mined:root={tmp_path},queries=2").load()
    assert dataset.mined
    assert (dataset.details["kept"], dataset.details["dropped"]) == (2, {"over the cap": 1})
    source = dataset.repositories[0].read("m.py")
    assert source is not None
    shown = bytearray(source.data)
    for span in dataset.hidden:
        shown[span.start_byte : span.end_byte] = b" " * (span.end_byte - span.start_byte)
    assert b"knob" not in shown
    (tmp_path / "m.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match=r"python with nothing documented\): documentation is read in"):
        DATASETS.create(f"mined:root={tmp_path}").load()
    (tmp_path / "m.py").unlink()
    with pytest.raises(UsageError, match="no source file outside tests, in any known language"):
        DATASETS.create(f"mined:root={tmp_path}").load()
    with pytest.raises(UsageError, match="is named twice: leave one out"):
        DATASETS.create(f"mined:root={tmp_path};{tmp_path}/.").load()


def test_a_document_that_changed_since_it_was_listed_is_not_another_ones_text(beir: Path) -> None:
    """Texts are read when they are needed: what then stands in their place is refused."""
    (corpus,) = Beir(path=str(beir)).load().repositories
    whole = (beir / "corpus.jsonl").read_text()
    for changed in (whole.replace('"d2"', '"d7"'), "", "[" * 100_000, '{"_id": "d2", "text": 3}\n'):
        (beir / "corpus.jsonl").write_text(changed)
        with pytest.raises(UsageError, match=r"corpus\.jsonl has changed while it was read"):
            corpus.read("d2")


def test_a_document_with_two_texts_is_refused(beir: Path) -> None:
    """Parsers differ in which of two values under one name they take."""
    (beir / "corpus.jsonl").write_text('{"_id": "d1", "text": "one", "text": "two"}\n')
    with pytest.raises(UsageError, match=r"corpus\.jsonl:1: an object .*'text' occurs twice"):
        Beir(path=str(beir)).load()


@pytest.mark.parametrize(
    "name", [each.name for each in DATASETS.listed() if "limit" in {parameter.name for parameter in each.parameters}]
)
@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_above_zero(name: str, limit: int) -> None:
    """None at all, or all but the last, is not what anyone means by it."""
    needed = [each.name for each in parameters_of(DATASETS.load(name)) if each.default is None]
    given = ",".join([*(f"{parameter}=x" for parameter in needed), f"limit={limit}"])
    with pytest.raises(UsageError, match=f"limit must be above 0, not {limit}"):
        DATASETS.create(f"{name}:{given}")
