"""Failures of a chunker on single files: the file is skipped and reported with its reason, and the others are cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from chunkers.errors import UsageError, reason_of
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, SourceFile

T = TypeVar("T")


class CutError(Exception):
    """A chunker failed; the message is what it raised, in one line."""


@contextmanager
def over_one_file() -> Iterator[None]:
    """Convert any exception into a CutError, except user errors and interrupts."""
    try:
        yield
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise CutError(reason_of(error)) from error


@dataclass(frozen=True, slots=True)
class FailedFiles:
    """The files on which a chunker failed."""

    reasons: dict[str, str] = field(default_factory=dict)
    """Repository/path → what the chunker raised."""

    def chunks(self, chunker: Chunker, source: SourceFile) -> list[Chunk]:
        """Return the file's chunks; none if the chunker fails, which is recorded."""
        return self.attempt(chunk_file, chunker, source) or []

    def attempt(self, work: Callable[[Chunker, SourceFile], T], chunker: Chunker, source: SourceFile) -> T | None:
        """Return the chunker's result for a file; None if it fails, which is recorded."""
        try:
            with over_one_file():
                return work(chunker, source)
        except CutError as error:
            # A file given on its own is a repository with its own name.
            within = "" if source.repo in ("", source.path) else f"{source.repo}/"
            self.reasons[within + source.path] = str(error)
            return None


def failed_on_all(failed: Mapping[str, str]) -> str:
    """Return the error for a chunker that could cut none of these files, with the first one's reason."""
    name, reason = next(iter(failed.items()))
    every = "the only file" if len(failed) == 1 else f"each of the {len(failed):,} files"
    return f"failed on {every}; on {name}: {reason}"
