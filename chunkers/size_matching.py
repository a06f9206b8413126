"""Size matching: the limit of each chunker at which its chunks are, on average, as large as those of the others."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from chunkers.cut_errors import CutError, failed_on_all, over_one_file
from chunkers.errors import UsageError, reason_of
from chunkers.plain_text import one_line
from chunkers.registry import CHUNKERS
from chunkers.sizes import Ruler, ruler
from chunkers.splitting import piece_edges
from chunkers.types import Chunker, SizeLimit, SizeUnit, SourceFile

TOLERANCE = 0.02
_USUAL = 0.63
"""Typical ratio of mean size to limit, before anything is measured."""
_AHEAD = 8
"""Limits measured together."""
_LARGEST = 1 << 24
_SIZE = re.compile(r"0*[1-9][0-9]{0,8}\Z")
_UNITS: tuple[SizeUnit, ...] = ("nws", "tokens", "lines")


MeansAt = Callable[[Sequence[int]], Mapping[int, float | Exception]]
"""Limits, the required one first and then likely ones → the mean size of each, or what it raises.

The first is measured; of the others, as many as add little cost.
"""


class Match(NamedTuple):
    """The chunker with its chosen limit, and the resulting mean chunk size."""

    chunker: Chunker
    field: str
    chosen: int
    mean: float


def parse_target(text: str) -> SizeLimit:
    """Parse ``nws=1200`` or ``tokens=300``: the mean size to reach, and its unit."""
    unit, equals, amount = text.partition("=")
    if unit not in _UNITS or not equals or not _SIZE.match(amount):
        raise UsageError(
            f"{one_line(text, limit=80)!r} is not a size: write one of {', '.join(f'{unit}=N' for unit in _UNITS)}, "
            "N above 0 and below a billion"
        )
    return SizeLimit(unit, int(amount))


def matched(spec: str, sources: Sequence[SourceFile], target: SizeLimit, *, chunker: Chunker | None = None) -> Match:
    """Return the chunker of this spec, or the one given, with the limit whose mean size is nearest the target.

    The limit is found by bisection, since larger limits make larger chunks. A chunker without a limit, or one that
    cannot come within 2 % whatever its limit (definitions are as large as they are), raises an error that says so.
    """
    rulers = [ruler(source.data, target.unit) for source in sources]
    made = chunker or CHUNKERS.create(spec)

    def means_at(limits: Sequence[int]) -> dict[int, float | Exception]:
        try:
            return {limits[0]: mean_size(with_limit(made, limits[0]), sources, rulers)}
        except (UsageError, CutError) as error:
            return {limits[0]: error}

    try:
        return match_by(spec, made, target, means_at=means_at)
    except CutError as error:
        raise UsageError(f"{spec} {error}") from error


def match_by(spec: str, chunker: Chunker, target: SizeLimit, *, means_at: MeansAt) -> Match:
    """Do the same, given a function from limits to mean sizes, wherever the sources are."""
    field = getattr(chunker, "size_field", None)
    if field is None:
        raise UsageError(f"{spec} has no size to match; leave it out or do not match sizes")
    limit = getattr(chunker, "limit", None)
    usual = _USUAL if limit is not None and limit.unit == target.unit else None
    means = _Means(means_at, target.amount, usual)
    tried = _tried(means.at, target.amount)
    if not tried:
        raise UsageError(f"{spec} takes no limit: {means.refusal}")
    chosen = min(tried, key=lambda limit: (abs(tried[limit] - target.amount), limit))
    mean = tried[chosen]
    if abs(mean - target.amount) > TOLERANCE * target.amount:
        wanted = f"a mean of {target.amount} {target.unit}"
        raise UsageError(f"{spec} cannot reach {wanted} on these files: {field}={chosen} gives {mean:.1f}")
    return Match(with_limit(chunker, chosen), field, chosen, mean)


def mean_size(chunker: Chunker, sources: Sequence[SourceFile], rulers: Sequence[Ruler]) -> float:
    """Return the mean size of all chunks of the files that can be cut, by the rulers of the files; 0 if there are none.

    Raise a CutError if no file can be cut.
    """
    count = size = 0
    failed: dict[str, str] = {}
    for source, units in zip(sources, rulers, strict=True):
        try:
            chunks, held = sizes_of(chunker, source, units)
        except CutError as error:
            failed[source.path] = str(error)
            continue
        count, size = count + chunks, size + held
    if failed and len(failed) == len(sources):
        raise CutError(failed_on_all(failed))
    return size / count if count else 0.0


def sizes_of(chunker: Chunker, source: SourceFile, units: Ruler) -> tuple[int, int]:
    """Return the number of chunks of a file, and their total size; raise a CutError if the chunker fails."""
    with over_one_file():
        pieces = list(dict.fromkeys(chunker.split(source)))
        edges = piece_edges(source.data, pieces)
    if not pieces:
        return 0, 0
    places = units.at(edges)
    return len(pieces), int((places[:, 1] - places[:, 0]).sum())


def _tried(mean_at: Callable[[int], float], target: float) -> dict[int, float]:
    """Return limit → mean of those tried, up to one whose mean is well within the tolerance."""
    tried: dict[int, float] = {}

    def above(limit: int) -> bool:
        try:
            tried[limit] = mean_at(limit)
        except UsageError:
            return False  # too small to be a limit of this chunker (an overlap does not fit into it)
        return tried[limit] >= target

    low, high = 0, max(1, int(target))
    while not above(high) and high < _LARGEST and not _stuck(tried, high):
        low, high = high, high * 2
    while high - low > 1 and not _close(tried, target):
        middle = (low + high) // 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return tried


class _Means:
    """Mean sizes by limit: with each requested limit, the ones likely to be requested next are measured too."""

    def __init__(self, means_at: MeansAt, target: float, usual: float | None) -> None:
        self._means_at, self._target, self._usual = means_at, target, usual
        self._known: dict[int, float | Exception] = {}

    def at(self, limit: int) -> float:
        """Return the mean size under a limit; raise what measuring it raised."""
        if limit not in self._known:
            self._known |= self._means_at(self._ahead(limit))
        return _value(self._known[limit])

    @property
    def refusal(self) -> Exception | None:
        """The error for the first limit, if any."""
        return next((mean for mean in self._known.values() if isinstance(mean, Exception)), None)

    def _ahead(self, limit: int) -> list[int]:
        """Return the limit, and those that the search would request next if every guess were right."""
        if self._usual is None and not any(isinstance(mean, float) for mean in self._known.values()):
            return [limit]
        asked = []

        def guess(other: int) -> float:
            known = self._known.get(other)
            if isinstance(known, float | UsageError):
                return _value(known)
            if known is None:
                asked.append(other)
            return self._guess(other)

        _tried(guess, self._target)
        return list(dict.fromkeys((limit, *asked)))[:_AHEAD]

    def _guess(self, limit: int) -> float:
        """Estimate a mean linearly between the limits on either side, or through the nearest if there is only one."""
        known = sorted((other, mean) for other, mean in self._known.items() if isinstance(mean, float))
        below = [pair for pair in known if pair[0] < limit][-1:]
        above = [pair for pair in known if pair[0] > limit][:1]
        for (low, small), (high, large) in zip(below, above, strict=False):
            return small + (large - small) * (limit - low) / (high - low)
        for other, mean in (*below, *above):
            return mean * limit / other
        return limit * (self._usual or 1.0)


def _value(mean: float | Exception) -> float:
    if isinstance(mean, Exception):
        raise mean
    return mean


def _stuck(tried: dict[int, float], high: int) -> bool:
    """Return whether doubling the limit three times has changed nothing: nothing is left to merge."""
    return len(tried) > 3 and len({tried.get(high >> step) for step in range(4)}) == 1


def _close(tried: dict[int, float], target: float) -> bool:
    return any(abs(mean - target) <= TOLERANCE / 4 * target for mean in tried.values())


def with_limit(chunker: Any, limit: int) -> Any:  # noqa: ANN401 - the chunker's own class
    """Return the chunker with another limit; raise a UsageError if it does not accept it."""
    try:
        return dataclasses.replace(chunker, **{chunker.size_field: limit})
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{chunker.size_field}={limit}: {reason_of(error)}") from error
