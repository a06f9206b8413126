"""How often each word is in each of some texts: all that BM25 needs to know of them, and cheap to keep."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from indexing.code_words import word_parts, words_in
from indexing.encoders.texts import readable

_HEAD = struct.Struct("<IIII")
_SIZES = tuple(np.dtype(name) for name in ("u1", "<u2", "<u4"))


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Texts as a matrix by rows: the distinct words of each, and how often each is in it."""

    vocabulary: Sequence[str]
    """The words of all texts, in order of first use."""
    lengths: np.ndarray
    """Words of each text, repeated ones included."""
    ends: np.ndarray
    """Where each text's distinct words end."""
    words: np.ndarray
    """The distinct words of each text in any order, as places in the vocabulary."""
    counts: np.ndarray

    def to_bytes(self) -> bytes:
        """Return a record that `from_bytes` reads."""
        names = "\n".join(self.vocabulary).encode()
        head = _HEAD.pack(len(self.lengths), len(self.words), len(self.vocabulary), len(names))
        columns = (self.lengths, np.diff(self.ends, prepend=0), self.words, self.counts)
        return head + names + b"".join(map(_narrow, columns))

    @classmethod
    def from_bytes(cls, record: bytes) -> WordCounts:
        """Read what `to_bytes` wrote."""
        texts, pairs, words, size = _HEAD.unpack_from(record)
        at = _HEAD.size + size
        vocabulary = record[_HEAD.size : at].decode().split("\n") if words else []
        columns = []
        for count in (texts, texts, pairs, pairs):
            dtype = _SIZES[record[at]]
            columns.append(np.frombuffer(record, dtype=dtype, count=count, offset=at + 1))
            at += 1 + count * dtype.itemsize
        lengths, distinct, found, counts = columns
        return cls(vocabulary, lengths, np.cumsum(distinct, dtype=np.int64), found, counts)


@dataclass(frozen=True, slots=True)
class WordCounter:
    """Counts words; the parts of a word that was seen before are remembered."""

    _parts: dict[str, list[str]] = field(default_factory=dict)

    def count(self, texts: Iterable[str]) -> WordCounts:
        """Return the words of the texts; they are read once, and none is held."""
        vocabulary: dict[str, int] = {}
        known: dict[str, tuple[int, ...]] = {}
        ids, lengths = array("i"), array("i")
        for text in texts:
            before = len(ids)
            for word in words_in(readable(text)):
                numbers = known.get(word)
                if numbers is None:
                    parts = self._parts.get(word) or self._parts.setdefault(word, word_parts(word))
                    numbers = known[word] = tuple([vocabulary.setdefault(part, len(vocabulary)) for part in parts])
                ids.extend(numbers)
            lengths.append(len(ids) - before)
        return counts_of(list(vocabulary), _numbers(ids), _numbers(lengths))


def join_counts(parts: Sequence[WordCounts]) -> WordCounts:
    """Return the words of all texts in order, as if they had been counted together."""
    vocabulary: dict[str, int] = {}
    words = []
    for part in parts:
        numbers = [vocabulary.setdefault(word, len(vocabulary)) for word in part.vocabulary]
        words.append(np.array(numbers, dtype=np.int32)[part.words])
    distinct = [np.diff(part.ends, prepend=0) for part in parts]
    return WordCounts(
        list(vocabulary),
        _joined([part.lengths for part in parts], np.int64),
        np.cumsum(_joined(distinct, np.int64)),
        _joined(words, np.int32),
        _joined([part.counts for part in parts], np.int32),
    )


def counts_of(vocabulary: Sequence[str], ids: np.ndarray, lengths: np.ndarray) -> WordCounts:
    """Return the counts of texts that lie one after the other, as places of their words in the vocabulary."""
    keys = np.repeat(np.arange(len(lengths)), lengths) * np.int64(max(len(vocabulary), 1)) + ids
    distinct, counts = np.unique(keys, return_counts=True)
    texts, words = np.divmod(distinct, max(len(vocabulary), 1))
    ends = np.cumsum(np.bincount(texts, minlength=len(lengths)))
    return WordCounts(vocabulary, lengths.astype(np.int64), ends, words.astype(np.int32), counts.astype(np.int32))


def _numbers(values: array[int]) -> np.ndarray:
    return np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, np.int32)


def _joined(parts: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


def _narrow(values: np.ndarray) -> bytes:
    """Return whole numbers in as few bytes each as the largest needs, after a byte that says how many."""
    most = int(values.max(initial=0))
    kind = next(number for number, dtype in enumerate(_SIZES) if most <= np.iinfo(dtype).max)
    return bytes([kind]) + values.astype(_SIZES[kind]).tobytes()
