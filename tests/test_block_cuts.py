"""Chunks of files that earlier runs have cut: nothing is read for them, and their ids are those of their text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chunkers.registry import CHUNKERS
from chunkers.sizes import ruler
from chunkers.sources import walk
from chunkers.splitting import chunk_file
from chunkers.types import SourceFile
from evaluation.experiment.block_cuts import BlockCuts
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.file_chunks import FileChunks, cut_file
from evaluation.experiment.loaded_dataset import KnownFile
from evaluation.experiment.packs import Packs, file_key
from evaluation.experiment.store import Store

SPECS = ("cast:size=200", "cast:size=300,header=path", "sliding-window:window=6,step=2", "whole-file")
SOURCES = list(walk(Path(__file__).parent / "fixtures" / "code", name="code").files())[:6]


def known(sources: Sequence[SourceFile]) -> list[KnownFile]:
    """Return the files as a dataset knows them."""
    return [
        KnownFile(CorpusFile(each.repo, each.path, each.language), file_key(each), len(each.data)) for each in sources
    ]


def opened(folder: Path, sources: Sequence[SourceFile]) -> BlockCuts:
    """Return what the store has of these files, looked up now."""
    return BlockCuts(Packs(Store(folder), "chunked", {}), known(sources))


def finish(cuts: BlockCuts, sources: Sequence[SourceFile], spec: str) -> None:
    """Cut and name what is missing, and keep it."""
    for place in sorted(cuts.unfinished):
        if cuts.lacks_cut(place):
            cuts.add(place, cut(sources[place], spec))
        cuts.add_ids(place, sources[place])
    cuts.save()


def cut(source: SourceFile, spec: str) -> FileChunks:
    """Return what a chunker makes of a file."""
    ((_, made),) = cut_file(source, {"it": CHUNKERS.create(spec)}, lambda: ruler(source.data, "tokens"))
    assert isinstance(made, FileChunks)
    return made


@pytest.mark.parametrize("spec", SPECS)
def test_kept_chunks_are_those_that_were_cut(spec: str, tmp_path: Path) -> None:
    """Spans, headers and ids, in this run and in the next, of any files in any order."""
    finish(opened(tmp_path, SOURCES), SOURCES, spec)
    for sources in (SOURCES, SOURCES[::-2]):
        again = opened(tmp_path, sources)
        assert not again.unfinished
        part = again.part()
        chunks = [chunk for source in sources for chunk in chunk_file(CHUNKERS.create(spec), source)]
        assert part.ids == [chunk.id for chunk in chunks]
        assert part.cuts.headers == [chunk.header for chunk in chunks]
        assert [tuple(row) for row in part.cuts.rows[:, :4].tolist()] == [chunk.span for chunk in chunks]


def test_a_file_of_another_repository_is_named_and_not_cut_again(tmp_path: Path) -> None:
    """Ids depend on the repository, cuts do not."""
    spec = "cast:size=200"
    finish(opened(tmp_path, SOURCES), SOURCES, spec)
    others = [SourceFile(each.path, each.data, each.language, "other") for each in SOURCES]
    cuts = opened(tmp_path, others)
    assert cuts.unfinished == set(range(len(others)))
    assert not any(map(cuts.lacks_cut, cuts.unfinished))
    finish(cuts, others, spec)
    for sources in (SOURCES, others):
        again = opened(tmp_path, sources)
        assert not again.unfinished
        chunks = [chunk for source in sources for chunk in chunk_file(CHUNKERS.create(spec), source)]
        assert again.part().ids == [chunk.id for chunk in chunks]


def test_only_a_changed_file_is_unfinished(tmp_path: Path) -> None:
    """The others need no text."""
    finish(opened(tmp_path, SOURCES), SOURCES, "whole-file")
    changed = list(SOURCES)
    changed[2] = SourceFile(changed[2].path, changed[2].data + b"\n", changed[2].language, changed[2].repo)
    cuts = opened(tmp_path, changed)
    assert cuts.unfinished == {2}
    assert cuts.lacks_cut(2)


def test_a_file_that_could_not_be_cut_is_tried_again(tmp_path: Path) -> None:
    """It has no chunks meanwhile, and nothing of it is kept."""
    made = cut(SOURCES[0], "whole-file")
    failed = FileChunks(made.spans[:0], made.sizes[:0], (), made.coverage, "", "ValueError: no", 0.5)
    cuts = opened(tmp_path, SOURCES[:1])
    cuts.add(0, failed)
    cuts.add_ids(0, SOURCES[0])
    cuts.save()
    part = cuts.part()
    assert (part.ids, part.cuts.failed) == ([], {0: "ValueError: no"})
    assert not list(Store(tmp_path).folders())
    assert opened(tmp_path, SOURCES[:1]).lacks_cut(0)
