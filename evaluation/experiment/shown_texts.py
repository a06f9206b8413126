"""Texts displayed in the results, read by the executor of the run."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple

from evaluation.experiment.blocks import even_blocks
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.executors import Executor
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.session import Session
from evaluation.experiment.sharing import sharing
from evaluation.results.types import HiddenPart, ShownFile


class ShownSpan(NamedTuple):
    """A byte range of a file that is shown."""

    dataset: str
    file: CorpusFile
    start: int
    end: int


def read_shown(session: Session, executor: Executor, spans: Iterable[ShownSpan]) -> dict[ShownSpan, ShownFile]:
    """Return the text of each span, and the parts of it that are hidden from indexes; each file is read once."""
    by_file: dict[tuple[str, CorpusFile], list[ShownSpan]] = {}
    for span in dict.fromkeys(spans):
        by_file.setdefault((span.dataset, span.file), []).append(span)
    datasets = dict.fromkeys(dataset for dataset, _ in by_file)
    sizes = {(spec, known.file): known.size for spec in datasets for known in session.dataset(spec).files}
    held = list(by_file.values())
    blocks = [
        tuple(span for spans in held[block.start : block.stop] for span in spans)
        for block in even_blocks([sizes[file] for file in by_file])
    ]
    found: dict[ShownSpan, ShownFile] = {}
    doers = executor.for_small_jobs()
    with sharing(session, doers, datasets):
        for outcome in doers.map(functools.partial(_read, session), blocks):
            if outcome.value is None:
                raise outcome.exception
            found |= zip(outcome.task, outcome.value, strict=True)
    return found


def _read(session: Session, spans: tuple[ShownSpan, ...]) -> list[ShownFile]:
    return [_shown(session.dataset(span.dataset), span) for span in spans]


def _shown(loaded: LoadedDataset, span: ShownSpan) -> ShownFile:
    text = loaded.read(span.file)[span.start : span.end].decode("utf-8", "replace")
    return ShownFile(text, hidden_parts(loaded, span.file, span.start, span.end))


def hidden_parts(loaded: LoadedDataset, file: CorpusFile, start: int, end: int) -> tuple[HiddenPart, ...]:
    """Return the character ranges of a shown text that are hidden from indexes."""
    inside = [(max(low, start), min(high, end)) for low, high in loaded.hidden_ranges(file).tolist()]
    data = loaded.read(file)
    return tuple(
        HiddenPart(*(len(data[start:at].decode("utf-8", "replace")) for at in part))
        for part in inside
        if part[0] < part[1]
    )
