"""From a chunker's pieces to chunks: ids, verbatim text and lines are computed here, once, for every chunker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkers.types import Chunk, Chunker, Piece, SourceFile, Span, chunk_id


def chunk_file(chunker: Chunker, source: SourceFile) -> list[Chunk]:
    """Return the file's chunks in document order, without duplicate pieces."""
    pieces = list(dict.fromkeys(chunker.split(source)))
    spans = piece_spans(source.data, pieces).tolist()
    return [_chunk(source, piece, Span(*span)) for piece, span in zip(pieces, spans, strict=True)]


def piece_spans(data: bytes, pieces: Sequence[Piece]) -> np.ndarray:
    """Return start, end, first and last line of each piece, one row per piece; raise for one outside the file.

    Lines are counted from 1 by line feeds.
    """
    edges = piece_edges(data, pieces)
    last_bytes = np.maximum(edges[:, 0], edges[:, 1] - 1)
    newlines = _newlines(data)
    return np.column_stack((edges, *(np.searchsorted(newlines, at) + 1 for at in (edges[:, 0], last_bytes))))


def piece_edges(data: bytes, pieces: Sequence[Piece]) -> np.ndarray:
    """Return start and end of each piece, one row per piece; raise for one outside the file."""
    for piece in pieces:
        if not 0 <= piece.start <= piece.end <= len(data):
            raise ValueError(f"a piece from byte {piece.start} to {piece.end} is not in a file of {len(data)} bytes")
    return np.array([piece[:2] for piece in pieces], dtype=np.int64).reshape(-1, 2)


def line_span(newlines: np.ndarray, start: int, end: int) -> Span:
    """Return the span with its lines; ``newlines`` are the offsets of the file's line feeds."""
    first, last = np.searchsorted(newlines, (start, max(start, end - 1)))
    return Span(start, end, int(first) + 1, int(last) + 1)


def _newlines(data: bytes) -> np.ndarray:
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))


def _chunk(source: SourceFile, piece: Piece, span: Span) -> Chunk:
    return Chunk(
        repo=source.repo,
        path=source.path,
        language=source.language,
        span=span,
        text=source.data[piece.start : piece.end].decode("utf-8", "surrogateescape"),
        header=piece.header,
        id=chunk_id(source, piece),
    )
