"""The Ray engine against a stand-in for Ray in this process, which loses tasks when it is told to."""

from __future__ import annotations

import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from chunkers.errors import MissingExtraError, UsageError
from evaluation.experiment.executors import attempt
from evaluation.experiment.ray_engine import Ray


class LostError(Exception):
    """What Ray raises when a node has gone."""


@dataclass
class Actor:
    """One that lives on a node."""

    cluster: Cluster
    options: dict[str, Any]

    @property
    def attempt(self) -> SimpleNamespace:
        """What a handle of an actor's method has."""
        return SimpleNamespace(remote=lambda work, task: self.cluster.start(work, task, actor=self))


@dataclass(eq=False)
class Reference:
    """Something that will have a value."""

    work: Callable[[Any], Any]
    task: Any
    actor: Actor | None


@dataclass
class Cluster:
    """The functions of the module `ray` that the engine uses."""

    lost: Counter[Any] = field(default_factory=Counter)
    """Task → times that its node goes while it is at work."""
    known_nodes: list[dict[str, Any]] = field(default_factory=list)
    initialized: bool = True
    refuses: Exception | None = None
    begun: list[dict[str, Any]] = field(default_factory=list)
    made: list[Actor] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)
    ended: list[Actor] = field(default_factory=list)
    tries: Counter[Any] = field(default_factory=Counter)

    exceptions = SimpleNamespace(RayError=LostError)

    def is_initialized(self) -> bool:
        """Say whether it was joined."""
        return self.initialized

    def init(self, **how: Any) -> None:
        """Join it, or refuse."""
        if self.refuses is not None:
            raise self.refuses
        self.begun.append(how)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes."""
        return self.known_nodes

    def kill(self, actor: Actor) -> None:
        """End an actor."""
        self.ended.append(actor)

    def remote(self, what: Any) -> SimpleNamespace:
        """Return what makes tasks or actors."""

        def options(**how: Any) -> SimpleNamespace:
            if isinstance(what, type):
                return SimpleNamespace(remote=lambda: self._actor(how))
            self.options.append(how)
            return SimpleNamespace(remote=lambda work, task: self.start(work, task, actor=None))

        return SimpleNamespace(options=options)

    def _actor(self, how: dict[str, Any]) -> Actor:
        self.made.append(Actor(self, how))
        return self.made[-1]

    def start(self, work: Callable[[Any], Any], task: Any, *, actor: Actor | None) -> Reference:
        """Return a task that is under way."""
        return Reference(work, task, actor)

    def wait(self, waiting: Sequence[Reference], *, num_returns: int) -> tuple[list[Reference], list[Reference]]:
        """Return the last ones as those that are done."""
        return list(waiting[-num_returns:]), list(waiting[:-num_returns])

    def get(self, reference: Reference) -> Any:
        """Do the task now, or lose it."""
        self.tries[reference.task] += 1
        if self.lost[reference.task]:
            self.lost[reference.task] -= 1
            raise LostError(f"the node of {reference.task} has gone")
        return attempt(reference.work, reference.task)


def node(name: str, *, cores: float | None = 2.0, alive: bool = True) -> dict[str, Any]:
    """Return a node as Ray lists it."""
    return {"NodeID": name, "Alive": alive, "Resources": {} if cores is None else {"CPU": cores}}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Put a cluster of two nodes in the place of the module."""
    made = Cluster(known_nodes=[node("a"), node("b", cores=4.0)])
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda name, *, soft: (name, soft)  # type: ignore[attr-defined] # as Ray's
    for name, module in (
        ("ray", made),
        ("ray.util", ModuleType("ray.util")),
        ("ray.util.scheduling_strategies", strategies),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    return made


def square(task: int) -> int:
    """Square the task; fail on purpose for one."""
    if task == 3:
        raise UsageError("three is bad")
    return task * task


Map = Callable[[Ray], Callable[..., Iterator[Any]]]
MAPS: list[Map] = [lambda engine: engine.map, lambda engine: engine.map_embedding]


@pytest.mark.parametrize("of", MAPS)
def test_every_task_has_one_outcome(cluster: Cluster, of: Map) -> None:
    """Its value, or the reason that it raised; whichever ends first."""
    found = {each.task: (each.value, each.error, each.usage) for each in of(Ray())(square, range(6))}
    assert found == {task: (task * task, "", False) for task in (0, 1, 2, 4, 5)} | {3: (None, "three is bad", True)}
    assert Ray().elsewhere
    assert set(cluster.tries.values()) == {1}


@pytest.mark.parametrize("of", MAPS)
def test_nothing_to_do_needs_no_cluster(monkeypatch: pytest.MonkeyPatch, of: Map) -> None:
    """Where Ray is not installed, only work misses it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    assert list(of(Ray())(square, [])) == []
    with pytest.raises(MissingExtraError, match="ray"):
        list(of(Ray())(square, [1]))


def test_a_task_has_one_core_and_is_retried_by_ray(cluster: Cluster) -> None:
    """What Ray gives up is that task's reason, and the others have their values."""
    cluster.lost[1] = 1
    found = {each.task: each for each in Ray().map(square, [0, 1, 2])}
    assert cluster.options == [{"num_cpus": 1, "max_retries": 3, "scheduling_strategy": "SPREAD"}]
    assert (found[0].value, found[2].value) == (0, 4)
    assert (found[1].value, found[1].error) == (None, "the cluster lost this task: LostError")
    assert str(found[1].exception) == found[1].error
    assert isinstance(found[1].exception, UsageError)


def test_each_node_that_is_alive_has_one_actor_with_all_its_cores(cluster: Cluster) -> None:
    """One that is gone, and one that has no cores, have none; all of them are ended afterwards."""
    cluster.known_nodes += [node("gone", alive=False), node("head", cores=None), node("empty", cores=0.0)]
    assert len(list(Ray().map_embedding(square, range(7)))) == 7
    assert [each.options for each in cluster.made] == [
        {"num_cpus": 2.0, "scheduling_strategy": ("a", False)},
        {"num_cpus": 4.0, "scheduling_strategy": ("b", False)},
    ]
    assert len(cluster.ended) == 2
    assert all(any(each is one for each in cluster.ended) for one in cluster.made)


def test_a_lost_text_is_embedded_by_another_actor(cluster: Cluster) -> None:
    """Three times; a fourth loss is the task's reason. The other actors go on, and new ones come when none is left."""
    cluster.lost = Counter({1: 3, 2: 4})
    found = {each.task: each for each in Ray().map_embedding(square, [0, 1, 2, 4])}
    assert {task: each.value for task, each in found.items()} == {0: 0, 1: 1, 2: None, 4: 16}
    assert found[2].error == "the cluster lost this task: LostError"
    assert cluster.tries == {0: 1, 1: 4, 2: 4, 4: 1}


def test_an_actor_that_was_lost_is_not_asked_again(cluster: Cluster) -> None:
    """On one node, each loss costs one actor; those that are alive at the end are ended."""
    cluster.known_nodes = [node("a")]
    cluster.lost[0] = 2
    assert [each.value for each in Ray().map_embedding(square, [0, 1])] == [1, 0]
    assert len(cluster.made) == 3
    assert cluster.ended == [cluster.made[-1]]


def test_whoever_stops_early_leaves_no_actor(cluster: Cluster) -> None:
    """Those that are at work are ended too."""
    outcomes = Ray().map_embedding(square, range(6))
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined] # it is a generator
    assert len(cluster.ended) == len(cluster.made) == 2


@pytest.fixture
def head() -> Iterator[str]:
    """Give an address that answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"ray://127.0.0.1:{listening.getsockname()[1]}"


def test_a_cluster_is_joined_once(cluster: Cluster, head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is joined already is used; one that starts here has no dashboard, one elsewhere is not told."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    list(Ray(head).map(square, [1]))
    assert cluster.begun == []
    cluster.initialized = False
    list(Ray().map(square, [1]))
    list(Ray(head).map(square, [1]))
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    list(Ray().map(square, [1]))
    quiet = {"logging_level": "error", "log_to_driver": False}
    assert cluster.begun == [
        {"address": "local", "include_dashboard": False, **quiet},
        {"address": head, **quiet},
        {"address": "auto", **quiet},
    ]


@pytest.mark.parametrize(
    ("address", "error", "said"),
    [
        ("auto", ConnectionError("nobody there\nat all"), "Ray cluster auto cannot be used: nobody there"),
        (None, RuntimeError(), "Ray cluster here cannot be used: RuntimeError"),
        (None, ValueError("odd"), "Ray cluster here cannot be used: odd"),
    ],
)
def test_a_cluster_that_cannot_be_joined_is_named(
    cluster: Cluster, address: str | None, error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    cluster.initialized, cluster.refuses = False, error
    with pytest.raises(UsageError) as caught:
        list(Ray(address).map(square, [1]))
    assert str(caught.value) == said
