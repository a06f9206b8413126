"""What an experiment would do: which cells and stages are in the store, what is left, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTexts
from evaluation.experiment.estimate import PROBED, estimated_seconds, probed_seconds
from evaluation.experiment.executors import Executor, Serial
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_chunks
from evaluation.experiment.session import Session
from evaluation.flat import flat
from evaluation.types import CellKey
from indexing.embedding_cache import text_key

State = Literal["cached", "run", "fails"]


@dataclass(frozen=True)
class CellPlan:
    """One cell, and what each of its stages would do."""

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
    """Distinct texts without a vector."""
    seconds: float | None
    """Estimated seconds on one core, at the speed of earlier runs; None where there are none."""
    probed: float | None = None
    """Estimated seconds of embedding, from a few texts embedded now; None if none were."""


def make_plan(
    session: Session, executor: Executor | None = None, *, progress: Progress | None = None, probe: bool = False
) -> Plan:
    """Return what would be done. Files not chunked yet are chunked now, which is quick, so that texts can be counted.

    With ``probe``, embedders that run on this machine embed a few of the texts to measure their speed.
    """
    plans = []
    missing: dict[tuple[str, str], set[bytes]] = {}
    some: dict[str, Sequence[str]] = {}
    found = {cell: _states(session, cell) for cell in session.cells}
    broken = make_chunks(session, session.cells, executor or Serial(), progress or Progress())
    for cell, states in found.items():
        if cell in broken:
            plans.append(CellPlan(cell, dict.fromkeys(states, "fails"), 0, broken[cell]))
            continue
        chunks, loaded = stages.chunk(session, cell.dataset, cell.chunker), session.dataset(cell.dataset)
        plans.append(CellPlan(cell, states, len(chunks)))
        if states["retrieve"] == "run" and session.retriever(cell.retriever).uses_vectors:
            queries = [query.text for query in loaded.dataset.queries]
            shown = ChunkTexts(chunks, range(len(chunks)), loaded)
            some.setdefault(cell.embedder, shown[:: max(1, len(shown) // PROBED)][:PROBED])
            for kind, texts in (("document", shown), ("query", queries)):
                missing.setdefault((cell.embedder, kind), set()).update(map(text_key, texts))
    left = {
        (embedder, kind): session.embeddings.missing(session.encoder(embedder), keys, kind=kind)
        for (embedder, kind), keys in missing.items()
    }
    probed = probed_seconds(session, left, some) if probe else None
    running = [(stage, each.cell) for each in plans for stage, state in each.states.items() if state == "run"]
    return Plan(tuple(plans), sum(left.values()), estimated_seconds(session, left, running), probed)


def _states(session: Session, cell: CellKey) -> dict[str, State]:
    keys = session.stage_keys(cell)
    return {name: "cached" if session.store.has(key) else "run" for name, key in keys.items()}


def find_cells(cells: Sequence[CellKey], text: str) -> list[CellKey]:
    """Return the cells whose label in the plan is the text, or that have it as one of their specs."""
    names = {" × ".join(cell): cell for cell in cells}
    found = [cell for name, cell in names.items() if text == name or text in cell]
    if not found:
        raise UsageError(f"{text!r} is no cell: write one of {'; '.join(names)}.{nearest(text, names)}")
    return found


def explain(session: Session, cell: CellKey) -> Iterator[str]:
    """Yield, for each stage that would run, how it differs from the nearest result in the store."""
    for stage, key in session.stage_keys(cell).items():
        if session.store.has(key):
            yield f"{stage}: cached"
            continue
        wanted = flat(key.inputs)
        known = [flat(entry.inputs) for entry in session.store.entries(stage)]
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
