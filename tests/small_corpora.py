"""Datasets of a few short files that are never on the disk, and sessions on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from chunkers.languages import language_of
from chunkers.sources import Skipped
from chunkers.types import SourceFile
from evaluation.config import make_config
from evaluation.experiment.executors import Outcome, Serial, attempt
from evaluation.experiment.loaded_dataset import LoadedDataset, load_dataset
from evaluation.experiment.session import Session
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

WORDS = ("apple", "bolt", "candle", "drum", "engine", "flute")


@dataclass(frozen=True)
class Texts:
    """A repository in memory."""

    name: str
    texts: Mapping[str, bytes]
    skipped: Sequence[Skipped] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the files by path."""
        return (self._file(path) for path in sorted(self.texts))

    def read(self, path: str) -> SourceFile | None:
        """Return one file."""
        return self._file(path) if path in self.texts else None

    def _file(self, path: str) -> SourceFile:
        return SourceFile(path, self.texts[path], language_of(path, self.texts[path]), self.name)


def repository(name: str, texts: Mapping[str, str | bytes]) -> Texts:
    """Return a repository of these texts."""
    return Texts(name, {path: text.encode() if isinstance(text, str) else text for path, text in texts.items()})


def module(word: str) -> str:
    """Return ten lines about a word; the sixth and seventh answer a question about it."""
    return (
        f'"""All about {word}s."""\n\nimport {word}_base\n\n\n'
        f"def make_{word}(size):\n    return {word}_base.new(size)\n\n\n{word.upper()} = 1\n"
    )


def word_dataset(
    repos: Sequence[str] = ("one",),
    *,
    scope: Literal["repository", "all"] = "repository",
    hidden: Sequence[HiddenSpan] = (),
) -> Dataset:
    """Return repositories of six files with the same text in each, and a query about every file of each."""
    queries = [Query(f"{repo}-{word}", f"make a new {word} of a size", repo) for repo in repos for word in WORDS]
    notes = [Annotation(f"{repo}-{word}", repo, f"{word}.py", 6, 7) for repo in repos for word in WORDS]
    held = tuple(repository(repo, {f"{word}.py": module(word) for word in WORDS}) for repo in repos)
    return Dataset("words", held, tuple(queries), tuple(notes), scope=scope, hidden=tuple(hidden))


def loaded(dataset: Dataset) -> LoadedDataset:
    """Return the dataset as a session has it."""
    return load_dataset(dataset.name, InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)


def session_of(dataset: Dataset, cache: Path, *, plugins: Mapping[str, object] | None = None, **config: Any) -> Session:
    """Return an experiment of one chunker and BM25 on the dataset, unless the config says otherwise."""
    given = {
        "datasets": (dataset.name,),
        "chunkers": ("fixed-lines:lines=5",),
        "embedders": ("hashing:dimensions=16",),
        "retrievers": ("bm25",),
        "measures": ("recall@1000tok", "ndcg@5"),
        "headline": "recall@1000tok",
        "flips": 100,
    }
    more = {dataset.name: InMemory(dataset=dataset), **(plugins or {})}
    return Session.resolve(make_config({**given, **config}), cache, plugins=more)


@dataclass
class Elsewhere:
    """An engine for which tasks count as done by others, though one after the other and here; it keeps a list."""

    elsewhere: ClassVar[bool] = True
    done: list[Any] = field(default_factory=list)
    embedded: list[Any] = field(default_factory=list)
    seconds: float = 10.0
    """What embedding a part is said to take."""
    closed: int = 0

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes, the last task's first."""
        for task in reversed(tasks):
            self.done.append(task)
            yield attempt(work, task)

    def map_embedding(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield outcomes with the seconds that each is said to have taken."""
        for task in tasks:
            self.embedded.append(task)
            yield attempt(work, task)._replace(value=self.seconds)

    def for_small_jobs(self) -> Elsewhere | Serial:
        """Return itself where it has done something, as workers that are there do, else this process."""
        return self if self.done else Serial()

    def close(self) -> None:
        """Count it."""
        self.closed += 1


@dataclass
class Clock:
    """A clock that goes on by so much whenever it is looked at, in place of the module `time`."""

    step: float = 0.0
    now: float = 1_000.0

    def perf_counter(self) -> float:
        """Return the time."""
        self.now += self.step
        return self.now


TIMED = ("file_words", "part_search", "search_cost", "searching", "stages", "tool_runs")


def stop_clocks(monkeypatch: Any) -> None:
    """Let no time pass in an experiment."""
    for name in TIMED:
        monkeypatch.setattr(f"evaluation.experiment.{name}.time", Clock())
