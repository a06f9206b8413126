"""Prunes unused records from packs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evaluation.experiment.pack_use import DAY, days_used
from evaluation.experiment.packs import Packs, is_pack, read_pack
from evaluation.experiment.store import Entry, Store


class Pruned(NamedTuple):
    """What was removed."""

    records: int
    bytes: int


NO_RECORDS = Pruned(0, 0)


def prune_records(store: Store, *, unused_since: float) -> Pruned:
    """Rewrite the packs that hold records unused since then; a pack with no recently used record is left alone.

    Packs are verified first: rewriting a damaged one would give its records a sound checksum.
    """
    records = size = 0
    for stage, entry in _packs(store):
        try:
            if entry.folder.stat().st_mtime < unused_since:
                continue
        except OSError:
            continue  # dropped by another process
        pack = next(store.read_all(stage, read_pack, [entry.folder.name]), None)
        if pack is None:
            continue
        days = days_used(entry.folder, len(pack.keys))
        kept = np.flatnonzero(days >= unused_since // DAY).tolist()
        if len(kept) == len(pack.keys):
            continue
        inputs = {name: value for name, value in entry.inputs.items() if name != "files"}
        Packs(store, stage.rpartition("-")[0], inputs).replace([(pack, kept)])
        records += len(pack.keys) - len(kept)
        size += pack.size - sum(len(pack.record(place)) for place in kept)
    return Pruned(records, size)


def _packs(store: Store) -> Iterator[tuple[str, Entry]]:
    for stage in sorted({folder.parent.name for folder in store.folders()}):
        yield from ((stage, entry) for entry in list(store.entries(stage)) if is_pack(entry.folder))
