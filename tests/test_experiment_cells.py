"""Finished cells as the results hold them: hits, texts, whole files, costs, readers, offsets and contestants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from small_corpora import WORDS, loaded, module, repository, session_of, word_dataset
from test_experiment_run import Choosy
from test_search_joined import Longest

from chunkers.errors import UsageError
from chunkers.sizes import ruler
from evaluation.experiment import machine as machine_module
from evaluation.experiment import shown_files as shown_files_module
from evaluation.experiment import stages
from evaluation.experiment.executors import Serial
from evaluation.experiment.machine import machine
from evaluation.experiment.offsets import averaged, offset_specs, with_offsets
from evaluation.experiment.read_cells import make_readers
from evaluation.experiment.records import cell_record, query_records
from evaluation.experiment.run import run_experiment
from evaluation.experiment.shown_files import shown_files
from evaluation.experiment.shown_texts import hidden_parts, read_shown
from evaluation.results.types import CellRecord, FilePlace, GoldLines, HitRecord, QueryRecord
from evaluation.statistics import Weight
from evaluation.types import CellKey
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

LINES = "fixed-lines:lines=5"


def test_a_cell_shows_its_first_ten_hits_with_their_text(tmp_path: Path) -> None:
    """Ranks from 1, lines and visible tokens of each chunk, the run to its end, and what of a text is hidden."""
    first = module("apple").index("def")
    hidden = (HiddenSpan("one", "apple.py", first, first + 4),)
    session = session_of(word_dataset(hidden=hidden), tmp_path, retrievers=("dense",))
    (cell,) = session.cells
    made = cell_record(session, cell)
    texts = read_shown(session, Serial(), made.shown.values())
    chunks, held = stages.chunk(session, "words", LINES), session.dataset("words")
    ranking = stages.retrieve(session, cell).ranking
    shown: set[str] = set()
    for query, hits in made.record.hits.items():
        found = ranking[query]
        assert len(found) == 12
        assert [hit.rank for hit in hits] == list(range(1, 11))
        assert made.record.run[query] == [chunks.ids[hit.position] for hit in found]
        for hit, (row, score) in zip(hits, found, strict=False):
            file = chunks.files[chunks.columns["file"][row]]
            start, end = int(chunks.columns["start"][row]), int(chunks.columns["end"][row])
            data = held.read(file)
            starts = [at for at in ruler(data, "tokens").starts.tolist() if start <= at < end]
            unseen = sum(first <= at < first + 4 for at in starts) if file.path == "apple.py" else 0
            assert hit == HitRecord(
                hit.rank, chunks.ids[row], score, file.path, int(chunks.columns["start_line"][row]),
                int(chunks.columns["end_line"][row]), len(starts) - unseen,
            )  # fmt: skip
            text = texts[made.shown[hit.chunk_id]]
            assert text.text == data[start:end].decode()
            assert text.hidden == (((0, 4),) if file.path == "apple.py" and start == first else ())
            shown.add(hit.chunk_id)
    assert shown == set(made.shown)
    assert made.record.judgements.chance.keys() == {"recall@1000tok", "ndcg@5"}


def test_a_cell_costs_what_cutting_embedding_and_indexing_took(tmp_path: Path) -> None:
    """And nothing is said of their sum where one of them is not known; a price is of a million tokens."""
    how: dict[str, Any] = {"retrievers": ("dense", "longest"), "run": {"price": ("2.5",)}}
    session = session_of(word_dataset(), tmp_path, plugins={"longest": Longest()}, **how)
    dense, longest = run_experiment(session, Serial()).cells
    seconds = stages.chunk(session, "words", LINES).seconds
    parts = (seconds, dense.cost.embed_seconds, dense.cost.index_seconds)
    assert None not in parts
    assert dense.cost.build_seconds == pytest.approx(sum(part or 0 for part in parts))
    assert dense.cost.price == pytest.approx(2.5e-6 * (dense.cost.tokens_embedded or 0))
    assert dense.cost.price is not None
    assert dense.cost.price > 0
    assert (longest.cost.build_seconds, longest.cost.price) == (None, 0.0)
    assert dense.cost.tokens_to_50 is not None
    unpriced = session_of(word_dataset(), tmp_path, retrievers=("dense",))
    assert cell_record(unpriced, unpriced.cells[0]).record.cost.price is None


def test_the_language_of_a_query_is_that_of_most_of_its_gold_lines() -> None:
    """The dataset's word first; of as many lines, the one that is annotated first; without gold there is none."""
    texts = {"a.py": "a\n" * 9, "b.go": "package b\n" * 9, "c.unknown": "c\n" * 9}
    names = ("most", "tie", "said", "none", "odd", "lines", "few")
    queries = tuple(Query(name, "x", "one", language="rust" if name == "said" else "") for name in names)
    notes = (
        Annotation("most", "one", "a.py", 1, 2),
        Annotation("most", "one", "b.go", 1, 3),
        Annotation("tie", "one", "b.go", 1, 2),
        Annotation("tie", "one", "a.py", 3, 3),
        Annotation("tie", "one", "a.py", 5, 5),
        Annotation("said", "one", "a.py", 1, 1),
        *(Annotation("lines", "one", "a.py", line, line) for line in (1, 3, 5)),
        Annotation("lines", "one", "b.go", 1, 2),
        *(Annotation("few", "one", "a.py", line, line) for line in (1, 3)),
        Annotation("few", "one", "b.go", 1, 3),
        Annotation("odd", "one", "c.unknown", 1, 9),
        Annotation("odd", "one", "a.py", 4, 4),
    )
    found = {each.id: each for each in query_records(loaded(Dataset("d", (repository("one", texts),), queries, notes)))}
    assert {name: each.language for name, each in found.items()} == {
        "most": "go",
        "tie": "go",
        "said": "rust",
        "none": None,
        "odd": "python",
        "lines": "python",
        "few": "go",
    }
    assert found["most"].gold == (GoldLines("a.py", 1, 2), GoldLines("b.go", 1, 3))
    assert found["none"].gold == ()


def test_hidden_parts_are_counted_in_characters_of_what_is_shown() -> None:
    """Cut off at both ends of the text; what only touches it is not in it."""
    data = "äöü\nßxyz\n"  # each of the first four letters has two bytes
    spans = [(0, 2), (4, 9), (11, 12)]
    hidden = tuple(HiddenSpan("one", "a.py", *span) for span in spans)
    held = loaded(Dataset("d", (repository("one", {"a.py": data}),), (Query("q", "x", "one"),), (), hidden=hidden))
    (file,) = (known.file for known in held.files)
    assert hidden_parts(held, file, 0, len(data.encode())) == ((0, 1), (2, 5), (7, 8))
    assert hidden_parts(held, file, 2, 11) == ((1, 4),)
    assert hidden_parts(held, file, 6, 9) == ((0, 2),)
    assert hidden_parts(held, file, 2, 4) == ()
    assert hidden_parts(held, file, 12, 13) == ()


def words_session(tmp_path: Path, **config: Any) -> Any:
    """Return a session of two chunkers on six files."""
    return session_of(word_dataset(), tmp_path, chunkers=(LINES, "whole-file"), **config)


def test_whole_files_are_those_with_gold_and_with_the_best_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gold first, then rank by rank to the third; each has the cuts of every chunker, and there is room for so much."""
    session = words_session(tmp_path)
    results = run_experiment(session, Serial())
    places = [FilePlace("words", "one", f"{word}.py") for word in WORDS]
    hits = {"one-apple": tuple(HitRecord(n, "x", 1.0, f"{word}.py", 1, 5) for n, word in enumerate(WORDS[1:], start=1))}
    cells = [replace(results.cells[0], hits=hits), replace(results.cells[1], hits={})]
    asked = [replace(query, gold=query.gold if query.id == "one-flute" else ()) for query in results.queries]
    found = shown_files(session, cells, asked)
    assert list(found.files) == [places[5], places[1], places[2], places[3]]
    assert found.files[places[1]][2:] == (0, len(module("bolt")))
    assert found.cuts[LINES, places[1]] == ((1, 5), (6, 10))
    assert found.cuts["whole-file", places[1]] == ((1, 10),)
    assert len(found.cuts) == 2 * 4
    monkeypatch.setattr(shown_files_module, "_MOST_TEXT", len(module("flute")))
    assert list(shown_files(session, cells, asked).files) == [places[5]]
    monkeypatch.setattr(shown_files_module, "_MOST_TEXT", len(module("flute")) + len(module("bolt")))
    assert list(shown_files(session, cells, asked).files) == [places[5], places[1]]
    monkeypatch.setattr(shown_files_module, "_MOST_TEXT", len(module("flute")) - 1)
    assert list(shown_files(session, cells, asked).files) == [places[1]]


def test_a_whole_file_says_what_of_it_is_hidden(tmp_path: Path) -> None:
    """From its first character on."""
    session = session_of(word_dataset(hidden=(HiddenSpan("one", "apple.py", 0, 4),)), tmp_path)
    files = run_experiment(session, Serial()).files
    assert files[FilePlace("words", "one", "apple.py")].hidden == ((0, 4),)
    assert files[FilePlace("words", "one", "bolt.py")].hidden == ()


def test_what_failed_or_is_no_pipeline_shows_no_cuts(tmp_path: Path) -> None:
    """A dataset of which nothing was scored has no files; paths that are not in the corpus are left out."""
    session = words_session(tmp_path)
    results = run_experiment(session, Serial())
    first, second = results.cells
    failed = [replace(first, status="failed", hits={}), replace(second, status="failed", hits={})]
    assert shown_files(session, failed, results.queries) == ({}, {})
    one = shown_files(session, [first, failed[1]], results.queries)
    assert {chunker for chunker, _ in one.cuts} == {LINES}
    span = CellRecord(CellKey.of_span_run("words", "mine"), "ok", hits=first.hits)
    read = replace(second, key=second.key.read_by("lines"), hits={})
    assert {chunker for chunker, _ in shown_files(session, [first, span, read], results.queries).cuts} == {LINES}
    stray = QueryRecord("words", "q", "x", "one", "one", None, (GoldLines("gone.py", 1, 1),))
    assert shown_files(session, [replace(first, hits={})], [stray]).files == {}


def test_offsets_are_evenly_spaced_within_the_period(tmp_path: Path) -> None:
    """As many as asked for, none twice, and only of chunkers that have a period and no offset of their own."""
    chunkers = ("fixed-lines:lines=8", "fixed-lines:lines=2", "fixed-lines:lines=9,offset=1", "whole-file")
    session = session_of(word_dataset(), tmp_path, chunkers=chunkers, offsets=3)
    found = offset_specs(session)
    assert found == {
        "fixed-lines:lines=8": tuple(f"fixed-lines:lines=8,offset={start}" for start in (0, 3, 5)),
        "fixed-lines:lines=2": tuple(f"fixed-lines:lines=2,offset={start}" for start in (0, 1)),
    }
    assert with_offsets(session, found).config.chunkers == (*found[chunkers[0]], *found[chunkers[1]], *chunkers[2:])
    one = session_of(word_dataset(), tmp_path, chunkers=chunkers, offsets=1)
    assert offset_specs(one) == {}
    two = session_of(word_dataset(), tmp_path, chunkers=chunkers[:1], offsets=2)
    assert offset_specs(two) == {chunkers[0]: tuple(f"{chunkers[0]},offset={start}" for start in (0, 4))}


def record(chunker: str, scores: Sequence[float], **more: Any) -> CellRecord:
    """Return a finished cell with these scores."""
    key = CellKey("d", chunker, "e", "r")
    return CellRecord(key, "ok", scores={"m": np.array(scores)}, curve=np.array([scores, scores]), **more)


def test_cells_at_several_offsets_become_one(tmp_path: Path) -> None:
    """Mean scores of each query and the mean at each offset; one that failed fails them all, under its own name."""
    del tmp_path
    offsets = {"a": ("a,offset=0", "a,offset=2")}
    cells = [record("a,offset=0", [1.0, 0.0]), record("b", [0.5, 0.5]), record("a,offset=2", [0.0, 0.5])]
    mean, other = averaged(cells, offsets)
    assert (mean.key.chunker, mean.scores["m"].tolist()) == ("a", [0.5, 0.25])
    assert [(each.measure, each.means) for each in mean.offsets] == [("m", (0.5, 0.25))]
    assert mean.curve is not None
    assert mean.curve.tolist() == [[0.5, 0.25], [0.5, 0.25]]
    assert other is cells[1]
    assert averaged(cells, {}) == cells
    bare = [replace(cell, curve=None) for cell in cells]
    assert averaged(bare, offsets)[0].curve is None
    undefined = [record("a,offset=0", [np.nan, 0.5]), record("a,offset=2", [1.0, 0.5])]
    assert averaged(undefined, offsets)[0].offsets[0].means == (0.5, 0.75)
    three = [record("a,offset=0", [1.0, 1.0, 0.0]), record("a,offset=2", [0.0, 0.5, 0.5])]
    clusters = {"d": ["r", "r", "s"]}
    spreads = [averaged(three, offsets, clusters=clusters, weight=each)[0].offsets for each in get_args(Weight)]
    assert [each.means for (each,) in spreads] == [(0.5, 0.375), pytest.approx((2 / 3, 1 / 3))]
    broken = CellRecord(CellKey("d", "a,offset=2", "e", "r"), "failed", "no room")
    failed, _ = averaged([cells[0], cells[1], broken], offsets)
    assert (failed.key.chunker, failed.status, failed.reason) == ("a", "failed", "a,offset=2: no room")


def test_readers_are_made_beside_the_default(tmp_path: Path) -> None:
    """They need a headline on text and one offset; without any of them nothing is asked."""
    ranks: dict[str, Any] = {"measures": ("ndcg@5",), "headline": "ndcg@5"}
    assert make_readers(session_of(word_dataset(), tmp_path, offsets=3, **ranks)) == {}
    found = make_readers(session_of(word_dataset(), tmp_path, readers=("chunk", "lines:around=1")))
    assert list(found) == ["lines:around=1"]
    with pytest.raises(UsageError, match="readers and offsets cannot be combined"):
        make_readers(session_of(word_dataset(), tmp_path, readers=("lines:around=1",), offsets=2))
    with pytest.raises(UsageError, match="ndcg@5 needs grades, and span runs and readers have places only"):
        make_readers(session_of(word_dataset(), tmp_path, readers=("lines:around=1",), **ranks))


def test_a_reader_reads_more_of_the_same_ranking(tmp_path: Path) -> None:
    """The file around each hit: more of the gold, at the cost of more tokens; a cell that failed has none."""
    plugins = {"choosy": Choosy(word="candle")}
    how: dict[str, Any] = {"readers": ("chunk", "lines:around=9"), "chunkers": ("fixed-lines:lines=1", "choosy")}
    how |= {"measures": ("recall@25tok",), "headline": "recall@25tok"}
    session = session_of(word_dataset(), tmp_path, plugins=plugins, **how)
    results = run_experiment(session, Serial())
    plain, broken, read, unread = results.cells
    assert read.key == plain.key.read_by("lines:around=9")
    assert (broken.status, unread.status) == ("failed", "failed")
    assert unread.reason == broken.reason == "no candles, please"
    assert read.chunks == replace(plain.chunks, fingerprint="")
    assert (read.search, read.seconds) == (plain.search, plain.seconds)
    assert read.cost.index_bytes == plain.cost.index_bytes
    first = read.hits["one-apple"][0]
    assert (first.start_line, first.end_line, first.score) == (1, 10, plain.hits["one-apple"][0].score)
    assert results.texts[first.chunk_id] == module("apple")


def test_a_machine_is_its_processor_and_the_cores_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """One core is one; without a name of the processor there is that of its kind."""
    import os
    import platform

    found = {}
    for cores in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process, cores=cores: set(range(9 if process else cores)))
        machine.cache_clear()
        found[cores] = machine().rpartition(", ")
    assert [found[cores][2] for cores in (1, 2)] == ["1 core", "2 cores"]

    class Nowhere:
        def __init__(self, _path: str) -> None:
            pass

        def read_text(self, *_how: str) -> str:
            raise FileNotFoundError

    monkeypatch.setattr(machine_module, "Path", Nowhere)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "kind")
    machine.cache_clear()
    assert machine() == "kind, 2 cores"
    monkeypatch.setattr(platform, "processor", lambda: "named")
    machine.cache_clear()
    assert machine() == "named, 2 cores"

    class Named(Nowhere):
        def read_text(self, *_how: str) -> str:
            return "processor\t: 0\nmodel name\t: Fast   CPU: two\nmodel name\t: other\n"

    monkeypatch.setattr(machine_module, "Path", Named)
    machine.cache_clear()
    assert machine() == "Fast CPU: two, 2 cores"
    monkeypatch.delattr(os, "sched_getaffinity")
    for count, said in ((5, "5 cores"), (None, "1 core")):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        machine.cache_clear()
        assert machine() == f"Fast CPU: two, {said}"
    machine.cache_clear()
