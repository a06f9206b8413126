"""Arrays computed per file: one record for each file, one array for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_SIZE = np.dtype("<u4")


class Column(NamedTuple):
    """The values of all files, concatenated, and the number of values per file."""

    values: np.ndarray
    counts: np.ndarray


def pack_columns(columns: Sequence[np.ndarray]) -> bytes:
    """Return arrays as one record: the size of each in bytes, then their values."""
    sizes = np.array([column.nbytes for column in columns], _SIZE)
    return b"".join([sizes.tobytes(), *(column.tobytes() for column in columns)])


def join_columns(records: Sequence[bytes], dtypes: Sequence[str]) -> list[Column]:
    """Concatenate each array over all records; all records have arrays of these types."""
    head = _SIZE.itemsize * len(dtypes)
    heads = b"".join([record[:head] for record in records])
    sizes = np.frombuffer(heads, _SIZE).reshape(len(records), len(dtypes)).astype(np.int64)
    ends = head + np.cumsum(sizes, axis=1)
    starts = ends - sizes
    joined = []
    for number, dtype in enumerate(dtypes):
        places = zip(records, starts[:, number].tolist(), ends[:, number].tolist(), strict=True)
        values = np.frombuffer(b"".join([record[start:end] for record, start, end in places]), dtype)
        joined.append(Column(values, sizes[:, number] // values.itemsize))
    return joined
