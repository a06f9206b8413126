"""Qrels of a cell: the dataset's annotations laid over the chunks by the experiment's rule."""

from __future__ import annotations

from typing import NamedTuple

from chunkers.types import Span
from evaluation.experiment.corpus_chunks import CorpusChunks
from evaluation.experiment.snapshot import Snapshot
from ground_truth.chunk_table import ChunkTable
from ground_truth.overlap import Judgements, make_qrels
from ground_truth.rules import parse_rule
from ground_truth.spans import annotated_lines


class _Row(NamedTuple):
    """A chunk as an overlap rule sees it."""

    id: str
    repo: str
    path: str
    span: Span


def judge(rule: str, snapshot: Snapshot, chunks: CorpusChunks) -> Judgements:
    """Return the relevant chunks of each query; only files that hold gold are looked at."""
    dataset = snapshot.dataset
    files = annotated_lines(dataset)
    wanted = {chunks.file_index[key] for key in files if key in chunks.file_index}
    columns = chunks.columns
    rows = []
    for row, file in enumerate(columns["file"].tolist()):
        if file in wanted:
            key = chunks.files[file]
            span = Span(*(int(columns[name][row]) for name in ("start", "end", "start_line", "end_line")))
            rows.append(_Row(chunks.ids[row], key.repo, key.path, span))
    return make_qrels(parse_rule(rule), dataset.queries, dataset.annotations, ChunkTable.of(files, rows))
