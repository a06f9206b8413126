"""A small JSON set: ``{"name", "queries": [{"id", "text", "relevant": [...]}]}``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.plugins import nearest
from chunkers.sources import Folder, walk
from ground_truth.lines import FileLines
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.types import Annotation, Dataset, Query

_PLACE = re.compile(r"(?P<path>.+?)(?:[:#]L?(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?)?\Z")


class _Question(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: str
    text: str
    relevant: list[str]


class _Set(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    queries: list[_Question]


@dataclass(frozen=True, kw_only=True)
class SimpleJson:
    """A small JSON set with its folder; ``relevant`` names files, or lines as ``path:10-20``."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "path= the .json file, root= the folder of the repository"

    path: str
    root: str = "."
    problems: Policy = "error"
    """Whether a place that is not in the folder stops the loading."""

    def load(self) -> Dataset:
        """Return the dataset; a file without lines is gold as a whole."""
        path = Path(self.path).expanduser()
        content = _read(path)
        places = {text: _split(path, text) for query in content.queries for text in query.relevant}
        name = Path(self.root).expanduser().resolve().name
        folder = walk(Path(self.root).expanduser(), name=name, keep={place[0] for place in places.values()})
        if empty := [query.id for query in content.queries if not query.text.strip()]:
            raise UsageError(f"{path}: query {empty[0]!r} is empty")
        skips = Skips(self.problems)
        notes: dict[tuple[str, str, int, int], Annotation] = {}
        for number, query in enumerate(content.queries, 1):
            for text in query.relevant:
                with skips.row():
                    note = _annotation(f"{path}: query {number} ({query.id!r})", folder, query.id, places[text])
                    key = (note.query_id, note.path, note.start_line, note.end_line)
                    if key in notes:
                        raise RowProblemError(f"{path}: query {number}", "duplicate place", f"{text} is there twice")
                    notes[key] = note
        return Dataset(
            name=content.name,
            repositories=(folder,),
            queries=tuple(Query("_".join(query.id.split()), query.text, name) for query in content.queries),
            annotations=tuple(notes.values()),
            details={
                "rows": skips.rows(len(notes)),
                "without_gold": [query.id for query in content.queries if not query.relevant],
                "skipped": skips.counts,
            },
        )


def _read(path: Path) -> _Set:
    try:
        content = _Set.model_validate(parse_json(read_text_input(path)))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    ids: Sequence[str] = ["_".join(query.id.split()) for query in content.queries]
    if "" in ids:
        raise UsageError(f"{path}: query {ids.index('') + 1} has an empty id: write one")
    if len(set(ids)) < len(ids):
        raise UsageError(f"{path}: two queries have the same id: make ids unique")
    return content


def _split(path: Path, text: str) -> tuple[str, int | None, int | None]:
    match = _PLACE.match(text)
    if match is None:
        raise UsageError(f"{path}: relevant has {text!r}: a path, or path:10-20, was expected")
    first = int(match["first"]) if match["first"] else None
    return match["path"], first, int(match["last"]) if match["last"] else first


def _annotation(where: str, folder: Folder, query: str, place: tuple[str, int | None, int | None]) -> Annotation:
    file, first, last = place
    source = folder.read(file)
    if source is None:
        found = f"{file!r} is not in {folder.root}.{nearest(file, folder.paths)}"
        raise RowProblemError(where, "file not in the folder", found)
    count = FileLines.of(source.data).count
    if not 1 <= (first or 1) <= (last or count) <= count:
        found = f"lines {first}-{last} are not in {file!r}, which has {count}"
        raise RowProblemError(where, "lines outside the file", found)
    return Annotation("_".join(query.split()), folder.name, file, first or 1, last or count)
