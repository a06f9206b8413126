"""`file`: the whole file of each hit (parent document)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from indexing.readers.types import Corpus, Stretch


@dataclass(frozen=True, kw_only=True)
class FileReader:
    """Reads each file once, at its first hit."""

    version: ClassVar[str] = "1"

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return the files in the order of their first hits."""
        first = {hit.file: hit for hit in reversed(hits)}
        found = [first[file] for file in dict.fromkeys(hit.file for hit in hits)]
        return [hit._replace(start=0, end=len(corpus.source(hit.file).data)) for hit in found]
