"""Annotation files and the dataset made of them: what is read, and what is said of what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from ground_truth.annotations import AnnotationRow, json_schema, read_rows, write_rows
from ground_truth.datasets.annotations import Annotations
from ground_truth.registry import DATASETS
from ground_truth.spans import annotated_lines, gold_spans

ROW = {"query_id": "q1", "query": "how to add", "file": "a.py", "start_line": 1, "end_line": 2}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a folder with one repository."""
    root = tmp_path / "project"
    (root / "vendor").mkdir(parents=True)
    (root / "a.py").write_text('def add(a, b):\n    """Add two numbers."""\n    return a + b\n')
    (root / "vendor" / "b.py").write_text("x = 1\n")
    (root / "c.bin").write_bytes(b"\0\1")
    return root


def annotate(tmp_path: Path, *rows: object) -> Path:
    """Write an annotation file; a str is written as it is."""
    path = tmp_path / "ann.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_spans_of_one_query_over_several_files(tmp_path: Path, repo: Path) -> None:
    """Two rows with one id are one query with two gold spans; an annotated file is kept wherever it lies."""
    path = annotate(tmp_path, ROW, {**ROW, "file": "vendor/b.py", "end_line": 1, "relevance": 0.5})
    dataset = DATASETS.create(f"annotations:path={path},root={repo}").load()
    assert [query.id for query in dataset.queries] == ["q1"]
    assert [source.path for source in dataset.repositories[0].files()] == ["a.py", "vendor/b.py"]
    spans = gold_spans(dataset.annotations, annotated_lines(dataset))["q1"]
    assert [(span.path, span.start_byte, span.end_byte, span.grade) for span in spans] == [
        ("a.py", 0, 42, 1.0),
        ("vendor/b.py", 0, 6, 0.5),
    ]


def test_folders_named_by_repository(tmp_path: Path, repo: Path) -> None:
    """The root may hold several repositories, each in a folder named as in the rows."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "z.py").write_text("z = 1\n")
    other = {**ROW, "query_id": "q2", "repo": "other", "file": "z.py", "end_line": 1}
    dataset = Annotations(path=str(annotate(tmp_path, {**ROW, "repo": "project"}, other)), root=str(repo.parent)).load()
    assert [repository.name for repository in dataset.repositories] == ["other", "project"]
    assert [query.cluster for query in dataset.queries] == ["project", "other"]


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path, repo: Path) -> None:
    """Each problem is one row `file:row: what: remedy`, in row order."""
    path = annotate(
        tmp_path,
        ROW,
        "{broken",
        {**ROW, "query": "  "},
        {**ROW, "end_line": 0},
        {**ROW, "start_line": 3, "end_line": 2},
        {**ROW, "relevance": -1},
        ROW,
        {**ROW, "relevence": 2},
        [1],
        {**ROW, "query": "another text", "start_line": 2},
        {**ROW, "file": "../a.py"},
        {**ROW, "query": "the lines of row 1, another text"},
        {**ROW, "query_id": "q 1"},
        {**ROW, "query_id": 1},
    )
    with pytest.raises(UsageError) as caught:
        Annotations(path=str(path), root=str(repo)).load()
    told = str(caught.value).splitlines()
    assert [int(line.removeprefix(f"{path}:").split(":")[0]) for line in told] == list(range(2, 15))
    for words, line in zip(
        ["not JSON", "query is empty", "end_line is 0", "before start_line", "relevance is -1", "as row 1",
         "Did you mean 'relevance'", "not an object", "differs from row 1", "not a plain path",
         "differs from row 1", "a text without spaces", "query_id is 1: write a text"], told, strict=True
    ):  # fmt: skip
        assert words in line


@pytest.mark.parametrize("grade", [1e300, 1001, "1", True, None])
def test_a_grade_is_a_number_up_to_1000(tmp_path: Path, grade: object) -> None:
    """Anything else is refused with its row."""
    with pytest.raises(UsageError, match=r"ann\.jsonl:1: relevance is .*: write a number from 0 to 1000"):
        read_rows(annotate(tmp_path, {**ROW, "relevance": grade}))


def test_problems_are_capped(tmp_path: Path) -> None:
    """Of a thousand problems twenty are told, and how many more there are."""
    with pytest.raises(UsageError, match="and 980 more problems") as caught:
        read_rows(annotate(tmp_path, *["{"] * 1000))
    assert len(str(caught.value).splitlines()) == 21


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"file": "aa.py"}, "Did you mean 'a.py'"),
        ({"end_line": 4}, "outside 'a.py', which has 3 lines"),
        ({"file": "c.bin", "end_line": 1}, "binary"),
        ({"commit": "0123456"}, "not a git clone"),
    ],
)
def test_a_row_that_does_not_fit_the_repository(tmp_path: Path, repo: Path, change: dict, words: str) -> None:
    """A missing file, lines outside it, a binary file and a commit without a clone are named."""
    with pytest.raises(UsageError) as caught:
        Annotations(path=str(annotate(tmp_path, {**ROW, **change})), root=str(repo)).load()
    assert words in str(caught.value)


def test_a_masked_repository(tmp_path: Path, repo: Path) -> None:
    """A row with mask hides the docstrings from every index; the file itself stays as it is."""
    plain = Annotations(path=str(annotate(tmp_path, ROW)), root=str(repo)).load()
    assert plain.hidden == ()
    masked = Annotations(path=str(annotate(tmp_path, {**ROW, "mask": "docstrings"})), root=str(repo)).load()
    source = masked.repositories[0].read("a.py")
    assert source is not None
    hidden = [source.data[span.start_byte : span.end_byte] for span in masked.hidden]
    assert [text.strip(b'" ') for text in hidden] == [b"Add two numbers."]


def test_rows_are_read_back_as_written(tmp_path: Path) -> None:
    """write_rows and read_rows are inverse."""
    rows = [AnnotationRow.model_validate({**ROW, "relevance": 2.5, "expected": "ü", "mask": "docstrings"})]
    path = tmp_path / "rows.jsonl"
    path.write_text(write_rows(rows), "utf-8")
    assert [row.value for row in read_rows(path)] == rows


def test_the_published_schema_is_that_of_the_model() -> None:
    """The JSON Schema in the package is the one the validation uses."""
    import ground_truth

    published = Path(ground_truth.__file__).parent / "annotation.schema.json"
    assert json.loads(published.read_text()) == json_schema()


def test_no_rows_no_file_no_text(tmp_path: Path) -> None:
    """An empty file, an absent one and one that is not UTF-8 are usage errors."""
    (tmp_path / "latin").write_bytes(b"\xff\xfe{}")
    for path in (annotate(tmp_path), tmp_path / "absent", tmp_path / "latin"):
        with pytest.raises(UsageError, match=path.name):
            read_rows(path)


def test_a_repository_has_one_mask(tmp_path: Path, repo: Path) -> None:
    """Rows that hide the docstrings and rows that do not cannot share an index: both are named."""
    path = annotate(tmp_path, ROW, {**ROW, "query_id": "q2", "mask": "docstrings"})
    with pytest.raises(UsageError, match=r"ann\.jsonl:2: mask is docstrings for 'project' but \w+ in row 1"):
        Annotations(path=str(path), root=str(repo)).load()
