"""Archives of repositories unpacked once, below the cache, and nowhere else."""

from __future__ import annotations

import hashlib
import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from chunkers.errors import UsageError
from chunkers.tokens import cache_folder

MAX_BYTES = 4_000_000_000
"""More than any collection of sources unpacks to; an archive that claims more is a bomb."""


def unpacked(archive: Path) -> Path:
    """Return the folder with the archive's files, unpacking it the first time.

    The folder is named by the archive's hash and appears when it is complete. A member that is absolute or climbs
    with ``..`` is an error; links and devices are left out.
    """
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:20]
    target = cache_folder() / "archives" / digest
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f"{digest}."))
    try:
        _unpack(archive, draft)
        try:
            draft.replace(target)
        except OSError:
            # Another process was faster; its folder is the same.
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _unpack(archive: Path, folder: Path) -> None:
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, folder)
        else:
            _unpack_tar(archive, folder)
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, NotImplementedError) as error:
        raise UsageError(f"{archive} is damaged or truncated ({error}): download it again") from None


def _unpack_tar(archive: Path, folder: Path) -> None:
    size = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            size += member.size
            place = _place(archive, member.name, folder, size)
            if member.isfile() and (data := tar.extractfile(member)):
                _write(data, place)


def _unpack_zip(archive: Path, folder: Path) -> None:
    size = 0
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            size += member.file_size
            place = _place(archive, member.filename, folder, size)
            # The upper half of the attributes is the Unix mode, where there is one; a link is never followed.
            if not member.is_dir() and not stat.S_ISLNK(member.external_attr >> 16):
                with packed.open(member) as data:
                    _write(data, place)


def _place(archive: Path, member: str, folder: Path, size: int) -> Path:
    """Return where a member goes; raise where it would leave the folder, or where the archive is a bomb."""
    name = PurePosixPath(member)
    if name.is_absolute() or ".." in name.parts or "\\" in member:
        raise UsageError(f"{archive}: member {member!r} leaves the archive's folder: do not trust it")
    if size > MAX_BYTES:
        raise UsageError(f"{archive}: unpacks to more than {MAX_BYTES // 10**9} GB: it is not a dataset")
    return folder / name


def _write(data: IO[bytes], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        shutil.copyfileobj(data, out)
