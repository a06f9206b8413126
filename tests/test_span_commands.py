"""The long checks of spans and readers, on a few files."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check import spans
from scripts.reproduce import readers


@pytest.fixture
def dataset(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Return an annotated dataset, with a cache of the test's own."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    return f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"


def test_spans_written_and_scored_again_are_counted(dataset: str) -> None:
    """Every measure on places, every query, for chunkers, readers and tools; a value that differs would be counted."""
    rows = spans.round_trip(
        dataset=dataset,
        chunkers=["fixed-lines:lines=5"],
        embedder="hashing",
        retrievers=["dense"],
        readers=["merge"],
        tools=["grep-read"],
    )
    assert [row["run"].partition(" · ")[0] for row in rows] == [
        "fixed-lines:lines=5",
        "fixed-lines:lines=5 + merge",
        "grep-read",
    ]
    count = len(spans.text_measures())
    assert count >= 20
    assert [(row["values"], row["different"]) for row in rows] == [(16 * count, 0)] * 3
    assert "0 of" in spans.written(rows)


def test_a_reader_is_compared_with_the_chunk_itself(dataset: str) -> None:
    """Whole files in place of small chunks: gains, intervals and answers at every budget, as a table."""
    results = readers.compared(dataset, "fixed-lines:lines=3", ["file", "merge"], "bm25")
    rows = readers.reader_rows(results, "fixed-lines:lines=3", ["file", "merge"])
    assert [(row["reader"], row["budget"]) for row in rows] == [
        (reader, budget) for reader in ("file", "merge") for budget in readers.BUDGETS
    ]
    for row in rows:
        assert row["difference"] == pytest.approx(row["reader_recall"] - row["chunk_recall"])
        assert row["low"] <= row["difference"] <= row["high"]
    table = readers.written(rows).splitlines()
    assert len(table) == 2 + 3
    assert {line.count("|") for line in table} == {7}
