"""The chunk table: rows by repository and file, sizes and their histogram, what was lost, and the files it becomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpus_tables import build_chunks

from chunkers.errors import UsageError
from chunkers.registry import CHUNKERS
from chunkers.sources import walk
from chunkers.types import Chunker, Piece, SourceFile
from evaluation.experiment.chunk_table import (
    ChunkTable,
    ChunkTexts,
    CorpusFile,
    load_chunks,
    save_chunks,
)

Build = Callable[..., ChunkTable]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that writes repositories and chunks them, by default one line at a time."""

    def make(repositories: dict[str, dict[str, str]], chunker: Chunker | None = None) -> ChunkTable:
        for repo, files in repositories.items():
            for path, text in files.items():
                (tmp_path / repo / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / repo / path).write_text(text)

        made = chunker or CHUNKERS.create("fixed-lines:lines=1")
        return build_chunks([walk(tmp_path / repo, name=repo) for repo in repositories], made)

    return make


def test_rows_are_by_repository_and_each_repository_has_all_of_its_own(build: Build) -> None:
    """Repositories of one, three and two chunks: each range begins where the one before it ends."""
    table = build({"c": {"a.py": "c = 1\nd = 2\n"}, "a": {"a.py": "a = 1\n"}, "b": {"a.py": "x\ny\n", "b.py": "z\n"}})
    assert table.repository_rows == {"a": range(1), "b": range(1, 4), "c": range(4, 6)}
    for repo, rows in table.repository_rows.items():
        assert {table.files[table.columns["file"][row]].repo for row in rows} == {repo}
    assert table.file_index == {("a", "a.py"): 0, ("b", "a.py"): 1, ("b", "b.py"): 2, ("c", "a.py"): 3}


def test_a_repository_without_chunks_has_no_rows(build: Build) -> None:
    """Empty files are files of the corpus, but nothing of them is found; nothing at all is no rows at all."""
    table = build({"a": {"a.py": "a = 1\n"}, "b": {"b.py": ""}, "c": {"c.py": "c = 1\n"}})
    assert table.repository_rows == {"a": range(1), "c": range(1, 2)}
    assert table.facts.files == 3
    empty = build({"d": {"d.py": ""}})
    assert empty.repository_rows == {}
    assert (len(empty), empty.facts.count, empty.facts.mean_nws, sum(empty.facts.sizes.counts)) == (0, 0, 0.0, 0)


def test_the_histogram_counts_a_size_at_an_edge_above_it(build: Build) -> None:
    """Each bin holds its lower edge and not its upper one; the last has no upper edge; every chunk is in one."""
    edges = build({"a": {"a.py": "a\n"}}).facts.sizes.edges
    assert (edges[0], edges[1], edges[-1], len(edges)) == (0, 16, 16_384, 22)
    sizes = [1, 15, 16, int(edges[2]) - 1, int(edges[2]), 16_383, 16_384, 40_000]
    table = build({"b": {"b.py": "".join("x" * size + "\n" for size in sizes)}})
    assert table.sizes("nws").tolist() == sizes
    assert table.facts.sizes.edges == edges
    expected = [
        sum(low <= size < high for size in sizes) for low, high in zip(edges, [*edges[1:], np.inf], strict=True)
    ]
    assert list(table.facts.sizes.counts) == expected
    assert (expected[0], expected[1], expected[2], expected[-2], expected[-1]) == (2, 2, 1, 1, 2)
    assert sum(table.facts.sizes.counts) == table.facts.count == len(sizes)


def test_facts_are_those_of_the_chunks(build: Build) -> None:
    """Mean, median and 95th percentile of the sizes, and tokens beside them."""
    table = build({"a": {"a.py": "".join("x" * size + "\n" for size in (1, 2, 3, 10))}})
    facts = table.facts
    assert (facts.mean_nws, facts.median_nws, facts.total_nws) == (4.0, 2.5, 16)
    assert facts.p95_nws == pytest.approx(np.quantile([1, 2, 3, 10], 0.95))
    assert facts.mean_tokens == pytest.approx(table.sizes("tokens").mean())
    assert table.sizes("lines").tolist() == [1, 1, 1, 1]


class Careless:
    """Cuts the first four bytes, then the third to sixth again: overlapping, and the rest is lost."""

    version = "1"
    lossless = False
    limit = None

    def split(self, source: SourceFile) -> list[Piece]:
        """Return two pieces, the later one first."""
        return [Piece(2, 6), Piece(0, 4)] if source.path != "bad.py" else self._raise()

    def _raise(self) -> list[Piece]:
        raise ValueError("bad file")

    def fallback(self, source: SourceFile) -> str | None:
        """Say that one kind of file was cut in another way."""
        return "no grammar" if source.path.startswith("odd") else None


def test_what_is_lost_doubled_failed_or_fallen_back_is_counted(build: Build) -> None:
    """Rows are in the order of their bytes whatever the chunker's order; every way to go wrong has its number."""
    files = {"a.py": "abcdefgh", "odd1.py": "abcdefgh", "odd2.py": "abcdefgh", "bad.py": "abcdefgh"}
    facts = (table := build({"r": files}, Careless())).facts
    assert (
        list(zip(table.columns["start"].tolist(), table.columns["end"].tolist(), strict=True)) == [(0, 4), (2, 6)] * 3
    )
    assert (facts.files, facts.total_nws, facts.doubled_nws) == (4, 32, 3 * 2)
    assert facts.lost_nws == 3 * 2 + 8
    assert facts.fallbacks == {"no grammar": 2}
    assert facts.failed_files == {"r/bad.py": "ValueError: bad file"}
    assert facts.failed_words == "r/bad.py (ValueError: bad file)"


def test_a_chunker_that_fails_on_every_file_is_no_chunker(build: Build) -> None:
    """The error counts the files and gives the first one's reason."""
    with pytest.raises(UsageError, match=r"failed on the only file; on r/bad.py: ValueError: bad file"):
        build({"r": {"bad.py": "x"}}, Careless())


def test_a_piece_that_is_not_in_its_file_is_that_files_failure(build: Build) -> None:
    """A plug-in that counts wrongly is told where; nothing is clipped in silence."""
    facts = build({"r": {"a.py": "abcdefgh", "short.py": "abcde"}}, Careless()).facts
    reason = "ValueError: a piece from byte 2 to 6 is not in a file of 5 bytes"
    assert facts.failed_files == {"r/short.py": reason}


def test_many_failed_files_are_the_first_few_and_a_number() -> None:
    """Three are named; of one more there is a count."""
    from evaluation.results.facts import ChunkFacts

    failed = {f"r/{number}.py": "E: no" for number in range(5)}
    assert ChunkFacts().failed_words == ""
    assert ChunkFacts(failed_files=dict(list(failed.items())[:3])).failed_words.count("(E: no)") == 3
    assert ChunkFacts(failed_files=failed).failed_words.endswith("r/2.py (E: no), 2 more")


def test_texts_are_slices_with_their_headers(build: Build, tmp_path: Path) -> None:
    """Any rows, by index or slice, in any order; each file is read when it is needed."""
    table = build(
        {"r": {"a.py": "a = 1\nb = 2\n", "b.py": "c = 3\n"}}, CHUNKERS.create("fixed-lines:lines=1,header=path")
    )

    class Everything:
        def visible(self, file: CorpusFile, start: int, end: int) -> bytes:
            return (tmp_path / file.repo / file.path).read_bytes()[start:end]

        def visible_header(self, file: CorpusFile, header: str) -> str:  # noqa: ARG002 - as every corpus
            return header

    texts = ChunkTexts(table, range(1, 3), Everything())
    assert len(texts) == 2
    assert texts[0].endswith("\nb = 2\n")
    assert texts[1].endswith("\nc = 3\n")
    assert "b.py" in texts[1].partition("\n")[0]
    assert list(texts) == texts[0:2] == [texts[0], texts[1]]
    assert texts[-1] == texts[1]


def test_a_table_is_read_back_as_it_was_written(build: Build, tmp_path: Path) -> None:
    """Columns, ids, headers, files and facts."""
    files = {"a.py": "abcdefgh", "odd1.py": "abcdefgh", "bad.py": "abcdefgh"}
    table = build({"r": files, "q": {"x.go": "package x\n"}}, Careless())
    save_chunks(table, tmp_path)
    read = load_chunks(tmp_path)
    assert (read.files, list(read.ids), list(read.headers), read.facts, read.seconds) == (
        table.files,
        list(table.ids),
        list(table.headers),
        table.facts,
        table.seconds,
    )
    assert all(np.array_equal(read.columns[name], values) for name, values in table.columns.items())


def test_a_table_of_nothing_is_read_back(build: Build, tmp_path: Path) -> None:
    """Columns of no values, and the files that have no chunks."""
    table = build({"r": {"a.py": ""}})
    save_chunks(table, tmp_path)
    read = load_chunks(tmp_path)
    assert (read.files, list(read.ids), read.facts) == (table.files, [], table.facts)
    assert {name: len(values) for name, values in read.columns.items()} == dict.fromkeys(table.columns, 0)
    assert {name: values.dtype for name, values in read.columns.items()} == {
        name: values.dtype for name, values in table.columns.items()
    }
