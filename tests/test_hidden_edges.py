"""Hidden ranges are measured in the units of their files, once for all runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from chunkers.sizes import ruler
from chunkers.sources import Repository, Skipped, walk
from chunkers.types import SizeUnit, SourceFile
from evaluation.experiment.file_tokens import record_of
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.packs import Packs, file_key
from evaluation.experiment.store import Store
from ground_truth.types import Dataset, HiddenSpan

CODE = Path(__file__).parent / "fixtures" / "code"
SOURCES = list(walk(CODE, name="code").files())
HIDDEN = tuple(
    HiddenSpan("code", source.path, start, start + 7) for source in SOURCES[1::2] for start in (3, 20, len(source.data))
)


@dataclass
class Listed:
    """Files that can be listed, and read again only as often as a test allows."""

    inner: Repository
    readings: int

    name: str = "code"
    skipped: Sequence[Skipped] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield all of them."""
        return self.inner.files()

    def read(self, path: str) -> SourceFile | None:
        """Return one of them."""
        self.readings -= 1
        assert self.readings >= 0, f"{path} is read"
        return self.inner.read(path)


def loaded(packs: Packs | None, *, readings: int = 1_000) -> LoadedDataset:
    """Return a dataset that hides something in every second file."""
    dataset = Dataset("code", (Listed(walk(CODE, name="code"), readings),), (), (), hidden=HIDDEN)
    return LoadedDataset("code", dataset, "", "", "", "some", tokens=packs)


def packs_of(folder: Path) -> Packs:
    """Return the records of a store, opened now."""
    return Packs(Store(folder), "tokens", {})


def expected(unit: SizeUnit) -> np.ndarray:
    """Return the units before both edges of each range, counted in each file."""
    held = {source.path: source.data for source in SOURCES}
    return np.array([ruler(held[path], unit).at(np.array([start, end])) for _, path, start, end in sorted(HIDDEN)])


@pytest.mark.parametrize("unit", ["tokens", "nws", "lines"])
@pytest.mark.parametrize("kept", [True, False])
def test_ranges_are_measured_in_their_files(unit: SizeUnit, kept: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    """With a store or without one; a file that nobody asks for is not looked at."""
    edges = loaded(packs_of(tmp_path) if kept else None).hidden_edges
    assert edges.files.tolist() == list(range(1, len(SOURCES), 2))
    assert set(edges.counts.tolist()) == {3}
    assert edges.ranges.tolist() == [[start, end] for _, _, start, end in sorted(HIDDEN)]
    some = edges.units_before(unit, np.array([0, 2])).copy()
    everything = edges.units_before(unit, np.arange(len(edges.files)))
    assert np.array_equal(everything, expected(unit))
    asked = np.repeat(np.isin(np.arange(len(edges.files)), [0, 2]), 3)
    assert np.array_equal(some[asked], everything[asked])
    assert (some[~asked] == -1).all()


@pytest.mark.parametrize("unit", ["tokens", "nws"])
def test_what_was_measured_before_is_not_read_again(unit: SizeUnit, tmp_path: Path) -> None:
    """Neither in another run nor under another unit's name; other ranges of a file are other ranges."""
    everything = np.arange(len(HIDDEN) // 3)
    loaded(packs_of(tmp_path)).hidden_edges.units_before(unit, everything)
    again = loaded(packs_of(tmp_path), readings=0).hidden_edges.units_before(unit, everything)
    assert np.array_equal(again, expected(unit))
    with pytest.raises(AssertionError, match="is read"):
        loaded(packs_of(tmp_path), readings=0).hidden_edges.units_before("lines", everything)


def test_tokens_that_were_counted_are_not_counted_again(tmp_path: Path) -> None:
    """The kept record of a file's tokens is enough."""
    packs = packs_of(tmp_path)
    packs.add({file_key(source): record_of(ruler(source.data, "tokens")) for source in SOURCES})
    found = loaded(packs, readings=0).hidden_edges.units_before("tokens", np.arange(len(HIDDEN) // 3))
    assert np.array_equal(found, expected("tokens"))


def test_where_nothing_is_hidden_there_are_no_edges() -> None:
    """No file, no range, and nothing to measure."""
    dataset = Dataset("code", (walk(CODE, name="code"),), (), ())
    edges = LoadedDataset("code", dataset, "", "", "").hidden_edges
    assert len(edges.files) == len(edges.counts) == len(edges.ranges) == 0
    assert edges.units_before("tokens", np.zeros(0, dtype=np.int64)).shape == (0, 2)
