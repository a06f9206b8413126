"""Several machines through Ray: tasks are sent by name, data goes through the shared store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from chunkers.errors import MissingExtraError
from evaluation.experiment.executors import Outcome, attempt

_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Ray:
    """A Ray cluster; a task whose node dies is given to another."""

    address: str | None = None
    """`ray://host:port` of a running cluster; None joins the one that RAY_ADDRESS names or starts one here."""
    remote: ClassVar[bool] = True

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes as they finish, one core per task."""
        yield from self._map(work, tasks, cores=1)

    def map_embedding(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes of tasks that embed: one actor per node, so that a model is loaded once and has every core."""
        if not tasks:
            return
        ray = self._ray()
        actors = [
            ray.remote(_Encoder)
            .options(num_cpus=node["Resources"]["CPU"], max_restarts=-1, max_task_retries=_RETRIES)
            .remote()
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU")
        ]
        try:
            waiting = {
                actors[number % len(actors)].attempt.remote(work, task): task for number, task in enumerate(tasks)
            }
            yield from _finished(ray, waiting)
        finally:
            for actor in actors:
                ray.kill(actor)

    def _map(self, work: Callable[[Any], Any], tasks: Sequence[Any], *, cores: int) -> Iterator[Outcome[Any, Any]]:
        if not tasks:
            return
        ray = self._ray()
        remote = ray.remote(attempt).options(num_cpus=cores, max_retries=_RETRIES)
        yield from _finished(ray, {remote.remote(work, task): task for task in tasks})

    def _ray(self) -> Any:  # noqa: ANN401 - a module
        try:
            import ray
        except ImportError:
            raise MissingExtraError("ray", extra="ray") from None
        if not ray.is_initialized():
            ray.init(address=self.address, logging_level="error", log_to_driver=False, include_dashboard=False)
        return ray


class _Encoder:
    """Lives as long as the phase; the model that the first task loads serves the next ones."""

    def attempt(self, work: Callable[[Any], Any], task: Any) -> Outcome[Any, Any]:  # noqa: ANN401 - any task
        return attempt(work, task)


def _finished(ray: Any, waiting: dict[Any, Any]) -> Iterator[Outcome[Any, Any]]:  # noqa: ANN401 - a module
    while waiting:
        done, _ = ray.wait(list(waiting), num_returns=1)
        task = waiting.pop(done[0])
        try:
            yield ray.get(done[0])
        except ray.exceptions.RayError as error:
            yield Outcome(task, None, f"the cluster lost this task: {type(error).__name__}")
