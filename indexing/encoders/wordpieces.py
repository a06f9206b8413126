"""Token ids from a model's own tokenizer file, cut into the windows that the model can see."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from indexing.encoders.texts import Long, readable

_SPECIALS = 2
"""[CLS] before and [SEP] after each window."""


class Windows(NamedTuple):
    """The token ids that the model sees, and the text each window belongs to, in order."""

    ids: list[list[int]]
    owners: list[int]
    weights: list[int]


@functools.cache
def _tokenizer(file: Path) -> object:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    # The file's own setting truncates at 128 tokens; the whole text is needed to know what is lost.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_ids(file: Path, texts: Sequence[str]) -> list[list[int]]:
    """Return each text's token ids, including the two special ones."""
    encodings = _tokenizer(file).encode_batch_fast([readable(text) for text in texts])  # type: ignore[attr-defined] # tokenizers has no types
    return [encoding.ids for encoding in encodings]


def windows(ids: Sequence[list[int]], *, size: int, long: Long) -> Windows:
    """Cut each text into windows of at most ``size`` tokens: the first alone, or all of them."""
    out = Windows([], [], [])
    for owner, row in enumerate(ids):
        first, last, inner = row[0], row[-1], row[1:-1]
        step = size - _SPECIALS
        stop = step if long == "truncate" else max(len(inner), 1)
        for start in range(0, stop, step):
            piece = inner[start : start + step]
            out.ids.append([first, *piece, last])
            out.owners.append(owner)
            out.weights.append(len(piece))
    return out
