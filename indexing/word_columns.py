"""The words of one file's texts as a record, word by word, and what a search asks of the records of many files."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from indexing.frequencies import Frequencies
from indexing.postings import PostingShard
from indexing.word_counts import WordCounts
from indexing.word_names import WordNames

_HEAD = struct.Struct("<IIIBBBB")
_SIZES = tuple(np.dtype(name) for name in ("u1", "<u2", "<u4"))
_NAME = np.dtype("<u8")


class AskedWords(NamedTuple):
    """What some texts hold of the words that are asked for, and what they add to the frequencies of all texts."""

    shard: PostingShard
    """Not yet weighed."""
    frequencies: Frequencies


class _Columns(NamedTuple):
    """A record as arrays."""

    names: np.ndarray
    """Of the words, ascending."""
    lengths: np.ndarray
    """Words of each text, repeated ones included."""
    holding: np.ndarray
    """Texts that hold each word."""
    places: np.ndarray
    """Which texts these are, word by word."""
    counts: np.ndarray
    """How often each holds the word."""


def to_record(counts: WordCounts, names: WordNames) -> bytes:
    """Return the words of some texts as a record."""
    named = names.of(counts.vocabulary)
    order = np.argsort(named)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    words = place[counts.words]
    texts = np.repeat(np.arange(len(counts.lengths)), np.diff(counts.ends, prepend=0))
    pairs = np.lexsort((texts, words))
    holding = np.bincount(words, minlength=len(order))
    columns = [counts.lengths, holding, texts[pairs], counts.counts[pairs]]
    kinds = [_kind(column) for column in columns]
    head = _HEAD.pack(len(counts.lengths), len(order), len(words), *kinds)
    narrow = (column.astype(_SIZES[kind]).tobytes() for column, kind in zip(columns, kinds, strict=True))
    return head + named[order].astype(_NAME).tobytes() + b"".join(narrow)


def asked_words(records: Sequence[bytes], words: Sequence[str], names: WordNames) -> AskedWords:
    """Return what the texts of all records, one after the other, hold of these words."""
    parts = list(map(_columns, records))
    held, lengths, holding, places, counts = (
        np.concatenate([np.zeros(0, dtype), *(part[at] for part in parts)]).astype(dtype, copy=False)
        for at, dtype in enumerate((np.uint64, np.int64, np.int64, np.int64, np.float32))
    )
    firsts = np.cumsum([0, *(len(part.lengths) for part in parts)])[:-1]
    offsets = np.repeat(firsts, [len(part.names) for part in parts])
    asked = names.of(words)
    order = np.argsort(asked)
    at = np.minimum(np.searchsorted(asked[order], held), max(len(asked) - 1, 0))
    found = np.flatnonzero(asked[order][at] == held) if len(asked) else np.zeros(0, dtype=np.int64)
    which = order[at[found]] if len(asked) else found
    # Word by word, and the records of each in their order: then its texts are ascending.
    sorted_ = np.argsort(which, kind="stable")
    columns, sizes = found[sorted_], holding[found[sorted_]]
    starts = np.cumsum(np.concatenate(([0], np.bincount(which, weights=holding[found], minlength=len(asked))))).astype(
        np.int64
    )
    begins = (np.cumsum(holding) - holding)[columns]
    taken = np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    shard = PostingShard(
        {word: number for number, word in enumerate(words)},
        lengths,
        starts,
        (places[taken] + np.repeat(offsets[columns], sizes)).astype(np.int32),
        counts[taken],
    )
    frequencies = Frequencies(
        tuple(words), np.diff(starts), len(lengths), int(lengths.sum()), len(places), np.unique(held)
    )
    return AskedWords(shard, frequencies)


def _columns(record: bytes) -> _Columns:
    texts, words, pairs, *kinds = _HEAD.unpack_from(record)
    at = _HEAD.size + words * _NAME.itemsize
    columns = [np.frombuffer(record, _NAME, words, _HEAD.size)]
    for count, kind in zip((texts, words, pairs, pairs), kinds, strict=True):
        columns.append(np.frombuffer(record, _SIZES[kind], count, at))
        at += count * _SIZES[kind].itemsize
    return _Columns(*columns)


def _kind(values: np.ndarray) -> int:
    """Return in how few bytes each of these numbers fits."""
    most = int(values.max(initial=0))
    return next(number for number, dtype in enumerate(_SIZES) if most <= np.iinfo(dtype).max)
