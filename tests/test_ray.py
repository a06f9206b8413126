"""Ray: the same scores on two nodes, one of which goes while the experiment runs, as in one process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig, make_config
from evaluation.experiment import stages
from evaluation.experiment.blocks import Division
from evaluation.experiment.executors import Serial, make_executor
from evaluation.experiment.progress import Progress
from evaluation.experiment.ray_engine import Ray
from evaluation.experiment.run import make_scores, run_experiment
from evaluation.experiment.session import Session
from evaluation.results.types import Results

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning:ray.*", "ignore::DeprecationWarning:ray.*", "ignore::ResourceWarning"
)
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start two nodes on this machine, and end them."""
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        made = Cluster(initialize_head=True, head_node_args=small)
        made.second = made.add_node(num_cpus=1, object_store_memory=80 * 2**20)
        ray.init(address=made.address, logging_level="error", log_to_driver=False)
        try:
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


def experiment(repository: Path) -> ExperimentConfig:
    """Return an experiment of four cells on annotated code."""
    gold = repository.parent / "gold.jsonl"
    return make_config(
        {
            "datasets": (f"annotations:path={gold},root={repository}",),
            "chunkers": ("fixed-lines:lines=5", "cast:size=120"),
            "embedders": ("hashing",),
            "retrievers": ("dense", "bm25"),
            "measures": ("ndcg@5", "recall@10"),
            "flips": 100,
        }
    )


def scores(results: Results) -> dict[tuple[str, ...], list[float]]:
    """Return the per-query scores of every cell."""
    return {
        (*cell.key, measure): values.tolist()
        for cell in sorted(results.cells, key=lambda cell: cell.key)
        for measure, values in sorted(cell.scores.items())
    }


def test_a_node_that_goes_takes_no_result_with_it(cluster: Any, repository: Path, tmp_path: Path) -> None:
    """Two nodes work, one is removed after the first texts are embedded, and the scores are those of one process."""
    alive: list[int] = []

    def remove_a_node(phase: str, _count: int) -> None:
        alive.append(sum(node["Alive"] for node in ray.nodes()))
        if phase == "embed" and cluster.second is not None:
            node, cluster.second = cluster.second, None
            cluster.remove_node(node)

    config = experiment(repository)
    spread = run_experiment(Session(config, tmp_path / "ray"), Ray(), progress=Progress(tick=remove_a_node))
    alone = run_experiment(Session(config, tmp_path / "serial"), Serial())
    assert (alive[0], alive[-1]) == (2, 1)
    assert [cell.reason for cell in spread.cells] == [""] * 4
    assert len(scores(spread)) == 4 * 3
    assert not any(np.isnan(values).any() for values in scores(spread).values())
    assert scores(spread) == scores(alone)


def test_a_cell_in_parts_survives_a_node_that_goes(
    cluster: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven parts of each cell are searched on two nodes, one is removed after the first; the hits are the same."""
    retrievers = ("bm25", "dense", "hybrid", "mmr", "dartboard")
    config = experiment(repository).model_copy(update={"retrievers": retrievers})
    alone = Session(config, tmp_path / "serial")
    make_scores(alone, alone.cells, Serial(), Progress())
    second = [cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)]

    def remove_a_node(phase: str, _count: int) -> None:
        if phase == "search" and second:
            cluster.remove_node(second.pop())

    monkeypatch.setattr("evaluation.experiment.stages.ROWS", Division(7, 1, 10**9))
    spread = Session(config, tmp_path / "ray")
    assert len(stages.search_blocks(spread, spread.cells[0])) >= 7
    assert make_scores(spread, spread.cells, Ray(), Progress(tick=remove_a_node)) == {}
    assert second == []
    for cell in spread.cells:
        assert stages.retrieve(spread, cell).ranking == stages.retrieve(alone, cell).ranking


def raises(task: int) -> int:
    """Fail for one task."""
    if task == 1:
        raise UsageError("one is bad")
    return task


def test_a_failed_task_is_an_outcome_on_ray_too(cluster: Any) -> None:
    """The reason comes back from the node, and the other tasks have their values."""
    assert cluster.address
    for outcomes in (Ray().map(raises, range(3)), Ray().map_embedding(raises, range(3))):
        found = {outcome.task: (outcome.value, outcome.error) for outcome in outcomes}
        assert found == {0: (0, ""), 1: (None, "one is bad"), 2: (2, "")}


def _shut_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


JOINS = """
import ray, sys
from evaluation.experiment.ray_engine import Ray
from chunkers.errors import UsageError
try:
    print(*(outcome.value for outcome in Ray(*sys.argv[1:]).map(abs, [-1])), len(ray.nodes()))
except UsageError as error:
    print(error)
"""


def _join(*address: str, **variables: str) -> str:
    """Return what a new process prints that asks for a cluster."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", **variables}
    command = [sys.executable, "-c", JOINS, *address]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def test_a_cluster_that_merely_runs_here_is_not_joined(cluster: Any) -> None:
    """What another run started, or left behind when it died, is not ours; RAY_ADDRESS and an address are."""
    record = Path(ray._private.utils.get_ray_address_file(None))
    before = record.read_text() if record.exists() else None
    try:
        record.write_text(f"127.0.0.1:{_shut_port()}")
        assert _join() == "1 1"
    finally:
        record.unlink() if before is None else record.write_text(before)
    alive = len(ray.nodes())
    assert _join(cluster.address) == f"1 {alive}"
    assert _join(RAY_ADDRESS=cluster.address) == f"1 {alive}"


def test_a_cluster_that_does_not_answer_is_said_at_once() -> None:
    """The line names the address, however it came."""
    gone = f"127.0.0.1:{_shut_port()}"
    for said in (_join(gone), _join(f"ray://{gone}"), _join(RAY_ADDRESS=gone)):
        assert said.startswith("Ray cluster "), said
        assert gone in said
        assert said.endswith("Connection refused")


def test_an_address_is_an_engine() -> None:
    """`ray` and `ray://…` name a cluster."""
    assert make_executor("ray", None) == Ray(None)
    assert make_executor("ray://head:10001", None) == Ray("ray://head:10001")
