"""Arrays in temporary files: their room on disk is theirs from the start."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from indexing.mapped_arrays import mapped_array


def held_in(folder: Path) -> int:
    """Return the bytes on disk of this process's open files in a folder, removed ones too."""
    size = 0
    for handle in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the handle that lists the others is closed again
            if handle.readlink().is_relative_to(folder):
                size += handle.stat().st_blocks * 512
    return size


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_room_is_taken_when_an_array_is_made(tmp_path: Path) -> None:
    """A disk that fills up later cannot end the process while the array is filled; nothing is left on disk."""
    made = mapped_array((300, 1_000), np.float32, folder=tmp_path)
    assert (made.shape, made.dtype) == ((300, 1_000), np.float32)
    assert held_in(tmp_path) >= made.nbytes
    made[:] = np.arange(300_000).reshape(made.shape)
    assert made.sum(dtype=np.float64) == 299_999 * 150_000
    assert list(tmp_path.iterdir()) == []
    del made
    assert held_in(tmp_path) == 0


def test_a_folder_without_room_is_named(tmp_path: Path) -> None:
    """An array larger than any disk is an error that says where there is no room."""
    with pytest.raises(OSError, match=str(tmp_path)):
        mapped_array((2**40, 2**20), np.float32, folder=tmp_path)
