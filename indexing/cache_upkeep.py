"""Maintenance of the embedding cache: contents, integrity, pruning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.plugins import nearest
from indexing.embedding_cache import locked
from indexing.shards import Shard, disk_error, packed, read_shard, replace_shard, salvage, shard_paths
from indexing.usage import uses

_OURS = re.compile(r"\d{6}\.(?:shard|keys)\Z|tmp[a-z0-9_]{8}\.draft\Z|encoder\.json\Z|usage\.jsonl\Z")
"""Names of the files that a folder of vectors has."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The vectors of one encoder and kind, and how they have been used."""

    name: str
    encoder: dict[str, Any]
    kind: str
    vectors: int
    dimensions: int
    shards: int
    bytes: int
    asked: int
    """Distinct texts over all calls."""
    hits: int
    last_used: int
    """Seconds since 1970: the last recorded call, or the last time vectors were added."""

    @property
    def hit_rate(self) -> float | None:
        """The share of distinct texts that were already cached; None if none were requested."""
        return self.hits / self.asked if self.asked else None


@dataclass(frozen=True, kw_only=True)
class Freed:
    """What maintenance has removed."""

    vectors: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Check:
    """The findings for one shard."""

    shard: str
    vectors: int
    """Intact ones."""
    damaged: bool


def groups(folder: Path) -> list[Group]:
    """Return the contents of the cache, sorted by name."""
    return [_group(path) for path in _group_folders(folder)]


def verify(folder: Path, *, repair: bool) -> list[Check]:
    """Read every byte of every shard and return what is intact; with repair, drop the rest."""
    found = []
    for group in _group_folders(folder):
        with locked(group):
            for path in shard_paths(group):
                shard = read_shard(path)
                if shard is None:
                    continue
                sound = [block for block in shard.blocks if shard.intact(block)]
                damaged = shard.damaged or len(sound) < len(shard.blocks)
                found.append(
                    Check(
                        shard=f"{group.name}/{path.name}",
                        vectors=sum(block.rows for block in sound),
                        damaged=damaged,
                    )
                )
                if damaged and repair:
                    salvage(path)
    return found


def prune(folder: Path, *, unused_since: int) -> Freed:
    """Drop encoders unused since then, and duplicate rows of the others."""
    vectors = size = 0
    for group in _group_folders(folder):
        before = _group(group)
        with locked(group):
            if before.last_used < unused_since:
                _empty(group)
            else:
                _drop_repeats(group)
        after = _group(group)
        vectors += before.vectors - after.vectors
        size += before.bytes - after.bytes
    return Freed(vectors=vectors, bytes=size)


def clear(folder: Path, *, encoder: str | None) -> Freed:
    """Drop the vectors in one encoder's folder, or all."""
    chosen = _group_folders(folder)
    if encoder is not None:
        names = [path.name for path in chosen]
        if encoder not in names:
            hint = nearest(encoder, names) or f" There are: {', '.join(names) or 'none'}."
            raise UsageError(f"the cache {folder} has no part {encoder!r}.{hint}")
        chosen = [folder / encoder]
    vectors = size = 0
    for group in chosen:
        before = _group(group)
        with locked(group):
            _empty(group)
        vectors += before.vectors
        size += before.bytes
    return Freed(vectors=vectors, bytes=size)


def _group_folders(folder: Path) -> list[Path]:
    """Return the folders of vectors; what a link leads to is not part of the cache."""
    found = (path for path in folder.glob("*") if path.is_dir() and not path.is_symlink())
    return sorted(path for path in found if shard_paths(path))


def _group(path: Path) -> Group:
    note = _note(path / "encoder.json")
    shards = [shard for file in shard_paths(path) if (shard := read_shard(file)) is not None]
    blocks = [block for shard in shards for block in shard.blocks]
    used = list(uses(path))
    asked = sum(use.distinct for use in used)
    return Group(
        name=path.name,
        encoder=note.get("identity", {}),
        kind=str(note.get("kind", "")),
        vectors=sum(block.rows for block in blocks),
        dimensions=blocks[0].dimensions if blocks else 0,
        shards=len(shards),
        bytes=sum(len(shard.data) for shard in shards),
        asked=asked,
        hits=asked - sum(use.embedded for use in used),
        # A call is recorded when it ends: vectors of one that was killed, or is under way, are known by their file.
        last_used=max([use.at for use in used] + [_written(shard.path) for shard in shards], default=0),
    )


def _written(path: Path) -> int:
    """Return when a file was last written to; 0 if another process has just removed it."""
    try:
        return int(path.stat().st_mtime)
    except OSError:
        return 0


def _note(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_text_input(path))
    except (UsageError, OSError, ValueError, RecursionError):
        return {}  # vectors are found by the folder's name; the note is for people
    return found if isinstance(found, dict) else {}


def _empty(group: Path) -> None:
    """Remove what the cache has written, but not the lock, which another process may be waiting for."""
    for path in group.glob("*"):
        if _OURS.match(path.name) and (path.is_symlink() or not path.is_dir()):
            path.unlink(missing_ok=True)


def _drop_repeats(group: Path) -> None:
    """Rewrite the shards that contain a key of an earlier block."""
    known: set[bytes] = set()
    for path in shard_paths(group):
        salvage(path)
        shard = read_shard(path)
        if shard is None:
            continue
        keep = [_new(shard.keys(block)["key"].tolist(), known) for block in shard.blocks]
        if all(mask.all() for mask in keep):
            continue
        try:
            replace_shard(path, _kept(shard, keep))
        except OSError as error:
            raise disk_error(error, group) from error


def _new(keys: list[bytes], known: set[bytes]) -> np.ndarray:
    mask = np.zeros(len(keys), dtype=np.bool_)
    for row, key in enumerate(keys):
        mask[row] = key not in known
        known.add(key)
    return mask


def _kept(shard: Shard, keep: list[np.ndarray]) -> Iterator[bytes]:
    for block, mask in zip(shard.blocks, keep, strict=True):
        if mask.any():
            rows = shard.keys(block)[mask]
            yield packed(rows["key"], rows["tokens"], shard.vectors(block)[mask], folder=shard.path.parent.name)
