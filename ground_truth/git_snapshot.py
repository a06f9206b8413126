"""A repository at a commit, read from a clone or bare mirror."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chunkers.errors import UsageError
from chunkers.file_facts import FileFacts, file_facts, unfit_file
from chunkers.file_work import look_at
from chunkers.languages import DATA_LANGUAGES, language_of, name_decides
from chunkers.listing import unfit_path
from chunkers.sources import Skipped, portions, unfit_content, unfit_size
from chunkers.types import SourceFile
from ground_truth.git import Blob, absent_objects, blob_sizes, list_tree, read_blobs, resolve_commit


@dataclass(frozen=True)
class GitSnapshot:
    """The source files of one commit; each read is one git process and touches no work tree."""

    name: str
    clone: Path
    commit: str
    blobs: tuple[Blob, ...]
    keep: frozenset[str]
    skipped_paths: tuple[Skipped, ...] = ()
    transform: Callable[[SourceFile], SourceFile] | None = None

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was skipped; contents are examined on first use."""
        found = (Skipped(file.path, file.unfit) for file in self._looked if file.unfit)
        return tuple(sorted([*self.skipped_paths, *found]))

    def facts(self) -> Sequence[FileFacts]:
        """Return the files in path order; contents are examined on first use."""
        return [file for file in self._looked if not file.unfit]

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in path order."""
        for blob, data in self._contents():
            if not self._unfit(blob.path, data):
                yield self._source(blob.path, data)

    def read(self, path: str) -> SourceFile | None:
        """Return one file, or None if the snapshot does not contain it."""
        blob = self._by_path.get(path)
        if blob is None or blob in self._large:
            return None
        data = next(read_blobs(self.clone, [blob.object_id]))
        return None if self._unfit(path, data) else self._source(path, data)

    def read_many(self, paths: Sequence[str]) -> Iterator[SourceFile | None]:
        """Yield several files as `read` returns them, through one git process."""
        wanted = [blob for path in paths if (blob := self._by_path.get(path)) and blob not in self._large]
        contents = read_blobs(self.clone, [blob.object_id for blob in wanted])
        known = {blob.path for blob in wanted}
        for path in paths:
            data = next(contents) if path in known else None
            yield None if data is None or self._unfit(path, data) else self._source(path, data)

    def only(self, paths: Sequence[str]) -> GitSnapshot:
        """Return the snapshot with some of its files."""
        return self._with(tuple(self._by_path[path] for path in paths))

    def portions(self, count: int, *, least: int) -> list[GitSnapshot]:
        """Return the snapshot in about this many portions, in order, each with at least ``least`` files."""
        return [self._with(blobs) for blobs in portions(self.blobs, count, least=least)]

    def names(self) -> list[str]:
        """Return each path with the hash of its content."""
        return [f"{blob.object_id}/{blob.path}" for blob in self.blobs]

    def look(self) -> list[FileFacts]:
        """Return the facts of each file, read now."""
        large = [unfit_file(blob.path, why) for blob, why in self._large.items()]
        return [*large, *(self._look(blob.path, data) for blob, data in self._contents())]

    def _with(self, blobs: tuple[Blob, ...]) -> GitSnapshot:
        return dataclasses.replace(self, blobs=blobs, skipped_paths=())

    @functools.cached_property
    def _looked(self) -> tuple[FileFacts, ...]:
        return tuple(look_at(self))

    @functools.cached_property
    def _by_path(self) -> dict[str, Blob]:
        return {blob.path: blob for blob in self.blobs}

    @functools.cached_property
    def _large(self) -> dict[Blob, str]:
        """The files that are not unpacked because they are too large for source code, each with the reason."""
        sizes = blob_sizes(self.clone, [blob.object_id for blob in self.blobs])
        found = (
            (blob, unfit_size(size, wanted=blob.path in self.keep))
            for blob, size in zip(self.blobs, sizes, strict=True)
        )
        return {blob: why for blob, why in found if why}

    def _contents(self) -> Iterator[tuple[Blob, bytes]]:
        small = [blob for blob in self.blobs if blob not in self._large]
        return zip(small, read_blobs(self.clone, [blob.object_id for blob in small]), strict=True)

    def _unfit(self, path: str, data: bytes) -> str:
        return unfit_content(path, data, wanted=path in self.keep)

    def _look(self, path: str, data: bytes) -> FileFacts:
        reason = self._unfit(path, data)
        return unfit_file(path, reason) if reason else file_facts(self._source(path, data))

    def _source(self, path: str, data: bytes) -> SourceFile:
        source = SourceFile(path, data, language_of(path, data), self.name)
        return self.transform(source) if self.transform else source


def take_snapshot(
    clone: Path,
    commit: str,
    *,
    name: str,
    keep: Collection[str] = (),
    languages: Collection[str] = (),
    transform: Callable[[SourceFile], SourceFile] | None = None,
    missing: Literal["error", "skip"] = "error",
) -> GitSnapshot:
    """Return the commit's source files; paths in ``keep`` bypass the filters.

    ``missing="skip"`` skips, with a reason, files whose contents a partial clone lacks.
    """
    full = resolve_commit(clone, commit)
    if full is None:
        raise UsageError(f"{clone} has no commit {commit}: fetch it, or give a clone with the whole history")
    blobs, skipped = [], []
    folders: dict[str, str] = {}
    listed = list_tree(clone, full)
    absent = absent_objects(clone, [blob.object_id for blob in listed]) if missing == "skip" else frozenset()
    for blob in listed:
        reason = "" if blob.path in keep else _unwanted(blob.path, languages, folders)
        if not reason and blob.object_id in absent:
            reason = "object not in the clone"
        if reason:
            skipped.append(Skipped(blob.path, reason))
        else:
            blobs.append(blob)
    return GitSnapshot(name, clone, full, tuple(blobs), frozenset(keep), tuple(skipped), transform)


def _unwanted(path: str, languages: Collection[str], folders: dict[str, str]) -> str:
    """Return why a file is skipped without reading its contents, or nothing; ``folders`` caches verdicts."""
    folder = path.rpartition("/")[0]
    if folder not in folders:
        folders[folder] = unfit_path(path)
    language = language_of(path)
    if folders[folder]:
        return folders[folder]
    if not name_decides(path) and not languages:
        return ""
    if language is None:
        return "no known language"
    if language in DATA_LANGUAGES:
        return "data file"
    return "other language" if languages and language not in languages else ""
