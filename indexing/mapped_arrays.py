"""Arrays in temporary files, for what is too large for memory."""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def mapped_array(shape: tuple[int, ...], dtype: np.typing.DTypeLike, *, folder: Path | None = None) -> Any:  # noqa: ANN401 - an array
    """Return a new array in a file that lives as long as the array; raise if the disk has no room for all of it."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            # Otherwise room is taken as the array is filled, and a full disk ends the process with a bus error.
            os.posix_fallocate(file.fileno(), 0, math.prod(shape) * np.dtype(dtype).itemsize)
            return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder or tempfile.gettempdir())) from error
