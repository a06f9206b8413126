"""The chunks that one chunker makes of some files: records kept by earlier runs, plus those added now."""

from __future__ import annotations

from collections.abc import Sequence

from chunkers.types import SourceFile
from evaluation.experiment.chunk_ids import ids_name, ids_record, read_ids
from evaluation.experiment.chunk_table import ChunkPart
from evaluation.experiment.file_chunks import FileChunks, read_records
from evaluation.experiment.loaded_dataset import KnownFile
from evaluation.experiment.packs import Packs


class BlockCuts:
    """Two records per file: its cuts, which repositories may share, and the ids of its chunks, which they do not.

    The text of a file is needed only if one of them is missing.
    """

    def __init__(self, packs: Packs, files: Sequence[KnownFile]) -> None:
        self._packs, self._files = packs, files
        found = packs.find([known.key for known in files])
        self._cuts = {place: found[known.key] for place, known in enumerate(files) if known.key in found}
        names = {place: self._ids_name(place) for place in self._cuts}
        found = packs.find(list(names.values()))
        self._ids = {place: found[name] for place, name in names.items() if name in found}
        self._fresh: dict[bytes, bytes] = {}

    @property
    def unfinished(self) -> set[int]:
        """The positions of the files whose text is needed."""
        return set(range(len(self._files))) - self._ids.keys()

    def lacks_cut(self, place: int) -> bool:
        """Return whether a file has not been cut yet."""
        return place not in self._cuts

    def add(self, place: int, cut: FileChunks) -> None:
        """Add the result for a file; it is kept for later runs unless the chunker failed."""
        self._cuts[place] = cut.to_bytes()
        if cut.failed:
            self._ids[place] = b""
        else:
            self._fresh[self._files[place].key] = self._cuts[place]

    def add_ids(self, place: int, source: SourceFile) -> None:
        """Add the ids of a file's chunks, unless they are already known or the file was not cut."""
        if place in self._cuts and place not in self._ids:
            self._ids[place] = self._fresh[self._ids_name(place)] = ids_record(source, self._cuts[place])

    def save(self) -> None:
        """Store what was added for later runs."""
        self._packs.add(self._fresh)

    def part(self) -> ChunkPart:
        """Return the chunks of all files; every file must be finished."""
        places = range(len(self._files))
        return ChunkPart(
            files=tuple(known.file for known in self._files),
            cuts=read_records([self._cuts[place] for place in places]),
            ids=read_ids([self._ids[place] for place in places]),
        )

    def _ids_name(self, place: int) -> bytes:
        known = self._files[place]
        return ids_name(known.file.repo, known.key, self._cuts[place])
