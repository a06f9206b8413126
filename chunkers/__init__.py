"""Splits source files into chunks."""

from typing import TYPE_CHECKING

from chunkers.lazy import exports

if TYPE_CHECKING:
    from chunkers.contract import check_chunker
    from chunkers.errors import MissingExtraError, UsageError
    from chunkers.headers import with_header
    from chunkers.plugins import Registry, Spec
    from chunkers.registry import CHUNKERS
    from chunkers.sources import Folder, Repository, walk
    from chunkers.splitting import chunk_file
    from chunkers.types import Chunk, Chunker, Piece, SizeLimit, SourceFile, Span

__all__ = [
    "CHUNKERS",
    "Chunk",
    "Chunker",
    "Folder",
    "MissingExtraError",
    "Piece",
    "Registry",
    "Repository",
    "SizeLimit",
    "SourceFile",
    "Span",
    "Spec",
    "UsageError",
    "check_chunker",
    "chunk_file",
    "walk",
    "with_header",
]

__getattr__ = exports(
    __name__,
    {
        "chunkers.contract": ("check_chunker",),
        "chunkers.errors": ("MissingExtraError", "UsageError"),
        "chunkers.headers": ("with_header",),
        "chunkers.plugins": ("Registry", "Spec"),
        "chunkers.registry": ("CHUNKERS",),
        "chunkers.sources": ("Folder", "Repository", "walk"),
        "chunkers.splitting": ("chunk_file",),
        "chunkers.types": ("Chunk", "Chunker", "Piece", "SizeLimit", "SourceFile", "Span"),
    },
)
