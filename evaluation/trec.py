"""TREC files: qrels (query 0 document grade) and runs (query Q0 document rank score tag), plain or gzip.

A run is ordered by score, highest first; equal scores by the rank column, then by the order of the rows. The spelling
of a document's id never matters: trec_eval breaks ties by id, so that renaming documents would change the scores.
"""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from chunkers.errors import UsageError
from chunkers.input_files import LARGEST_INPUT, read_input

Judgements = dict[str, dict[str, float]]
"""query id → document id → grade."""

_GZIP = b"\x1f\x8b"
_RANK = re.compile(r"[+-]?[0-9]{1,18}\Z")
_LARGEST_GRADE = 1e9


class _Row(NamedTuple):
    number: int
    fields: list[str]


def read_qrels(path: Path) -> Judgements:
    """Return the judgements of a qrels file; raise UsageError, naming file and row, for an invalid one."""
    qrels: Judgements = {}
    for number, (query, _, document, grade) in _rows(path, "query 0 document grade"):
        judged = qrels.setdefault(query, {})
        if document in judged:
            raise UsageError(f"{path}:{number}: {document!r} is judged twice for query {query!r}: keep one row")
        judged[document] = _number(grade, path, number, "grade")
        if abs(judged[document]) > _LARGEST_GRADE:
            raise UsageError(f"{path}:{number}: the grade is {_short(grade)}; it must be at most {_LARGEST_GRADE:,.0f}")
    return qrels


def read_run(path: Path) -> dict[str, list[str]]:
    """Return query id → documents, best first; raise UsageError, naming file and row, for an invalid one."""
    found: dict[str, dict[str, tuple[float, int, int]]] = {}
    for number, (query, _, document, rank, score, _) in _rows(path, "query Q0 document rank score tag"):
        results = found.setdefault(query, {})
        if document in results:
            raise UsageError(f"{path}:{number}: {document!r} is retrieved twice for query {query!r}: keep one row")
        results[document] = (-_number(score, path, number, "score"), _whole(rank, path, number), number)
    return {query: sorted(results, key=results.__getitem__) for query, results in found.items()}


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, float]]) -> None:
    """Write the judgements, readable by `read_qrels`; a name ending in .gz is compressed."""
    with _create(path) as file:
        for query, judged in qrels.items():
            for document, grade in judged.items():
                file.write(f"{_id(query)} 0 {_id(document)} {grade}\n")


def write_run(path: Path, run: Mapping[str, Sequence[str]], *, tag: str = "chunkbench") -> None:
    """Write the rankings with scores that fall with the rank; a name ending in .gz is compressed."""
    with _create(path) as file:
        for query, documents in run.items():
            # All at once: rankings are the longest files, and nearly all ids are valid.
            if " ".join(documents).split() != list(documents):
                documents = list(map(_id, documents))  # noqa: PLW2901 - this raises for the invalid one
            head, tail, count = f"{_id(query)} Q0 ", f" {_id(tag)}\n", len(documents)
            file.writelines(
                f"{head}{document} {rank} {count - rank + 1}{tail}" for rank, document in enumerate(documents, start=1)
            )


def _rows(path: Path, form: str) -> Iterator[_Row]:
    """Yield the non-blank rows, split into the fields of the format."""
    expected = len(form.split())
    text = _text(path)
    if not text.strip():
        raise UsageError(f"{path}:1: the file is empty; rows of the form {form!r} are expected")
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != expected:
            raise UsageError(f"{path}:{number}: {len(fields)} fields where {expected} are expected ({form})")
        yield _Row(number, fields)


def _text(path: Path) -> str:
    try:
        data = read_input(path)
        if data.startswith(_GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(LARGEST_INPUT + 1)
            if len(data) > LARGEST_INPUT:
                raise UsageError(f"{path}: unpacks to over {LARGEST_INPUT // 2**30} GB: it is no TREC file")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"{path}: cannot be decompressed ({error}): make the file again") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{row}: not UTF-8 text") from error


def _number(text: str, path: Path, row: int, what: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{path}:{row}: the {what} is {_short(text)}; it must be a finite number")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _whole(text: str, path: Path, row: int) -> int:
    if not _RANK.match(text):
        raise UsageError(f"{path}:{row}: the rank is {_short(text)}; it must be a whole number")
    return int(text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _id(text: str) -> str:
    if not text or text.split() != [text]:
        raise UsageError(f"{text!r} cannot be an id in a TREC file: it is empty or has spaces")
    return text


def _create(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", newline="\n")
    return path.open("w", encoding="utf-8", newline="\n")
