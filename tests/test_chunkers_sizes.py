"""Sizes: their distribution, what chunks cover, and how limits are matched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunkers.coverage import Coverage, coverage, total
from chunkers.distribution import distribution
from chunkers.errors import UsageError
from chunkers.languages import language_of
from chunkers.registry import CHUNKERS
from chunkers.size_matching import match_by, matched, mean_size, parse_target
from chunkers.sizes import nws, ruler
from chunkers.types import Piece, SizeLimit, SourceFile

ROOT = Path(__file__).parent.parent / "chunkers"
FILES = [path.read_bytes() for path in sorted(ROOT.glob("*.py"))]
# Three long files: the short last chunk of each weighs little, so the means do not hang on a line more or less.
SOURCES = [SourceFile(f"{part}.py", b"".join(FILES[part::3]), language_of("a.py")) for part in range(3)]


def test_distribution_of_known_sizes() -> None:
    """Quantiles are sizes that occur, and the histogram counts every chunk."""
    found = distribution([10, 20, 30, 40, 100])
    assert (found.count, found.mean) == (5, 40)
    assert found.quantiles == {"min": 10, "p5": 10, "p25": 20, "p50": 30, "p75": 40, "p95": 100, "max": 100}
    assert sum(found.bins) == 5
    assert len(found.edges) == len(found.bins) + 1


def test_distribution_of_nothing() -> None:
    """No chunks have no quantiles, and that is no error."""
    assert distribution([]).count == 0
    assert distribution([0, 0]).bins == (2,)


_SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: Piece(min(pair), max(pair))))


@given(pieces=_SPANS, text=st.text("ab \n", min_size=40, max_size=40))
@example(pieces=[Piece(0, 40)], text="ab" * 20)
@example(pieces=[Piece(0, 40), Piece(10, 20)], text="ab" * 20)
def test_coverage_counts_what_a_loop_counts(pieces: list[Piece], text: str) -> None:
    """Lost and doubled characters are those that a count per character finds."""
    data = text.encode()
    times = [sum(piece.start <= offset < piece.end for piece in pieces) for offset in range(len(data))]
    marked = [count for count, byte in zip(times, data, strict=True) if chr(byte) in "ab"]
    expected = Coverage(len(marked), marked.count(0), sum(count - 1 for count in marked if count))
    assert coverage(data, pieces) == expected


def test_coverages_add_up() -> None:
    """The shares of several files are shares of their sum."""
    both = total([Coverage(100, 10, 0), Coverage(300, 0, 40)])
    assert (both.kept_share, both.doubled_share) == (0.975, 0.1)
    assert coverage(b"", []).kept_share == 1


@pytest.mark.parametrize(
    "spec", ["fixed-lines", "fixed-nws", "recursive", "cast", "code-chunk:header=false", "sliding-window"]
)
@pytest.mark.parametrize("target", [SizeLimit("nws", 1200), SizeLimit("lines", 40)])
def test_matched_chunkers_have_the_mean_that_was_asked_for(spec: str, target: SizeLimit) -> None:
    """Within 2 %, and the match says what it chose."""
    match = matched(spec, SOURCES, target)
    rulers = [ruler(source.data, target.unit) for source in SOURCES]
    assert mean_size(match.chunker, SOURCES, rulers) == match.mean == pytest.approx(target.amount, rel=0.02)
    assert getattr(match.chunker, match.field) == match.chosen


def test_mean_size_is_that_of_all_chunks() -> None:
    """It is the files' size by the number of chunks, where nothing overlaps."""
    chunker = CHUNKERS.create("fixed-nws:size=300")
    count = sum(len(chunker.split(source)) for source in SOURCES)
    rulers = [ruler(source.data, "nws") for source in SOURCES]
    assert mean_size(chunker, SOURCES, rulers) == sum(nws(source.data) for source in SOURCES) / count


@pytest.mark.parametrize(("spec", "message"), [("whole-file", "no size"), ("definitions", "cannot reach")])
def test_what_cannot_be_matched_says_so(spec: str, message: str) -> None:
    """A chunker without a limit, or whose chunks are as large as they are, is an error and not a wrong number."""
    with pytest.raises(UsageError, match=message):
        matched(spec, SOURCES, SizeLimit("nws", 50_000))


@pytest.mark.parametrize("text", ["1200", "nws", "nws=", "nws=0", "nws=-1", "bytes=3", "nws=1.5", "nws=²"])
def test_sizes_that_cannot_be_read_are_refused(text: str) -> None:
    """The message shows how a size is written."""
    with pytest.raises(UsageError, match="nws=N"):
        parse_target(text)


@given(
    st.tuples(st.floats(0.05, 3.0), st.floats(0.5, 1.5), st.integers(0, 40)),
    st.integers(1, 5000),
    st.integers(0, 3),
    st.sampled_from(["fixed-lines", "fixed-nws"]),
)
def test_limits_measured_ahead_change_nothing(
    world: tuple[float, float, int], target: int, least: int, spec: str
) -> None:
    """The limit that is chosen, or the refusal, is that of a search that measures one limit at a time."""
    scale, power, noise = world

    def mean(limit: int) -> float | Exception:
        if limit < least:
            return UsageError("too small")
        if limit % 1009 == 1008:
            return RuntimeError("sometimes")
        return float(scale * limit**power * (1 + (limit * 7919 % 101) / 101 * noise / 100))

    def chosen(*, ahead: int | None) -> object:
        asked: list[int] = []

        def means_at(limits: Sequence[int]) -> dict[int, float | Exception]:
            asked.extend(limits[:ahead])
            return {limit: mean(limit) for limit in limits[:ahead]}

        chunker = CHUNKERS.create(spec)
        try:
            found: object = match_by("spec", chunker, SizeLimit("nws", target), means_at=means_at)
        except (UsageError, RuntimeError) as error:
            found = repr(error)
        assert len(set(asked)) == len(asked)
        return found

    assert chosen(ahead=None) == chosen(ahead=1)
