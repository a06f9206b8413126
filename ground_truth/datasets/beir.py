"""Folders in the format of BEIR and CoIR: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from chunkers.errors import UsageError
from chunkers.languages import known_languages
from ground_truth.documents import Documents, open_documents
from ground_truth.jsonl import read_records
from ground_truth.lines import FileLines
from ground_truth.types import Annotation, Dataset, Query


class _Judgement(NamedTuple):
    query: str
    document: str
    grade: float


@dataclass(frozen=True, kw_only=True)
class Beir:
    """A BEIR or CoIR folder; a relevant document is gold as a whole, so any chunk of it answers."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= a folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv"

    path: str
    split: str = "test"
    language: str | None = None
    """The language of the documents (for CoIR), so that syntax-aware chunkers can parse them."""

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in known_languages():
            raise UsageError(f"language is {self.language!r}, which no grammar has")

    def load(self) -> Dataset:
        """Return the dataset; judgements of unknown queries or documents are counted, and so are unjudged queries."""
        folder = Path(self.path).expanduser()
        corpus = open_documents(folder / "corpus.jsonl", name=folder.name, language=self.language)
        texts = {
            _id(record.fields, record.where): record.text("text") for record in read_records(folder / "queries.jsonl")
        }
        skipped: Counter[str] = Counter()
        notes = [
            note
            for judgement in _read_qrels(folder / "qrels" / f"{self.split}.tsv")
            if (note := _note(judgement, texts, corpus, skipped))
        ]
        judged = {note.query_id for note in notes}
        if not judged:
            raise UsageError(
                f"{folder}: no judgement of split {self.split!r} names a query and a document that are there"
            )
        return Dataset(
            name=folder.name,
            repositories=(corpus,),
            queries=tuple(Query(name, text, corpus.name, group=name) for name, text in texts.items() if name in judged),
            annotations=tuple(notes),
            scope="all",
            details={
                "documents": len(corpus.offsets),
                "unjudged_queries": len(texts.keys() - judged),
                "skipped_judgements": dict(skipped),
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
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and cells[0] in ("query-id", "query_id")):
            continue
        try:
            query, document, grade = cells[0], cells[1], float(cells[2])
        except (IndexError, ValueError):
            raise UsageError(
                f"{path}:{number}: {line[:60]!r}: query, document and grade, with tabs, were expected"
            ) from None
        yield _Judgement("_".join(query.split()), document, grade)


def _note(one: _Judgement, texts: dict[str, str], corpus: Documents, skipped: Counter[str]) -> Annotation | None:
    if one.query not in texts:
        skipped["query not in queries.jsonl"] += 1
        return None
    source = corpus.read(one.document)
    if source is None:
        skipped["document not in the corpus, or empty"] += 1
        return None
    if one.grade < 0:
        skipped["negative grade"] += 1
        return None
    return Annotation(one.query, corpus.name, one.document, 1, FileLines.of(source.data).count, one.grade)
