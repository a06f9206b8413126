"""Files of vectors: what is written is read, what is not whole is not taken for it, and no sound row is given up."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing import shards
from indexing.shards import HEADER_BYTES, append_block, block_at, disk_error, packed, read_shard, salvage, shard_paths
from indexing.types import Vectors

DIMENSIONS = 5
BLOCK = HEADER_BYTES + 3 * (16 + 4) + 3 * DIMENSIONS * 4
"""Bytes of a block of three rows."""


def keys_of(first: int, count: int = 3) -> list[bytes]:
    """Return keys of 16 bytes."""
    return [b"%016d" % number for number in range(first, first + count)]


def vectors_of(first: int, count: int = 3) -> Vectors:
    """Return rows that only these keys have."""
    return np.arange(first * DIMENSIONS, (first + count) * DIMENSIONS, dtype=np.float32).reshape(count, DIMENSIONS)


def add(folder: Path, first: int) -> None:
    """Append three rows."""
    append_block(folder, keys_of(first), [first, first + 1, first + 2], vectors_of(first))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill the folder of an encoder with one shard of three blocks."""
    made = tmp_path / "encoder-document-1"
    made.mkdir()
    for first in (0, 3, 6):
        add(made, first)
    return made


def shard_of(folder: Path) -> shards.Shard:
    """Return the only shard."""
    (path,) = shard_paths(folder)
    found = read_shard(path)
    assert found is not None
    return found


def damage(path: Path, at: int) -> None:
    """Flip a bit of a byte."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_blocks_lie_one_after_the_other(folder: Path) -> None:
    """Each says where its keys, vectors and end are, and gives back keys, tokens and vectors."""
    found = shard_of(folder)
    assert found.path.name == "000001.shard"
    assert [(block.start, block.rows, block.dimensions, block.end) for block in found.blocks] == [
        (BLOCK * number, 3, DIMENSIONS, BLOCK * (number + 1)) for number in range(3)
    ]
    for number, block in enumerate(found.blocks):
        rows = found.keys(block)
        assert rows["key"].tolist() == keys_of(3 * number)
        assert rows["tokens"].tolist() == [3 * number, 3 * number + 1, 3 * number + 2]
        assert np.array_equal(found.vectors(block), vectors_of(3 * number))
        assert found.intact(block)
    assert not found.damaged
    assert len(found.data) == 3 * BLOCK


def test_reading_may_begin_at_a_later_block(folder: Path) -> None:
    """From its offset on; behind the last there is none, and a place between two is damage."""
    (path,) = shard_paths(folder)
    for begun in range(4):
        found = read_shard(path, start=begun * BLOCK)
        assert found is not None
        assert [block.start for block in found.blocks] == [number * BLOCK for number in range(begun, 3)]
        assert not found.damaged
    inside = read_shard(path, start=BLOCK + 1)
    assert inside is not None
    assert (inside.blocks, inside.damaged) == ((), True)
    assert read_shard(folder / "000009.shard") is None


@pytest.mark.parametrize("cut", [1, 4, BLOCK - HEADER_BYTES, BLOCK - 1])
def test_a_cut_last_block_is_damage_and_the_others_stay(folder: Path, cut: int) -> None:
    """By one byte, or down to its header or less; cut between two blocks, nothing is amiss."""
    (path,) = shard_paths(folder)
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    found = shard_of(folder)
    assert (len(found.blocks), found.damaged) == (2, True)
    path.write_bytes(data[:-BLOCK])
    found = shard_of(folder)
    assert (len(found.blocks), found.damaged) == (2, False)
    path.write_bytes(b"")
    assert (shard_of(folder).blocks, shard_of(folder).damaged) == ((), False)


@pytest.mark.parametrize("at", range(HEADER_BYTES))
def test_any_flipped_bit_of_a_header_is_noticed(folder: Path, at: int) -> None:
    """Magic, counts, checksums and the owner: the end of such a block is unknown."""
    (path,) = shard_paths(folder)
    damage(path, BLOCK + at)
    found = shard_of(folder)
    assert (len(found.blocks), found.damaged) == (1, True)


def test_flipped_keys_cost_their_block_and_flipped_vectors_are_known_when_asked(folder: Path) -> None:
    """The blocks behind are found in both cases."""
    (path,) = shard_paths(folder)
    damage(path, BLOCK + HEADER_BYTES)
    found = shard_of(folder)
    assert ([block.start for block in found.blocks], found.damaged) == ([0, 2 * BLOCK], True)
    damage(path, BLOCK + HEADER_BYTES)
    for at in (BLOCK + HEADER_BYTES + 3 * 20, 2 * BLOCK - 1):
        damage(path, at)
        found = shard_of(folder)
        assert (len(found.blocks), found.damaged) == (3, False)
        assert [found.intact(block) for block in found.blocks] == [True, False, True]
        damage(path, at)


def test_a_block_is_looked_for_inside_the_file_only() -> None:
    """Not before its beginning, and not where a header does not fit; one that just fits is found, for its folder."""
    data = packed(keys_of(0), [1, 2, 3], vectors_of(0), folder="a")
    size = len(data)
    assert size == BLOCK
    for start, there in ((-1, False), (-size, False), (0, True), (1, False), (size, False), (10 * size, False)):
        block, sound = block_at(data, start, size, folder="a")
        assert (block is not None, sound) == (there, there)
    other, sound = block_at(data, 0, size, folder="b")
    assert (other is not None, sound) == (True, False)
    assert block_at(data, 0, size - 1, folder="a") == (None, False)
    empty = packed([], [], np.zeros((0, 4), np.float32), folder="a")
    block, sound = block_at(empty, 0, len(empty), folder="a")
    assert block is not None
    assert (block.rows, block.end, sound) == (0, HEADER_BYTES, True)


def test_a_shard_is_filled_to_its_last_byte(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that just fits stays in it, one that is a byte too long begins the next."""
    monkeypatch.setattr(shards, "MAX_SHARD_BYTES", 4 * BLOCK)
    add(folder, 9)
    assert [path.name for path in shard_paths(folder)] == ["000001.shard"]
    add(folder, 12)
    assert [path.name for path in shard_paths(folder)] == ["000001.shard", "000002.shard"]
    monkeypatch.setattr(shards, "MAX_SHARD_BYTES", 2 * BLOCK - 1)
    add(folder, 15)
    assert [path.stat().st_size for path in shard_paths(folder)] == [4 * BLOCK, BLOCK, BLOCK]


def test_nothing_is_written_behind_a_damaged_end(folder: Path) -> None:
    """It would not be found again: a new shard is begun, and other files are no shards."""
    (path,) = shard_paths(folder)
    path.write_bytes(path.read_bytes()[:-1])
    for name in ("7.shard", "000003.shards", "x000004.shard", "000005.keys"):
        (folder / name).write_bytes(b"")
    add(folder, 9)
    assert [path.name for path in shard_paths(folder)] == ["000001.shard", "000002.shard"]


def test_salvage_keeps_what_is_sound(folder: Path) -> None:
    """It says how many rows that is; a sound shard is not even touched, and one without a sound block goes."""
    (path,) = shard_paths(folder)
    whole, kept = path.read_bytes(), path.stat()
    assert salvage(path) == 9
    assert path.stat().st_ino == kept.st_ino
    damage(path, 2 * BLOCK - 1)
    shards.index_path(path).write_bytes(b"of the damaged one")
    assert salvage(path) == 6
    assert path.read_bytes() == whole[:BLOCK] + whole[2 * BLOCK :]
    assert [each.name for each in folder.iterdir()] == [path.name]
    path.write_bytes(whole[:-1])
    assert salvage(path) == 6
    assert path.read_bytes() == whole[: 2 * BLOCK]
    path.write_bytes(b"nothing of ours")
    assert salvage(path) == 0
    assert list(folder.iterdir()) == []
    assert salvage(path) == 0


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS])
def test_a_full_disk_and_a_forbidden_one_are_told_apart(folder: Path, code: int) -> None:
    """Both name the folder."""
    told = str(disk_error(OSError(code, "words"), folder))
    full = code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    assert told.startswith(f"{folder}: ")
    assert ("no room for more vectors (words)" in told, "cannot be written (words)" in told) == (full, not full)


def test_a_folder_that_has_gone_is_one_line(folder: Path) -> None:
    """The write fails with the folder's name."""
    shutil.rmtree(folder)
    with pytest.raises(UsageError, match="cannot be written"):
        add(folder, 0)
