"""Append-only files of vectors in blocks with checksums: a cut or damaged block is detected and costs only itself.

A block is a header (magic, rows, dimensions, checksums, and the folder it belongs to), the keys with their token
counts, then the vectors: keys can be read without touching the vectors. Blocks are written under the folder's lock and
never changed.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import re
import struct
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.input_files import open_input
from chunkers.sharing import share
from indexing.types import Vectors

MAX_SHARD_BYTES = 256 * 2**20
KEY_BYTES = 16
KEYS = np.dtype([("key", f"S{KEY_BYTES}"), ("tokens", "<i4")])

_HEADER = struct.Struct("<8sIIIIQI")
HEADER_BYTES = _HEADER.size
_MAGIC = b"CBVEC\x00\x00\x02"
_NAME = re.compile(r"(\d{6})\.shard\Z")
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Block(NamedTuple):
    """The offset of one block in its shard, and its contents."""

    start: int
    rows: int
    dimensions: int
    vectors_sum: int

    @property
    def keys_at(self) -> int:
        """The offset of its keys."""
        return self.start + _HEADER.size

    @property
    def vectors_at(self) -> int:
        """The offset of its vectors."""
        return self.keys_at + self.rows * KEYS.itemsize

    @property
    def end(self) -> int:
        """The offset after its end."""
        return self.vectors_at + self.rows * self.dimensions * 4


@dataclass(frozen=True)
class Shard:
    """One file as it was read: its complete blocks, and whether it has anything else."""

    path: Path
    data: mmap.mmap | bytes
    blocks: tuple[Block, ...]
    damaged: bool
    """Whether bytes were skipped: a damaged or foreign block, or a last one that is not (yet) complete."""

    def keys(self, block: Block) -> np.ndarray:
        """Return the block's keys and token counts."""
        return np.frombuffer(self.data, dtype=KEYS, count=block.rows, offset=block.keys_at)

    def vectors(self, block: Block) -> Vectors:
        """Return the block's vectors, not yet verified."""
        flat = np.frombuffer(self.data, dtype="<f4", count=block.rows * block.dimensions, offset=block.vectors_at)
        return flat.reshape(block.rows, block.dimensions)

    def intact(self, block: Block) -> bool:
        """Return whether the block's vectors are as they were written."""
        return zlib.crc32(memoryview(self.data)[block.vectors_at : block.end]) == block.vectors_sum


def shard_paths(folder: Path) -> list[Path]:
    """Return the folder's shards, oldest first."""
    return sorted(path for path in folder.glob("*.shard") if _NAME.match(path.name) and not path.is_dir())


def index_path(path: Path) -> Path:
    """Return the path of a shard's key index, which need not exist."""
    return path.with_suffix(".keys")


def read_shard(path: Path, *, start: int = 0) -> Shard | None:
    """Return the shard, memory-mapped, with keys verified and vectors not; None if it has just been removed.

    With ``start``, only its blocks from this offset on.
    """
    try:
        with open_input(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        return None
    blocks: list[Block] = []
    damaged = False
    while start < size:
        block, sound = block_at(data, start, size, folder=path.parent.name)
        if block is None:
            return Shard(path, data, tuple(blocks), damaged=True)
        if sound:
            blocks.append(block)
        damaged |= not sound
        start = block.end
    return Shard(path, data, tuple(blocks), damaged)


def block_at(data: mmap.mmap | bytes, start: int, size: int, *, folder: str) -> tuple[Block | None, bool]:
    """Return the block at the offset, None if its end is unknown or missing, and whether it is sound.

    Sound means that its keys are as they were written, and were written for this folder: the same text has the same key
    in every encoder's folder, so a misplaced shard would return wrong vectors.
    """
    if start < 0 or start + _HEADER.size > size:
        return None, False
    head = data[start : start + _HEADER.size]
    magic, rows, dimensions, keys_sum, vectors_sum, owner, head_sum = _HEADER.unpack(head)
    if magic != _MAGIC or head_sum != zlib.crc32(head[: _HEADER.size - 4]):
        return None, False
    block = Block(start, rows, dimensions, vectors_sum)
    if block.end > size:
        return None, False
    return block, owner == _owner(folder) and zlib.crc32(data[block.keys_at : block.vectors_at]) == keys_sum


def _owner(folder: str) -> int:
    """Return the block's mark of its folder, which is named by the encoder's identity."""
    return int.from_bytes(hashlib.sha256(folder.encode()).digest()[:8], "little")


def packed(
    keys: Sequence[bytes] | np.ndarray, tokens: Sequence[int] | np.ndarray, vectors: Vectors, *, folder: str
) -> bytes:
    """Return the bytes of a block for the folder of this name."""
    table = np.empty(len(keys), dtype=KEYS)
    table["key"], table["tokens"] = keys, tokens
    names, body = table.tobytes(), np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    head = _HEADER.pack(_MAGIC, len(keys), vectors.shape[1], zlib.crc32(names), zlib.crc32(body), _owner(folder), 0)
    head_sum = zlib.crc32(head[: _HEADER.size - 4])
    return head[: _HEADER.size - 4] + struct.pack("<I", head_sum) + names + body


def append_block(folder: Path, keys: Sequence[bytes], tokens: Sequence[int], vectors: Vectors) -> None:
    """Append a block to the newest intact shard with room; the caller holds the folder's lock.

    Afterwards either all of it is on disk, or none of it and an error is raised.
    """
    data = packed(keys, tokens, vectors, folder=folder.name)
    path = _writable(folder, len(data))
    try:
        # Unbuffered: a buffer would try again to write its rest when the file is closed.
        with path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
    except OSError as error:
        raise disk_error(error, folder) from error


def disk_error(error: OSError, folder: Path) -> UsageError:
    """Return the error message for a failed write."""
    if error.errno in _FULL:
        return UsageError(
            f"{folder}: no room for more vectors ({error.strerror}). What was stored before is kept: "
            "free some space, or set CHUNKBENCH_CACHE to another disk, and run again"
        )
    return UsageError(f"{folder}: the embedding cache cannot be written ({error.strerror})")


def _writable(folder: Path, extra: int) -> Path:
    shards = shard_paths(folder)
    if not shards:
        return folder / "000001.shard"
    newest = shards[-1]
    if newest.stat().st_size + extra <= MAX_SHARD_BYTES:
        shard = read_shard(newest)
        # Nothing behind a damaged end would ever be found.
        if shard is not None and not shard.damaged:
            return newest
    return folder / f"{int(newest.stem) + 1:06d}.shard"


def salvage(path: Path) -> int:
    """Rewrite the shard with only its sound blocks and return their number of rows; under the folder's lock."""
    shard = read_shard(path)
    if shard is None:
        return 0
    sound = [block for block in shard.blocks if shard.intact(block)]
    rows = sum(block.rows for block in sound)
    if len(sound) == len(shard.blocks) and not shard.damaged:
        return rows
    try:
        replace_shard(path, (shard.data[block.start : block.end] for block in sound))
    except OSError as error:
        raise disk_error(error, path.parent) from error
    return rows


def replace_shard(path: Path, blocks: Iterator[bytes]) -> None:
    """Replace the shard by these blocks, atomically; without any, remove it. Its key index is rebuilt."""
    index_path(path).unlink(missing_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
    try:
        with os.fdopen(descriptor, "wb") as file:
            for block in blocks:
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        if size:
            share(Path(draft))
            Path(draft).replace(path)
        else:
            path.unlink()
    finally:
        Path(draft).unlink(missing_ok=True)
