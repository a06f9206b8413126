"""Records of single files in the store: many to an entry, found by the content of their file."""

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
"""Bytes of records up to which entries are always made one: opening many takes longer than reading them."""

_LARGEST = 128 * 2**20
"""Bytes of records that are made one entry at a time: they are held in memory meanwhile."""


class Pack(NamedTuple):
    """An entry of the store: sorted keys, and where the record of each ends."""

    folder: Path
    keys: np.ndarray
    ends: np.ndarray
    records: mmap.mmap | bytes

    @property
    def size(self) -> int:
        """Bytes of all records."""
        return int(self.ends[-1]) if len(self.ends) else 0

    @property
    def begins(self) -> np.ndarray:
        """Where each record begins."""
        return np.concatenate(([0], self.ends[:-1]))

    def record(self, place: int) -> bytes:
        """Return the record at a place."""
        return self.records[int(self.ends[place - 1]) if place else 0 : int(self.ends[place])]


class Packs:
    """The records that one kind of work has made of files, in this run and in earlier ones."""

    def __init__(
        self, store: Store, kind: str, inputs: Mapping[str, Any], *, entries: Sequence[str] | None = None
    ) -> None:
        """Take what decides a record beside its file as ``inputs``; records under other inputs are never found.

        ``entries`` names those that are looked into, so that parts of one work need not ask what the others have
        written meanwhile; by default, all that are there at the first `find`.
        """
        self._store, self._kind, self._inputs, self._names = store, kind, inputs, entries
        told = json.dumps(inputs, sort_keys=True, default=str)
        self._stage = f"{kind}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
        self._packs: list[Pack] | None = None
        self._touched: set[Path] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle where the records are; they are looked for anew."""
        return Packs, (self._store, self._kind, self._inputs)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return key → record of those that are there."""
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
        """Return for each key whether there is a record; none of them counts as used."""
        wanted = np.array(keys, dtype=_KEY)
        found = np.zeros(len(wanted), dtype=bool)
        for pack in self._open():
            if len(pack.keys) and len(wanted):
                at = np.minimum(np.searchsorted(pack.keys, wanted), len(pack.keys) - 1)
                found |= pack.keys[at] == wanted
        return found

    def reopen(self) -> None:
        """Look into the entries, too, that others have written since the last look."""
        known = {pack.folder.name for pack in self._open()}
        new = [name for name in self._store.names(self._stage) if name not in known]
        self._packs = [*self._open(), *self._store.read_all(self._stage, read_pack, new)]

    def add(self, records: Mapping[bytes, bytes]) -> None:
        """Keep these records as one entry, until they are merged."""
        if not records:
            return
        pack = self._put(records, lasting=False)
        if self._packs is not None and pack is not None:
            self._packs.append(pack)

    def entries(self) -> tuple[str, ...]:
        """Return the names of the entries that are there now."""
        return tuple(self._store.names(self._stage))

    def merge(self) -> None:
        """Make few entries of many: of the small ones, and of those that are no larger than the smaller ones together.

        A kill on the way leaves some records twice, and another run that reads what is removed here works those again.
        """
        packs = sorted(self._store.read_all(self._stage, read_pack), key=lambda pack: (pack.size, pack.folder))
        for group in _groups(packs):
            self.replace([(pack, range(len(pack.keys))) for pack in group])

    def replace(self, parts: Sequence[tuple[Pack, Iterable[int]]]) -> None:
        """Put one entry in place of several, with the records at these places of each; without any, none."""
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
            return  # it has gone again: another process removed it
        for pack, _ in parts:
            if made is None or pack.folder != made.folder:
                self._store.remove(pack.folder)
        self._packs = None

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
    """Yield which entries, given by size, become one: several, and no more than are held in memory at a time."""
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
    """Return what names a file in every pack: its path, language and content."""
    return file_facts(source).key


def is_pack(folder: Path) -> bool:
    """Return whether an entry holds records of files."""
    return (folder / "records.bin").is_file()


def _write(folder: Path, keys: Sequence[bytes], records: Sequence[bytes]) -> None:
    np.save(folder / "keys.npy", np.array(keys, dtype=_KEY), allow_pickle=False)
    np.save(folder / "ends.npy", np.cumsum([len(record) for record in records], dtype=np.int64), allow_pickle=False)
    (folder / "records.bin").write_bytes(b"".join(records))


def read_pack(folder: Path) -> Pack:
    """Return the pack of an entry; raise where it is none."""
    keys, ends = (np.load(folder / name, allow_pickle=False) for name in ("keys.npy", "ends.npy"))
    with (folder / "records.bin").open("rb") as file:
        size = int(ends[-1]) if len(ends) else 0
        records = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    if keys.dtype != _KEY or keys.shape != ends.shape:
        raise ValueError("its keys and records do not fit together")
    return Pack(folder, keys, ends, records)
