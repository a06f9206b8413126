"""Qrels of a cell: the dataset's annotations laid over the chunks by the experiment's rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from chunkers.types import Span
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.loaded_dataset import LoadedDataset
from ground_truth.line_axis import ChunkLines
from ground_truth.overlap import Judgements, make_qrels
from ground_truth.rules import Rule
from ground_truth.spans import annotated_lines


class _Row(NamedTuple):
    """A chunk as an overlap rule sees it."""

    id: str
    repo: str
    path: str
    span: Span


def judge(rule: Rule, loaded: LoadedDataset, chunks: ChunkTable) -> Judgements:
    """Return the relevant chunks of each query; only files that hold gold are looked at."""
    dataset = loaded.dataset
    files = annotated_lines(dataset)
    wanted = {chunks.file_index[key] for key in files if key in chunks.file_index}
    rows = placed(chunks, files=wanted)
    return make_qrels(rule, dataset.queries, dataset.annotations, ChunkLines.of(files, rows))


def placed(chunks: ChunkTable, *, files: Collection[int] | None = None) -> Iterator[_Row]:
    """Yield the chunks, of these files or of all, as an overlap rule sees them."""
    columns = [chunks.columns[name].tolist() for name in ("file", "start", "end", "start_line", "end_line")]
    for row, (file, *span) in enumerate(zip(*columns, strict=True)):
        if files is None or file in files:
            key = chunks.files[file]
            yield _Row(chunks.ids[row], key.repo, key.path, Span(*span))
