"""Near-identical files: a record of each file's lines, and the groups found from such records."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from chunkers.types import SourceFile
from ground_truth.equal_values import group_equal

MIN_LINES = 10
"""Files with fewer distinct lines are never near-identical: licences and empty packages resemble each other."""
NEAR = 0.9
_HASHES, _BANDS = 64, 16
_SPACE = re.compile(rb"\s+")
_HASH = np.dtype("<u8")


def lines_of(source: SourceFile) -> bytes:
    """Return the bands of a file's MinHash and then the hashes of its distinct lines; nothing for a blank file."""
    if not source.data.strip():
        return b""
    lines = {_SPACE.sub(b" ", line.strip()) for line in source.data.split(b"\n")} - {b""}
    digests = b"".join(hashlib.blake2b(line, digest_size=_HASH.itemsize).digest() for line in lines)
    hashes = np.unique(np.frombuffer(digests, ">u8").astype(_HASH))
    return b"".join(_bands(_least(hashes))) + hashes.tobytes()


def near_groups(records: Mapping[str, bytes]) -> list[tuple[str, ...]]:
    """Return groups of near-identical files, by their paths: proposed by banded MinHash, confirmed exactly, joined."""
    enough = (_BANDS + MIN_LINES) * _HASH.itemsize
    paths = [path for path, record in records.items() if len(record) >= enough]
    parent = list(range(len(paths)))

    def root(file: int) -> int:
        while parent[file] != file:
            file = parent[file]
        return file

    for one, other in _proposed([records[path] for path in paths]):
        ends = root(one), root(other)
        if ends[0] != ends[1] and _is_near(_lines(records[paths[one]]), _lines(records[paths[other]])):
            parent[max(ends)] = min(ends)
    groups: dict[int, list[str]] = {}
    for file, path in enumerate(paths):
        groups.setdefault(root(file), []).append(path)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]


def _proposed(records: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the first file with a band and each other file that has it too, every pair once."""
    width = _BANDS * _HASH.itemsize
    bands = np.frombuffer(b"".join([record[:width] for record in records]), _HASH)
    places, begins, counts = group_equal(bands, stable=True)
    files = places // _BANDS
    firsts = np.repeat(files[begins], counts)
    pairs = np.unique((firsts * len(records) + files)[firsts != files])
    return ((pair // len(records), pair % len(records)) for pair in pairs.tolist())


def _lines(record: bytes) -> np.ndarray:
    return np.frombuffer(record, _HASH, offset=_BANDS * _HASH.itemsize)


def _is_near(one: np.ndarray, other: np.ndarray) -> bool:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return bool(shared >= NEAR * (len(one) + len(other) - shared))


def _least(hashes: np.ndarray) -> np.ndarray:
    """Return the MinHash of a set; sets of Jaccard 0.9 share one of its bands with probability above 0.999."""
    # Odd multipliers permute 64-bit integers well enough to propose pairs; they are fixed, so runs agree.
    multipliers = (np.arange(1, _HASHES + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    with np.errstate(over="ignore"):
        mixed = hashes[:, None] * multipliers[None, :]
        least: np.ndarray = (mixed ^ (mixed >> np.uint64(29))).min(axis=0).astype(_HASH)
    return least


def _bands(least: np.ndarray) -> Iterator[bytes]:
    """Yield a hash of each band and its position, so that bands at different positions never match."""
    for place, band in enumerate(least.reshape(_BANDS, -1)):
        yield hashlib.blake2b(bytes([place]) + band.tobytes(), digest_size=_HASH.itemsize).digest()
