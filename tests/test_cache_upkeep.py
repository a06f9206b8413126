"""Upkeep of the embedding cache: what is counted, what is freed, and what must stay."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from indexing.cache_upkeep import Freed, Group, clear, groups, prune, verify
from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.hashing import Hashing
from indexing.shards import read_shard, shard_paths
from indexing.usage import Use, note_use, uses

SMALL, LARGE = Hashing(dimensions=4), Hashing(dimensions=16)
TEXTS = [f"text {number}" for number in range(6)]


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    """Fill a cache with two encoders; the records of their use are written by hand."""
    made = EmbeddingCache(tmp_path)
    for part in (TEXTS[:4], TEXTS[4:]):
        made.embed(SMALL, part, kind="document")
    made.embed(LARGE, TEXTS[:1], kind="query")
    for encoder, kind, rows in (
        (SMALL, "document", [Use(100, 4, 4, 4, 1.0), Use(200, 9, 6, 2, 1.0), Use(150, 6, 6, 0, 0.0)]),
        (LARGE, "query", []),
    ):
        folder = made.group(encoder, kind=kind)
        (folder / "usage.jsonl").unlink()
        for use in rows:
            note_use(folder, use)
        for shard in shard_paths(folder):
            os.utime(shard, (120, 120))
    (tmp_path / "a file").write_text("")
    (tmp_path / "empty").mkdir()
    return made


def small_and_large(cache: EmbeddingCache) -> tuple[Path, Path]:
    """Return the folders of both encoders."""
    return cache.group(SMALL, kind="document"), cache.group(LARGE, kind="query")


def held(cache: EmbeddingCache) -> dict[str, Group]:
    """Return what the cache holds, by kind."""
    return {group.kind: group for group in groups(cache.folder)}


def test_each_part_says_what_it_holds_and_how_it_was_used(cache: EmbeddingCache) -> None:
    """Hits are the distinct texts that were not embedded; a part without a record has no rate."""
    found = groups(cache.folder)
    assert [group.name for group in found] == sorted(path.name for path in small_and_large(cache))
    small, large = held(cache)["document"], held(cache)["query"]
    size = shard_paths(small_and_large(cache)[0])[0].stat().st_size
    assert (small.vectors, small.dimensions, small.shards, small.bytes) == (6, 4, 1, size)
    assert (small.asked, small.hits, small.hit_rate, small.last_used) == (16, 10, 10 / 16, 200)
    assert small.encoder == SMALL.identity()
    assert (large.vectors, large.dimensions, large.shards) == (1, 16, 1)
    assert (large.asked, large.hits, large.hit_rate, large.last_used) == (0, 0, None, 120)


@pytest.mark.parametrize("note", [b"", b"{", b"[1]", b"7", b"\xff", b'{"kind": 3}'])
def test_a_note_that_cannot_be_read_hides_no_vectors(cache: EmbeddingCache, note: bytes) -> None:
    """It is for people alone."""
    small, _ = small_and_large(cache)
    (small / "encoder.json").write_bytes(note)
    found = {group.name: group for group in groups(cache.folder)}[small.name]
    assert (found.vectors, found.encoder, found.kind) == (6, {}, "3" if b"3" in note else "")


def test_a_shard_without_a_sound_block_has_no_dimensions(cache: EmbeddingCache) -> None:
    """It still takes its bytes."""
    small, _ = small_and_large(cache)
    shard_paths(small)[0].write_bytes(b"nothing")
    found = {group.name: group for group in groups(cache.folder)}[small.name]
    assert (found.vectors, found.dimensions, found.shards, found.bytes) == (0, 0, 1, 7)


def test_only_a_repair_changes_what_is_damaged(cache: EmbeddingCache) -> None:
    """Both say what is sound in every shard; afterwards all is sound."""
    small, large = small_and_large(cache)
    (path,) = shard_paths(small)
    whole = path.read_bytes()
    broken = whole[:-1] + bytes([whole[-1] ^ 1])
    path.write_bytes(broken)
    for repair in (False, True):
        found = {check.shard: (check.vectors, check.damaged) for check in verify(cache.folder, repair=repair)}
        assert found == {f"{small.name}/000001.shard": (4, True), f"{large.name}/000001.shard": (1, False)}
        assert (path.read_bytes() == broken) == (not repair)
    assert [check.damaged for check in verify(cache.folder, repair=True)] == [False, False]
    path.write_bytes(path.read_bytes() + b"more")
    assert sorted(check.damaged for check in verify(cache.folder, repair=False)) == [False, True]


@pytest.mark.parametrize(("since", "left"), [(200, 6), (201, 0)])
def test_a_part_is_unused_when_its_last_use_is_before(cache: EmbeddingCache, since: int, left: int) -> None:
    """Used at that second it stays; of a part that goes, the lock alone is left, for who waits for it."""
    small, large = small_and_large(cache)
    note_use(large, Use(10**9, 1, 1, 0, 0.0))
    before = held(cache)["document"]
    freed = prune(cache.folder, unused_since=since)
    assert freed == (Freed(vectors=0, bytes=0) if left else Freed(vectors=6, bytes=before.bytes))
    assert [group.vectors for group in groups(cache.folder) if group.kind == "document"] == ([left] if left else [])
    assert left or [path.name for path in small.iterdir()] == [".lock"]
    assert held(cache)["query"].vectors == 1


@pytest.mark.parametrize(("written", "left"), [(300, 7), (299, 0)])
def test_vectors_of_a_call_that_was_killed_or_is_under_way_are_in_use(
    cache: EmbeddingCache, written: int, left: int
) -> None:
    """A call is recorded when it ends: until then, the time its vectors were written counts, not an earlier call."""
    for folder in small_and_large(cache):
        for shard in shard_paths(folder):
            os.utime(shard, (written, written))
    assert prune(cache.folder, unused_since=300).vectors == 7 - left
    assert sum(group.vectors for group in groups(cache.folder)) == left


def test_rows_that_are_stored_twice_are_kept_once(cache: EmbeddingCache) -> None:
    """The older one, in later blocks and shards too; what is not repeated stays as it is."""
    small, large = small_and_large(cache)
    (path,) = shard_paths(small)
    once = path.read_bytes()
    expected = cache.embed(SMALL, TEXTS, kind="document")
    first = read_shard(path)
    assert first is not None
    path.write_bytes(once + once[: first.blocks[0].end])
    (small / "000002.shard").write_bytes(once[first.blocks[1].start :])
    untouched = shard_paths(large)[0].stat()
    freed = prune(cache.folder, unused_since=0)
    assert freed == Freed(vectors=6, bytes=len(once))
    assert [each.name for each in shard_paths(small)] == ["000001.shard"]
    assert path.read_bytes() == once
    assert shard_paths(large)[0].stat().st_ino == untouched.st_ino
    again = EmbeddingCache(cache.folder)
    assert (again.embed(SMALL, TEXTS, kind="document") == expected).all()
    assert again.statistics.embedded == 0


def test_a_block_of_old_and_new_rows_keeps_the_new_ones(cache: EmbeddingCache, tmp_path: Path) -> None:
    """Their tokens and vectors too."""
    other = EmbeddingCache(tmp_path / "other")
    mixed = [TEXTS[0], "new one", TEXTS[5], "new two"]
    expected = other.embed(SMALL, mixed, kind="document")
    small, _ = small_and_large(cache)
    (small / "000002.shard").write_bytes(shard_paths(other.group(SMALL, kind="document"))[0].read_bytes())
    assert prune(cache.folder, unused_since=0).vectors == 2
    assert held(cache)["document"].vectors == 8
    again = EmbeddingCache(cache.folder)
    assert (again.embed(SMALL, mixed, kind="document") == expected).all()
    assert again.statistics.embedded == 0


def test_one_part_or_all_are_cleared(cache: EmbeddingCache) -> None:
    """What was freed is counted; a part that is not there is named, with what is there or with the nearest."""
    small, large = small_and_large(cache)
    sizes = {group.name: group.bytes for group in groups(cache.folder)}
    with pytest.raises(UsageError, match=f"Did you mean '{small.name}'"):
        clear(cache.folder, encoder=small.name[:-1])
    with pytest.raises(UsageError, match=f"There are: {', '.join(sorted(sizes))}"):
        clear(cache.folder, encoder="?")
    assert clear(cache.folder, encoder=large.name) == Freed(vectors=1, bytes=sizes[large.name])
    assert [group.name for group in groups(cache.folder)] == [small.name]
    assert clear(cache.folder, encoder=None) == Freed(vectors=6, bytes=sizes[small.name])
    assert clear(cache.folder, encoder=None) == Freed(vectors=0, bytes=0)
    with pytest.raises(UsageError, match="There are: none"):
        clear(cache.folder, encoder=large.name)


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ({}, Use(0, 0, 0, 0, 0.0, 0)),
        ({"at": 5, "texts": 4, "distinct": 3, "embedded": 2, "seconds": 0.5, "characters": 1}, Use(5, 4, 3, 2, 0.5, 1)),
        ({"at": 2**53 - 1}, Use(2**53 - 1, 0, 0, 0, 0.0)),
        ({"at": 2**53}, None),
        ({"embedded": -1}, None),
        ({"seconds": -1e-9}, None),
        ({"texts": True}, None),
        ({"texts": "7"}, None),
        ({"seconds": float("nan")}, None),
        ({"seconds": float("inf")}, None),
    ],
)
def test_lines_of_use_are_read_or_passed_over(tmp_path: Path, row: dict[str, object], read: Use | None) -> None:
    """Numbers from 0 on; what is missing is 0."""
    (tmp_path / "usage.jsonl").write_text(json.dumps(row) + "\n")
    assert list(uses(tmp_path)) == [use for use in [read] if use]
    note_use(tmp_path, Use(1, 2, 3, 4, 5.0, 6))
    assert list(uses(tmp_path))[-1] == Use(1, 2, 3, 4, 5.0, 6)


def test_clearing_leaves_what_the_cache_did_not_write(cache: EmbeddingCache, tmp_path: Path) -> None:
    """Files and folders of the user beside the vectors stay, and so do vectors behind a link."""
    small, large = small_and_large(cache)
    (small / "notes.txt").write_text("mine")
    (small / "000009.shard").mkdir()
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    large.rename(elsewhere)
    large.symlink_to(elsewhere)
    clear(tmp_path, encoder=None)
    assert {path.name for path in small.iterdir()} - {".lock"} == {"notes.txt", "000009.shard"}
    assert shard_paths(elsewhere)
