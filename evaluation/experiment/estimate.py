"""How long the rest of an experiment will take, from what the store knows of earlier runs."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping, Sequence

from evaluation.experiment.code import plugin_inputs
from evaluation.experiment.stages import Workbench
from evaluation.types import CellKey
from indexing.registry import ENCODERS, RETRIEVERS

_LOOKED_AT = 50
"""Earlier cells that an estimate is the mean of."""


def estimated_seconds(
    bench: Workbench, texts: Mapping[tuple[str, str], int], running: Sequence[tuple[str, CellKey]]
) -> float | None:
    """Return the seconds of embedding the texts, by (embedder, kind), and of the stages; None where nothing tells."""
    usual = functools.cache(functools.partial(_usual, bench))
    counts = {embedder: sum(n for (other, _), n in texts.items() if other == embedder) for embedder, _ in texts}
    rates = {embedder: bench.embeddings.rate(ENCODERS.create(embedder)) for embedder in counts}
    parts = [count / rate if (rate := rates[embedder]) else None for embedder, count in counts.items() if count]
    parts += [usual(stage, cell.retriever) for stage, cell in running if stage != "chunk"]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _usual(bench: Workbench, stage: str, retriever: str) -> float | None:
    """Return the mean seconds of searching with this kind of retriever, or of scoring."""
    kind = plugin_inputs(RETRIEVERS.create(retriever))["class"]
    found = []
    for entry in itertools.islice(bench.store.entries(stage), _LOOKED_AT):
        if stage == "retrieve":
            if entry.inputs["retriever"]["class"] != kind:
                continue
            found.append(json.loads((entry.folder / "facts.json").read_text("utf-8"))["seconds"][stage])
        else:
            found.append(json.loads((entry.folder / "seconds.json").read_text("utf-8"))[stage])
    return sum(found) / len(found) if found else None
