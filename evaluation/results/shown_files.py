"""Whole files and chunkers' cuts as tables of a results folder: files.parquet and cuts.parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evaluation.results.types import FilePlace, HiddenPart, Lines, Results, ShownFile

if TYPE_CHECKING:
    import pyarrow as pa


def whole_file_schemas() -> dict[str, dict[str, Any]]:
    """Return table → column → type."""
    import pyarrow as pa

    word, text, number = pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.int32()
    place = {"dataset": word, "repo": word, "path": word}
    parts = pa.list_(pa.struct({"start": number, "end": number}))
    return {
        "files": place | {"text": text, "hidden": parts},
        "cuts": {"chunker": word} | place | {"first_lines": pa.list_(number), "last_lines": pa.list_(number)},
    }


def file_blocks(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the columns of files.parquet."""
    keys = sorted(results.files)
    held = [results.files[key] for key in keys]
    yield {
        **{name: [getattr(key, name) for key in keys] for name in FilePlace._fields},
        "text": [file.text.encode("utf-8", "replace").decode() for file in held],
        "hidden": [[part._asdict() for part in file.hidden] for file in held],
    }


def cut_blocks(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the columns of cuts.parquet."""
    keys = sorted(results.cuts)
    yield {
        "chunker": [chunker for chunker, _ in keys],
        **{name: [getattr(key, name) for _, key in keys] for name in FilePlace._fields},
        **{
            f"{end}_lines": [[getattr(each, end) for each in results.cuts[key]] for key in keys]
            for end in Lines._fields
        },
    }


def shown_files(table: pa.Table) -> dict[FilePlace, ShownFile]:
    """Read what `file_blocks` wrote."""
    return {
        FilePlace(*(row[name] for name in FilePlace._fields)): ShownFile(
            row["text"], tuple(HiddenPart(**part) for part in row["hidden"])
        )
        for row in table.to_pylist()
    }


def shown_cuts(table: pa.Table) -> dict[tuple[str, FilePlace], tuple[Lines, ...]]:
    """Read what `cut_blocks` wrote."""
    return {
        (row["chunker"], FilePlace(*(row[name] for name in FilePlace._fields))): tuple(
            map(Lines, row["first_lines"], row["last_lines"])
        )
        for row in table.to_pylist()
    }
