"""What an experiment would do: which cells and stages are in the store, what is left, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.estimate import estimated_seconds
from evaluation.experiment.executors import attempt
from evaluation.experiment.loaded_dataset import load_dataset
from evaluation.experiment.stages import Workbench
from evaluation.types import CellKey
from indexing.embedding_cache import text_key
from indexing.registry import ENCODERS, RETRIEVERS

State = Literal["cached", "run", "fails"]


@dataclass(frozen=True)
class CellPlan:
    """One cell: what each stage would do."""

    cell: CellKey
    states: Mapping[str, State]
    chunks: int
    reason: str = ""
    """Why it cannot be chunked."""


@dataclass(frozen=True)
class Plan:
    """The whole experiment."""

    cells: tuple[CellPlan, ...]
    texts: int
    """Distinct texts that have no vector yet."""
    seconds: float | None
    """How long it will take on one core at the speed of earlier runs; None where there was none to go by."""


def make_plan(bench: Workbench, cells: Sequence[CellKey]) -> Plan:
    """Return what would be done; files are chunked now where they are not yet, which is quick, so as to count texts."""
    plans = []
    missing: dict[tuple[str, str], set[bytes]] = {}
    for cell in cells:
        snapshot = load_dataset(cell.dataset, bench.config.duplicates)
        keys = stages.stage_keys(bench, snapshot, cell)
        states: dict[str, State] = {name: "cached" if bench.store.has(key) else "run" for name, key in keys.items()}
        made = attempt(lambda chunker: stages.chunk(bench, snapshot, chunker).value, cell.chunker)  # noqa: B023 - used now
        if made.value is None:
            plans.append(CellPlan(cell, dict.fromkeys(states, "fails"), 0, made.error))
            continue
        chunks: ChunkTable = made.value
        plans.append(CellPlan(cell, states, len(chunks)))
        if states["retrieve"] == "run" and RETRIEVERS.create(cell.retriever).uses_vectors:
            queries = [query.text for query in snapshot.dataset.queries]
            for kind, texts in (
                ("document", ChunkTexts(chunks, range(len(chunks)), snapshot.read)),
                ("query", queries),
            ):
                missing.setdefault((cell.embedder, kind), set()).update(map(text_key, texts))
    left = {
        (embedder, kind): bench.embeddings.missing(ENCODERS.create(embedder), keys, kind=kind)
        for (embedder, kind), keys in missing.items()
    }
    running = [(stage, each.cell) for each in plans for stage, state in each.states.items() if state == "run"]
    return Plan(tuple(plans), sum(left.values()), estimated_seconds(bench, left, running))


def find_cells(cells: Sequence[CellKey], text: str) -> list[CellKey]:
    """Return the cells that are the text, written as in the plan, or have it as one of their specs."""
    names = {" × ".join(cell): cell for cell in cells}
    found = [cell for name, cell in names.items() if text == name or text in cell]
    if not found:
        raise UsageError(f"{text!r} is no cell: write one of {'; '.join(names)}.{nearest(text, names)}")
    return found


def explain(bench: Workbench, cell: CellKey) -> Iterator[str]:
    """Yield, for each stage that would run, what differs from the nearest result in the store."""
    keys = stages.stage_keys(bench, load_dataset(cell.dataset, bench.config.duplicates), cell)
    for stage, key in keys.items():
        if bench.store.has(key):
            yield f"{stage}: cached"
            continue
        wanted = dict(_flat(key.inputs))
        known = [dict(_flat(entry.inputs)) for entry in bench.store.entries(stage)]
        if not known:
            yield f"{stage}: will run; nothing of this kind is in the store"
            continue
        closest = min(known, key=lambda other: len(_differences(wanted, other)))
        for name, (before, now) in _differences(wanted, closest).items():
            yield f"{stage}: will run; {name} was {before!r} and is {now!r}{_MEANING.get(name, '')}"


_MEANING = {
    "corpus": " (a source file was changed, added or removed)",
    "chunks": " (see chunk)",
    "ranking": " (see retrieve)",
    "queries": " (the text or the number of queries)",
    "annotations": " (the gold lines)",
    "chunker.code": " (the source of the chunkers)",
}


def _differences(wanted: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = sorted(wanted.keys() | other.keys())
    return {
        name: (other.get(name), wanted.get(name)) for name in names if str(other.get(name)) != str(wanted.get(name))
    }


def _flat(value: object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, list(value) if isinstance(value, tuple) else value
