"""The gold of every query as bytes of the corpus, independent of chunker and retriever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from evaluation.types import TextSpan
from ground_truth.lines import FileLines
from ground_truth.overlap import alternatives, answer_id
from ground_truth.spans import FileKey, gold_spans
from ground_truth.types import Dataset


def gold_text(
    dataset: Dataset, file_index: Mapping[tuple[str, str], int], lines: Mapping[FileKey, FileLines]
) -> dict[str, list[TextSpan]]:
    """Return each query's gold, and that of each of its alternative answers, as half-open byte ranges without overlap.

    The n-th answer of a query that has several is under ``answer_key(query_id, n)``.
    """
    notes = [note for note in dataset.annotations if note.grade > 0]
    names = alternatives(notes)
    every = notes + [replace(note, query_id=answer_id(note, names)) for note in notes if note.query_id in names]
    found = gold_spans(every, lines)
    return {
        query_id: _merged(TextSpan(file_index[gold.repo, gold.path], gold.start_byte, gold.end_byte) for gold in spans)
        for query_id, spans in found.items()
    }


def answer_key(query_id: str, number: int) -> str:
    """Return the key of one of several answers in the result of `gold_text`."""
    return f"{query_id}\x1f{number}"


def _merged(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Return the spans merged where they overlap; regions that only touch stay separate."""
    merged: list[TextSpan] = []
    for span in sorted(spans):
        if merged and merged[-1].file == span.file and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return merged
