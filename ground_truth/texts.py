"""A repository whose files are rows of a published file, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chunkers.languages import known_languages, language_of
from chunkers.sources import Skipped
from chunkers.types import SourceFile

_SPELLINGS = {
    "c++": "cpp",
    "c#": "csharp",
    "cs": "csharp",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "golang": "go",
    "shell": "bash",
    "sh": "bash",
    "objective-c": "objc",
}


@dataclass(frozen=True)
class Texts:
    """Named texts in the role of files; the language is that of the file name unless given."""

    name: str
    texts: Mapping[str, str]
    language: str | None = None
    languages: Mapping[str, str | None] | None = None
    """Path → language, if the rows specify it."""
    skipped: tuple[Skipped, ...] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order."""
        return (self._source(path) for path in sorted(self.texts))

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None if there is no such row."""
        return self._source(path) if path in self.texts else None

    def _source(self, path: str) -> SourceFile:
        said = self.language or (self.languages or {}).get(path) or language_of(path)
        return SourceFile(path, self.texts[path].encode("utf-8", "surrogatepass"), said, self.name)


def grammar_name(language: str) -> str | None:
    """Return the grammar's name for a language as published files spell it (C++, js, Python), or None."""
    plain = language.strip().lower()
    name = _SPELLINGS.get(plain, plain)
    return name if name in known_languages() else None
