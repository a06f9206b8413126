"""Maps keys to the blocks of a shard: a file of sorted keys beside the shard, so that a look-up reads few blocks.

The file covers the beginning of its shard; later blocks are scanned. It is never trusted: a block that it names is
verified like any other, and at worst a key that it misses is embedded again.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.input_files import open_input
from chunkers.sharing import share
from indexing.shards import HEADER_BYTES, KEY_BYTES, Shard, block_at, index_path, read_shard

LEAST = 65_536
"""Keys that are scanned without an index."""
_GROWTH = 4
"""The index is rebuilt when the part of the shard after it exceeds this fraction (1/n) of its keys."""
_HEADER = struct.Struct("<8sQQQI")
_MAGIC = b"CBKEY\x00\x00\x01"
_KEY = np.dtype(f"S{KEY_BYTES}")


class _Index(NamedTuple):
    """Sorted keys, and the offset of the block of each; among equal keys the oldest comes first."""

    covered: int
    """Bytes of the shard covered."""
    keys: np.ndarray
    blocks: np.ndarray


def shard_with(path: Path, keys: np.ndarray) -> Shard | None:
    """Return the shard with the blocks that may hold one of the keys; None if it has just been removed."""
    index = _read(path)
    shard = read_shard(path, start=index.covered if index else 0)
    if shard is None:
        return None
    behind = sum(block.rows for block in shard.blocks)
    known = len(index.keys) if index else 0
    if behind > max(LEAST, known // _GROWTH) and not shard.damaged:
        whole = read_shard(path) if index else shard
        if whole is not None and not whole.damaged:
            with contextlib.suppress(OSError):  # another user's cache, or a full disk: this is only slower
                _write(path, whole)
    if index is None:
        return shard
    at = np.minimum(np.searchsorted(index.keys, keys), len(index.keys) - 1)
    starts = np.unique(index.blocks[at[index.keys[at] == keys]]).tolist()
    found = [block_at(shard.data, start, len(shard.data), folder=path.parent.name) for start in starts]
    blocks = [block for block, sound in found if block is not None and sound]
    if len(blocks) < len(found):
        # One of the two files is damaged: the caller scans the shard, and its index is rebuilt.
        with contextlib.suppress(OSError):
            index_path(path).unlink(missing_ok=True)
        return Shard(path, shard.data, (), damaged=True)
    return Shard(path, shard.data, (*blocks, *shard.blocks), shard.damaged)


def _read(path: Path) -> _Index | None:
    """Return the index of a shard, or None if there is none, or if it belongs to another shard."""
    try:
        with open_input(index_path(path)) as file, open_input(path) as shard:
            head = file.read(_HEADER.size)
            size = os.fstat(file.fileno()).st_size
            magic, covered, rows, last, check = _HEADER.unpack(head)
            shard.seek(last)
            same = zlib.crc32(shard.read(HEADER_BYTES)) == check
            if magic != _MAGIC or not same or not rows or size != _HEADER.size + rows * (KEY_BYTES + 8):
                return None
            if covered > os.fstat(shard.fileno()).st_size:
                return None
            keys = np.memmap(file, dtype=_KEY, mode="r", offset=_HEADER.size, shape=(rows,))
            offset = _HEADER.size + rows * KEY_BYTES
            return _Index(covered, keys, np.memmap(file, dtype="<i8", mode="r", offset=offset, shape=(rows,)))
    except (OSError, ValueError, UsageError, struct.error):
        return None


def _write(path: Path, shard: Shard) -> None:
    """Write the index of all blocks of a shard, atomically."""
    keys = np.concatenate([shard.keys(block)["key"] for block in shard.blocks])
    starts = np.repeat([block.start for block in shard.blocks], [block.rows for block in shard.blocks])
    order = np.argsort(keys, kind="stable")
    last = shard.blocks[-1]
    check = zlib.crc32(shard.data[last.start : last.start + HEADER_BYTES])
    descriptor, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_HEADER.pack(_MAGIC, last.end, len(keys), last.start, check))
            file.write(keys[order].tobytes())
            file.write(starts[order].astype("<i8").tobytes())
        share(Path(draft))
        Path(draft).replace(index_path(path))
    finally:
        Path(draft).unlink(missing_ok=True)
