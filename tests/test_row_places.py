"""Retrievers that see the place: repository, path, lines and language of every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import chunkbench as cb
from indexing.types import Hit, QueryBatch, RowPlace, SearchSpace

SEEN: list[tuple[str, RowPlace]] = []


@dataclass(frozen=True, kw_only=True)
class ByPath:
    """Ranks chunks whose file is named in the query first, in the order of the file."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the chunks of the named file before all others."""
        assert space.places is not None
        SEEN.extend(zip(space.texts, space.places, strict=True))
        return [self._ranked(space.places, query)[:depth] for query in queries.texts]

    def _ranked(self, places: Sequence[RowPlace], query: str) -> list[Hit]:
        named = [float(Path(place.path).stem in query) for place in places]
        order = sorted(range(len(places)), key=lambda row: (-named[row], row))
        return [Hit(row, named[row]) for row in order]


def test_a_retriever_sees_where_every_chunk_is_from(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of the named path are the text, and a ranking by path alone finds the file first."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    SEEN.clear()
    results = cb.compare(
        repository,
        annotations=tmp_path / "gold.jsonl",
        chunkers=["fixed-lines:lines=6"],
        embedders=["hashing"],
        retrievers=[ByPath()],
        measures=["file_rr"],
    )
    assert results.cells[0].measures["file_rr"].mean == 1.0
    assert SEEN
    for text, place in SEEN:
        lines = (repository / place.path).read_text().splitlines(keepends=True)
        assert "".join(lines[place.start_line - 1 : place.end_line]) == text
        assert (place.repo, place.language) == ("code", "python")
