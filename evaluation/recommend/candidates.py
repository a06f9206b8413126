"""The candidates: families of chunkers at several sizes by default, or as named by the user."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from chunkers.registry import CHUNKERS
from chunkers.size_matching import mean_size
from chunkers.sizes import ruler
from chunkers.types import SourceFile
from ground_truth.types import Dataset

SIZES = (300, 500, 900, 1500, 2500, 4000)
"""Mean sizes of each family, in non-whitespace characters."""
_SAMPLE = 150_000
"""Bytes of source on which the limits are chosen."""
_TRIED = (200, *SIZES, 8000)
"""Limits, in roughly the same unit, whose mean sizes are measured: most chunks are smaller than their limit."""
_LEAST_LIMIT = 8
_LONGEST_FILE = 1_000_000


class Family(NamedTuple):
    """A chunker whose limit is to be chosen: ``{n}`` in its spec, ``{half}`` for half of it."""

    name: str
    spec: str

    def at(self, limit: int) -> str:
        """Return the spec with this limit."""
        return self.spec.format(n=limit, half=max(1, limit // 2))


FAMILIES = (
    Family("cast", "cast:size={n}"),
    Family("cast, path as header", "cast:size={n},header=path"),
    Family("code-chunk", "code-chunk:size={n}"),
    Family("recursive", "recursive:size={n}"),
    Family("fixed-lines", "fixed-lines:lines={n}"),
    Family("sliding-window", "sliding-window:window={n},step={half}"),
    Family("fixed-tokens", "fixed-tokens:tokens={n}"),
)
SIZELESS = ("definitions:size=4000", "declarations:size=4000")
"""Chunkers whose chunks are as large as what they cut out; only the largest are cut further."""


class Candidate(NamedTuple):
    """A chunker that may be recommended."""

    spec: str
    family: str
    """Shared with the same chunker at other sizes."""


def default_candidates(dataset: Dataset, *, seed: int) -> list[Candidate]:
    """Return every family at every size, with limits that give roughly these mean sizes on this code."""
    sources = _sample(dataset, seed)
    if not sources:
        raise UsageError("there is no source file to cut: give a folder of source code")
    # A header moves no cut, so the same limits apply with it and without.
    limits = functools.cache(lambda spec: _limits(Family("", spec), sources))
    found = [
        Candidate(spec, family.name)
        for family in FAMILIES
        for spec in dict.fromkeys(map(family.at, limits(family.spec.partition(",header=")[0])))
    ]
    return [*found, *(Candidate(spec, spec.partition(":")[0]) for spec in SIZELESS)]


def read_candidates(written: Iterable[str]) -> list[str]:
    """Return the specs; a file name stands for the specs in that file, one per line, # for comments."""
    specs: list[str] = []
    for each in written:
        path = Path(each)
        if each in CHUNKERS.builtin or not path.is_file():
            specs.append(each)
            continue
        if path.stat().st_size > _LONGEST_FILE:
            raise UsageError(f"{path} is too long to be a list of specs: write one per line")
        try:
            lines = path.read_text("utf-8").splitlines()
        except ValueError:
            raise UsageError(f"{path} is not UTF-8 text: write one spec per line") from None
        named = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
        if not named:
            raise UsageError(f"{path} names no candidate: write one spec per line, such as cast:size=1500")
        specs += named
    return specs


def family_of(spec: str, size_field: str | None) -> str:
    """Return the spec without its size."""
    parsed = Spec.parse(spec)
    return str(Spec(parsed.name, tuple(each for each in parsed.params if each[0] != size_field)))


def _sample(dataset: Dataset, seed: int) -> list[SourceFile]:
    files = [source for repository in dataset.repositories for source in repository.files() if source.data.strip()]
    files.sort(
        key=lambda source: hashlib.sha256(f"{seed}\0{source.repo}\0{source.path}".encode(errors="replace")).digest()
    )
    until = list(itertools.accumulate(len(source.data) for source in files))
    return [source for source, end in zip(files, until, strict=True) if end - len(source.data) < _SAMPLE]


def _limits(family: Family, sources: Sequence[SourceFile]) -> list[int]:
    """Return the limits that bring the mean near each size, interpolated between those tried."""
    limit = CHUNKERS.create(family.at(100)).limit
    unit = limit.unit if limit is not None else "nws"
    rulers = [ruler(source.data, "nws") for source in sources]
    units = sum(len(ruler(source.data, unit).starts) for source in sources)
    per_unit = sum(len(each.starts) for each in rulers) / max(units, 1)
    tried = [max(_LEAST_LIMIT, round(size / max(per_unit, 0.01))) for size in _TRIED]
    reached = [mean_size(CHUNKERS.create(family.at(each)), sources, rulers) for each in tried]
    # The curve is read by size: where larger limits no longer change anything, the last one is taken.
    means = np.maximum.accumulate(np.array(reached) + np.arange(len(reached)) * 1e-6)
    wanted = np.exp(np.interp(np.log(SIZES), np.log(means), np.log(tried)))
    return [_rounded(float(each)) for each in wanted]


def _rounded(value: float) -> int:
    """Round the number to two significant digits."""
    step: int = 10 ** max(0, len(str(int(value))) - 2)
    return max(_LEAST_LIMIT, round(value / step) * step)
