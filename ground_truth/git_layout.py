"""Where a clone keeps its objects and refs, read as plain files: the clone's configuration is never read."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from ground_truth.git_objects import check_objects, is_own_file

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF_NAME = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|\Z)|/\.))(?![./-])[^\x00-\x20~^:?*\[\\\x7f]+(?<![./])\Z")
_SHA256 = re.compile(rb"^[^\S\n]*objectformat\s*=\s*\"?sha256", re.IGNORECASE | re.MULTILINE)
_POINTER = 4_096
"""Maximum bytes of a file that holds one path, one name or one hash."""
_PACKED = 256 * 2**20
_INDIRECTIONS = 5


class Layout(NamedTuple):
    """The folders of a repository."""

    clone: Path
    """As the user named it, for messages."""
    private: Path
    """Holds HEAD: the repository's folder, or that of one of its work trees."""
    common: Path
    """Holds objects and refs."""

    @property
    def objects(self) -> Path:
        """The folder of the objects."""
        return self.common / "objects"

    @property
    def sha256(self) -> bool:
        """Whether objects are named by SHA-256; a wrong answer makes every object unreadable, never misread."""
        return _SHA256.search(_head(self.common / "config", 2**20)) is not None


def is_git(folder: Path) -> bool:
    """Return whether a folder can be read as a repository: it has a ``.git``, or it looks like a bare one.

    A source folder may be crafted to look like a bare repository. Call this only if the user has said that a repository
    is meant, by a ref, a commit or a kind of query that needs history; otherwise call `is_named_bare`.
    """
    return (folder / ".git").exists() or is_bare(folder)


def is_bare(folder: Path) -> bool:
    """Return whether a folder looks like a repository without a work tree."""
    return (
        not (folder / ".git").exists()
        and (folder / "HEAD").is_file()
        and (folder / "objects").is_dir()
        and (folder / "refs").is_dir()
    )


def is_named_bare(folder: Path) -> bool:
    """Return whether a folder is also named like a bare repository (``project.git``): only then it is read as one."""
    return folder.absolute().name.endswith(".git") and is_bare(folder)


def locate(clone: Path) -> Layout:
    """Return the folders of a clone, of one of its work trees or submodules, or of a bare repository."""
    try:
        return _located(clone)
    except (OSError, ValueError) as error:  # an impossible path: too long, or with a NUL in it
        raise UsageError(f"{clone} is not a git clone: {one_line(str(error), limit=200)}") from None


def _located(clone: Path) -> Layout:
    inner = clone / ".git"
    if inner.is_symlink():
        raise UsageError(f"{inner} is a symbolic link: give the repository that it leads to")
    inside = inner if inner.is_dir() else clone
    private = _linked(inner) if inner.is_file() else inside
    common = private / "commondir"
    shared = (private / _line(common)).resolve() if is_own_file(common) else private
    if is_own_file(common) and private.resolve().parent.parent != shared:
        raise UsageError(
            f"{common} leads to {one_line(str(shared))!r}, not the repository that it is in: give that one"
        )
    if not (shared / "objects").is_dir():
        raise UsageError(f"{clone} is not a git clone: it has no objects")
    check_objects(shared / "objects")
    return Layout(clone, private.resolve(), shared.resolve())


def find_ref(layout: Layout, name: str) -> str | None:
    """Return the hash that a ref names, looked up in git's order (tags before branches), or None."""
    name = "HEAD" if name == "@" else name
    if not _REF_NAME.match(name):
        return None
    tried = (name, f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}", f"refs/remotes/{name}")
    for spelling in (*tried, f"refs/remotes/{name}/HEAD"):
        # At the top level, a repository has files other than HEAD that are not refs.
        if (spelling == "HEAD" or spelling.startswith("refs/")) and (found := _follow(layout, spelling)):
            return found
    return None


def _follow(layout: Layout, name: str) -> str | None:
    for _ in range(_INDIRECTIONS):
        found = _read_ref(layout, name)
        if not found.startswith("ref:"):
            return found if _HASH.match(found) else None
        name = found.removeprefix("ref:").strip()
        if not name.startswith("refs/") or not _REF_NAME.match(name):
            return None
    return None


def _read_ref(layout: Layout, name: str) -> str:
    with contextlib.suppress(OSError):  # a name that is too long for a file
        for home in dict.fromkeys((layout.private, layout.common)):
            if (file := home / name).is_file():
                return _line(file)
    return _packed_ref(layout, name)


def _packed_ref(layout: Layout, name: str) -> str:
    match = re.search(
        rb"^([0-9a-f]{40,64}) " + re.escape(os.fsencode(name)) + rb"$", _packed_refs(layout), re.MULTILINE
    )
    return match[1].decode() if match else ""


def _packed_refs(layout: Layout) -> bytes:
    file = layout.common / "packed-refs"
    found = _head(file, _PACKED)
    if len(found) == _PACKED:
        raise UsageError(f"{file} is larger than {_PACKED // 2**20} MB: give a clone with fewer refs")
    return found


def _linked(file: Path) -> Path:
    """Return the target of a ``.git`` file; it must point back, or be where a repository around it keeps submodules."""
    written = _line(file)
    if not written.startswith("gitdir:"):
        raise UsageError(f"{file} is neither a folder nor a link to one: give a git clone")
    target = (file.parent / written.removeprefix("gitdir:").strip()).resolve()
    back = target / "gitdir"
    if back.is_file() and (target / _line(back)).resolve() == file.resolve():
        return target
    homes = (parent / ".git" / "modules" for parent in file.resolve().parents)
    if any(target.is_relative_to(home) for home in homes):
        return target
    raise UsageError(
        f"{file} leads to {one_line(str(target))!r}, which does not lead back: give that repository itself"
    )


def _line(file: Path) -> str:
    return _head(file, _POINTER).decode("utf-8", "surrogateescape").strip("\r\n ")


def _head(file: Path, size: int) -> bytes:
    """Return the first bytes of a regular file; nothing if there is none."""
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as handle:
            return handle.read(size)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
