"""Readers: what is read around a hit, for every registered reader, and as cells of a comparison."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from chunkers.errors import UsageError
from chunkers.registry import CHUNKERS
from chunkers.splitting import chunk_file
from chunkers.types import SourceFile
from indexing.readers.contract import check_reader
from indexing.readers.registry import READERS
from indexing.readers.types import Stretch

CODE = """import os


def first(a):
    # größe
    b = a + 1
    return b


class Box:
    size = 3

    def put(self, each):
        self.held.append(each)
        return len(self.held)

    def take(self):
        return self.held.pop()


LAST = first(1)
""".encode()


@dataclass(frozen=True)
class Files:
    """Files cut by a chunker."""

    sources: Sequence[SourceFile]
    chunker: str

    def source(self, file: int) -> SourceFile:
        """Return a file."""
        return self.sources[file]

    def chunks(self, file: int) -> np.ndarray:
        """Return its chunks."""
        found = chunk_file(CHUNKERS.create(self.chunker), self.sources[file])
        return np.array([chunk.span[:2] for chunk in found])


def world(chunker: str = "fixed-lines:lines=3") -> Files:
    """Return two files, one with CRLF and no last newline."""
    other = CODE.rstrip(b"\n").replace(b"\n", b"\r\n")
    return Files([SourceFile("a.py", CODE, "python", "r"), SourceFile("b.py", other, "python", "r")], chunker)


def hits_of(files: Files, random_: random.Random) -> list[Stretch]:
    """Return some chunks in some order."""
    every = [(file, int(a), int(b)) for file in range(len(files.sources)) for a, b in files.chunks(file)]
    chosen = random_.sample(every, random_.randint(1, len(every)))
    return [Stretch(file, start, end, rank) for rank, (file, start, end) in enumerate(chosen)]


def at(files: Files, text: bytes) -> Stretch:
    """Return the chunk of the first file that holds a text."""
    place = CODE.index(text)
    start, end = next(row for row in files.chunks(0).tolist() if row[0] <= place < row[1])
    return Stretch(0, start, end, 0)


@pytest.mark.parametrize("spec", [*sorted(READERS.builtin), "neighbours:chunks=3", "lines:around=0", "merge:top=2"])
def test_every_reader_keeps_the_contract(spec: str) -> None:
    """Whatever a reader adds or joins, each hit is read at its rank or before, inside its file, always the same."""
    assert [finding for finding in check_reader(READERS.create(spec)) if finding.problem] == []


def test_the_contract_finds_what_is_broken(chunkbench: Command, tmp_path: Path) -> None:
    """A reader that drops hits, leaves the file or changes its mind breaks a rule each, by name."""
    plugin = tmp_path / "odd.py"
    head = "from dataclasses import dataclass\nimport itertools\nN = itertools.count()\n"
    for body, rule in (
        ("hits[1:]", "every hit is read at its rank or before"),
        ("[hit._replace(end=10**9) for hit in hits]", "what is read lies in the file of its hit"),
        ("list(reversed(hits))", "hits are read in their order"),
        ("[hit._replace(start=next(N) % 2 and hit.start) for hit in hits]", "the same hits are read in the same way"),
    ):
        method = f"    version = '1'\n    def read(self, hits, corpus):\n        return {body}\n"
        plugin.write_text(f"{head}@dataclass(frozen=True, kw_only=True)\nclass Odd:\n{method}")
        done = chunkbench("check-plugin", "reader", f"{plugin}:Odd", "--json")
        assert done.code == 1
        assert rule in [each["rule"] for each in done.json["rules"] if not each["kept"]]


def test_the_default_reads_what_was_found() -> None:
    """The reader `chunk` changes nothing."""
    hits = hits_of(world(), random.Random(1))
    assert READERS.create("chunk").read(hits, world()) == hits


def test_neighbours_are_the_chunks_before_and_after() -> None:
    """One chunk to each side; at the ends of a file there is none."""
    files = world()
    chunks = files.chunks(0).tolist()
    hits = [Stretch(0, chunks[row][0], chunks[row][1], rank) for rank, row in enumerate((0, 2))]
    read = READERS.create("neighbours").read(hits, files)
    assert read == [Stretch(0, 0, chunks[1][1], 0), Stretch(0, chunks[1][0], chunks[3][1], 1)]


def test_lines_around_a_hit_are_whole_lines() -> None:
    """As many lines above and below as are asked for, where the file has them."""
    files = world()
    starts = [0, *(place + 1 for place, byte in enumerate(CODE) if byte == 10)]
    for first in range(1, 20):
        hit = Stretch(0, starts[first - 1], starts[first], 0)
        (read,) = READERS.create("lines:around=2").read([hit], files)
        assert (read.start, read.end) == (starts[max(0, first - 3)], starts[min(len(starts) - 1, first + 2)])


def test_a_definition_is_read_whole() -> None:
    """The smallest definition that holds the hit; outside of definitions the hit itself."""
    files = world("fixed-lines:lines=1")
    (inner,) = READERS.create("definition").read([at(files, b"return len")], files)
    assert CODE[inner.start : inner.end].strip().startswith(b"def put")
    assert CODE[inner.start : inner.end].rstrip().endswith(b"return len(self.held)")
    outside = at(files, b"import os")
    assert READERS.create("definition").read([outside], files) == [outside]


def test_hits_that_touch_become_one_and_most_of_a_definition_becomes_all_of_it() -> None:
    """A merged stretch has the rank of its best hit; what touches nothing stays as it is."""
    files = world("fixed-lines:lines=1")
    b, ret, imports = (at(files, text) for text in (b"b = a", b"return b", b"import os"))
    read = READERS.create("merge:share=0.4").read(
        [ret._replace(hit=0), imports._replace(hit=1), b._replace(hit=2)], files
    )
    assert [each.hit for each in read] == [0, 1]
    assert CODE[read[0].start : read[0].end].startswith(b"def first")
    assert read[1] == imports._replace(hit=1)


@pytest.mark.parametrize("spec", ["neighbours:chunks=0", "lines:around=-1", "merge:share=0", "merge:top=1"])
def test_values_that_mean_nothing_are_refused(spec: str) -> None:
    """The error names the parameter."""
    with pytest.raises(UsageError, match="must be"):
        READERS.create(spec)


def test_readers_are_contestants_of_a_comparison(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Each reader is a cell beside its chunker, with text measures only; its spans score the same again."""
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    shared = ("compare", "--dataset", gold, "--chunker", "fixed-lines:lines=4", "--embedder", "hashing")
    more = ("--retriever", "bm25", "--engine", "serial", "--json", "--measure", "ndcg@5", "--out", tmp_path / "out")
    readers = [part for name in sorted(READERS.builtin) for part in ("--reader", name)]
    done = chunkbench(*shared, *more, *readers, "--write-spans", tmp_path / "s.jsonl")
    assert done.code == 0, done.err
    cells = {cell["chunker"]: cell for cell in done.json["cells"]}
    others = [f"fixed-lines:lines=4 + {name}" for name in READERS.builtin if name != "chunk"]
    assert set(cells) == {"fixed-lines:lines=4", *others}
    assert all("ndcg@5" not in cells[name]["measures"] for name in others)
    pairs = {frozenset((row["a"], row["b"])) for row in done.json["comparisons"] if row["measure"] == "naurc@4000tok"}
    assert len(pairs) == len(cells) * (len(cells) - 1) // 2
    again = chunkbench("score", "--spans", tmp_path / "s.jsonl", "--dataset", gold, "--json", "-m", "naurc@4000tok")
    for name, cell in cells.items():
        mean = again.json["runs"][f"{name} · hashing · bm25"]["mean"]["naurc@4000tok"]
        assert mean == cell["measures"]["naurc@4000tok"]["mean"]
    report = chunkbench("report", tmp_path / "out", "--out", tmp_path / "again", "--json")
    assert {cell["chunker"] for cell in report.json["cells"]} == set(cells)
    assert chunkbench(*shared, *more, "--reader", "merge", "--offsets", "2").code == 2
    assert chunkbench(*shared, *more, "--reader", "merg").code == 2
