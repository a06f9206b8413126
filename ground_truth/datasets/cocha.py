"""Cocha from chonkie's MTCB: questions about code files, each with the passage that answers it.

Rows, as mtcb's evaluator reads them (src/mtcb/evaluators/cocha.py): ``corpus`` with ``text`` (or ``content``), and
``questions`` with ``question`` and ``chunk-must-contain``. Its sources name no column for paths or languages: a row's
``path`` (or file_path, file, filename, title) and ``language`` are used if present, but not required; without either,
``language=`` sets it for all. MTCB's own score asks whether a chunk contains the whole passage, so a passage that is
cut by a boundary scores 0 everywhere; here the passage has a place, in lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.languages import language_of
from chunkers.plugins import positive
from ground_truth.jsonl import Record, read_records
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.snippets import find_lines
from ground_truth.texts import Texts, grammar_name
from ground_truth.types import Annotation, Dataset, Query

_READABLE = (".parquet", ".jsonl", ".json")
_PATHS = ("path", "file_path", "file", "filename", "title")
_MOST = 20
"""A passage that occurs in more places than this (a licence, an import) is not specific."""


@dataclass(frozen=True, kw_only=True)
class Cocha:
    """A folder with MTCB's layout: corpus and questions, each a folder or a file (.parquet, .jsonl, .json)."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= a folder with corpus/ and questions/ (or corpus.jsonl and questions.jsonl)"

    path: str
    language: str | None = None
    """The language of all files; else from their `language` column, else from their names."""
    limit: int | None = None
    """At most this many questions, in file order."""
    problems: Policy = "error"
    """Whether a duplicate question, or one whose passage is not found, stops the loading."""

    def __post_init__(self) -> None:
        if self.limit is not None:
            positive(self, "limit")
        if self.language is not None and grammar_name(self.language) is None:
            raise UsageError(f"language is {self.language!r}, which no grammar has")

    def load(self) -> Dataset:
        """Return the dataset; a passage that occurs in several places is answered by any of them."""
        home = Path(self.path).expanduser()
        skips = Skips(self.problems)
        corpus = self._corpus(_records(home, "corpus"), home.name, skips)
        rows = _records(home, "questions")[: self.limit]
        queries: list[Query] = []
        notes: list[Annotation] = []
        seen: set[tuple[str, str]] = set()
        for number, record in enumerate(rows, 1):
            with skips.row():
                question, passage = record.text("question"), _passage(record)
                if (question, passage) in seen:
                    raise RowProblemError(record.where, "duplicate question", question[:60])
                seen.add((question, passage))
                notes += _places(record.where, f"{number}", passage, corpus)
                queries.append(Query(f"{number}", question, corpus.name))
        if not queries:
            raise UsageError(f"{self.path}: none of {len(rows)} questions can be used: {skips}")
        places = Counter(note.query_id for note in notes)
        return Dataset(
            name="cocha",
            repositories=(corpus,),
            queries=tuple(queries),
            annotations=tuple(notes),
            scope="all",
            details={
                "rows": len(rows),
                "used": len(queries),
                "skipped": skips.counts,
                "documents": len(corpus.texts),
                "in_several_places": sum(count > 1 for count in places.values()),
            },
        )

    def _corpus(self, records: Sequence[Record], name: str, skips: Skips) -> Texts:
        texts: dict[str, str] = {}
        languages: dict[str, str | None] = {}
        for number, record in enumerate(records, 1):
            text = record.text("text" if "text" in record.fields else "content")
            path = next((str(record.fields[key]) for key in _PATHS if record.fields.get(key)), f"{number}")
            with skips.row():
                if not text.strip():
                    raise RowProblemError(record.where, "empty document", path)
                if texts.get(path) == text:
                    raise RowProblemError(record.where, "duplicate document", path)
                path = path if path not in texts else f"{number}/{path}"
                texts[path] = text
                said = record.fields.get("language")
                languages[path] = grammar_name(said) if isinstance(said, str) else language_of(path)
        chosen = grammar_name(self.language) if self.language else None
        return Texts(name, texts, language=chosen, languages=languages)


def _records(home: Path, part: str) -> list[Record]:
    """Return the rows of corpus or questions: PART/train-*.parquet as on the hub, or PART.jsonl and the like."""
    files = [home / f"{part}{suffix}" for suffix in _READABLE if (home / f"{part}{suffix}").is_file()]
    if (home / part).is_dir():
        files += sorted(path for path in (home / part).iterdir() if path.suffix in _READABLE)
    if not files:
        raise UsageError(f"{home} has no {part}/ and no {part}.jsonl: give the folder of an MTCB dataset")
    return [record for file in files for record in read_records(file)]


def _passage(record: Record) -> str:
    passage = record.text("chunk-must-contain")
    if not passage.strip():
        raise RowProblemError(record.where, "empty passage", "chunk-must-contain has no text")
    return passage


def _places(where: str, query: str, passage: str, corpus: Texts) -> list[Annotation]:
    """Return the lines of every place of the passage; each is an answer of its own."""
    found = [(path, *lines) for path, text in sorted(corpus.texts.items()) for lines in _occurrences(passage, text)]
    if not found:
        found = _loosely(passage, corpus.texts)
    if not found:
        raise RowProblemError(where, "passage not in the corpus", passage.strip().split("\n")[0][:60])
    if len(found) > _MOST:
        raise RowProblemError(
            where, "passage in too many places", f"{len(found)} of them; at most {_MOST} say anything"
        )
    several = len(found) > 1
    return [
        Annotation(query, corpus.name, path, first, last, alternative=f"{number}" if several else "")
        for number, (path, first, last) in enumerate(found, 1)
    ]


def _occurrences(passage: str, text: str) -> list[tuple[int, int]]:
    """Return the lines of each occurrence, without the whitespace around the passage."""
    bare = passage.strip()
    lines: dict[tuple[int, int], None] = {}
    start = text.find(bare)
    while start >= 0 and len(lines) <= _MOST:
        first = text.count("\n", 0, start) + 1
        lines[first, first + bare.count("\n")] = None
        start = text.find(bare, start + len(bare))
    return list(lines)


def _loosely(passage: str, texts: Mapping[str, str]) -> list[tuple[str, int, int]]:
    """Return places that differ from the passage only in indentation and blank lines."""
    wanted = [line.strip() for line in passage.split("\n") if line.strip()]
    return [(path, *lines) for path, text in sorted(texts.items()) if (lines := find_lines(wanted, text))]
