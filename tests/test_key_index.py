"""The sorted keys beside a shard: every look-up says what a pass over all keys says, whatever became of either file."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from indexing import key_index, shards
from indexing.embedding_cache import EmbeddingCache, text_keys
from indexing.encoders.hashing import Hashing

TEXTS = [f"def number{number}(): return {number % 97}" for number in range(3_000)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddingCache:
    """Return a cache of several shards whose keys are put in order early."""
    monkeypatch.setattr(key_index, "LEAST", 100)
    monkeypatch.setattr(shards, "MAX_SHARD_BYTES", 1_500_000)
    made = EmbeddingCache(tmp_path)
    made.embed(Hashing(), TEXTS[:2_000], kind="document")
    return made


def indexes(cache: EmbeddingCache) -> list[Path]:
    """Return the files of sorted keys."""
    return sorted(cache.folder.glob("*/*.keys"))


def missing(cache: EmbeddingCache, texts: list[str]) -> int:
    """Return how many texts a cache of another process has no vector for."""
    return EmbeddingCache(cache.folder).missing(Hashing(), text_keys(texts).tolist(), kind="document")


def test_look_ups_say_the_same_with_and_without_sorted_keys(cache: EmbeddingCache) -> None:
    """Keys that are there, keys that are not, keys behind what is covered; and the vectors of all of them."""
    fresh = Hashing().encode(TEXTS, kind="document")
    assert missing(cache, TEXTS[1_500:2_500]) == 500
    made = indexes(cache)
    assert len(made) > 1
    assert missing(cache, TEXTS[1_500:2_500]) == 500
    cache.embed(Hashing(), TEXTS[2_000:2_100], kind="document")
    assert missing(cache, TEXTS[1_500:2_500]) == 400
    assert np.array_equal(EmbeddingCache(cache.folder).embed(Hashing(), TEXTS, kind="document"), fresh)
    assert missing(cache, TEXTS) == 0
    for file in indexes(cache):
        file.unlink()
    assert np.array_equal(EmbeddingCache(cache.folder).embed(Hashing(), TEXTS, kind="document"), fresh)


def test_few_blocks_are_read_for_few_keys(cache: EmbeddingCache) -> None:
    """Of a shard whose keys are in order, the blocks of the keys alone."""
    missing(cache, TEXTS[:10])
    (path, *_) = sorted(cache.folder.glob("*/*.shard"))
    whole = shards.read_shard(path)
    assert whole is not None
    assert len(whole.blocks) > 1
    wanted = np.sort(whole.keys(whole.blocks[1])["key"][:5])
    found = key_index.shard_with(path, wanted)
    assert found is not None
    assert found.blocks == (whole.blocks[1],)
    none = key_index.shard_with(path, np.array([b"no such key" + b"." * 5]))
    assert none is not None
    assert none.blocks == ()


def test_sorted_keys_that_lie_are_not_believed(cache: EmbeddingCache) -> None:
    """Cut, overwritten, or those of another shard: vectors stay right, and nothing raises."""
    fresh = Hashing().encode(TEXTS[:2_000], kind="document")
    missing(cache, TEXTS[:10])
    one, other, *_ = indexes(cache)
    for damage in (b"", one.read_bytes()[:50], one.read_bytes()[:-8] + b"\xff" * 8, other.read_bytes(), b"\0" * 4_000):
        one.write_bytes(damage)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.array_equal(EmbeddingCache(cache.folder).embed(Hashing(), TEXTS[:2_000], kind="document"), fresh)


def test_a_damaged_block_is_found_and_computed_again(cache: EmbeddingCache) -> None:
    """Also where sorted keys name it: the shard is repaired, its sorted keys go, and the vectors are as before."""
    fresh = Hashing().encode(TEXTS[:2_000], kind="document")
    missing(cache, TEXTS[:10])
    (path, *_) = sorted(cache.folder.glob("*/*.shard"))
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(bytes(data))
    with pytest.warns(UserWarning, match="was damaged"):
        assert np.array_equal(EmbeddingCache(cache.folder).embed(Hashing(), TEXTS[:2_000], kind="document"), fresh)
    assert missing(cache, TEXTS[:2_000]) == 0


def block(folder: Path, keys: list[bytes], fill: float) -> None:
    """Append rows of these keys."""
    shards.append_block(folder, keys, [7] * len(keys), np.full((len(keys), 2), fill, dtype=np.float32))


def numbered(*numbers: int) -> list[bytes]:
    """Return keys of 16 bytes."""
    return [b"%016d" % number for number in numbers]


def looked_up(folder: Path, *numbers: int) -> list[int]:
    """Return where the blocks begin that may hold these keys."""
    (path,) = shards.shard_paths(folder)
    found = key_index.shard_with(path, np.array(numbered(*numbers)))
    assert found is not None
    assert not found.damaged
    return [each.start for each in found.blocks]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a shard whose keys are put in order from the eleventh on."""
    monkeypatch.setattr(key_index, "LEAST", 10)
    made = tmp_path / "encoder"
    made.mkdir()
    return made


def test_keys_are_put_in_order_when_there_are_enough(folder: Path) -> None:
    """One more than can be looked through; then again when those behind are one more than a quarter of them."""
    index = folder / "000001.keys"
    block(folder, numbered(*range(10)), 0.0)
    looked_up(folder, 1)
    assert not index.exists()
    block(folder, numbered(*range(10, 100)), 1.0)
    looked_up(folder, 1)
    covered = index.stat().st_size
    block(folder, numbered(*range(100, 125)), 2.0)
    looked_up(folder, 1)
    assert index.stat().st_size == covered
    block(folder, numbered(125), 3.0)
    looked_up(folder, 1)
    assert index.stat().st_size == covered + 26 * (16 + 8)
    assert [each.name for each in sorted(folder.iterdir())] == ["000001.keys", "000001.shard"]


def test_the_blocks_of_the_keys_and_those_behind_are_read(folder: Path) -> None:
    """Of a key that two blocks hold, the older; of keys at the ends of the order their own, and beyond them none."""
    block(folder, numbered(*range(10, 20)), 0.0)
    block(folder, numbered(*range(15, 30)), 1.0)
    looked_up(folder, 10)
    first, second = 0, shards.HEADER_BYTES + 10 * (16 + 4 + 8)
    assert looked_up(folder, 10) == looked_up(folder, 16, 10) == [first]
    assert looked_up(folder, 29) == [second]
    assert looked_up(folder, 9, 30, 99) == looked_up(folder) == []
    assert looked_up(folder, 12, 25) == [first, second]
    block(folder, numbered(40), 2.0)
    third = second + shards.HEADER_BYTES + 15 * (16 + 4 + 8)
    assert looked_up(folder, 12) == [first, third]
    assert looked_up(folder, 41) == [third]


@pytest.mark.parametrize("at", [0, 8, 16, 24, 32, -1])
def test_an_index_of_another_shard_is_no_index(folder: Path, at: int) -> None:
    """Whichever number of its head is wrong, or where it is cut or longer: the shard itself is looked through."""
    block(folder, numbered(*range(20)), 0.0)
    looked_up(folder, 1)
    index = folder / "000001.keys"
    data = bytearray(index.read_bytes())
    if at >= 0:
        data[at] ^= 1
        if at == 8:  # what is covered: too little is caught by the head of the last block
            data[8:16] = (10**6).to_bytes(8, "little")
    else:
        data += b"\0"
    index.write_bytes(data)
    assert looked_up(folder, 99) == [0]


def test_a_cut_shard_is_not_covered_by_its_index(folder: Path) -> None:
    """One byte less than the index says: the shard is damaged, and said to be."""
    block(folder, numbered(*range(20)), 0.0)
    block(folder, numbered(*range(20, 40)), 0.0)
    looked_up(folder, 1)
    (path,) = shards.shard_paths(folder)
    path.write_bytes(path.read_bytes()[:-1])
    found = key_index.shard_with(path, np.array(numbered(1)))
    assert found is not None
    assert (found.damaged, [each.start for each in found.blocks]) == (True, [0])
    path.unlink()
    assert key_index.shard_with(path, np.array(numbered(1))) is None


def test_a_place_that_holds_no_block_drops_the_index(folder: Path) -> None:
    """The shard is said to be damaged, so that it is looked through and put in order anew."""
    block(folder, numbered(*range(20)), 0.0)
    looked_up(folder, 1)
    index = folder / "000001.keys"
    data = bytearray(index.read_bytes())
    data[-20 * 8 :] = (5).to_bytes(8, "little") * 20
    index.write_bytes(data)
    (path,) = shards.shard_paths(folder)
    found = key_index.shard_with(path, np.array(numbered(1)))
    assert found is not None
    assert (found.damaged, found.blocks, index.exists()) == (True, (), False)


def test_an_index_of_nothing_is_no_index(folder: Path) -> None:
    """A head that names no keys is not followed."""
    block(folder, numbered(*range(20)), 0.0)
    looked_up(folder, 1)
    index = folder / "000001.keys"
    head = bytearray(index.read_bytes()[:36])
    head[16:24] = bytes(8)
    index.write_bytes(head)
    assert looked_up(folder, 99) == [0]


def test_the_keys_of_a_damaged_shard_are_not_put_in_order(folder: Path) -> None:
    """Neither where the damage is seen at once, nor where it lies before what an index covers."""
    block(folder, numbered(*range(20)), 0.0)
    looked_up(folder, 1)
    (path,) = shards.shard_paths(folder)
    index = folder / "000001.keys"
    kept = index.read_bytes()
    data = bytearray(path.read_bytes())
    data[shards.HEADER_BYTES] ^= 1
    more = shards.packed(numbered(*range(50, 80)), [0] * 30, np.zeros((30, 2), np.float32), folder=folder.name)
    path.write_bytes(data + more)
    found = key_index.shard_with(path, np.array(numbered(60)))
    assert found is not None
    assert ([each.start for each in found.blocks], index.read_bytes()) == ([len(data)], kept)
    index.unlink()
    found = key_index.shard_with(path, np.array(numbered(60)))
    assert found is not None
    assert (found.damaged, index.exists()) == (True, False)


def test_an_index_with_an_impossible_offset_is_not_used(cache: EmbeddingCache) -> None:
    """Flipped bits in its head cost the index, not the run."""
    assert missing(cache, TEXTS[:2_000]) == 0
    assert indexes(cache)
    for path in indexes(cache):
        data = bytearray(path.read_bytes())
        data[24:32] = b"\xff" * 8
        path.write_bytes(data)
    assert missing(cache, TEXTS[:2_000]) == 0
