"""One experiment, run in every way there is: the per-query scores are the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command

from chunkers.errors import UsageError
from evaluation.experiment.executors import Serial
from evaluation.results.folder import read_results

CELLS = (
    *("--chunker", "fixed-lines:lines=5", "--chunker", "cast:size=120", "--embedder", "hashing"),
    *("--retriever", "dense", "--retriever", "bm25", "--measure", "ndcg@5", "--flips", "100"),
)


def arguments(repository: Path) -> tuple[object, ...]:
    """Return a comparison of four cells."""
    return ("compare", repository, "--annotations", repository.parent / "gold.jsonl", *CELLS)


def scores(folder: Path) -> list[tuple[object, ...]]:
    """Return the sorted per-query scores of a results folder."""
    results = read_results(folder)
    return sorted(
        (*cell.key, measure, *values.tolist()) for cell in results.cells for measure, values in cell.scores.items()
    )


@pytest.fixture
def alone(chunkbench: Command, repository: Path, tmp_path: Path) -> Path:
    """Return the results of one process."""
    result = chunkbench(*arguments(repository), "--engine", "serial", "--out", tmp_path / "alone")
    assert result.code == 0, result.err
    return tmp_path / "alone"


def test_two_processes_give_the_scores_of_one(
    chunkbench: Command, repository: Path, tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes with a cache of their own compute everything again and agree."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "other"))
    result = chunkbench(*arguments(repository), "--jobs", "2", "--out", tmp_path / "two")
    assert result.code == 0, result.err
    assert scores(tmp_path / "two") == scores(alone)


def test_two_merged_shards_give_the_scores_of_one_run(
    chunkbench: Command, repository: Path, tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each shard runs its half of the cells; the report of both is the report of all."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "other"))
    parts = [tmp_path / f"part{number}" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        result = chunkbench(
            *arguments(repository), "--engine", "serial", "--shard", f"{number}/2", "--out", part, "--json"
        )
        assert result.code == 0, result.err
        assert len(result.json["cells"]) == 2
    merged = chunkbench("report", *parts, "--out", tmp_path / "merged", "--json")
    assert merged.code == 0, merged.err
    assert scores(tmp_path / "merged") == scores(alone)
    whole = json.loads((alone / "results.json").read_text())
    assert sorted(merged.json["comparisons"], key=str) == sorted(whole["comparisons"], key=str)


def test_a_shard_is_written_as_a_fraction(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Anything else is refused before work begins."""
    for wrong in ("3/2", "0/2", "half"):
        result = chunkbench(*arguments(repository), "--shard", wrong, "--out", tmp_path / "out")
        assert result.code == 2
        assert "is not a shard" in result.err


def test_what_is_cached_can_be_made_again_or_demanded(
    chunkbench: Command, repository: Path, tmp_path: Path, alone: Path
) -> None:
    """`always` computes everything again to the same scores, `only-cache` computes nothing, `never` keeps results."""
    serial = ("--engine", "serial", "--out")
    again = chunkbench(*arguments(repository), "--overwrite", "always", *serial, tmp_path / "again")
    assert again.code == 0, again.err
    assert scores(tmp_path / "again") == scores(alone)
    cached = chunkbench(*arguments(repository), "--overwrite", "only-cache", *serial, tmp_path / "cached")
    assert cached.code == 0, cached.err
    lacking = chunkbench(
        *arguments(repository), "--rule", "iou(0.5)", "--overwrite", "only-cache", *serial, tmp_path / "lacking"
    )
    assert lacking.code == 1
    assert lacking.err.count("not in the cache") == 4
    kept = chunkbench(*arguments(repository), "--overwrite", "never", *serial, alone)
    assert kept.code == 2
    assert "--overwrite never keeps them" in kept.err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "there is not enough memory"),
        (OSError(28, "No space left on device", "x.npy"), "x.npy cannot be read or written: No space left on device"),
        (UsageError("a.jsonl:3: no"), "a.jsonl:3: no"),
        (ValueError("a bug"), None),
    ],
)
def test_what_the_machine_is_short_of_is_one_line_and_a_bug_is_a_bug(error: Exception, said: str | None) -> None:
    """Where a whole stage needs every block, the reason of one that failed is the run's."""

    def work(_: int) -> None:
        raise error

    (outcome,) = Serial().map(work, [1])
    assert isinstance(outcome.exception, UsageError) is (said is not None)
    assert (said or "ValueError: a bug") in str(outcome.exception)
