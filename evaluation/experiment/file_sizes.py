"""Mean chunk sizes over a sample of files, under several limits at once, cached per file content."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from chunkers.cut_errors import CutError, failed_on_all
from chunkers.errors import UsageError
from chunkers.size_matching import sizes_of, with_limit
from chunkers.syntax import shared_tree
from chunkers.types import Chunker, SizeUnit, SourceFile
from evaluation.experiment.blocks import even_blocks
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.executors import Executor
from evaluation.experiment.keys import cutting_versions
from evaluation.experiment.packs import Packs
from evaluation.experiment.session import Session
from evaluation.experiment.sharing import sharing

_SAMPLE = 20_000_000
"""Bytes of source in the sample: enough for the mean to settle."""
_RECORD = struct.Struct("<qq")

Limit = int | None
"""None: the chunker's own limit."""


class _Place(NamedTuple):
    """A file of the sample."""

    dataset: str
    number: int
    """Its index among the files of the dataset."""


class _Block(NamedTuple):
    """Files measured by one task."""

    places: tuple[_Place, ...]


class _Sizes(NamedTuple):
    """The number of chunks of a file, and their total sizes."""

    chunks: int
    size: int


_FileSizes = list[_Sizes | str] | Exception
"""The sizes of each file, or why it could not be cut; or why the limit is not possible."""


class Sample:
    """The sampled files; they are read only where a size is not in the store."""

    def __init__(self, session: Session, executor: Executor, open_: ExitStack) -> None:
        self._session, self._executor, self._open = session, executor, open_

    @property
    def corpora(self) -> list[str]:
        """The names of the corpora."""
        return [self._session.dataset(spec).corpus for spec in self._session.config.datasets]

    def mean(self, spec: str, unit: SizeUnit) -> float:
        """Return the mean size of all chunks under a chunker with its own limit."""
        found = self.means(spec, unit, (None,))[None]
        if isinstance(found, CutError):
            raise UsageError(f"{spec} {found}")
        if isinstance(found, Exception):
            raise found
        return found

    def means(self, spec: str, unit: SizeUnit, limits: Sequence[Limit]) -> dict[Limit, float | Exception]:
        """Return the mean size of all chunks under a chunker with each limit, or why the limit is not possible.

        A file that cannot be cut is skipped; if none can be, that is a CutError. Only sizes are kept in the store.
        """
        refused: dict[Limit, Exception] = {}
        kept: dict[Limit, Packs] = {}
        for limit in limits:
            try:
                inputs = _inputs(_limited(self._session.chunker(spec), limit), unit)
            except UsageError as error:
                refused[limit] = error
            else:
                kept[limit] = Packs(self._session.store, "sizes", inputs)
        found: dict[Limit, dict[bytes, bytes]] = {limit: packs.find(self._names) for limit, packs in kept.items()}
        failed: dict[Limit, dict[str, str]] = {limit: {} for limit in kept}
        new = [number for number, name in enumerate(self._names) if any(name not in each for each in found.values())]
        if new:
            made = self._measure(functools.partial(_measured, self._session, spec, unit, tuple(kept)), new)
            for limit, sizes in made.items():
                if isinstance(sizes, Exception):
                    refused[limit] = sizes
                    continue
                both = list(zip(new, sizes, strict=True))
                records = {self._names[at]: _RECORD.pack(*each) for at, each in both if isinstance(each, _Sizes)}
                kept[limit].add({name: record for name, record in records.items() if name not in found[limit]})
                found[limit] |= records
                failed[limit] = {self._path(at): each for at, each in both if isinstance(each, str)}
        means = {limit: self._mean(each, failed[limit]) for limit, each in found.items() if limit not in refused}
        return refused | means

    def _mean(self, records: Mapping[bytes, bytes], failed: Mapping[str, str]) -> float | Exception:
        sizes = [_Sizes(*_RECORD.unpack(records[name])) for name in self._names if name in records]
        if failed and not sizes:
            return CutError(failed_on_all(failed))
        count = sum(each.chunks for each in sizes)
        return sum(each.size for each in sizes) / count if count else 0.0

    def _measure(
        self, work: Callable[[_Block], Mapping[Limit, _FileSizes]], new: Sequence[int]
    ) -> dict[Limit, _FileSizes]:
        """Return the sizes of some files for each limit, or the error of the first file that has one."""
        # Imported only when there is something to measure: in most runs every size is in the store.
        self._open.enter_context(sharing(self._session, self._executor, self._session.config.datasets))
        parts = even_blocks([self._bytes[number] for number in new])
        blocks = {_Block(tuple(self._places[number] for number in new[part.start : part.stop])): part for part in parts}
        outcomes: dict[int, Mapping[Limit, _FileSizes]] = {}
        for outcome in self._executor.map(work, list(blocks)):
            if outcome.value is None:
                raise outcome.exception
            outcomes[blocks[outcome.task].start] = outcome.value
        made: dict[Limit, _FileSizes] = {}
        for start in sorted(outcomes):
            for limit, sizes in outcomes[start].items():
                known = made.get(limit, [])
                if not isinstance(known, Exception):
                    made[limit] = sizes if isinstance(sizes, Exception) else [*known, *sizes]
        return made

    def _path(self, number: int) -> str:
        place = self._places[number]
        file = self._session.dataset(place.dataset).files[place.number].file
        return f"{file.repo}/{file.path}"

    @functools.cached_property
    def _places(self) -> list[_Place]:
        chosen = []
        left = _SAMPLE
        for spec in self._session.config.datasets:
            loaded = self._session.dataset(spec)
            rank = {repository.name: number for number, repository in enumerate(loaded.dataset.repositories)}
            for number in sorted(range(len(loaded.files)), key=lambda each: rank[loaded.files[each].file.repo]):
                if left > 0:
                    left -= loaded.files[number].size
                    chosen.append(_Place(spec, number))
        return chosen

    @functools.cached_property
    def _names(self) -> list[bytes]:
        return [self._session.dataset(place.dataset).files[place.number].key for place in self._places]

    @functools.cached_property
    def _bytes(self) -> list[int]:
        return [self._session.dataset(place.dataset).files[place.number].size for place in self._places]


def _measured(
    session: Session, spec: str, unit: SizeUnit, limits: Sequence[Limit], block: _Block
) -> dict[Limit, _FileSizes]:
    """Return the sizes of each file of a block under every limit; an exception from a limit is that limit's result."""
    chunkers = {limit: _limited(session.chunker(spec), limit) for limit in limits}
    made: dict[Limit, _FileSizes] = {limit: [] for limit in limits}
    for place in block.places:
        loaded = session.dataset(place.dataset)
        file = loaded.files[place.number].file
        source = SourceFile(file.path, loaded.read(file), file.language, file.repo)
        units = loaded.ruler(file, unit)
        with shared_tree():
            for limit, sizes in made.items():
                if isinstance(sizes, Exception):
                    continue
                try:
                    sizes.append(_Sizes(*sizes_of(chunkers[limit], source, units)))
                except CutError as error:
                    sizes.append(str(error))
                except UsageError as error:
                    made[limit] = UsageError(str(error))
    return made


def _limited(chunker: Chunker, limit: Limit) -> Chunker:
    return chunker if limit is None else with_limit(chunker, limit)


def _inputs(chunker: Chunker, unit: SizeUnit) -> dict[str, Any]:
    """Return what determines the sizes of a file's chunks, apart from the file."""
    return {
        "chunker": plugin_inputs(chunker),
        "unit": unit,
        "versions": cutting_versions(),
        "code": code_of("evaluation.experiment.file_sizes"),
    }
