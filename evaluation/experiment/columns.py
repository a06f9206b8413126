"""Columns of Parquet files as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(column: Any) -> np.ndarray:  # noqa: ANN401 - pyarrow is untyped
    """Return a column without gaps; pyarrow's own conversion imports pandas, which takes as long as reading."""
    parts = [
        np.frombuffer(part.buffers()[1], dtype=part.type.to_pandas_dtype(), count=part.offset + len(part))[
            part.offset :
        ]
        for part in column.chunks
        if len(part)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=column.type.to_pandas_dtype())
