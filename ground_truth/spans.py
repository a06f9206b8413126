"""Annotations resolved to bytes of the files they name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.types import SourceFile
from ground_truth.hidden import HiddenText, blanked
from ground_truth.lines import FileLines
from ground_truth.types import Annotation, Dataset, GoldSpan


class FileKey(NamedTuple):
    """A file of a corpus."""

    repo: str
    path: str


def corpus_lines(dataset: Dataset) -> dict[FileKey, FileLines]:
    """Return the lines of every file, reading one file at a time; a fully hidden line counts as blank."""
    hidden = HiddenText(dataset.hidden)
    return {
        FileKey(repository.name, source.path): visible_lines(hidden, source)
        for repository in dataset.repositories
        for source in repository.files()
    }


def annotated_lines(dataset: Dataset, *, hidden: HiddenText | None = None) -> dict[FileKey, FileLines]:
    """Return the lines of the annotated files only; a fully hidden line counts as blank.

    ``hidden`` is what the dataset hides, if the caller already has it by file.
    """
    hidden = HiddenText(dataset.hidden) if hidden is None else hidden
    repositories = {repository.name: repository for repository in dataset.repositories}
    found: dict[FileKey, FileLines] = {}
    for repo, path in sorted({(note.repo, note.path) for note in dataset.annotations}):
        source = repositories[repo].read(path) if repo in repositories else None
        if source is not None:
            found[FileKey(repo, path)] = visible_lines(hidden, source)
    return found


def visible_lines(hidden: HiddenText, source: SourceFile) -> FileLines:
    """Return the lines of a file; a fully hidden line counts as blank."""
    return FileLines.of(blanked(source.data, hidden.ranges(source.repo, source.path)))


def gold_spans(annotations: Iterable[Annotation], files: Mapping[FileKey, FileLines]) -> dict[str, list[GoldSpan]]:
    """Return query id → its gold as half-open bytes, in annotation order."""
    found: dict[str, list[GoldSpan]] = {}
    for note in annotations:
        lines = files.get(FileKey(note.repo, note.path))
        check_lines(note, lines)
        assert lines is not None  # noqa: S101 - `check_lines` has raised
        start, end = lines.to_bytes(note.start_line, note.end_line)
        found.setdefault(note.query_id, []).append(GoldSpan(note.repo, note.path, start, end, note.grade))
    return found


def check_lines(note: Annotation, lines: FileLines | None) -> None:
    """Raise unless the annotation's lines are in its file."""
    where = f"query {note.query_id!r}: {note.repo + ':' if note.repo else ''}{note.path}"
    if lines is None:
        raise UsageError(f"{where} is not in the corpus: correct the path, or keep the file in the corpus")
    if not 1 <= note.start_line <= note.end_line <= lines.count:
        raise UsageError(
            f"{where} has {lines.count} lines; lines {note.start_line}-{note.end_line} are not in it: correct the lines"
        )
