"""Repository archives, unpacked once below the cache, and nowhere else."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import logging
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, Self

from chunkers.errors import UsageError
from chunkers.input_files import open_input, read_text_input
from chunkers.plain_text import one_line
from chunkers.sharing import share
from chunkers.tokens import cache_folder

log = logging.getLogger(__name__)
MAX_BYTES = 4_000_000_000
"""More than any collection of sources unpacks to; an archive that claims more is a zip bomb."""

MAX_FILES = 2_000_000
_LARGEST_HEAD = 2**20
_HEADS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
# Exceptions raised for corrupt bytes, invalid headers, encrypted members and impossible names.
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, gzip.BadGzipFile, EOFError, ValueError,
           LookupError, ArithmeticError, NotImplementedError, RuntimeError)  # fmt: skip
_NAMES = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EILSEQ, errno.EEXIST}


def archives_folder() -> Path:
    """Return the folder in which archives are unpacked."""
    return cache_folder() / "archives"


def unpacked(archive: Path) -> Path:
    """Return the folder with the archive's files, unpacking it the first time.

    The folder is named by the archive's hash and appears when it is complete. If a file in it was changed, added or
    removed since, it is unpacked again. A member with an absolute path or with ``..`` that climbs out is an error;
    links and devices are skipped.
    """
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:20]
    target = archives_folder() / digest
    if _is_whole(target):
        with contextlib.suppress(OSError):  # another user's, or just pruned: pruning looks at the last use
            os.utime(target)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=f"{digest}."))
    try:
        share(work)
        draft, sums = work / "files", work / "sums"
        draft.mkdir()
        _unpack(archive, draft)
        share(draft)
        sums.write_text(_sum_of(draft), "ascii")
        if target.is_symlink() or target.exists():
            if _is_whole(target):
                return target  # another process was faster
            log.warning("%s is not as it was unpacked, and is unpacked again", target)
            target.rename(work / "changed")
        sums.replace(sums_of(target))
        try:
            draft.replace(target)
        except OSError:
            # Another process was faster; its folder is the same.
            if not _is_whole(target):
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def sums_of(target: Path) -> Path:
    """Return the file with the hash of an unpacked archive's files."""
    return target.with_name(f"{target.name}.sha256")


def _is_whole(target: Path) -> bool:
    """Return whether the folder holds what was unpacked, and nothing else."""
    try:
        written = read_text_input(sums_of(target), largest=_LARGEST_HEAD)
        return not target.is_symlink() and written == _sum_of(target)
    except (OSError, ValueError, UsageError):
        return False


def _sum_of(folder: Path) -> str:
    """Return a hash of the names and contents of all files; raise for anything that is not a file or a folder."""
    found = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders.sort()
        if any((Path(place) / name).is_symlink() for name in [*folders, *names]):
            raise ValueError("a link")
        for name in sorted(names):
            file = Path(place) / name
            with open_input(file) as data:
                content = hashlib.file_digest(data, "sha256").digest()
            found.update(os.fsencode(file.relative_to(folder)) + b"\0" + content)
    return found.hexdigest()


def _unpack(archive: Path, folder: Path) -> None:
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, folder)
        else:
            _unpack_tar(archive, folder)
    except UsageError as error:
        raise error if str(archive) in str(error) else UsageError(f"{archive}: {error}") from None
    except _BROKEN as error:
        why = one_line(str(error), limit=200)
        raise UsageError(f"{archive} is damaged or truncated ({why}): download it again") from None
    except OSError as error:
        if error.errno is None:  # bz2 raises it for corrupt bytes
            raise UsageError(f"{archive} is damaged or truncated ({error}): download it again") from None
        if error.errno not in _NAMES:
            raise  # a disk error, not the archive's
        raise UsageError(f"{archive}: a member cannot be a file here ({error.strerror}): do not trust it") from None


def _unpack_tar(archive: Path, folder: Path) -> None:
    size = 0
    with tarfile.open(archive, tarinfo=_Member) as tar:
        for number, member in enumerate(tar):
            _check_count(archive, number)
            if member.issparse():
                raise _sparse(member)
            size += max(member.size, 0)
            place = _place(archive, member.name, folder, size)
            if member.isfile() and (data := tar.extractfile(member)):
                _write(data, place)
        # The checksum of compressed bytes is behind them, and is compared only when they are read to the end.
        while tar.fileobj is not None and (rest := tar.fileobj.read(_LARGEST_HEAD)):
            size += len(rest)
            _check_size(archive, size)
            if rest.strip(b"\0"):
                raise tarfile.ReadError("there is data behind its end")


class _Member(tarfile.TarInfo):
    """A member with a bounded head: names and attributes are read into memory before any check is possible."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return the member of a header; raise for an unbounded name or unbounded attributes."""
        try:
            found = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                raise  # the mark of the end
            # tarfile takes a damaged or missing head for the end, too, and what follows would be lost.
            raise tarfile.ReadError(str(error)) from None
        if found.type == tarfile.GNUTYPE_SPARSE:
            raise _sparse(found)
        if found.size < 0:
            raise tarfile.ReadError("a negative size")
        if found.type in _HEADS and found.size > _LARGEST_HEAD:
            raise UsageError(f"a member's name or attributes have {found.size:,} bytes: do not trust it")
        return found

    def _proc_gnusparse_10(self, member: tarfile.TarInfo, *_: object) -> None:
        """Raise before the part list of a sparse member is read, because it is unbounded."""
        raise _sparse(member)


def _sparse(member: tarfile.TarInfo) -> UsageError:
    return UsageError(f"member {one_line(member.name, limit=100)!r} is sparse, as no source file is")


def _unpack_zip(archive: Path, folder: Path) -> None:
    size = 0
    with zipfile.ZipFile(archive) as packed:
        for number, member in enumerate(packed.infolist()):
            _check_count(archive, number)
            size += member.file_size
            place = _place(archive, member.filename, folder, size)
            # The upper half of the attributes is the Unix mode, if there is one; a link is never followed.
            if not member.is_dir() and not stat.S_ISLNK(member.external_attr >> 16):
                with packed.open(member) as data:
                    _write(data, place)


def _place(archive: Path, member: str, folder: Path, size: int) -> Path:
    """Return the target path of a member; raise if it would leave the folder, or if the archive is a bomb."""
    name = PurePosixPath(member)
    if name.is_absolute() or ".." in name.parts or "\\" in member:
        raise UsageError(f"{archive}: member {member!r} leaves the archive's folder: do not trust it")
    _check_size(archive, size)
    return folder / name


def _check_size(archive: Path, size: int) -> None:
    if size > MAX_BYTES:
        raise UsageError(f"{archive}: unpacks to more than {MAX_BYTES // 10**9} GB: it is not a dataset")


def _check_count(archive: Path, number: int) -> None:
    if number >= MAX_FILES:
        raise UsageError(f"{archive}: holds over {MAX_FILES:,} files: it is not a dataset")


def _write(data: IO[bytes], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        shutil.copyfileobj(data, out)
