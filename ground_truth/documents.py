"""A corpus of documents in one JSON Lines file, each read as a file of a repository."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from chunkers.sources import Skipped
from chunkers.types import SourceFile
from ground_truth.problems import RowProblemError, Skips
from ground_truth.texts import grammar_name


@dataclass(frozen=True)
class Documents:
    """BEIR's corpus.jsonl: the offset of each document's row, by id; texts are read on demand."""

    name: str
    path: Path
    offsets: dict[str, int]
    language: str | None = None
    languages: dict[str, str] = field(default_factory=dict)
    """Document → language, if the corpus has a column for it and no language is given for all."""
    skipped: tuple[Skipped, ...] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the documents in id order."""
        with self.path.open("rb") as file:
            for name in sorted(self.offsets):
                file.seek(self.offsets[name])
                yield self._source(name, file.readline())

    def read(self, path: str) -> SourceFile | None:
        """Return one document by id."""
        if path not in self.offsets:
            return None
        with self.path.open("rb") as file:
            file.seek(self.offsets[path])
            return self._source(path, file.readline())

    def _source(self, name: str, row: bytes) -> SourceFile:
        try:
            fields = parse_json(row)
            same, text = str(fields["_id"]) == name, document_text(fields).encode("utf-8", "surrogatepass")
        except (ValueError, KeyError, TypeError, AttributeError):
            same, text = False, b""
        if not same:
            raise UsageError(f"{self.path} has changed while it was read: run again when it is complete")
        return SourceFile(name, text, self.language or self.languages.get(name), self.name)


def document_text(row: dict[str, str]) -> str:
    """Return the title, if there is one, above the text."""
    title, text = row.get("title") or "", row.get("text") or ""
    if not isinstance(title, str) or not isinstance(text, str):
        raise TypeError("title and text are texts")
    return f"{title}\n{text}" if title else text


def open_documents(path: Path, *, name: str, language: str | None, skips: Skips) -> Documents:
    """Return the corpus; an empty document is skipped with a reason, a duplicate is a problem."""
    offsets: dict[str, int] = {}
    languages: dict[str, str] = {}
    skipped: list[Skipped] = []
    if not path.is_file():
        raise UsageError(f"{path} is not there: a BEIR folder has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv")
    with path.open("rb") as file:
        offset = 0
        for number, row in enumerate(file, 1):
            begin, offset = offset, offset + len(row)
            if not row.strip():
                continue
            try:
                fields = parse_json(row)
                key, text = str(fields["_id"]), document_text(fields)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                why = f" ({one_line(str(error), limit=100)})" if isinstance(error, ValueError) else ""
                raise UsageError(f"{path}:{number}: an object with _id and text was expected{why}") from None
            if key in offsets:
                problem = RowProblemError(f"{path}:{number}", "duplicate document", f"{key!r} is there twice")
                skips.note(problem)
            elif not text.strip():
                skipped.append(Skipped(key, "empty document"))
            else:
                offsets[key] = begin
                if said := _language(fields):
                    languages[key] = said
    return Documents(name, path, offsets, language, languages, tuple(skipped))


def _language(fields: dict[str, Any]) -> str | None:
    """Return the grammar of a row's ``language``, at its top or in its metadata."""
    inner = fields.get("metadata")
    said = fields.get("language") or (inner.get("language") if isinstance(inner, dict) else None)
    return grammar_name(said) if isinstance(said, str) else None
