"""Edges of chunks are known in every unit without reading their files again; what is hidden is not counted."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from corpus_tables import build_chunks

from chunkers.registry import CHUNKERS
from chunkers.sizes import Ruler, ruler
from chunkers.sources import walk
from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, CorpusFile
from evaluation.experiment.file_rulers import file_rulers, visible_bytes
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.visible_chunks import searchable_rows, visible_sizes
from ground_truth.types import Dataset, HiddenSpan

CODE = Path(__file__).parent / "fixtures" / "code"
CHUNKERS_TRIED = ["cast:size=300", "sliding-window:window=6,step=2", "definitions", "whole-file"]


def loaded_code(*, hidden: tuple[HiddenSpan, ...] = ()) -> LoadedDataset:
    """Return the sample files as a dataset without queries."""
    dataset = Dataset("code", (walk(CODE, name="code"),), (), (), hidden=hidden)
    return LoadedDataset("code", dataset, "", "", "", repr(hidden) if hidden else "")


def chunk(loaded: LoadedDataset, spec: str) -> ChunkTable:
    """Return the chunks of the dataset."""
    return build_chunks(loaded.dataset.repositories, CHUNKERS.create(spec))


def some_hidden(seed: int) -> tuple[HiddenSpan, ...]:
    """Return a few spans of every second file, one of which touches the file's end."""
    rng = np.random.default_rng(seed)
    spans = []
    for source in list(walk(CODE, name="code").files())[::2]:
        size = len(source.data)
        edges = sorted({int(edge) for edge in rng.integers(0, size, 6)})
        spans += [HiddenSpan("code", source.path, a, b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
        spans.append(HiddenSpan("code", source.path, size - 5, size))
    return tuple(spans)


@pytest.mark.parametrize("unit", get_args(SizeUnit))
@pytest.mark.parametrize("spec", CHUNKERS_TRIED)
def test_a_file_ruler_is_the_ruler_of_its_file(spec: str, unit: SizeUnit) -> None:
    """At the edges of chunks, which overlap or not, and everywhere else."""
    loaded = loaded_code()
    chunks = chunk(loaded, spec)
    rulers = file_rulers(chunks, unit, loaded)
    assert len(rulers) == len(chunks.files) > 10
    for number, file in enumerate(chunks.files):
        data = loaded.read(file)
        whole = ruler(data, unit)
        of_file = chunks.columns["file"] == number
        edges = np.concatenate((chunks.columns["start"][of_file], chunks.columns["end"][of_file]))
        everywhere = np.arange(len(data) + 1)
        assert np.array_equal(rulers[number].at(edges), whole.at(edges))
        assert np.array_equal(rulers[number].at(everywhere), whole.at(everywhere))


@pytest.mark.parametrize("unit", get_args(SizeUnit))
@pytest.mark.parametrize("spec", CHUNKERS_TRIED)
def test_what_is_hidden_is_counted_nowhere(spec: str, unit: SizeUnit) -> None:
    """A unit belongs to where it begins: rulers, sizes of chunks and bytes are those of a count one by one."""
    loaded = loaded_code(hidden=some_hidden(3))
    chunks = chunk(loaded, spec)
    rulers, plain, sizes = file_rulers(chunks, unit, loaded), visible_bytes(chunks, loaded), chunks.sizes(unit)
    shown = visible_sizes(loaded, chunks, unit)
    for number, file in enumerate(chunks.files):
        data = loaded.read(file)
        covered = np.zeros(len(data), dtype=bool)
        for start, end in loaded.hidden_ranges(file).tolist():
            covered[start:end] = True
        everywhere = np.arange(len(data) + 1)
        begins = np.diff(ruler(data, unit).at(everywhere)) * ~covered
        counted = np.concatenate(([0], np.cumsum(begins)))
        assert np.array_equal(rulers[number].at(everywhere), counted)
        edges = np.concatenate([chunks.columns[name][chunks.columns["file"] == number] for name in ("start", "end")])
        assert np.array_equal(rulers[number].at(edges), counted[edges])
        assert np.array_equal(plain[number].at(everywhere), np.concatenate(([0], np.cumsum(~covered))))
        rows = np.flatnonzero(chunks.columns["file"] == number)
        starts, ends = chunks.columns["start"][rows], chunks.columns["end"][rows]
        if unit != "lines":
            assert np.array_equal(shown[rows], counted[ends] - counted[starts])
            assert covered.any() or np.array_equal(shown[rows], sizes[rows])


def test_a_chunk_of_which_all_is_hidden_is_not_searched() -> None:
    """One that has something to show is, and so is one that never had anything but blanks."""
    (source, *_) = walk(CODE, name="code").files()
    plain = chunk(loaded_code(), "fixed-lines:lines=1")
    rows = np.flatnonzero(plain.columns["file"] == 0)
    words = [row for row in rows.tolist() if plain.sizes("nws")[row] > 1]
    whole, part = words[0], words[1]
    spans = (
        HiddenSpan("code", source.path, int(plain.columns["start"][whole]), int(plain.columns["end"][whole])),
        HiddenSpan("code", source.path, int(plain.columns["start"][part]), int(plain.columns["start"][part]) + 1),
    )
    loaded = loaded_code(hidden=spans)
    searched = searchable_rows(loaded, chunk(loaded, "fixed-lines:lines=1"))["code"].tolist()
    assert searched == [row for row in range(len(plain)) if row != whole]
    assert any(plain.sizes("nws")[row] == 0 for row in searched)


@pytest.mark.parametrize("spec", ["fixed-lines:lines=1", "fixed-lines:lines=3", "cast:size=60"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_searched_is_what_has_something_to_show(spec: str, seed: int) -> None:
    """As a count of every chunk's visible characters says; the sizes are found once for a table and what is hidden."""
    chunks = chunk(loaded_code(), spec)
    sizes = chunks.sizes("nws")
    for hidden in (some_hidden(seed), every_other_line(chunks, seed), ()):
        loaded = loaded_code(hidden=hidden)
        shown = visible_sizes(loaded, chunks, "nws")
        assert visible_sizes(loaded, chunks, "nws") is shown
        found = (shown > 0) | (shown == sizes)
        assert searchable_rows(loaded, chunks)["code"].tolist() == np.flatnonzero(found).tolist()
        assert found.all() or hidden


def every_other_line(chunks: ChunkTable, seed: int) -> tuple[HiddenSpan, ...]:
    """Return whole chunks, with the end of the one before or the beginning of the next."""
    columns = chunks.columns
    return tuple(
        HiddenSpan(
            "code", chunks.files[columns["file"][row]].path, max(int(columns["start"][row]) - seed, 0),
            int(columns["end"][row]) + seed % 2,
        )
        for row in range(seed, len(chunks), 2)
    )  # fmt: skip


def test_no_file_is_read_for_the_edges_of_its_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rankings show thousands of files; only those with gold are read."""
    asked: list[CorpusFile] = []
    real = LoadedDataset.ruler

    def counted(loaded: LoadedDataset, file: CorpusFile, unit: SizeUnit) -> Ruler:
        asked.append(file)
        return real(loaded, file, unit)

    loaded = loaded_code()
    chunks = chunk(loaded, "cast:size=300")
    monkeypatch.setattr(LoadedDataset, "ruler", counted)
    rulers = file_rulers(chunks, "tokens", loaded)
    rulers[0].at(np.array([int(chunks.columns["end"][0])]))
    assert asked == []
    rulers[0].at(np.array([int(chunks.columns["start"][0]) + 1]))
    assert asked == [chunks.files[0]]
