"""Chunks of single files: one parse for all chunkers, any division into blocks, only what changed is cut again."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from conftest import Command
from corpus_tables import part_of
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import Clock

from chunkers import syntax
from chunkers.coverage import Coverage
from chunkers.errors import UsageError
from chunkers.languages import syntax_tree
from chunkers.registry import CHUNKERS
from chunkers.sizes import ruler
from chunkers.sources import walk
from chunkers.splitting import chunk_file
from chunkers.syntax import shared_tree
from chunkers.types import Chunker, Piece, SizeLimit, SourceFile
from evaluation.config import make_config
from evaluation.experiment import stages
from evaluation.experiment.blocks import Division, even_blocks
from evaluation.experiment.chunk_table import ChunkTable, join_parts
from evaluation.experiment.executors import Processes, Serial
from evaluation.experiment.file_chunks import FileChunks, cut_file, read_records
from evaluation.experiment.packs import Packs
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.experiment.shared_datasets import SharedDataset, shared_datasets
from evaluation.experiment.store import Store

CHUNKERS_DIR = Path(__file__).parents[1] / "chunkers"
SPECS = ("cast:size=200", "cast:size=900,expansion=true", "code-chunk", "definitions", "functions", "fixed-lines")


@pytest.fixture(scope="module")
def sources() -> list[SourceFile]:
    """Return the sources of our own chunkers."""
    return list(walk(CHUNKERS_DIR, name="own").files())


def same(one: ChunkTable, other: ChunkTable) -> bool:
    """Return whether two tables hold the same chunks and say the same of them."""
    columns = all(np.array_equal(one.columns[name], other.columns[name]) for name in one.columns)
    return columns and (one.files, one.ids, one.headers, one.facts) == (
        other.files,
        other.ids,
        other.headers,
        other.facts,
    )


def test_chunkers_that_share_a_parse_cut_as_each_does_alone(sources: list[SourceFile]) -> None:
    """Every syntax chunker and size, and one that parses nothing, in any company."""
    chunkers = {spec: CHUNKERS.create(spec) for spec in SPECS}
    for source in sources[::5]:
        for spec, cut in cut_file(source, chunkers, partial(ruler, source.data, "tokens")):
            assert isinstance(cut, FileChunks)
            alone = chunk_file(chunkers[spec], source)
            assert [tuple(row) for row in cut.spans.tolist()] == [chunk.span for chunk in alone]
            assert list(cut.headers) == [chunk.header for chunk in alone]


def test_a_file_is_parsed_once_for_all_chunkers(sources: list[SourceFile]) -> None:
    """The second chunker is spared the first one's parse; another file, or another block, is parsed for itself."""
    large = [source for source in sources if len(source.data) > 4000 and source.language == "python"]
    with shared_tree() as tree:
        CHUNKERS.create("cast:size=200").split(large[0])
        root = tree.tree
        assert root is not None
        assert (tree.parsed, tree.reused) == (1, 0)
        CHUNKERS.create("definitions").split(large[0])
        assert tree.tree is root
        assert (tree.parsed, tree.reused) == (1, 1)
        CHUNKERS.create("definitions").split(large[1])
        assert tree.tree is not root
    with shared_tree() as other:
        assert other.tree is None


def test_a_parse_that_is_shared_counts_for_each_that_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds of a chunker are what it would take alone: here a parse takes a hundred, and nothing else any."""
    clock = Clock()

    def slow(language: str, data: bytes) -> object:
        clock.now += 100
        return syntax_tree(language, data)

    monkeypatch.setattr("evaluation.experiment.file_chunks.time", clock)
    monkeypatch.setattr(syntax, "time", clock)
    monkeypatch.setattr(syntax, "syntax_tree", slow)
    chunkers = {spec: CHUNKERS.create(spec) for spec in ("fixed-lines", "cast:size=200", "whole-file", "definitions")}
    source = SourceFile("a.py", b"def f():\n    return 1\n" * 40, "python")
    taken = {}
    for spec, cut in cut_file(source, chunkers, lambda: ruler(source.data, "tokens")):
        assert isinstance(cut, FileChunks)
        taken[spec] = cut.seconds
    assert taken == {"fixed-lines": 0, "cast:size=200": 100, "whole-file": 0, "definitions": 100}


@settings(max_examples=10)
@given(st.data())
def test_any_division_into_blocks_gives_one_table(data: st.DataObject) -> None:
    """Also with empty blocks, and with a chunker whose headers name what is around."""
    everything = list(walk(CHUNKERS_DIR / "peers", name="own").files())
    cuts = sorted(data.draw(st.lists(st.integers(0, len(everything)), max_size=6)))
    chunker = CHUNKERS.create("cast:size=300,expansion=true")
    edges = [0, *cuts, len(everything)]
    parts = [part_of(everything[a:b], chunker) for a, b in itertools.pairwise(edges)]
    assert same(join_parts(parts), join_parts([part_of(everything, chunker)]))


@given(st.lists(st.integers(0, 3_000_000), max_size=200))
def test_blocks_hold_every_file_once(sizes: list[int]) -> None:
    """In order, none empty, and none over the bound that could be smaller."""
    blocks = even_blocks(sizes)
    assert [place for block in blocks for place in block] == list(range(len(sizes)))
    assert all(len(block) == 1 or sum(sizes[place] for place in block) <= 4_000_000 for block in blocks)


@given(
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), max_size=5),
    st.text(st.characters(exclude_categories=[])),
)
def test_a_record_says_what_was_cut(edges: list[tuple[int, int]], text: str) -> None:
    """Any spans and headers, surrogates too, are read as they were written."""
    rows = np.array([(*edge, 1, 2) for edge in edges], dtype=np.int64).reshape(-1, 4)
    cut = FileChunks(rows, rows + 1, (text,) * len(rows), Coverage(5, 3, 2), text, "", 0.5)
    broken = FileChunks(rows[:0], rows[:0], (), Coverage(1, 1, 0), "", text, 0.25)
    plain = FileChunks(rows, rows + 2, ("",) * len(rows), Coverage(0, 0, 0), "", "", 0.0)
    read = read_records([each.to_bytes() for each in (cut, broken, plain)])
    assert read.counts.tolist() == [len(rows), 0, len(rows)]
    assert read.rows.tolist() == [[*row, *(row + add)] for add in (1, 2) for row in rows]
    assert read.headers == [*cut.headers, *plain.headers]
    assert (read.coverage, read.seconds) == (Coverage(6, 4, 2), 0.75)
    assert read.fallbacks == ({text: 1} if text else {})
    assert read.failed == ({1: text} if text else {})


@settings(max_examples=20)
@given(st.dictionaries(st.binary(min_size=16, max_size=16), st.binary(max_size=40), max_size=20), st.data())
def test_packs_give_what_was_put_into_them(records: dict[bytes, bytes], data: st.DataObject) -> None:
    """Written in any portions, by this or by an earlier run; keys that end in zeros and empty records too."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        written = Packs(Store(Path(folder)), "kind", {"by": 1})
        written.find([])
        names = sorted(records)
        cut = data.draw(st.integers(0, len(names)))
        for portion in (names[:cut], names[cut:]):
            written.add({name: records[name] for name in portion})
        before = written.entries()
        assert len(before) == (cut > 0) + (cut < len(names))
        for _ in range(2):
            for packs in (written, Packs(Store(Path(folder)), "kind", {"by": 1})):
                assert packs.find([*names, b"another key ....."[:16]]) == records
            written.merge()
            assert len(written.entries()) == (len(names) > 0)
        found = Packs(Store(Path(folder)), "kind", {"by": 1}, entries=()).find(names)
        assert found == {}
        assert Packs(Store(Path(folder)), "kind", {"by": 2}).find(names) == {}


@dataclass(frozen=True, kw_only=True)
class Noted:
    """Cuts a file in two and writes down which."""

    file: str
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit: ClassVar[SizeLimit | None] = None

    def split(self, source: SourceFile) -> list[Piece]:
        """Return two pieces; raise for a file that says so."""
        with Path(self.file).open("a") as notes:
            print(source.path, file=notes)
        if b"raise usage" in source.data:
            raise UsageError("correct this")
        if b"raise other" in source.data:
            raise RuntimeError("sometimes")
        half = len(source.data) // 2
        return [Piece(0, half), Piece(half, len(source.data))]


def session_of(repository: Path, cache: Path, *chunkers: Chunker) -> Session:
    """Return an experiment of these chunkers with BM25."""
    given = {f"noted{number}": chunker for number, chunker in enumerate(chunkers)}
    dataset = f"annotations:path={repository.parent / 'gold.jsonl'},root={repository}"
    config = make_config(
        {
            "datasets": (dataset,),
            "chunkers": (*given, "cast:size=120"),
            "retrievers": ("bm25",),
            "measures": ("ndcg@5",),
        }
    )
    return Session.resolve(config, cache, plugins=given)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Return a file for notes, empty."""
    file = tmp_path / "notes"
    file.write_text("")
    return file


def test_only_a_changed_file_is_cut_again(repository: Path, tmp_path: Path, notes: Path) -> None:
    """A second state of a repository costs its new contents; its tables are as if made from nothing."""
    chunker = Noted(file=str(notes))
    run_experiment(session_of(repository, tmp_path / "cache", chunker), Serial())
    assert len(notes.read_text().split()) == len(walk(repository).paths)
    notes.write_text("")
    (repository / "apple.py").write_text("apple = 1\n" * 40)
    (repository / "new.py").write_text("new = 1\n" * 9)
    second = session_of(repository, tmp_path / "cache", chunker)
    run_experiment(second, Serial())
    assert notes.read_text().split() == ["apple.py", "new.py"]
    fresh = session_of(repository, tmp_path / "other", chunker)
    for spec in second.config.chunkers:
        tables = [stages.chunk(each, each.config.datasets[0], spec) for each in (second, fresh)]
        assert same(*tables)


def test_what_fails_is_not_kept(repository: Path, tmp_path: Path, notes: Path) -> None:
    """A file on which a chunker raised is tried again in the next state; a usage error fails its own chunker only."""
    (repository / "bad.py").write_text("# raise other\n")
    first = session_of(repository, tmp_path / "cache", Noted(file=str(notes)))
    (cell, *_) = run_experiment(first, Serial()).cells
    assert list(cell.chunks.failed_files.values()) == ["RuntimeError: sometimes"]
    notes.write_text("")
    (repository / "other.py").write_text("other = 1\n")
    run_experiment(session_of(repository, tmp_path / "cache", Noted(file=str(notes))), Serial())
    assert notes.read_text().split() == ["bad.py", "other.py"]
    (repository / "bad.py").write_text("# raise usage\n")
    cells = run_experiment(session_of(repository, tmp_path / "cache", Noted(file=str(notes))), Serial()).cells
    assert [(cell.status, cell.reason) for cell in cells] == [("failed", "correct this"), ("ok", "")]


def test_a_damaged_pack_is_made_again(repository: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its records are never believed; the tables stay what they were."""
    cache = tmp_path / "cache"
    first = session_of(repository, cache)
    table = stages.chunk(first, first.config.datasets[0], "cast:size=120")
    (pack,) = (cache / "stages").glob("chunked-*/*/records.bin")
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(bytes(data))
    os.utime(pack.parent / "manifest.json", ns=(time.time_ns(), time.time_ns()))
    second = session_of(repository, cache)
    second.store.drop(second.chunk_key(second.config.datasets[0], "cast:size=120"))
    assert same(stages.chunk(second, second.config.datasets[0], "cast:size=120"), table)
    assert "damaged or foreign" in caplog.text


def test_what_is_kept_per_file_is_shown_and_pruned(
    chunkbench: Command, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cache` counts it on one line whatever the number of chunkers, and a prune or clear finds all of it."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    run_experiment(session_of(repository, tmp_path / "cache", CHUNKERS.create("definitions")), Serial())
    shown = json.loads(chunkbench("cache", "--json").out)["stages"]
    assert [row["entries"] for row in shown if row["stage"] == "chunked"] == [2]
    for entry in (tmp_path / "cache" / "stages").glob("*/*"):
        os.utime(entry, (1, 1))
    assert chunkbench("cache", "prune", "--days", "1").code == 0
    assert not list((tmp_path / "cache" / "stages").glob("*/*"))


def test_a_prune_keeps_the_records_that_are_used(
    chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack of which one record is used becomes a pack of one record; when that one is used, it stays."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    store = Store(tmp_path / "cache" / "stages")
    records = {bytes([number]) * 16: b"x" * number for number in range(5)}
    packs = Packs(store, "kind", {"by": 1})
    for portion in (0, 1):
        packs.add({key: record for key, record in records.items() if key[0] % 2 == portion})
    weeks_ago = time.time() - 20 * 86_400
    for manifest in store.root.glob("kind-*/*/manifest.json"):
        os.utime(manifest, (weeks_ago, weeks_ago))
    used = bytes([3]) * 16
    assert Packs(store, "kind", {"by": 1}).find([used]) == {used: b"xxx"}
    for gone in (1, 0):
        Packs(store, "kind", {"by": 1}).find([used])
        for folder in store.folders():
            os.utime(folder)
        assert json.loads(chunkbench("cache", "prune", "--days", "3", "--json").out)["records"] == (4 if gone else 0)
        assert Packs(store, "kind", {"by": 1}).find(list(records)) == {used: b"xxx"}
        packs.merge()
    assert len(packs.entries()) == 1
    assert chunkbench("cache", "verify").code == 0


def test_workers_take_the_dataset_that_the_run_has_loaded(repository: Path, tmp_path: Path) -> None:
    """The same bytes or none: a file that was exchanged is never unpickled; nothing is left when the run is over."""
    made = session_of(repository, tmp_path / "cache")
    loaded = made.dataset(made.config.datasets[0])
    with shared_datasets(made.store, [loaded]) as shared:
        (given,) = shared.values()
        found = given.read()
        assert found is not None
        assert (found.fingerprint, found.files) == (loaded.fingerprint, loaded.files)
        assert list(found.sources(found.files)) == list(loaded.sources(loaded.files))
        given.file.write_bytes(b"something else")
        assert given.read() is None
    assert not given.file.exists()
    assert SharedDataset(tmp_path / "nowhere", "").read() is None


def test_a_dataset_that_cannot_be_written_for_the_workers_is_an_error_of_the_cache(
    repository: Path, tmp_path: Path
) -> None:
    """The line names the cache, which is full or was removed, and not the output."""
    made = session_of(repository, tmp_path / "cache")
    loaded = made.dataset(made.config.datasets[0])
    with shared_datasets(made.store, [loaded]) as shared:
        shutil.rmtree(made.store.root)
        with pytest.raises(UsageError, match=f"cannot write to the cache in {made.store.root}: No such file"):
            list(shared)


def test_processes_cut_what_one_process_cuts(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a block for each file, the tables and scores are those of one process and one block."""
    one = session_of(repository, tmp_path / "one")
    alone = run_experiment(one, Serial())
    monkeypatch.setattr("evaluation.experiment.blocks.SOURCE", Division(64, 1, 1))
    two = session_of(repository, tmp_path / "two")
    dataset = two.config.datasets[0]
    assert len(stages.chunk_blocks(two, dataset, ("cast:size=120",))) == len(walk(repository).paths) > 1
    split = run_experiment(two, Processes(2))
    assert same(*(stages.chunk(each, dataset, "cast:size=120") for each in (one, two)))
    for left, right in zip(alone.cells, split.cells, strict=True):
        assert {name: values.tolist() for name, values in left.scores.items()} == {
            name: values.tolist() for name, values in right.scores.items()
        }


def test_a_file_that_changes_during_a_run_is_refused(repository: Path, tmp_path: Path) -> None:
    """Chunks of two states would be mixed."""
    made = session_of(repository, tmp_path / "cache")
    loaded = made.dataset(made.config.datasets[0])
    loaded = type(loaded)(*(getattr(loaded, name) for name in loaded.__dataclass_fields__))
    object.__setattr__(loaded, "dataset", loaded.dataset.__class__("d", (walk(repository),), (), ()))
    (repository / "apple.py").write_text("apple = None\n" * 30)
    with pytest.raises(UsageError, match="has changed since the dataset was loaded"):
        list(loaded.sources(loaded.files))
