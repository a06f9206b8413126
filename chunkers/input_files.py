"""Opens files named by the user: only regular files of bounded size, so that reading them ends."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

from chunkers.errors import UsageError

LARGEST_INPUT = 4 * 2**30
"""Maximum bytes of a file that is read whole."""


def open_input(path: Path) -> io.BufferedReader:
    """Open a file to read its bytes; raise for a pipe, a device or a socket, which may never end."""
    # Without O_NONBLOCK, opening a pipe without a writer would block before it can be recognised.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:  # a NUL, or a character that no byte stands for
        raise UsageError(f"{str(path)!r} cannot be the name of a file: name another") from None
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise UsageError(f"{path} is a pipe or a device, not a file: save what it gives as a file, and name that")


def read_input(path: Path, *, largest: int = LARGEST_INPUT) -> bytes:
    """Return the bytes of a file; raise if it is too large, or not a file."""
    with open_input(path) as file:
        _check_size(path, file, largest)
        return file.read()


def read_text_input(path: Path, *, largest: int = LARGEST_INPUT) -> str:
    r"""Return the text of a UTF-8 file, with the checks of `read_input`; every line ends with \n."""
    with open_input(path) as file, io.TextIOWrapper(file, "utf-8-sig") as text:
        _check_size(path, file, largest)
        return text.read()


def _check_size(path: Path, file: io.BufferedReader, largest: int) -> None:
    if os.fstat(file.fileno()).st_size > largest:
        raise UsageError(f"{path} has over {largest:,} bytes: is it the right file?")
