"""Memory is bounded: texts are let go while the corpus goes by, and many vectors stay in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import numpy as np
import pytest
from corpus_tables import build_chunks

from chunkers.registry import CHUNKERS
from chunkers.sizes import Ruler
from chunkers.sources import Skipped
from chunkers.types import SourceFile
from evaluation.experiment.chunk_table import ChunkTexts, CorpusFile
from evaluation.measures.curve import recall_curves
from evaluation.measures.evaluate import evaluate
from evaluation.measures.registry import parse_measure
from evaluation.types import Case, TextCase, TextSpan
from indexing import embedding_cache
from indexing.bm25 import BM25
from indexing.dense import Dense
from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.hashing import Hashing
from indexing.types import QueryBatch, SearchSpace, Vectors


class Alive:
    """How many texts there are now, and how many there were at most."""

    now = most = 0

    @classmethod
    def born(cls) -> None:
        """Count one more."""
        cls.now += 1
        cls.most = max(cls.most, cls.now)


class CountedText(str):
    """A text that knows when it goes."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Count it."""
        Alive.born()
        return super().__new__(cls, text)

    def __del__(self) -> None:
        Alive.now -= 1


class CountedBytes(bytes):
    """A file's bytes that know when they go."""

    def __new__(cls, data: bytes) -> Self:
        """Count them."""
        Alive.born()
        return super().__new__(cls, data)

    def __del__(self) -> None:
        Alive.now -= 1


class Texts(Sequence[str]):
    """Texts that are made as they are asked for, some of them twice in the corpus."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(self._count)[place]]
        number = range(self._count)[place]
        return CountedText(f"text number{number - number % 10 // 9} of many")


class Files:
    """A repository of large files that are made as they are read; the rulers of small ones are remembered."""

    name = "many"
    skipped: ClassVar[Sequence[Skipped]] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield thirty files."""
        return (self._file(f"f{number:03}.py") for number in range(30))

    def read(self, path: str) -> SourceFile | None:
        """Return one of them."""
        return self._file(path)

    def _file(self, path: str) -> SourceFile:
        text = f"{path[:-3]} = 1\n\n\ndef g():\n    return 2\n" * 2_500
        return SourceFile(path, CountedBytes(text.encode()), "python", "many")


@pytest.fixture(autouse=True)
def _nobody_alive() -> None:
    Alive.now = Alive.most = 0


@dataclass(frozen=True, kw_only=True)
class Small:
    """Two numbers per text, and a window."""

    version: ClassVar[str] = "1"
    max_tokens: ClassVar[int | None] = 5

    def identity(self) -> dict[str, Any]:
        """Return its name."""
        return {"encoder": "small"}

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return a length and a checksum, as a unit vector."""
        assert kind == "document"
        rows = np.array([[len(text), sum(map(ord, text)) % 97 + 1] for text in texts], dtype=np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words."""
        return [len(text.split()) for text in texts]


def test_embedding_holds_one_window_of_texts(tmp_path: Path) -> None:
    """However many texts there are, a bounded number of them is in memory, cold and warm."""
    count = 3 * embedding_cache._WINDOW
    cache, texts = EmbeddingCache(tmp_path), Texts(count)
    cold = cache.embed(Small(), texts, kind="document")
    # A window that is being sorted, and the one before it, which the encoder's caller may still hold.
    assert Alive.most <= 2 * embedding_cache._WINDOW
    Alive.most = 0
    warm = cache.embed(Small(), texts, kind="document")
    assert cache.token_counts(Small(), texts).tolist() == [4] * count
    assert Alive.most < 10
    assert np.array_equal(cold, warm)
    assert np.array_equal(cold[8:10], Small().encode([texts[8], texts[9]], kind="document"))


def test_words_are_indexed_without_holding_texts() -> None:
    """BM25 keeps numbers of words, not texts."""
    (found,) = BM25().search(SearchSpace(Texts(500)), QueryBatch(["number42"]), depth=5)
    assert found[0].position == 42
    assert Alive.most < 10


def test_chunking_and_reading_chunks_hold_few_files() -> None:
    """Files stream through chunking, and the texts of all chunks can be read one after the other."""

    class Everything:
        def visible(self, file: CorpusFile, start: int, end: int) -> bytes:
            source = Files().read(file.path)
            assert source
            return source.data[start:end]

        def visible_header(self, file: CorpusFile, header: str) -> str:  # noqa: ARG002 - as every corpus
            return header

    chunker = CHUNKERS.create("fixed-lines:lines=100")
    table = build_chunks([Files()], chunker)
    assert len(table) > 30 * 100
    assert Alive.most < 10
    Alive.most = 0
    texts = ChunkTexts(table, range(len(table)), Everything())
    assert sum(map(len, texts)) > 0
    assert Alive.most < 10


def test_many_vectors_are_mapped_and_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors over the bound are in a file that nobody sees, and searches find the same in them."""
    cache, texts = EmbeddingCache(tmp_path), [f"def number{number}(): return {number}" for number in range(300)]
    held = cache.embed(Hashing(), texts, kind="document")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(embedding_cache, "LARGEST_IN_MEMORY", 1_000)
    mapped = cache.embed(Hashing(), texts, kind="document")
    assert isinstance(mapped, np.memmap)
    assert not isinstance(held, np.memmap)
    assert np.array_equal(held, mapped)
    assert sorted(tmp_path.rglob("*")) == before
    asked = QueryBatch(texts[:20], held[:20])
    one, other = (Dense().search(SearchSpace(texts, each), asked, depth=50) for each in (held, mapped))
    assert one == other


class Rulers(Sequence[Ruler]):
    """The rulers of ten thousand files, of which each that is made is noted."""

    def __init__(self) -> None:
        self.made: set[int] = set()

    def __len__(self) -> int:
        return 10_000

    @overload
    def __getitem__(self, place: int) -> Ruler: ...
    @overload
    def __getitem__(self, place: slice) -> list[Ruler]: ...
    def __getitem__(self, place: int | slice) -> Ruler | list[Ruler]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        self.made.add(place)
        return Ruler(np.arange(100))


def test_scoring_measures_only_files_that_are_shown() -> None:
    """The rulers of files that no ranking and no gold names are never made."""
    rulers = Rulers()
    text = TextCase([TextSpan(7, 0, 40), TextSpan(9_000, 10, 20)], [TextSpan(12, 0, 9)], {"tokens": rulers}, {}, None)
    case = Case("q", ["a", "b"], {}, text=text)
    measures = [parse_measure("recall@4000tok"), parse_measure("naurc@4000tok")]
    assert evaluate(measures, [case])["q"]["recall@4000tok"] == 0
    recall_curves([case], unit="tokens", budgets=(10, 100))
    assert rulers.made == {7, 12, 9_000}
