"""Questions without answers: one per line, or JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from ground_truth.jsonl import read_records


class AskedQuestion(NamedTuple):
    """A question and the id for its annotations."""

    id: str
    text: str


def read_questions(path: Path) -> list[AskedQuestion]:
    """Return the questions of a file.

    A .jsonl file has objects with ``query`` and optionally ``query_id``; any other file has one question per line,
    ignoring blank lines and those that begin with #. The default id is q and the line number.
    """
    found = list(_json_lines(path)) if path.suffix == ".jsonl" else _plain_lines(path)
    if not found:
        raise UsageError(f"{path} has no questions: write one per line")
    known: dict[str, str] = {}
    for question in found:
        if known.setdefault(question.id, question.text) != question.text:
            raise UsageError(f"{path}: {question.id!r} is the id of two questions: make ids unique")
    return [AskedQuestion(name, text) for name, text in known.items()]


def _plain_lines(path: Path) -> list[AskedQuestion]:
    try:
        lines = read_text_input(path).split("\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a file with one question per line") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    return [
        AskedQuestion(f"q{number}", line.strip())
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _json_lines(path: Path) -> list[AskedQuestion]:
    found = []
    for number, record in enumerate(read_records(path), 1):
        text = record.text("query").strip()
        if not text:
            raise UsageError(f"{record.where}: query is empty: write the question")
        name = record.text("query_id") if "query_id" in record.fields else f"q{number}"
        if not name or len(name.split()) != 1 or name != name.strip():
            raise UsageError(f"{record.where}: query_id is {name!r}: write an id without spaces")
        found.append(AskedQuestion(name, text))
    return found
