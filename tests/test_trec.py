"""TREC files: read in plain or gzip, ordered without looking at ids, refused with file and row."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from evaluation.trec import read_qrels, read_run, write_qrels, write_run

QRELS = "q1 0 a 1\nq1 0 b 0.5\n\nq2\t0\tc\t-1\n"
RUN = "q1 Q0 z 2 1.5 tag\nq1 Q0 a 1 1.5 tag\nq1 Q0 m 3 2e0 tag\nq2 Q0 b 0 1 tag\nq2 Q0 a 0 1 tag\n"


@pytest.mark.parametrize("compressed", [False, True])
def test_files_are_read_plain_or_gzip(tmp_path: Path, compressed: bool) -> None:  # noqa: FBT001 - a test's parameter
    """Grades are numbers; a run is ordered by score, then by rank, then by row, and never by id."""
    pack = gzip.compress if compressed else bytes
    (tmp_path / "qrels").write_bytes(pack(QRELS.encode()))
    (tmp_path / "run").write_bytes(pack(RUN.encode()))
    assert read_qrels(tmp_path / "qrels") == {"q1": {"a": 1, "b": 0.5}, "q2": {"c": -1}}
    assert read_run(tmp_path / "run") == {"q1": ["m", "a", "z"], "q2": ["b", "a"]}


@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    """Writing and reading are inverse, compressed or not."""
    qrels: dict[str, dict[str, float]] = {"q": {"a": 1, "b": 0.123456789}}
    write_qrels(tmp_path / f"qrels-{name}", qrels)
    assert read_qrels(tmp_path / f"qrels-{name}") == qrels
    write_run(tmp_path / f"run-{name}", {"q": ["z", "a"], "p": ["b"]})
    assert read_run(tmp_path / f"run-{name}") == {"q": ["z", "a"], "p": ["b"]}


def test_an_id_with_a_space_cannot_be_written(tmp_path: Path) -> None:
    """An id that would break the row is refused."""
    with pytest.raises(UsageError, match="spaces"):
        write_run(tmp_path / "run", {"q": ["a b"]})


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q1 Q0 a 1 1.0 tag\nq1 Q0 b 2 0.5\n", "run:2: 5 fields where 6"),
        ("q1 Q0 a 1 high tag\n", "run:1: the score is 'high'"),
        ("q1 Q0 a 1 nan tag\n", "run:1: the score is 'nan'"),
        ("q1 Q0 a 1 -inf tag\n", "run:1: the score is '-inf'"),
        ("q1 Q0 a 1 1_0 tag\n", "run:1: the score is '1_0'"),
        ("q1 Q0 a first 1 tag\n", "run:1: the rank is 'first'"),
        ("q1 Q0 a 1 1 tag\nq1 Q0 a 2 2 tag\n", "run:2: 'a' is retrieved twice for query 'q1'"),
        ("", "run:1: the file is empty"),
        ("\n \n", "run:1: the file is empty"),
    ],
)
def test_a_bad_run_names_its_row(tmp_path: Path, content: str, told: str) -> None:
    """Each fault of a run is one line with file and row."""
    (tmp_path / "run").write_text(content)
    with pytest.raises(UsageError) as caught:
        read_run(tmp_path / "run")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q1 0 a\n", "qrels:1: 3 fields where 4"),
        ("q1 0 a 1\nq1 0 b yes\n", "qrels:2: the grade is 'yes'"),
        ("q1 0 a inf\n", "qrels:1: the grade is 'inf'"),
        ("q1 0 a 1\n\nq1 0 a 0\n", "qrels:3: 'a' is judged twice for query 'q1'"),
        ("", "qrels:1: the file is empty"),
    ],
)
def test_bad_qrels_name_their_row(tmp_path: Path, content: str, told: str) -> None:
    """Each fault of qrels is one line with file and row."""
    (tmp_path / "qrels").write_text(content)
    with pytest.raises(UsageError) as caught:
        read_qrels(tmp_path / "qrels")
    assert told in str(caught.value)


def test_unreadable_files_are_usage_errors(tmp_path: Path) -> None:
    """A missing file, a folder, broken gzip and bytes that are not UTF-8 are told in one line."""
    with pytest.raises(UsageError, match="No such file"):
        read_run(tmp_path / "absent")
    with pytest.raises(UsageError, match="cannot be read"):
        read_run(tmp_path)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(RUN.encode())[:-9])
    with pytest.raises(UsageError, match="decompressed"):
        read_run(tmp_path / "cut.gz")
    (tmp_path / "latin").write_bytes(b"q1 0 a 1\nq1 0 \xe9 1\n")
    with pytest.raises(UsageError, match="latin:2: not UTF-8"):
        read_qrels(tmp_path / "latin")
