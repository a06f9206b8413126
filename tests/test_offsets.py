"""The offset of the first cut: where line and token chunkers begin, and scores averaged over several beginnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import session_of, word_dataset

from chunkers.errors import UsageError
from chunkers.registry import CHUNKERS
from chunkers.types import SourceFile
from evaluation.experiment.offsets import offset_specs
from evaluation.results.folder import read_results

SPECS = ["fixed-lines:lines=7", "fixed-lines:lines=7,overlap=2", "sliding-window:window=6,step=4"]
SPECS += ["fixed-tokens:tokens=20", "fixed-tokens:tokens=20,overlap=5"]


def cuts(spec: str, data: bytes) -> list[tuple[int, int]]:
    """Return the pieces as pairs of bytes."""
    return [(piece.start, piece.end) for piece in CHUNKERS.create(spec).split(SourceFile("a.py", data, "python"))]


@pytest.mark.parametrize("spec", SPECS)
@given(lines=st.integers(0, 60), offset=st.integers(0, 3))
def test_an_offset_moves_every_cut_but_loses_nothing(spec: str, lines: int, offset: int) -> None:
    """Pieces cover the file in order at every offset; offset 0 is no offset."""
    data = b"".join(b"value_%d = compute(%d)\n" % (line, line) for line in range(lines))
    found = cuts(f"{spec},offset={offset}", data)
    covered = 0
    for start, end in found:
        assert start <= covered < end
        covered = end
    assert covered == len(data)
    if not offset:
        assert found == cuts(spec, data)


def test_lines_before_the_first_cut() -> None:
    """The first block has as many lines as the offset, the others are whole."""
    data = b"x\n" * 20
    assert cuts("fixed-lines:lines=6,offset=2", data) == [(0, 4), (4, 16), (16, 28), (28, 40)]


@pytest.mark.parametrize(
    "spec",
    [
        "fixed-lines:lines=5,offset=5",
        "fixed-lines:lines=5,overlap=2,offset=3",
        "sliding-window:step=4,offset=4",
        "fixed-tokens:offset=-1",
    ],
)
def test_an_offset_beyond_the_period_is_refused(spec: str) -> None:
    """It would be another offset, or none."""
    with pytest.raises(UsageError, match="offset must be from 0 to"):
        CHUNKERS.create(spec)


def test_scores_are_averaged_over_offsets(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """One row stands for all offsets: per-query means, with the mean at each offset beside them."""
    shared = [repository, "--annotations", tmp_path / "gold.jsonl", "--retriever", "bm25", "--chunker", "cast:size=300"]
    both = [*shared, "--chunker", "fixed-lines:lines=9"]
    made: Any = chunkbench("compare", *both, "--offsets", 3, "--out", tmp_path / "mean", "--json")
    assert made.code == 0
    cell = next(each for each in made.json["cells"] if each["chunker"] == "fixed-lines:lines=9")
    assert len(cell["offsets"]["ndcg@10"]) == 3
    single = [part for start in (0, 3, 6) for part in ("--chunker", f"fixed-lines:lines=9,offset={start}")]
    assert chunkbench("compare", *shared, *single, "--out", tmp_path / "single").code == 0
    apart = [each for each in read_results(tmp_path / "single").cells if "offset" in each.key.chunker]
    mean = next(each for each in read_results(tmp_path / "mean").cells if each.key.chunker == "fixed-lines:lines=9")
    expected = np.mean([each.scores["ndcg@10"] for each in apart], axis=0)
    assert np.allclose(mean.scores["ndcg@10"], expected, atol=1e-12)
    assert cell["offsets"]["ndcg@10"] == pytest.approx([each.scores["ndcg@10"].mean() for each in apart])


def test_an_offset_that_is_averaged_is_no_chunker_beside_it(tmp_path: Path) -> None:
    """It would count twice in the mean, and have no row of its own; any other offset has one."""
    both = ("fixed-lines:lines=6", "fixed-lines:lines=6,offset=2")
    with pytest.raises(UsageError, match="offset=2 is one of the 3 offsets over which fixed-lines:lines=6 is averaged"):
        offset_specs(session_of(word_dataset(), tmp_path, chunkers=both, offsets=3))
    assert list(offset_specs(session_of(word_dataset(), tmp_path, chunkers=both, offsets=2))) == [both[0]]
