"""Vectors on disk, one per text: no text is ever embedded twice."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.tokens import cache_folder
from indexing.identity import vectors_identity
from indexing.key_index import shard_with
from indexing.mapped_arrays import mapped_array
from indexing.shards import KEY_BYTES, Shard, append_block, disk_error, read_shard, salvage, shard_paths
from indexing.types import Encoder, Vectors
from indexing.usage import Use, note_use, uses
from indexing.vector_checks import unusable

INCREMENT = 512
"""Texts embedded between two writes: the most a killed run can lose."""

LARGEST_IN_MEMORY = 256 * 2**20
"""Bytes of vectors returned in memory; larger results are memory-mapped."""

_WINDOW = 8 * INCREMENT
"""Texts held at a time, and sorted by length."""
_KEY = np.dtype(f"S{KEY_BYTES}")

Progress = Callable[[int, int], None]
"""Called with the number of texts embedded so far, and the number to embed."""


class DamagedShardWarning(UserWarning):
    """Part of the cache was unreadable, has been dropped, and is recomputed."""


@dataclass
class Statistics:
    """Requests to a cache and its hits; texts that occur twice in one call count once in ``distinct``."""

    texts: int = 0
    distinct: int = 0
    hits: int = 0
    embedded: int = 0
    seconds: float = 0.0
    """Time spent in the model only."""
    characters: int = 0
    """Of the embedded texts."""


class _Distinct(NamedTuple):
    """The distinct keys of some texts in order of first use, the first text of each, and each text's index in them."""

    keys: np.ndarray
    first: np.ndarray
    places: np.ndarray


class _Found(NamedTuple):
    """Cached rows: their index among the requested keys, tokens, and vectors (None if not requested)."""

    places: np.ndarray
    tokens: np.ndarray
    vectors: Vectors | None


class EmbeddingCache:
    """A folder of vectors that any number of processes may use at once.

    Each encoder (identified by all of its ``identity``) and kind has its own folder; within it, a text's key is its
    hash.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / "embeddings"
        self.statistics = Statistics()

    def embed(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        *,
        kind: str,
        progress: Progress | None = None,
        keys: np.ndarray | None = None,
    ) -> Vectors:
        """Return one row per text; only distinct texts that are not cached reach the encoder.

        The texts may be a lazy sequence: only a few are held at a time. Passing their `text_keys` saves reading all of
        them.
        """
        if not texts or getattr(encoder, "stored", False):
            return encoder.encode(texts, kind=kind)
        distinct = _distinct(text_keys(texts) if keys is None else keys)
        group = self.group(encoder, kind=kind)
        out, known = self._stored(group, distinct.keys)
        missing = np.flatnonzero(~known)
        before = replace(self.statistics)
        if len(missing):
            out = self._embed_missing(encoder, texts, distinct, missing, out, kind=kind, progress=progress)
        self._account(group, len(texts), len(distinct.keys), len(missing), before=before)
        # Most calls hold each text once: then nothing need be copied.
        return out if len(distinct.keys) == len(texts) else out[distinct.places]

    def token_counts(
        self, encoder: Encoder, texts: Sequence[str], *, kind: str = "document", keys: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the length of each text in the encoder's tokens."""
        distinct = _distinct(text_keys(texts) if keys is None else keys)
        counts = np.full(len(distinct.keys), -1, dtype=np.int64)
        for found in self._lookup(self.group(encoder, kind=kind), distinct.keys, vectors=False):
            counts[found.places] = found.tokens
        missing = np.flatnonzero(counts < 0)
        for start in range(0, len(missing), _WINDOW):
            rows = missing[start : start + _WINDOW]
            counts[rows] = encoder.count_tokens([texts[at] for at in distinct.first[rows].tolist()])
        lengths: np.ndarray = counts[distinct.places]
        return lengths

    def missing(self, encoder: Encoder, keys: Collection[bytes], *, kind: str) -> int:
        """Return how many of these texts, given by `text_key`, have no vector."""
        if getattr(encoder, "stored", False):
            return 0
        wanted = np.array(list(keys), dtype=_KEY)
        found = self._lookup(self.group(encoder, kind=kind), wanted, vectors=False)
        return len(keys) - sum(len(each.places) for each in found)

    def rate(self, encoder: Encoder) -> float | None:
        """Return the texts per second at which this encoder has embedded so far; None if it never did."""
        rows = [use for use in uses(self.group(encoder, kind="document")) if use.seconds]
        seconds = sum(use.seconds for use in rows)
        return sum(use.embedded for use in rows) / seconds if seconds else None

    def seconds_per_character(self, encoder: Encoder) -> float | None:
        """Return the seconds per character of the texts that this encoder has embedded; None if it never did."""
        rows = [use for use in uses(self.group(encoder, kind="document")) if use.characters]
        characters = sum(use.characters for use in rows)
        return sum(use.seconds for use in rows) / characters if characters else None

    def group(self, encoder: Encoder, *, kind: str) -> Path:
        """Return the folder of the encoder's vectors of this kind."""
        identity = vectors_identity(encoder)
        written = json.dumps({"identity": identity, "kind": kind}, sort_keys=True, ensure_ascii=False)
        name = type(encoder).__name__.lower()
        return self.folder / f"{name}-{kind}-{hashlib.sha256(written.encode()).hexdigest()[:20]}"

    def _stored(self, group: Path, keys: np.ndarray) -> tuple[Vectors, np.ndarray]:
        """Return the cached rows, in the order of the keys, and which keys these are."""
        out = np.empty((len(keys), 0), dtype=np.float32)
        known = np.zeros(len(keys), dtype=np.bool_)
        for found in self._lookup(group, keys, vectors=True):
            if found.vectors is None:
                continue
            if not out.shape[1]:
                out = self._room(len(keys), found.vectors.shape[1])
            _same_dimensions(group, found.vectors.shape[1], out.shape[1])
            out[found.places] = found.vectors
            known[found.places] = True
        return out, known

    def _room(self, rows: int, dimensions: int) -> Vectors:
        """Allocate rows: in memory or, if large, in a temporary file that lives as long as the array."""
        if rows * dimensions * 4 <= LARGEST_IN_MEMORY:
            return np.empty((rows, dimensions), dtype=np.float32)
        try:
            made: Vectors = mapped_array((rows, dimensions), np.float32, folder=self.folder)
        except OSError as error:
            raise disk_error(error, self.folder) from error
        return made

    def _lookup(self, group: Path, keys: np.ndarray, *, vectors: bool) -> Iterator[_Found]:
        """Yield the cached rows of the keys, each once: the oldest intact row, so that a value never changes."""
        order = np.argsort(keys)
        ranked = keys[order]
        open_ = np.ones(len(keys), dtype=np.bool_)
        for path in shard_paths(group) if len(keys) else ():
            shard = self._sound_shard(path, ranked)
            while shard is not None:
                broken = False
                for block in shard.blocks:
                    rows = shard.keys(block)
                    at = np.minimum(np.searchsorted(ranked, rows["key"]), len(ranked) - 1)
                    hit = np.flatnonzero((ranked[at] == rows["key"]) & open_[order[at]])
                    if not len(hit):
                        continue
                    if vectors and not shard.intact(block):
                        broken = True
                        break
                    places = order[at[hit]]
                    open_[places] = False
                    yield _Found(places, rows["tokens"][hit], shard.vectors(block)[hit] if vectors else None)
                # Rows already taken from this shard are no longer wanted, so reading it again repeats nothing.
                shard = self._repaired(path) if broken else None

    def _sound_shard(self, path: Path, keys: np.ndarray) -> Shard | None:
        """Return the shard with the blocks that may hold one of the keys."""
        shard = shard_with(path, keys)
        if shard is None or not shard.damaged:
            return shard
        return self._repaired(path)

    def _repaired(self, path: Path) -> Shard | None:
        """Return the shard without its damaged blocks; a block that another process was writing is complete now."""
        with locked(path.parent):
            shard = read_shard(path)
            if shard is None:
                return None
            if shard.damaged or not all(map(shard.intact, shard.blocks)):
                kept = salvage(path)
                warnings.warn(
                    f"{path}: part of this shard of the embedding cache was damaged, of another version or another "
                    f"encoder's, and has been dropped; "
                    f"{kept} of its vectors are kept, the others are computed again when they are needed",
                    DamagedShardWarning,
                    stacklevel=2,
                )
            return read_shard(path)

    def _embed_missing(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        distinct: _Distinct,
        missing: np.ndarray,
        out: Vectors,
        *,
        kind: str,
        progress: Progress | None,
    ) -> Vectors:
        """Encode what is missing and store it in increments; return all rows."""
        group = self.group(encoder, kind=kind)
        self._describe(group, encoder, kind)
        done = 0
        for rows, chosen in _increments(texts, distinct, missing):
            began = time.perf_counter()
            vectors = encoder.encode(chosen, kind=kind)
            self.statistics.seconds += time.perf_counter() - began
            tokens = encoder.count_tokens(chosen) if encoder.max_tokens is not None else [0] * len(rows)
            if not out.shape[1]:
                out = self._room(len(distinct.keys), vectors.shape[1])
            _same_dimensions(group, out.shape[1], vectors.shape[1])
            if wrong := unusable(vectors, zeros=getattr(encoder, "zero_rows", False)):
                raise UsageError(f"{group.name}: the model's vectors cannot be used, and are not stored: {wrong}")
            with locked(group):
                append_block(group, distinct.keys[rows].tolist(), tokens, vectors)
            out[rows] = vectors
            self.statistics.embedded += len(rows)
            self.statistics.characters += sum(map(len, chosen))
            done += len(rows)
            if progress:
                progress(done, len(missing))
        return out

    def _describe(self, group: Path, encoder: Encoder, kind: str) -> None:
        """Write a note on whose vectors the folder holds, for people and for `chunkbench cache`."""
        try:
            group.mkdir(parents=True, exist_ok=True)
            note = group / "encoder.json"
            if not note.exists():
                described: Mapping[str, Any] = {"kind": kind, "identity": vectors_identity(encoder)}
                note.write_text(json.dumps(described, indent=1, sort_keys=True) + "\n", "utf-8")
        except OSError as error:
            raise disk_error(error, self.folder) from error

    def _account(self, group: Path, texts: int, distinct: int, missing: int, *, before: Statistics) -> None:
        seconds, characters = self.statistics.seconds - before.seconds, self.statistics.characters - before.characters
        self.statistics.texts += texts
        self.statistics.distinct += distinct
        self.statistics.hits += distinct - missing
        note_use(group, Use(int(time.time()), texts, distinct, missing, round(seconds, 3), characters))


def text_key(text: str) -> bytes:
    """Return the text's key in its encoder's folder."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES]


def text_keys(texts: Iterable[str]) -> np.ndarray:
    """Return the key of each text, reading one at a time."""
    return np.fromiter(map(text_key, texts), dtype=_KEY)


def _distinct(keys: np.ndarray) -> _Distinct:
    found, first, places = np.unique(keys, return_index=True, return_inverse=True)
    # In the order of first use, so that texts are read sequentially and rows that are all distinct need no copy.
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return _Distinct(found[order], first[order], rank[places])


def _increments(
    texts: Sequence[str], distinct: _Distinct, missing: np.ndarray
) -> Iterator[tuple[list[int], list[str]]]:
    """Yield what is embedded between two writes: rows and their texts, holding one window at a time."""
    for start in range(0, len(missing), _WINDOW):
        rows = missing[start : start + _WINDOW].tolist()
        held = {row: texts[at] for row, at in zip(rows, distinct.first[rows].tolist(), strict=True)}
        # Longest first: texts of similar length fill batches well, and the slow part does not come last.
        rows.sort(key=lambda row: -len(held[row]))
        for begin in range(0, len(rows), INCREMENT):
            part = rows[begin : begin + INCREMENT]
            yield part, [held[row] for row in part]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other writers, in this process and in others."""
    from filelock import FileLock

    try:
        with FileLock(folder / ".lock"):
            yield
    except PermissionError as error:
        raise disk_error(error, folder) from error


def _same_dimensions(group: Path, stored: int, given: int) -> None:
    if stored != given:
        raise UsageError(
            f"{group}: holds vectors of {stored} dimensions, but the model now gives {given}: it has changed under "
            f"the same name. Pin its revision, or empty this part with: chunkbench cache clear --encoder {group.name}"
        )
