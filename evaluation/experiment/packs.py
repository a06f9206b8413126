"""Per-file records in the store: many per entry, found by the content of their file."""

from __future__ import annotations

import functools
import hashlib
import json
import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chunkers.file_facts import KEY_BYTES, file_facts
from chunkers.types import SourceFile
from evaluation.experiment.pack_use import days_used, note_use, write_days
from evaluation.experiment.store import StageKey, Store

_KEY = np.dtype(f"S{KEY_BYTES}")
_SMALL = 1_000_000
"""Entries with records up to this many bytes are always merged: opening many takes longer than reading them."""

_LARGEST = 128 * 2**20
"""Largest size in bytes of a merged entry: its records are held in memory while merging."""


class Pack(NamedTuple):
    """An entry of the store: sorted keys, and the end offset of each record."""

    folder: Path
    keys: np.ndarray
    ends: np.ndarray
    records: mmap.mmap | bytes

    @property
    def size(self) -> int:
        """Total bytes of the records."""
        return int(self.ends[-1]) if len(self.ends) else 0

    @property
    def begins(self) -> np.ndarray:
        """Start offset of each record."""
        return np.concatenate(([0], self.ends[:-1]))

    def record(self, place: int) -> bytes:
        """Return the record at an index."""
        return self.records[int(self.ends[place - 1]) if place else 0 : int(self.ends[place])]


class Packs:
    """The records of one kind, made from files in this run and in earlier ones."""

    def __init__(
        self, store: Store, kind: str, inputs: Mapping[str, Any], *, entries: Sequence[str] | None = None
    ) -> None:
        """Open the records made under ``inputs``: everything that determines a record apart from its file.

        Records made under other inputs are never found. ``entries`` names the entries to search, so that tasks of one
        job need not look for what the others have written meanwhile; by default, all that exist at the first `find`.
        """
        self._store, self._kind, self._inputs, self._names = store, kind, inputs, entries
        told = json.dumps(inputs, sort_keys=True, default=str)
        self._stage = f"{kind}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
        self._packs: list[Pack] | None = None
        self._touched: set[Path] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the location of the records; entries are reopened on load."""
        return Packs, (self._store, self._kind, self._inputs)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return key → record for the keys that have one."""
        wanted = np.array(keys, dtype=_KEY)
        found: dict[bytes, bytes] = {}
        for pack in self._open():
            if not len(pack.keys) or not len(wanted):
                continue
            at = np.minimum(np.searchsorted(pack.keys, wanted), len(pack.keys) - 1)
            hits = np.flatnonzero(pack.keys[at] == wanted)
            places = at[hits]
            edges = zip(hits.tolist(), pack.begins[places].tolist(), pack.ends[places].tolist(), strict=True)
            found.update((keys[hit], pack.records[begin:end]) for hit, begin, end in edges)
            if len(hits):
                note_use(pack.folder, len(pack.keys), places.tolist())
            if len(hits) and pack.folder not in self._touched:
                self._touched.add(pack.folder)
                self._store.touch(pack.folder)
        return found

    def holds(self, keys: Sequence[bytes]) -> np.ndarray:
        """Return for each key whether it has a record; this does not count as use."""
        wanted = np.array(keys, dtype=_KEY)
        found = np.zeros(len(wanted), dtype=bool)
        for pack in self._open():
            if len(pack.keys) and len(wanted):
                at = np.minimum(np.searchsorted(pack.keys, wanted), len(pack.keys) - 1)
                found |= pack.keys[at] == wanted
        return found

    def reopen(self) -> None:
        """Also open the entries that others have written since the last look."""
        known = {pack.folder.name for pack in self._open()}
        new = [name for name in self._store.names(self._stage) if name not in known]
        self._packs = [*self._open(), *self._store.read_all(self._stage, read_pack, new)]

    def add(self, records: Mapping[bytes, bytes]) -> None:
        """Store these records as one entry, until they are merged."""
        if not records:
            return
        pack = self._put(records, lasting=False)
        if self._packs is not None and pack is not None:
            self._packs.append(pack)

    def entries(self) -> tuple[str, ...]:
        """Return the names of the current entries."""
        return tuple(self._store.names(self._stage))

    def merge(self) -> None:
        """Merge small entries, and any entry no larger than all smaller ones together.

        A kill midway leaves some records stored twice; another run that is reading a removed entry recomputes its
        records.
        """
        packs = sorted(self._store.read_all(self._stage, read_pack), key=lambda pack: (pack.size, pack.folder))
        for group in _groups(packs):
            self.replace([(pack, range(len(pack.keys))) for pack in group])

    def replace(self, parts: Sequence[tuple[Pack, Iterable[int]]]) -> None:
        """Replace several entries by one, with the records at these indices of each; without any, by none."""
        records: dict[bytes, bytes] = {}
        days: dict[bytes, int] = {}
        for pack, places in parts:
            used = days_used(pack.folder, len(pack.keys)).tolist()
            for place in places:
                key = bytes(pack.keys[place]).ljust(_KEY.itemsize, b"\0")
                records[key] = pack.record(place)
                days[key] = max(used[place], days.get(key, used[place]))
        made = self._put(records, lasting=True) if records else None
        if made is not None:
            write_days(made.folder, np.array([days[key] for key in sorted(records)]))
        elif records:
            return  # gone again: another process removed it
        for pack, _ in parts:
            if made is None or pack.folder != made.folder:
                self._store.remove(pack.folder)
        self._packs = None

    def clear(self) -> None:
        """Remove all records."""
        self.replace([(pack, ()) for pack in self._store.read_all(self._stage, read_pack)])

    def _put(self, records: Mapping[bytes, bytes], *, lasting: bool) -> Pack | None:
        keys = sorted(records)
        names = hashlib.sha256(b"".join(keys)).hexdigest()[:32]
        key = StageKey(self._stage, {**self._inputs, "files": names})
        write = functools.partial(_write, keys=keys, records=[records[name] for name in keys])
        self._store.put(key, write, lasting=lasting)
        return self._store.get(key, read_pack)

    def _open(self) -> Iterator[Pack]:
        if self._packs is None:
            self._packs = list(self._store.read_all(self._stage, read_pack, self._names))
        return iter(self._packs)


def _groups(packs: Sequence[Pack]) -> Iterator[list[Pack]]:
    """Yield groups of entries, given by size, to merge: at least two, and no more than fit in memory together."""
    held = list(accumulate((pack.size for pack in packs), initial=0))
    joined = (n for n, pack in enumerate(packs) if pack.size <= min(max(_SMALL, held[n]), _LARGEST // 2))
    group: list[Pack] = []
    for pack in packs[: max(joined, default=-1) + 1]:
        if sum(each.size for each in group) + pack.size > _LARGEST:
            yield group
            group = []
        group.append(pack)
    if len(group) > 1:
        yield group


def file_key(source: SourceFile) -> bytes:
    """Return the key of a file in every pack: from its path, language and content."""
    return file_facts(source).key


def is_pack(folder: Path) -> bool:
    """Return whether an entry holds per-file records."""
    return (folder / "records.bin").is_file()


def _write(folder: Path, keys: Sequence[bytes], records: Sequence[bytes]) -> None:
    np.save(folder / "keys.npy", np.array(keys, dtype=_KEY), allow_pickle=False)
    np.save(folder / "ends.npy", np.cumsum([len(record) for record in records], dtype=np.int64), allow_pickle=False)
    (folder / "records.bin").write_bytes(b"".join(records))


def read_pack(folder: Path) -> Pack:
    """Read the pack of an entry; raise if it is not one."""
    keys, ends = (np.load(folder / name, allow_pickle=False) for name in ("keys.npy", "ends.npy"))
    with (folder / "records.bin").open("rb") as file:
        size = int(ends[-1]) if len(ends) else 0
        records = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    if keys.dtype != _KEY or keys.shape != ends.shape:
        raise ValueError("its keys and records do not fit together")
    return Pack(folder, keys, ends, records)
