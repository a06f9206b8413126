"""Facts about a file, without its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from chunkers.sources import Repository
    from chunkers.types import SourceFile

KEY_BYTES = 16


class FileFacts(NamedTuple):
    """A file in the state in which it was read."""

    path: str
    language: str | None
    size: int
    """Size in bytes."""
    digest: bytes
    """SHA-256 of the content."""
    key: bytes
    """The key of everything cached for the file: a hash of its path, language and content."""
    unfit: str = ""
    """Why the file is not in the corpus; if set, the other facts are unknown."""


def file_facts(source: SourceFile) -> FileFacts:
    """Return the facts of a file that has been read."""
    digest = hashlib.sha256(source.data).digest()
    about = f"{source.path}\0{source.language}\0".encode("utf-8", "surrogateescape")
    key = hashlib.sha256(about + digest).digest()[:KEY_BYTES]
    return FileFacts(source.path, source.language, len(source.data), digest, key)


def unfit_file(path: str, reason: str) -> FileFacts:
    """Return the facts of a file that is left out."""
    return FileFacts(path, None, 0, b"", b"", reason)


def facts_of(repository: Repository) -> Sequence[FileFacts]:
    """Return every file of a repository in order; one that need not read them for it has this as a method."""
    known = getattr(repository, "facts", None)
    found: Sequence[FileFacts] = known() if known else [file_facts(source) for source in repository.files()]
    return found


def fingerprint(repository: Repository) -> str:
    """Return a hash of the repository's files as they are indexed."""
    return fingerprint_of(facts_of(repository))


def fingerprint_of(files: Iterable[FileFacts]) -> str:
    """Return a hash of these files, in their order."""
    return hashlib.sha256(b"".join([file.key for file in files])).hexdigest()
