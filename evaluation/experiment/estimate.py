"""How long the rest of an experiment will take, estimated from earlier runs in the store."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import time
from collections.abc import Mapping, Sequence

from evaluation.experiment.code import plugin_inputs
from evaluation.experiment.session import Session
from evaluation.types import CellKey

_LOOKED_AT = 50
"""The number of earlier cells averaged for an estimate."""
PROBED = 48
"""The number of texts embedded to measure speed."""


def estimated_seconds(
    session: Session, texts: Mapping[tuple[str, str], int], running: Sequence[tuple[str, CellKey]]
) -> float | None:
    """Return the seconds of embedding the texts, by (embedder, kind), and of the stages; None without data."""
    usual = functools.cache(functools.partial(_usual, session))
    counts = {embedder: sum(n for (other, _), n in texts.items() if other == embedder) for embedder, _ in texts}
    rates = {embedder: session.embeddings.rate(session.encoder(embedder)) for embedder in counts}
    parts = [count / rate if (rate := rates[embedder]) else None for embedder, count in counts.items() if count]
    parts += [usual(stage, cell.retriever) for stage, cell in running if stage != "chunk"]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def probed_seconds(
    session: Session, texts: Mapping[tuple[str, str], int], some: Mapping[str, Sequence[str]]
) -> float | None:
    """Return the seconds of embedding the texts, by (embedder, kind), from the measured speed of each embedder.

    A few texts are embedded now. None where there is nothing to embed, or an embedder does not run on this machine.
    """
    total = 0.0
    for embedder in dict.fromkeys(embedder for (embedder, _), count in texts.items() if count):
        encoder = session.encoder(embedder)
        if not getattr(encoder, "local", False):
            return None
        shown = some[embedder]
        encoder.encode(shown[:1], kind="document")  # the first text loads the model
        began = time.perf_counter()
        encoder.encode(shown[1:], kind="document")
        each = (time.perf_counter() - began) / max(len(shown) - 1, 1)
        total += each * sum(count for (other, _), count in texts.items() if other == embedder)
    return total or None


def _usual(session: Session, stage: str, retriever: str) -> float | None:
    """Return the mean seconds of searching with this kind of retriever, or of scoring."""
    kind = plugin_inputs(session.retriever(retriever))["class"]
    found: list[float] = []
    for entry in itertools.islice(session.store.entries(stage), _LOOKED_AT):
        # An entry that is damaged, or being dropped by another process, has no usable time.
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            if stage != "retrieve":
                found.append(float(json.loads((entry.folder / "seconds.json").read_text("utf-8"))[stage]))
            elif entry.inputs["retriever"]["class"] == kind:
                found.append(float(json.loads((entry.folder / "facts.json").read_text("utf-8"))["seconds"][stage]))
    return sum(found) / len(found) if found else None
