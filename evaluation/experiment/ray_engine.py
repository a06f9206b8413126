"""Several machines through Ray: tasks are sent by name, data goes through the shared store."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from chunkers.errors import MissingExtraError, UsageError
from evaluation.experiment.executors import Outcome, attempt

_RETRIES = 3
"""How often a task is retried on another node after its own has died."""
_HERE = "local"
"""Ray's name for a cluster of this process's own."""
_PATIENCE = 10.0
"""Seconds within which a running cluster answers."""


@dataclass(frozen=True, slots=True)
class Ray:
    """A Ray cluster; a task whose node dies is moved to another."""

    address: str | None = None
    """`ray://host:port` of a running cluster; None joins the one that RAY_ADDRESS names or starts one here.

    Never a cluster that merely runs on this machine: it belongs to someone else and may end at any moment.
    """
    elsewhere: ClassVar[bool] = True

    def for_small_jobs(self) -> Ray:
        """Return the cluster: the coordinating process does none of the work."""
        return self

    def close(self) -> None:
        """Leave the cluster to its owner: Ray itself stops one that it started with this process."""

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes as they finish, one core per task."""
        if not tasks:
            return
        ray = self._ray()
        # By default, Ray gives short tasks to the requesting node as long as it keeps up, and the others wait.
        remote = ray.remote(attempt).options(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")
        waiting = {remote.remote(work, task): task for task in tasks}
        while waiting:
            done, _ = ray.wait(list(waiting), num_returns=1)
            task = waiting.pop(done[0])
            try:
                yield ray.get(done[0])
            except ray.exceptions.RayError as error:
                yield _lost(task, error)

    def map_embedding(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes of tasks that embed: one actor per node, so that a model is loaded once and has every core."""
        if not tasks:
            return
        ray = self._ray()
        queue = deque((task, 0) for task in tasks)
        busy: dict[Any, _Turn] = {}
        idle: list[Any] = []
        try:
            while queue or busy:
                if not idle and not busy:
                    idle = _actors(ray)
                while queue and idle:
                    actor, (task, lost) = idle.pop(), queue.popleft()
                    busy[actor.attempt.remote(work, task)] = _Turn(actor, task, lost)
                done, _ = ray.wait(list(busy), num_returns=1)
                turn = busy.pop(done[0])
                try:
                    outcome = ray.get(done[0])
                except ray.exceptions.RayError as error:
                    # The actor and its node are gone: the others take over its work.
                    if turn.lost < _RETRIES:
                        queue.append((turn.task, turn.lost + 1))
                    else:
                        yield _lost(turn.task, error)
                    continue
                idle.append(turn.actor)
                yield outcome
        finally:
            for actor in [*idle, *(turn.actor for turn in busy.values())]:
                ray.kill(actor)

    def _ray(self) -> Any:  # noqa: ANN401 - a module
        try:
            import ray
        except ImportError:
            raise MissingExtraError("ray", extra="ray") from None
        if ray.is_initialized():
            return ray
        address = self.address or os.environ.get("RAY_ADDRESS") or _HERE
        # A running cluster's dashboard setting is fixed; only a cluster that starts here can be configured.
        here = {"include_dashboard": False} if address == _HERE else {}
        try:
            _check_reachable(address)
            ray.init(address=address, logging_level="error", log_to_driver=False, **here)
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            cluster = "here" if address == _HERE else address
            raise UsageError(f"Ray cluster {cluster} cannot be used: {reason}") from error
        return ray


def _check_reachable(address: str) -> None:
    """Raise at once if nothing answers at that address; Ray itself tries for a quarter of an hour."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


class _Turn(NamedTuple):
    """The task that an actor is working on, and how often it was lost before."""

    actor: Any
    task: Any
    lost: int


class _Encoder:
    """Lives as long as the phase; the model loaded by the first task serves the later ones."""

    def attempt(self, work: Callable[[Any], Any], task: Any) -> Outcome[Any, Any]:  # noqa: ANN401 - any task
        return attempt(work, task)


def _actors(ray: Any) -> list[Any]:  # noqa: ANN401 - a module
    """Return one actor for each live node; one whose node dies fails instead of waiting for room elsewhere."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return [
        ray.remote(_Encoder)
        .options(
            num_cpus=node["Resources"]["CPU"],
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
        )
        .remote()
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]


def _lost(task: Any, error: Exception) -> Outcome[Any, Any]:  # noqa: ANN401 - any task
    lost = f"the cluster lost this task: {type(error).__name__}"
    return Outcome(task, None, lost, outside=lost)
