"""Precomputed vectors: an ``.npz`` of ``keys`` (sha256(text)[:16]) and ``vectors``."""

from __future__ import annotations

import functools
import hashlib
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from chunkers.errors import UsageError
from indexing.encoders.texts import unit_rows
from indexing.types import Vectors
from indexing.vector_checks import unreadable

# Errors raised for a broken archive, a wrong member or a corrupt header.
_BROKEN = (OSError, ValueError, LookupError, AttributeError, TypeError, EOFError, MemoryError, ArithmeticError,
           zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, SyntaxError,
           tokenize.TokenError)  # fmt: skip
_PLAIN = 2**30
_MOST_PACKED = 20
"""Vectors hardly compress: an archive with a higher ratio, and more than a GB, is a zip bomb."""


class _Table(NamedTuple):
    rows: Mapping[str, int]
    vectors: np.ndarray
    digest: str


@dataclass(frozen=True, kw_only=True)
class Precomputed:
    """Looks each text up in a file; a missing text is an error."""

    version: ClassVar[str] = "1"
    stored: ClassVar[bool] = True

    path: str
    edges: Literal["exact", "optional"] = "exact"
    """`optional`: a text may be stored without some of the whitespace at its ends, as code-chunk stores its chunks."""

    @property
    def max_tokens(self) -> int | None:
        """No known limit: the file does not say what the model saw."""
        return None

    def identity(self) -> Mapping[str, Any]:
        """Return the hash of the file, wherever it is."""
        file = self._table().digest
        return {"encoder": "precomputed", "version": self.version, "file": file, "edges": self.edges}

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return the stored row of each text, scaled to length 1."""
        table = self._table()
        found = [self._row(table, text) for text in texts]
        missing = [text for text, row in zip(texts, found, strict=True) if row < 0]
        if missing:
            raise UsageError(
                f"{self.path}: {len(missing)} of {len(texts)} {kind} texts have no vector in it (it holds "
                f"{len(table.rows)}); the first is {missing[0][:60]!r}. Add their vectors under sha256(text)[:16]"
            )
        rows = table.vectors[found]
        if wrong := unreadable(rows, zeros=False):
            raise UsageError(f"{self.path}: the vectors of {kind} texts cannot be used: {wrong}")
        return unit_rows(rows)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return 0 for each: the model's tokenizer is unknown."""
        return [0] * len(texts)

    def missing(self, texts: Sequence[str]) -> int:
        """Return how many of the texts have no vector."""
        table = self._table()
        return sum(self._row(table, text) < 0 for text in texts)

    def _row(self, table: _Table, text: str) -> int:
        for form in _without_edges(text) if self.edges == "optional" else (text,):
            if (row := table.rows.get(text_key(form), -1)) >= 0:
                return row
        return -1

    def _table(self) -> _Table:
        path = Path(self.path).expanduser()
        if not path.is_file():
            raise UsageError(f"{self.path}: no such file")
        return _read(path, path.stat().st_mtime_ns)


def _without_edges(text: str) -> Iterator[str]:
    """Yield the text, then with ever less whitespace at its end, then the same without that at its start."""
    end = len(text) - len(text.rstrip())
    for head in dict.fromkeys((text, text.lstrip())):
        for cut in range(end + 1):
            yield head[: len(head) - cut]


def text_key(text: str) -> str:
    """Return the key of a text in the file: the head of the hash of its bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


@functools.lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> _Table:  # noqa: ARG001 - the cache sees a changed file as another one
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:32]
        _check_size(path)
        with np.load(path, allow_pickle=False) as archive:
            if not {"keys", "vectors"} <= set(archive.files):
                raise UsageError(f"{path}: holds {sorted(archive.files)}; it must hold 'keys' and 'vectors'")
            keys, vectors = archive["keys"], archive["vectors"]
        names = [str(key) for key in (np.char.decode(keys) if keys.dtype.kind == "S" else keys.reshape(-1))]
    except _BROKEN as error:
        raise UsageError(f"{path}: is not an .npz of keys and vectors ({_reason(error)})") from error
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or keys.shape != vectors.shape[:1]:
        raise UsageError(f"{path}: keys {keys.shape} and vectors {vectors.shape} {vectors.dtype} do not fit")
    if wrong := unreadable(vectors, zeros=True):
        raise UsageError(f"{path}: its vectors cannot be used: {wrong}")
    rows = {key: row for row, key in enumerate(names)}
    if len(rows) < len(names):
        twice = next(key for row, key in enumerate(names) if rows[key] != row)
        raise UsageError(f"{path}: the key {twice[:40]!r} occurs twice: keep one vector per text")
    return _Table(rows, vectors, digest)


def _check_size(path: Path) -> None:
    """Raise for an archive that unpacks to far more than vectors could."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _PLAIN and size > _MOST_PACKED * path.stat().st_size:
        raise ValueError(f"it unpacks to {size:,} bytes")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
