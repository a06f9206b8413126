"""A run that is killed, starved of disk or doubled ends, the next time, as if nothing had happened."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from forked_command import Runner, order, started

KILLS = 20


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """Return a process that runs the command quickly."""
    with started() as made:
        yield made


def arguments(repository: Path, out: Path) -> tuple[object, ...]:
    """Return a comparison of four cells, two with vectors and two with words."""
    return (
        *("compare", repository, "--annotations", repository.parent / "gold.jsonl", "--engine", "serial"),
        *("--chunker", "fixed-lines:lines=5", "--chunker", "cast:size=120", "--embedder", "hashing"),
        *("--retriever", "dense", "--retriever", "bm25", "--measure", "ndcg@5", "--flips", "100", "--out", out),
    )


def scores(folder: Path) -> list[tuple[object, ...]]:
    """Return the sorted per-query scores of a results folder."""
    names = ("dataset", "chunker", "embedder", "retriever", "query_id", "measure", "value")
    rows = pq.ParquetFile(folder / "scores.parquet").read().to_pylist()
    return sorted(tuple(row[name] for name in names) for row in rows)


def test_a_run_killed_at_any_moment_is_finished_by_the_next(runner: Runner, repository: Path, tmp_path: Path) -> None:
    """Twenty runs are killed by a signal at random moments; each one's successor has the undisturbed results."""
    calm = runner.run(*arguments(repository, tmp_path / "calm"), cache=tmp_path / "calm-cache")
    assert calm.code == 0, calm.err
    expected = scores(tmp_path / "calm")
    moments = random.Random(8)
    killed = 0
    for number in range(KILLS):
        run = arguments(repository, tmp_path / f"out{number}")
        moment = moments.uniform(0.02, 1.0) * calm.seconds
        killed += runner.run(*run, cache=tmp_path / f"cache{number}", kill_after=moment).code == -signal.SIGPROF
        again = runner.run(*run, cache=tmp_path / f"cache{number}")
        assert again.code == 0, again.err
        assert scores(tmp_path / f"out{number}") == expected
    assert killed > KILLS // 2


def test_a_full_disk_fails_cells_with_a_reason_and_the_next_run_completes(
    runner: Runner, repository: Path, tmp_path: Path
) -> None:
    """Where no file may grow, the run says so in one line per failure; with room, the same command finishes."""
    run = arguments(repository, tmp_path / "out")
    for limit in (200, 6_000, 20_000, 40_000):
        starved = runner.run(*run, cache=tmp_path / "cache", largest_file=limit)
        assert starved.code in (1, 2), starved.err
        assert "Traceback" not in starved.err
        assert "File too large" in starved.err
    relieved = runner.run(*run, cache=tmp_path / "cache")
    assert relieved.code == 0, relieved.err
    calm = runner.run(*arguments(repository, tmp_path / "calm"), cache=tmp_path / "calm-cache")
    assert calm.code == 0, calm.err
    assert scores(tmp_path / "out") == scores(tmp_path / "calm")


def test_a_cell_without_room_is_in_the_results_and_the_others_finish(
    runner: Runner, repository: Path, tmp_path: Path
) -> None:
    """Vectors that do not fit fail the cells that need them; those that search by words are done."""
    run = (*arguments(repository, tmp_path / "out"), "--embedder", "hashing:dimensions=16384")
    starved = runner.run(*run, cache=tmp_path / "cache", largest_file=1_000_000)
    assert starved.code == 1, starved.err
    cells = json.loads((tmp_path / "out" / "results.json").read_text())["cells"]
    found = {(cell["embedder"], cell["retriever"]): cell["status"] for cell in cells}
    assert len(found) == 4
    assert {key for key, status in found.items() if status == "failed"} == {("hashing:dimensions=16384", "dense")}
    assert all("no room" in cell["reason"] for cell in cells if cell["status"] == "failed")


def test_two_runs_at_once_share_a_cache(runner: Runner, repository: Path, tmp_path: Path) -> None:
    """Runs that begin at the same time on one cache both end with the results of a run alone."""
    cache = tmp_path / "cache"
    outs = [tmp_path / name for name in ("one", "two")]
    ended = runner.run_together([order(*arguments(repository, out), cache=cache) for out in outs])
    assert [each.code for each in ended] == [0, 0], ended
    alone = runner.run(*arguments(repository, tmp_path / "alone"), cache=tmp_path / "other")
    assert alone.code == 0, alone.err
    assert scores(outs[0]) == scores(outs[1]) == scores(tmp_path / "alone")
