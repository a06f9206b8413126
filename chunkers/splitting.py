"""From a chunker's pieces to chunks: ids, verbatim text and lines are made here, once, for every chunker."""

from __future__ import annotations

import numpy as np

from chunkers.types import Chunk, Chunker, Piece, SourceFile, Span, chunk_id


def chunk_file(chunker: Chunker, source: SourceFile) -> list[Chunk]:
    """Return the file's chunks in document order."""
    newlines = np.flatnonzero(np.frombuffer(source.data, dtype=np.uint8) == ord("\n"))
    return [_chunk(source, piece, newlines) for piece in chunker.split(source)]


def line_span(newlines: np.ndarray, start: int, end: int) -> Span:
    """Return the span with its lines; ``newlines`` are the offsets of the file's line feeds."""
    first, last = np.searchsorted(newlines, (start, max(start, end - 1)))
    return Span(start, end, int(first) + 1, int(last) + 1)


def _chunk(source: SourceFile, piece: Piece, newlines: np.ndarray) -> Chunk:
    if not 0 <= piece.start <= piece.end <= len(source.data):
        raise ValueError(f"a piece from byte {piece.start} to {piece.end} is not in a file of {len(source.data)} bytes")
    return Chunk(
        repo=source.repo,
        path=source.path,
        language=source.language,
        span=line_span(newlines, piece.start, piece.end),
        text=source.data[piece.start : piece.end].decode("utf-8", "surrogateescape"),
        header=piece.header,
        id=chunk_id(source, piece),
    )
