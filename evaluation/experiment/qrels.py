"""The qrels of a cell: which chunks of one chunker are relevant."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from chunkers.types import Span
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.loaded_dataset import LoadedDataset
from ground_truth.line_axis import ChunkLines
from ground_truth.overlap import Judgements
from ground_truth.relevance import Text, judge
from ground_truth.rules import Rule
from ground_truth.types import Query


class _Row(NamedTuple):
    """A chunk as an overlap rule sees it."""

    id: str
    repo: str
    path: str
    span: Span


def qrels_of(rule: Rule, loaded: LoadedDataset, chunks: ChunkTable, *, mixed: bool = False) -> Judgements:
    """Return the relevant chunks of each query; where lines decide, only files that hold gold are read."""
    dataset = loaded.dataset

    def lines() -> ChunkLines:
        files = loaded.gold_lines
        wanted = {chunks.file_index[key] for key in files if key in chunks.file_index}
        return ChunkLines.of(files, placed(chunks, files=wanted))

    def texts(query: Query) -> Iterator[Text]:
        everything = range(len(chunks))
        rows = everything if dataset.scope == "all" else chunks.repository_rows.get(query.repo, range(0))
        return map(Text, chunks.ids[rows.start : rows.stop], ChunkTexts(chunks, rows, loaded))

    return judge(rule, dataset, lines, texts=texts, mixed=mixed)


def placed(chunks: ChunkTable, *, files: Collection[int] | None = None) -> Iterator[_Row]:
    """Yield the chunks, of these files or of all, as an overlap rule sees them."""
    every = chunks.columns["file"]
    rows = np.arange(len(every)) if files is None else np.flatnonzero(np.isin(every, sorted(files)))
    columns = [chunks.columns[name][rows].tolist() for name in ("file", "start", "end", "start_line", "end_line")]
    for row, file, *span in zip(rows.tolist(), *columns, strict=True):
        key = chunks.files[file]
        yield _Row(chunks.ids[row], key.repo, key.path, Span(*span))
