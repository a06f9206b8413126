"""Git clones and bare mirrors read without a checkout."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from chunkers.errors import UsageError

_HASH = re.compile(r"[0-9a-fA-F]{4,64}\Z")
# Only data is read: no hook, filter, pager or configuration of the clone's own may run.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")


class Blob(NamedTuple):
    """One file of a commit."""

    path: str
    object_id: str


def run_git(clone: Path, *arguments: str) -> bytes:
    """Return what git prints; raise UsageError with git's own first line where it fails."""
    done = _run(clone, *arguments)
    if done.returncode != 0:
        raise _failed(clone, arguments[0], done)
    return done.stdout


def is_git(folder: Path) -> bool:
    """Return whether a folder is a clone or a bare repository."""
    return (folder / ".git").exists() or is_bare(folder)


def is_bare(folder: Path) -> bool:
    """Return whether a folder is a repository without a work tree."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def find_clone(root: Path, name: str) -> Path | None:
    """Return the clone of ``owner/name`` below a folder, under any of the usual names, or None."""
    owner, _, short = name.rpartition("/")
    spellings = [name, *(owner + mark + short for mark in ("__", "--", "_", "-", "+", ".") if owner), short]
    for spelling in spellings:
        for place in (root / spelling, root / f"{spelling}.git"):
            if place.is_dir() and is_git(place):
                return place
    return None


def resolve_commit(clone: Path, commit: str) -> str | None:
    """Return the full hash of a commit, or None where the clone lacks it."""
    if not _HASH.match(commit):
        raise UsageError(f"{commit!r} is not a commit hash")
    done = _run(clone, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    # Asked to be quiet, git says nothing and returns 1 for a commit that is not there; the rest are failures.
    if done.returncode not in (0, 1):
        raise _failed(clone, "rev-parse", done)
    return done.stdout.decode().strip() or None


def resolve_ref(clone: Path, ref: str) -> str:
    """Return the full hash of the commit that a branch, tag or hash names now."""
    try:
        found = run_git(clone, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except UsageError:
        raise UsageError(f"{clone} has no ref {ref!r}: fetch it, or name another branch, tag or commit") from None
    return found.decode().strip()


def list_tree(clone: Path, commit: str) -> list[Blob]:
    """Return the regular files of a commit in path order."""
    # Sizes are not asked for: git would open every object, which takes a hundred times as long.
    listing = run_git(clone, "ls-tree", "-r", "-z", "--full-tree", commit)
    found = []
    for entry in listing.split(b"\0"):
        head, _, path = entry.partition(b"\t")
        fields = head.split()
        if len(fields) == 3 and fields[0] in (b"100644", b"100755"):
            found.append(Blob(path.decode("utf-8", "surrogateescape"), fields[2].decode()))
    return sorted(found)


def read_blobs(clone: Path, object_ids: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of objects in the order asked, through one `git cat-file --batch`."""
    with _batch(clone) as (asking, answering):
        for object_id in object_ids:
            asking.write(object_id.encode() + b"\n")
            asking.flush()
            header = answering.readline().split()
            if len(header) != 3:
                raise UsageError(
                    f"{clone} lacks object {object_id}: fetch the whole history (no shallow or partial clone)"
                )
            data = answering.read(int(header[2]))
            answering.read(1)
            yield data


@contextmanager
def _batch(clone: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    command: Sequence[str] = [_program(), *_SAFE, *_place(clone), "cat-file", "--batch"]
    process = subprocess.Popen(  # noqa: S603 - a fixed program, arguments passed as a list
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None  # noqa: S101 - asked for above
    assert process.stdout is not None  # noqa: S101 - asked for above
    try:
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def _run(clone: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - a fixed program, arguments passed as a list
        [_program(), *_SAFE, *_place(clone), *arguments], capture_output=True, check=False
    )


def _failed(clone: Path, verb: str, done: subprocess.CompletedProcess[bytes]) -> UsageError:
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return UsageError(f"{clone}: git {verb} failed: {said[0] if said else f'exit {done.returncode}'}")


def _place(clone: Path) -> tuple[str, ...]:
    inner = clone / ".git"
    return ("-C", str(clone)) if inner.exists() else (f"--git-dir={clone}",)


@functools.cache
def _program() -> str:
    found = shutil.which("git")
    if found is None:
        raise UsageError("git is not installed: install git to read clones")
    return found
