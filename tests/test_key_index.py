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
