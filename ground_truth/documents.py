"""A corpus of documents in one JSON Lines file, each read as a file of a repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chunkers.errors import UsageError
from chunkers.sources import Skipped
from chunkers.types import SourceFile


@dataclass(frozen=True)
class Documents:
    """BEIR's corpus.jsonl: where each document's row begins, by id; texts are read when they are asked for."""

    name: str
    path: Path
    offsets: dict[str, int]
    language: str | None = None
    skipped: tuple[Skipped, ...] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the documents in the order of their ids."""
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
        return SourceFile(
            name, document_text(json.loads(row)).encode("utf-8", "surrogatepass"), self.language, self.name
        )


def document_text(row: dict[str, str]) -> str:
    """Return the title, where there is one, above the text."""
    title, text = row.get("title") or "", row.get("text") or ""
    return f"{title}\n{text}" if title else text


def open_documents(path: Path, *, name: str, language: str | None) -> Documents:
    """Return the corpus; an empty document is left out with a reason."""
    offsets: dict[str, int] = {}
    skipped: list[Skipped] = []
    if not path.is_file():
        raise UsageError(f"{path} is not there: a BEIR folder has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv")
    with path.open("rb") as file:
        offset = 0
        for number, row in enumerate(file, 1):
            if row.strip():
                try:
                    fields = json.loads(row)
                    key, text = str(fields["_id"]), document_text(fields)
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise UsageError(f"{path}:{number}: an object with _id and text was expected") from None
                if key in offsets:
                    raise UsageError(f"{path}:{number}: document {key!r} is there twice")
                if text.strip():
                    offsets[key] = offset
                else:
                    skipped.append(Skipped(key, "empty document"))
            offset += len(row)
    return Documents(name, path, offsets, language, tuple(skipped))
