"""The benchmark of scale, on a corpus that takes a moment."""

from __future__ import annotations

from pathlib import Path

from chunkers.sources import walk
from scripts.bench import words
from scripts.bench.scale import Corpus, loaded_dataset, measure, sample, written


def test_a_size_is_measured_and_shown(repository: Path) -> None:
    """Every stage has its seconds and its peak, and a table is made of them."""
    corpus = Corpus(repository, sample(walk(repository), None), 5, "fixed-lines:lines=5")
    row = {"size": "1×", **measure(corpus)}
    assert (row["files"], row["queries"]) == (8, 5)
    assert row["chunks"] > 8
    assert (
        row["seconds"].keys()
        == {"wall", *row["peak_mb"]}
        == {*("wall", "chunk", "embed", "dense", "words", "bm25", "score")}
    )
    assert row["stored_mb"] > 0
    gains = {"chunking": {"one": 2.0, "two": 1.0, "ratio": 2.0}}
    text = written({"sizes": [row], "walk_seconds": 0.1, "two_workers": gains, "load": 1.0})
    assert "| 1× | 8 |" in text
    assert "2.00 times one" in text
    assert "Carried on" not in text
    first = {**row, "chunks": 10**6, "stored_mb": 1_500.0, "seconds": {"wall": 9.0, "chunk": 90.0}}
    first |= {"peak_mb": {"chunk": 400.0}}
    last = {**first, "chunks": 2 * 10**6, "stored_mb": 3_000.0, "seconds": {"wall": 9.0, "chunk": 180.0}}
    last |= {"peak_mb": {"chunk": 800.0}}
    text = written({"sizes": [first, last], "walk_seconds": 0.1, "two_workers": {}, "load": 1.0})
    assert "Carried on to 10⁷ chunks: 0.2 hours of one core, 15 GB of store, a peak of 4.0 GB." in text
    assert "Carried on to 10⁹ chunks: 25.0 hours of one core, 1,500 GB of store, a peak of 400.0 GB." in text
    assert "The peak grows by 400 bytes a chunk and passes 2 GB at 5.0 × 10⁶ chunks." in text


def test_a_sample_is_a_part_of_a_larger_one(repository: Path) -> None:
    """Sizes are nested, and the limit is kept."""
    folder = walk(repository)
    everything = sample(folder, None)
    some = sample(folder, 1_500)
    assert sorted(everything) == sorted(folder.paths)
    assert some == everything[: len(some)]
    assert sum((repository / path).stat().st_size for path in some) <= 1_500


def test_a_query_asks_for_a_function_by_its_words(repository: Path) -> None:
    """The gold is the line on which the function is defined."""
    snapshot = loaded_dataset(Corpus(repository, ("apple.py",), 5, "whole-file"))
    (query,), (note,) = snapshot.dataset.queries, snapshot.dataset.annotations
    assert query.text == "make apple"
    assert (repository / note.path).read_text().splitlines()[note.start_line - 1].startswith("def make_apple(")


def test_an_index_of_words_is_measured_beside_bm25s() -> None:
    """Both ways have their seconds, and the ratio is theirs."""
    found = words.measure(["def read_file(path): return path", "class Server: pass"] * 20)
    assert (found["texts"], found["words"]) == (40, 20 * 10)
    assert found["ratio_from_words"] == found["seconds"]["from_words"] / found["seconds"]["bm25s"]
    assert "times bm25s" in words.written(found)
