"""The words of one file's texts as a record, word by word, and what a search needs from the records of many files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from indexing.frequencies import Frequencies
from indexing.postings import PostingShard
from indexing.word_counts import WordCounts
from indexing.word_names import WordNames, distinct

_HEAD = np.dtype([("texts", "<u4"), ("words", "<u4"), ("pairs", "<u4"), ("kinds", "u1", (4,))])
_SIZES = tuple(np.dtype(name) for name in ("u1", "<u2", "<u4", "<u8"))
_WIDTHS = np.array([dtype.itemsize for dtype in _SIZES])
_NAME = _SIZES[-1]


class AskedWords(NamedTuple):
    """The query words in some texts, and their share of the frequencies of all texts."""

    shard: PostingShard
    """Not yet weighed."""
    frequencies: Frequencies


class _Columns(NamedTuple):
    """The records of several files as arrays, concatenated; numbers are as narrow as they were written."""

    texts: np.ndarray
    """Number of texts of each file."""
    words: np.ndarray
    """Number of distinct words of each file."""
    names: np.ndarray
    """Of the words, ascending in each file."""
    lengths: np.ndarray
    """Number of words of each text, including repeated ones."""
    holding: np.ndarray
    """Number of texts that contain each word."""
    places: np.ndarray
    """Indices of these texts in the file, word by word."""
    counts: np.ndarray
    """Term frequency in each of them."""


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
    head = np.array([(len(counts.lengths), len(order), len(words), kinds)], dtype=_HEAD).tobytes()
    narrow = (column.astype(_SIZES[kind]).tobytes() for column, kind in zip(columns, kinds, strict=True))
    return head + named[order].astype(_NAME).tobytes() + b"".join(narrow)


def asked_words(records: Sequence[bytes], words: Sequence[str], names: WordNames) -> AskedWords:
    """Return the words among these that the texts of all records, concatenated, contain."""
    held = _columns(records)
    found, which = _asked(held.names, names.of(words))
    # Word by word, and for each the records in order, so that its texts are ascending. Narrow numbers sort quickly.
    order = np.argsort(which.astype(np.min_scalar_type(len(words))), kind="stable")
    columns = found[order]
    sizes = held.holding[columns].astype(np.int64)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    starts = ends[np.concatenate(([0], np.cumsum(np.bincount(which, minlength=len(words)))))]
    begins = np.cumsum(held.holding, dtype=np.int64)[columns] - sizes
    taken = np.repeat(begins - ends[:-1], sizes) + np.arange(ends[-1])
    firsts = (np.cumsum(held.texts, dtype=np.int64) - held.texts).astype(np.int32)
    shard = PostingShard(
        {word: number for number, word in enumerate(words)},
        held.lengths.astype(np.int64),
        starts,
        held.places[taken].astype(np.int32) + np.repeat(np.repeat(firsts, held.words)[columns], sizes),
        held.counts[taken].astype(np.float32),
    )
    length = int(held.lengths.sum(dtype=np.int64))
    frequencies = Frequencies(
        tuple(words), np.diff(starts), len(held.lengths), length, len(held.places), distinct(held.names)
    )
    return AskedWords(shard, frequencies)


def _asked(held: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the names that are query words, and which query word each is."""
    order = np.argsort(asked)
    # Most names are not query words: sixteen bits of each show that, and only the others need a full search.
    wanted = np.zeros(2**16, dtype=bool)
    wanted[_bits(asked)] = True
    likely = np.flatnonzero(wanted[_bits(held)])
    at = np.minimum(np.searchsorted(asked[order], held[likely]), max(len(asked) - 1, 0))
    hits = np.flatnonzero(asked[order][at] == held[likely])
    return likely[hits], order[at[hits]]


def _bits(names: np.ndarray) -> np.ndarray:
    """Return some bits of each name's hash."""
    return (names >> np.uint64(8)).astype(np.uint16)


def _columns(records: Sequence[bytes]) -> _Columns:
    heads = np.frombuffer(b"".join([record[: _HEAD.itemsize] for record in records]), _HEAD)
    counts = [heads[name].astype(np.int64) for name in ("words", "texts", "words", "pairs", "pairs")]
    kinds = [np.full(len(heads), len(_SIZES) - 1), *heads["kinds"].T]
    starts = np.full(len(heads), _HEAD.itemsize)
    columns = []
    for count, kind in zip(counts, kinds, strict=True):
        ends = starts + count * _WIDTHS[kind]
        parts = [record[start:end] for record, start, end in zip(records, starts.tolist(), ends.tolist(), strict=True)]
        columns.append(_joined(parts, kind))
        starts = ends
    return _Columns(heads["texts"], heads["words"], *columns)


def _joined(parts: Sequence[bytes], kinds: np.ndarray) -> np.ndarray:
    """Concatenate numbers of several widths into one array of the widest."""
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(parts)] if parts else [0]
    runs = [np.frombuffer(b"".join(parts[a:b]), _SIZES[kinds[a]]) for a, b in itertools.pairwise(edges)]
    return np.concatenate([np.zeros(0, _SIZES[0]), *runs])


def _kind(values: np.ndarray) -> int:
    """Return the smallest integer type that holds each of these numbers."""
    most = int(values.max(initial=0))
    return next(number for number, dtype in enumerate(_SIZES) if most <= np.iinfo(dtype).max)
