"""Folders in the format of BEIR and CoIR: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.languages import known_languages
from ground_truth.documents import Documents, open_documents
from ground_truth.jsonl import read_records
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.types import Annotation, Dataset, Query

_LARGEST_GRADE = 1e9


class _Judgement(NamedTuple):
    where: str
    query: str
    document: str
    grade: float


@dataclass(frozen=True, kw_only=True)
class Beir:
    """A BEIR or CoIR folder; a relevant document is gold as a whole, so any chunk of it answers."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "path= a folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv"

    path: str
    split: str = "test"
    language: str | None = None
    """The language of all documents, so that syntax-aware chunkers can parse them; else their `language` column."""
    problems: Policy = "skip"
    """Whether a duplicate row, or a judgement of a missing query or document, stops the loading.

    Published folders often judge documents that they do not contain, so the default counts them.
    """

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in known_languages():
            raise UsageError(f"language is {self.language!r}, which no grammar has")

    def load(self) -> Dataset:
        """Return the dataset; judgements of unknown queries or documents are counted, and so are unjudged queries."""
        folder = Path(self.path).expanduser()
        skips = Skips(self.problems)
        corpus = open_documents(folder / "corpus.jsonl", name=folder.name, language=self.language, skips=skips)
        texts = _texts(folder / "queries.jsonl", skips)
        notes: dict[tuple[str, str], Annotation] = {}
        for judgement in _read_qrels(folder / "qrels" / f"{self.split}.tsv"):
            with skips.row():
                note = _note(judgement, texts, corpus)
                if (note.query_id, note.path) in notes:
                    raise RowProblemError(judgement.where, "duplicate judgement", f"{note.query_id} and {note.path}")
                notes[note.query_id, note.path] = note
        judged = {query for query, _ in notes}
        if not judged:
            raise UsageError(
                f"{folder}: no judgement of split {self.split!r} names a query and a document that are there"
            )
        return Dataset(
            name=folder.name,
            repositories=(corpus,),
            queries=tuple(Query(name, text, corpus.name) for name, text in texts.items() if name in judged),
            annotations=tuple(notes.values()),
            scope="all",
            details={
                "documents": len(corpus.offsets),
                "rows": skips.rows(len(notes)),
                "unjudged_queries": len(texts.keys() - judged),
                "skipped": skips.counts,
                "languages": _languages(corpus),
                "skipped_documents": len(corpus.skipped),
            },
        )


def _id(fields: dict[str, object], where: str) -> str:
    value = fields.get("_id")
    if value in (None, ""):
        raise UsageError(f"{where}: _id is missing")
    return "_".join(str(value).split())


def _read_qrels(path: Path) -> Iterator[_Judgement]:
    """Yield the rows of a tab-separated qrels file, with or without its heading."""
    if not path.is_file():
        raise UsageError(f"{path} is not there: choose another split=")
    try:
        text = read_text_input(path)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and cells[0] in ("query-id", "query_id")):
            continue
        try:
            query, document, grade = cells[0], cells[1], float(cells[2])
        except (IndexError, ValueError):
            query, document, grade = "", "", math.nan
        if not abs(grade) <= _LARGEST_GRADE:
            raise UsageError(
                f"{path}:{number}: {line[:60]!r}: query, document and grade, with tabs, were expected"
            ) from None
        yield _Judgement(f"{path}:{number}", "_".join(query.split()), document, grade)


def _note(one: _Judgement, texts: dict[str, str], corpus: Documents) -> Annotation:
    if one.query not in texts:
        raise RowProblemError(one.where, "query not in queries.jsonl", one.query)
    source = corpus.read(one.document)
    if source is None:
        raise RowProblemError(one.where, "document not in the corpus, or empty", one.document)
    if one.grade < 0:
        raise RowProblemError(one.where, "negative grade", f"{one.grade:g}: write 0 for what is not relevant")
    return Annotation(one.query, corpus.name, one.document, 1, FileLines.of(source.data).count, one.grade)


def _texts(path: Path, skips: Skips) -> dict[str, str]:
    texts: dict[str, str] = {}
    for record in read_records(path):
        name = _id(record.fields, record.where)
        if name in texts:
            skips.note(RowProblemError(record.where, "duplicate query", f"{name!r} is there twice"))
        else:
            texts[name] = record.text("text")
    return texts


def _languages(corpus: Documents) -> dict[str, int]:
    """Return language → documents; documents without a known grammar cannot be parsed."""
    known = Counter([corpus.language] * len(corpus.offsets) if corpus.language else corpus.languages.values())
    unknown = len(corpus.offsets) - sum(known.values())
    return {**dict(known.most_common()), **({"unknown": unknown} if unknown else {})}
