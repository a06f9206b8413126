"""Commits, trees and files of a clone or bare mirror, each verified against its hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from ground_truth.below import folder_below
from ground_truth.git_layout import Layout, find_ref, is_bare, is_git, is_named_bare, locate
from ground_truth.git_program import GitError, Pipes, TooMuchError, open_git, read_git

__all__ = [
    "Blob",
    "Commit",
    "absent_objects",
    "blob_sizes",
    "changes",
    "commits",
    "find_clone",
    "is_bare",
    "is_git",
    "is_named_bare",
]
__all__ += ["list_tree", "read_blobs", "resolve_commit", "resolve_ref", "revisions"]

LARGEST_OBJECT = 2**28
"""Maximum bytes of a file, tree or message that is read."""

LARGEST_CHANGE = 2**26
"""Maximum bytes of a diff that is read."""

MOST_FILES = 2_000_000
"""A commit of a few kilobytes can name a file a billion times; the largest repositories have a few 100,000."""

_HASH = re.compile(r"[0-9a-fA-F]{4,64}\Z")
_REVISION = re.compile(r"(?P<name>.+?)(?P<steps>(?:~\d{0,6}|\^\d{0,3}|\^\{(?:commit)?\})*)\Z", re.DOTALL)
_FULL = (40, 64)
_FOLDER, _FILE = 0o040000, 0o100000
_LONGEST_PATH = 4_096
_LONGEST_MESSAGE = 65_536
_INDEX = re.compile(r"^index ([0-9a-f]+)\.\.([0-9a-f]+)[^\n]*\n--- ", re.MULTILINE)
_WINDOW = 256
"""Objects requested at a time: their names fit into a pipe, so neither side blocks the other."""


class Blob(NamedTuple):
    """One file of a commit."""

    path: str
    object_id: str


class Commit(NamedTuple):
    """The contents of a commit."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    """Name and address."""
    message: str
    """Up to its first 64 kB."""

    @property
    def subject(self) -> str:
        """The first paragraph on one line."""
        return " ".join(self.message.strip("\n").split("\n\n")[0].splitlines())

    @property
    def body(self) -> str:
        """The message after its first paragraph."""
        return self.message.strip("\n").partition("\n\n")[2]


def find_clone(root: Path, name: str) -> Path | None:
    """Return the clone of ``owner/name`` below a folder, under any of the usual names, or None."""
    owner, _, short = name.rpartition("/")
    spellings = [name, *(owner + mark + short for mark in ("__", "--", "_", "-", "+", ".") if owner), short]
    for spelling in spellings:
        for folder in (spelling, f"{spelling}.git"):
            place = folder_below(root, folder)
            if place is not None and is_git(place):
                return place
    return None


def resolve_commit(clone: Path, commit: str) -> str | None:
    """Return the full hash of a commit, or None if the clone lacks it."""
    if not _HASH.match(commit):
        raise UsageError(f"{commit[:80]!r} is not a commit hash")
    return _peeled(locate(clone), commit.lower(), "")


def resolve_ref(clone: Path, ref: str) -> str:
    """Return the full hash of the commit that a branch, tag or hash names now; ``~2`` and ``^`` may follow it."""
    layout = locate(clone)
    match = _REVISION.match(ref)
    found = None
    if match:
        name = match["name"]
        full = len(name) in _FULL and _HASH.match(name)
        known = None if full else find_ref(layout, name)
        if known or _HASH.match(name):
            found = _peeled(layout, known or name.lower(), match["steps"])
    if found is None:
        raise UsageError(f"{clone} has no ref {ref[:200]!r}: fetch it, or name another branch, tag or commit")
    return found


def revisions(clone: Path, revision: str, *, without: str | None = None) -> list[str]:
    """Return the hashes of a commit and its ancestors, newest first, except those reachable from ``without``."""
    layout = locate(clone)
    ends = [revision, *([f"^{without}"] if without else [])]
    return read_git(layout, "rev-list", "--end-of-options", *ends, "--").decode("ascii").split()


def commits(clone: Path, object_ids: Sequence[str]) -> Iterator[Commit]:
    """Yield the contents of these commits, in the order given."""
    layout = locate(clone)
    with open_git(layout, "cat-file", "--batch") as pipes:
        for object_id, data in zip(object_ids, _objects(layout, pipes, object_ids, "commit"), strict=True):
            yield _commit(layout, object_id, data)


def changes(clone: Path, before: str, after: str) -> str | None:
    """Return the unified diff between two commits, without changes of whitespace, renames or binary content.

    None if it is larger than any diff that a person has written.
    """
    layout = locate(clone)
    options = ("-r", "-p", "-w", "-U3", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index")
    try:
        printed = read_git(layout, "diff-tree", *options, before, after, "--", largest=LARGEST_CHANGE)
    except TooMuchError:
        return None
    patch = printed.decode("utf-8", "replace")
    named = {object_id for pair in _INDEX.findall(patch) for object_id in pair if object_id.strip("0")}
    for _ in read_blobs(clone, sorted(named)):
        pass  # git compared what the commits' hashes identify
    return patch


def list_tree(clone: Path, commit: str) -> list[Blob]:
    """Return the regular files of a commit in path order."""
    layout = locate(clone)
    found: list[Blob] = []
    with open_git(layout, "cat-file", "--batch") as pipes:
        (data,) = _objects(layout, pipes, [commit], "commit")
        open_ = [("", _commit(layout, commit, data).tree)]
        known: dict[str, list[tuple[bool, str, str]]] = {}
        while open_:
            # Trees with the same content are read once.
            new = list(dict.fromkeys(tree for _, tree in open_ if tree not in known))
            for tree, data in zip(new, _objects(layout, pipes, new, "tree"), strict=True):
                known[tree] = list(_entries(layout, tree, data))
            deeper = []
            for prefix, tree in open_:
                for is_folder, name, object_id in known[tree]:
                    if is_folder:
                        deeper.append((f"{prefix}{name}/", object_id))
                    else:
                        found.append(Blob(prefix + name, object_id))
                _bound(layout, commit, prefix, len(found) + len(deeper))
            open_ = deeper
    return sorted(found)


def absent_objects(clone: Path, object_ids: Sequence[str]) -> frozenset[str]:
    """Return the objects missing from the clone, as in a partial clone."""
    asked = "\n".join([*object_ids, ""]).encode()
    printed = read_git(locate(clone), "cat-file", "--batch-check=%(objectname)", asked=asked).decode("ascii", "replace")
    return frozenset(line.removesuffix(" missing") for line in printed.splitlines() if line.endswith(" missing"))


def blob_sizes(clone: Path, object_ids: Sequence[str]) -> list[int]:
    """Return the size of each object in bytes; none is unpacked."""
    layout = locate(clone)
    printed = read_git(layout, "cat-file", "--batch-check=%(objectsize)", asked="\n".join([*object_ids, ""]).encode())
    lines = printed.split(b"\n")[:-1]
    if len(lines) != len(object_ids):
        raise UsageError(f"{clone}: git cat-file named {len(lines)} of {len(object_ids)} objects")
    for object_id, line in zip(object_ids, lines, strict=True):
        if not line.isdigit():
            raise _lacks(layout, object_id)
    return [int(line) for line in lines]


def read_blobs(clone: Path, object_ids: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of files in the order given, through one git process."""
    layout = locate(clone)
    with open_git(layout, "cat-file", "--batch") as pipes:
        yield from _objects(layout, pipes, object_ids, "blob")


def _objects(layout: Layout, pipes: Pipes, object_ids: Iterable[str], kind: str) -> Iterator[bytes]:
    """Yield objects of one kind; each must match its hash, or it is a UsageError."""
    rest = iter(object_ids)
    while window := tuple(islice(rest, _WINDOW)):
        _ask(layout, pipes, window)
        for object_id in window:
            found, data = _answer(layout, pipes, object_id)
            if found != kind:
                raise UsageError(f"{layout.clone}: {object_id} is a {found}, not a {kind}: the clone is damaged")
            yield data


def _ask(layout: Layout, pipes: Pipes, object_ids: Sequence[str]) -> None:
    try:
        pipes.asking.write("".join(f"{object_id}\n" for object_id in object_ids).encode())
        pipes.asking.flush()
    except BrokenPipeError:
        raise UsageError(f"{layout.clone}: git stopped reading objects: the clone is damaged (try git fsck)") from None


def _answer(layout: Layout, pipes: Pipes, object_id: str) -> tuple[str, bytes]:
    header = pipes.answering.readline(1_000).split()
    if len(header) != 3:
        raise _lacks(layout, object_id)
    kind, size = header[1].decode("ascii", "replace"), int(header[2])
    if size > LARGEST_OBJECT:
        raise UsageError(f"{layout.clone}: object {object_id} has {size:,} bytes: too large to be source code")
    data = pipes.answering.read(size)
    pipes.answering.read(1)
    digest = hashlib.sha1 if len(object_id) == 40 else hashlib.sha256
    if digest(b"%s %d\0" % (header[1], len(data)) + data).hexdigest() != object_id:
        raise UsageError(f"{layout.clone}: object {object_id} is not what its hash says: the clone is damaged")
    return kind, data


def _lacks(layout: Layout, object_id: str) -> UsageError:
    return UsageError(
        f"{layout.clone} lacks object {object_id[:64]}: fetch the whole history (no shallow or partial clone)"
    )


def _peeled(layout: Layout, name: str, steps: str) -> str | None:
    """Return the commit of a hash, its prefix, or a tag's hash, this many steps back; None if there is none."""
    try:
        printed = read_git(layout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}{steps}^{{commit}}")
    except GitError as failed:
        # With --quiet, git prints nothing and returns 1 for a missing commit; anything else is a failure.
        if failed.code == 1 or (failed.said and "Needed a single revision" in failed.said[0]):
            return None
        raise
    found = printed.decode("ascii").strip()
    # The object that git calls a commit is read, and its hash verified, before it is used.
    next(commits(layout.clone, [found]))
    return found


def _commit(layout: Layout, object_id: str, data: bytes) -> Commit:
    head, _, message = data.partition(b"\n\n")
    fields: dict[str, list[bytes]] = {}
    for line in head.split(b"\n"):
        if not line.startswith(b" "):  # the rest of a signature
            name, _, value = line.partition(b" ")
            fields.setdefault(name.decode("ascii", "replace"), []).append(value)
    named = [each.decode("ascii", "replace") for each in (*fields.get("tree", [b""]), *fields.get("parent", ()))]
    if not all(len(each) == len(object_id) and _HASH.match(each) for each in named):
        raise UsageError(f"{layout.clone}: commit {object_id} is malformed: the clone is damaged (try git fsck)")
    coding = fields.get("encoding", [b"utf-8"])[0].decode("ascii", "replace")
    author = fields.get("author", [b""])[0].rpartition(b"> ")[0] + b">"
    return Commit(
        object_id,
        named[0],
        tuple(named[len(fields["tree"]) :]),
        _text(author, coding),
        _text(message[:_LONGEST_MESSAGE], coding),
    )


def _text(data: bytes, coding: str) -> str:
    try:
        return data.decode(coding, "replace")
    except (LookupError, ValueError, UnicodeError):
        return data.decode("utf-8", "replace")


def _entries(layout: Layout, tree: str, data: bytes) -> Iterator[tuple[bool, str, str]]:
    """Yield (is a tree, name, hash) for the subtrees and regular files of a tree."""
    size = len(tree) // 2
    at = 0
    seen: set[bytes] = set()
    while at < len(data):
        end = data.find(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + size
        if end < 0 or at > len(data) or not name or b"/" in name or name in (b".", b"..") or name in seen:
            raise UsageError(f"{layout.clone}: folder {tree} is malformed: the clone is damaged (try git fsck)")
        seen.add(name)
        form = int(mode, 8) & 0o170000 if mode.isdigit() and len(mode) < 8 else 0
        if form in (_FOLDER, _FILE):
            yield form == _FOLDER, name.decode("utf-8", "surrogateescape"), data[end + 1 : at].hex()


def _bound(layout: Layout, commit: str, prefix: str, count: int) -> None:
    if count > MOST_FILES:
        raise UsageError(f"{layout.clone} at {commit[:12]} has over {MOST_FILES:,} files: it is no source code")
    if len(prefix) > _LONGEST_PATH:
        raise UsageError(f"{layout.clone} at {commit[:12]} has a path of over {_LONGEST_PATH:,} characters")
