"""Where chunks begin and end is known in every unit without reading their files again."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from chunkers.registry import CHUNKERS
from chunkers.sizes import Ruler, ruler
from chunkers.sources import walk
from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import FileKey, build_chunks
from evaluation.experiment.file_rulers import file_rulers

CODE = Path(__file__).parent / "fixtures" / "code"


@pytest.mark.parametrize("unit", get_args(SizeUnit))
@pytest.mark.parametrize("spec", ["cast:size=300", "sliding-window:window=6,step=2", "definitions", "whole-file"])
def test_a_file_ruler_is_the_ruler_of_its_file(spec: str, unit: SizeUnit) -> None:
    """At the edges of chunks, which overlap or not, and everywhere else."""
    folder = walk(CODE)
    data = {source.path: source.data for source in folder.files()}

    def ruler_of(file: FileKey, unit: SizeUnit) -> Ruler:
        return ruler(data[file.path], unit)

    chunks = build_chunks([folder], CHUNKERS.create(spec), ruler_of=ruler_of)
    rulers = file_rulers(chunks, unit, ruler_of)
    assert len(rulers) == len(data)
    for number, file in enumerate(chunks.files):
        whole = ruler(data[file.path], unit)
        of_file = chunks.columns["file"] == number
        edges = np.concatenate((chunks.columns["start"][of_file], chunks.columns["end"][of_file]))
        everywhere = np.arange(len(data[file.path]) + 1)
        assert np.array_equal(rulers[number].at(edges), whole.at(edges))
        assert np.array_equal(rulers[number].at(everywhere), whole.at(everywhere))


def test_no_file_is_read_for_the_edges_of_its_chunks() -> None:
    """Rankings show thousands of files; only those with gold are read."""
    asked: list[FileKey] = []

    def ruler_of(file: FileKey, unit: SizeUnit) -> Ruler:
        asked.append(file)
        return ruler((CODE / file.path).read_bytes(), unit)

    chunks = build_chunks([walk(CODE)], CHUNKERS.create("cast:size=300"), ruler_of=ruler_of)
    asked.clear()
    rulers = file_rulers(chunks, "tokens", ruler_of)
    inside = int(chunks.columns["start"][0]) + 1
    rulers[0].at(np.array([int(chunks.columns["end"][0])]))
    assert asked == []
    rulers[0].at(np.array([inside]))
    rulers[0].at(np.array([inside]))
    assert asked == [chunks.files[0]]
