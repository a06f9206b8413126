"""Archives of repositories unpacked once, below the cache, and nowhere else."""

from __future__ import annotations

import hashlib
import lzma
import shutil
import tarfile
import tempfile
import zlib
from pathlib import Path, PurePosixPath

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
    size = 0
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = PurePosixPath(member.name)
                if name.is_absolute() or ".." in name.parts or "\\" in member.name:
                    raise UsageError(f"{archive}: member {member.name!r} leaves the archive's folder: do not trust it")
                size += member.size
                if size > MAX_BYTES:
                    raise UsageError(f"{archive}: unpacks to more than {MAX_BYTES // 10**9} GB: it is not a dataset")
                if member.isfile() and (data := tar.extractfile(member)):
                    file = folder / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    with file.open("wb") as out:
                        shutil.copyfileobj(data, out)
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError) as error:
        raise UsageError(f"{archive} is damaged or truncated ({error}): download it again") from None
