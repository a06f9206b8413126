"""What is known of a file without its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from chunkers.sources import Repository
    from chunkers.types import SourceFile

KEY_BYTES = 16


class FileFacts(NamedTuple):
    """A file as it was when it was looked at."""

    path: str
    language: str | None
    size: int
    """In bytes."""
    digest: bytes
    """SHA-256 of the content."""
    unfit: str = ""
    """Why the file is left out of its corpus; then nothing else is known of it."""

    @property
    def key(self) -> bytes:
        """What names the file wherever something is kept for it: its path, language and content."""
        return hashlib.sha256(self._about + self.digest).digest()[:KEY_BYTES]

    @property
    def _about(self) -> bytes:
        return f"{self.path}\0{self.language}\0".encode("utf-8", "surrogateescape")


def file_facts(source: SourceFile) -> FileFacts:
    """Return what is known of a file that has been read."""
    return FileFacts(source.path, source.language, len(source.data), hashlib.sha256(source.data).digest())


def unfit_file(path: str, reason: str) -> FileFacts:
    """Return a file that is left out."""
    return FileFacts(path, None, 0, b"", reason)


def facts_of(repository: Repository) -> Sequence[FileFacts]:
    """Return every file of a repository in its order; one that need not read them for it has this as a method."""
    known = getattr(repository, "facts", None)
    found: Sequence[FileFacts] = known() if known else [file_facts(source) for source in repository.files()]
    return found


def fingerprint(repository: Repository) -> str:
    """Return a hash of the repository's files as they are indexed."""
    return fingerprint_of(facts_of(repository))


def fingerprint_of(files: Iterable[FileFacts]) -> str:
    """Return a hash of these files, in their order."""
    digest = hashlib.sha256()
    for file in files:
        about = f"{file.path}\0{file.language}\0{file.size}\0"
        digest.update(about.encode("utf-8", "surrogateescape") + file.digest)
    return digest.hexdigest()
