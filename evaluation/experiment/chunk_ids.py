"""The ids of a file's chunks as a record: ids hash the text, which is not read again while the record is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from chunkers.types import Piece, SourceFile, chunk_id
from evaluation.experiment.file_chunks import read_records

_DIGITS = 20


def ids_name(repo: str, file: bytes, cut: bytes) -> bytes:
    """Return the name of a file's chunk ids: its repository, its own name, and the record of its cuts."""
    about = repo.encode("utf-8", "surrogateescape") + b"\0" + file + cut
    return hashlib.sha256(about).digest()[: len(file)]


def ids_record(source: SourceFile, cut: bytes) -> bytes:
    """Return the ids of the chunks that a record of cuts describes."""
    chunks = read_records([cut])
    edges = chunks.rows[:, :2].tolist()
    pieces = (Piece(start, end, header) for (start, end), header in zip(edges, chunks.headers, strict=True))
    return bytes.fromhex("".join([chunk_id(source, piece) for piece in pieces]))


def read_ids(records: Sequence[bytes]) -> list[str]:
    """Return the ids of all records, one after the other."""
    digits = b"".join(records).hex()
    return [digits[start : start + _DIGITS] for start in range(0, len(digits), _DIGITS)]
