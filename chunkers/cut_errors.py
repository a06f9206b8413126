"""What a chunker raises over one file: the file is left out and named with its reason, and the others are cut."""

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
    """Turn whatever is raised into a CutError; what the user must correct, and an interruption, stay what they are."""
    try:
        yield
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise CutError(reason_of(error)) from error


@dataclass(frozen=True, slots=True)
class FailedFiles:
    """The files that a chunker has failed on."""

    reasons: dict[str, str] = field(default_factory=dict)
    """Repository/path → what the chunker raised."""

    def chunks(self, chunker: Chunker, source: SourceFile) -> list[Chunk]:
        """Return the file's chunks; none where the chunker fails, which is noted."""
        return self.attempt(chunk_file, chunker, source) or []

    def attempt(self, work: Callable[[Chunker, SourceFile], T], chunker: Chunker, source: SourceFile) -> T | None:
        """Return what the chunker makes of a file; None where it fails, which is noted."""
        try:
            with over_one_file():
                return work(chunker, source)
        except CutError as error:
            # A file that was named alone is a repository of its own name.
            within = "" if source.repo in ("", source.path) else f"{source.repo}/"
            self.reasons[within + source.path] = str(error)
            return None


def failed_on_all(failed: Mapping[str, str]) -> str:
    """Say of a chunker that it could cut none of these files, with the first one's reason."""
    name, reason = next(iter(failed.items()))
    every = "the only file" if len(failed) == 1 else f"each of the {len(failed):,} files"
    return f"failed on {every}; on {name}: {reason}"
