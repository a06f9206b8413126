"""The embedding cache in numbers: what is counted, timed and held, block by block and at every bound."""

from __future__ import annotations

import dataclasses
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing import embedding_cache
from indexing.embedding_cache import EmbeddingCache, text_key, text_keys
from indexing.encoders.hashing import Hashing
from indexing.identity import vectors_identity
from indexing.shards import append_block, read_shard, shard_paths
from indexing.types import Vectors
from indexing.usage import Use, note_use


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Hashed words, with what reached the encoder at a time."""

    version: ClassVar[str] = "1"
    zero_rows: ClassVar[bool] = True
    window: int | None = 2
    asked: list[list[str]] = field(default_factory=list, compare=False)
    counted: list[list[str]] = field(default_factory=list, compare=False)

    @property
    def max_tokens(self) -> int | None:
        """As the test wants it."""
        return self.window

    def identity(self) -> Mapping[str, Any]:
        """Return what decides the vectors."""
        return {"encoder": "batches"}

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Hash the words."""
        self.asked.append(list(texts))
        return Hashing(dimensions=8).encode(texts, kind=kind)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the words."""
        self.counted.append(list(texts))
        return Hashing().count_tokens(texts)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store three texts at a time, and hold seven."""
    monkeypatch.setattr(embedding_cache, "INCREMENT", 3)
    monkeypatch.setattr(embedding_cache, "_WINDOW", 7)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("count", [1, 3, 6, 7, 8, 14, 17])
def test_texts_are_embedded_longest_first_within_a_window(tmp_path: Path, count: int) -> None:
    """Windows in the order of the texts, in steps; every row is the text's own, and progress is told after each."""
    texts = [f"w{number} " * (1 + number * 5 % 4) for number in range(count)]
    encoder, told = Batches(), []
    rows = EmbeddingCache(tmp_path).embed(
        encoder, texts, kind="document", progress=lambda done, total: told.append((done, total))
    )
    assert np.array_equal(rows, Hashing(dimensions=8).encode(texts, kind="document"))
    expected = []
    for start in range(0, count, 7):
        window = sorted(texts[start : start + 7], key=len, reverse=True)
        expected += [window[at : at + 3] for at in range(0, len(window), 3)]
    assert encoder.asked == expected
    assert encoder.counted == expected
    assert told == [(sum(map(len, expected[: step + 1])), count) for step in range(len(expected))]


@pytest.mark.usefixtures("small_steps")
@settings(max_examples=25)
@given(calls=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=16), min_size=1, max_size=4))
def test_statistics_add_up_over_calls(tmp_path_factory: pytest.TempPathFactory, calls: list[list[int]]) -> None:
    """Texts, distinct ones, those that were there, those that were embedded and their characters."""
    cache = EmbeddingCache(tmp_path_factory.mktemp("cache"))
    known: set[str] = set()
    sums = np.zeros(5, dtype=int)
    for call in calls:
        texts = ["x" * number for number in call]
        rows = cache.embed(Batches(), texts, kind="document")
        assert np.array_equal(rows, Hashing(dimensions=8).encode(texts, kind="document"))
        new = set(texts) - known
        known |= new
        sums += [len(texts), len(set(texts)), len(set(texts)) - len(new), len(new), sum(map(len, new))]
        found = cache.statistics
        assert [found.texts, found.distinct, found.hits, found.embedded, found.characters] == sums.tolist()
    log = (cache.group(Batches(), kind="document") / "usage.jsonl").read_text().splitlines()
    rows_of_use = [json.loads(line) for line in log]
    assert [row["texts"] for row in rows_of_use] == [len(call) for call in calls]
    assert sum(row["embedded"] for row in rows_of_use) == len(known)
    assert sum(row["characters"] for row in rows_of_use) == sums[4]


@pytest.mark.usefixtures("small_steps")
def test_tokens_are_counted_for_what_is_not_stored(tmp_path: Path) -> None:
    """In windows, each text once; a text of no tokens is stored as one, and not counted again."""
    encoder, cache = Batches(), EmbeddingCache(tmp_path)
    cache.embed(encoder, ["", "a b"], kind="document")
    encoder.counted.clear()
    texts = ["", "a b", *(f"c{number} " * number for number in range(1, 9)), "a b", "c1 "]
    expected = list(Hashing().count_tokens(texts))
    assert cache.token_counts(encoder, texts).tolist() == expected
    assert [len(part) for part in encoder.counted] == [7, 1]
    assert cache.token_counts(encoder, texts, keys=text_keys(texts)).tolist() == expected
    assert cache.token_counts(encoder, ["a b"], kind="query").tolist() == [2]


def test_an_encoder_without_a_window_counts_nothing(tmp_path: Path) -> None:
    """Nobody asks what it cuts off; the stored count is 0."""
    encoder = Batches(window=None)
    cache = EmbeddingCache(tmp_path)
    cache.embed(encoder, ["a b", "c"], kind="document")
    assert encoder.counted == []
    shard = read_shard(shard_paths(cache.group(encoder, kind="document"))[0])
    assert shard is not None
    assert shard.keys(shard.blocks[0])["tokens"].tolist() == [0, 0]


@pytest.mark.parametrize(("spare", "mapped"), [(0, False), (-1, True)])
def test_many_vectors_are_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spare: int, *, mapped: bool) -> None:
    """From one byte beyond the bound on, new ones and stored ones; the numbers are the same."""
    texts = [f"text {number}" for number in range(5)]
    monkeypatch.setattr(embedding_cache, "LARGEST_IN_MEMORY", 5 * 8 * 4 + spare)
    for _ in range(2):
        rows = EmbeddingCache(tmp_path).embed(Batches(), texts, kind="document")
        assert isinstance(rows, np.memmap) == mapped
        assert np.array_equal(rows, Hashing(dimensions=8).encode(texts, kind="document"))


def test_keys_that_are_given_are_not_computed_again(tmp_path: Path) -> None:
    """Texts that are read from somewhere are read once, and those that are stored not at all."""

    class Lazy(Sequence[str]):
        def __init__(self, texts: list[str]) -> None:
            self.texts, self.read = texts, list[int]()

        def __len__(self) -> int:
            return len(self.texts)

        def __getitem__(self, at: Any) -> Any:
            self.read.append(at)
            return self.texts[at]

        def __iter__(self) -> Iterator[str]:
            raise AssertionError("all texts were read")

    texts = Lazy(["b", "a", "b", "c"])
    keys = text_keys(["b", "a", "b", "c"])
    rows = EmbeddingCache(tmp_path).embed(Hashing(), texts, kind="document", keys=keys)
    assert np.array_equal(rows, Hashing().encode(texts.texts, kind="document"))
    assert texts.read == [0, 1, 3]
    EmbeddingCache(tmp_path).embed(Hashing(), texts, kind="document", keys=keys)
    assert texts.read == [0, 1, 3]


def test_the_rate_is_that_of_all_calls_that_took_time(tmp_path: Path) -> None:
    """Texts per second, and seconds per character; calls that embedded nothing say nothing."""
    cache = EmbeddingCache(tmp_path)
    group = cache.group(Hashing(), kind="document")
    group.mkdir(parents=True)
    assert (cache.rate(Hashing()), cache.seconds_per_character(Hashing())) == (None, None)
    note_use(group, Use(1, 5, 5, 9, 0.0, 0))
    assert (cache.rate(Hashing()), cache.seconds_per_character(Hashing())) == (None, None)
    note_use(group, Use(1, 5, 5, 5, 2.0, 0))
    note_use(group, Use(2, 5, 5, 1, 1.0, 100))
    note_use(group, Use(3, 5, 5, 0, 0.5, 300))
    assert cache.rate(Hashing()) == pytest.approx(6 / 3.5)
    assert cache.seconds_per_character(Hashing()) == pytest.approx(1.5 / 400)


@pytest.mark.usefixtures("small_steps")
def test_only_the_seconds_of_the_model_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a quarter whenever it is looked at: a quarter for each step, call by call."""
    clock = itertools.count(100.0, 0.25)
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    cache = EmbeddingCache(tmp_path)
    for first, last in ((0, 6), (6, 7)):
        cache.embed(Hashing(), [f"text {number}" for number in range(first, last)], kind="document")
    assert cache.statistics.seconds == 0.75
    log = (cache.group(Hashing(), kind="document") / "usage.jsonl").read_text().splitlines()
    assert [json.loads(line)["seconds"] for line in log] == [0.5, 0.25]


def test_the_cache_lies_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a folder is given."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "home"))
    assert EmbeddingCache().folder == tmp_path / "home" / "embeddings"
    assert EmbeddingCache(tmp_path / "own").folder == tmp_path / "own"
    assert dataclasses.astuple(EmbeddingCache().statistics) == (0, 0, 0, 0, 0.0, 0)


def test_stored_vectors_miss_nothing(tmp_path: Path) -> None:
    """An encoder whose vectors are at hand is never asked for more; the others miss what they never saw."""

    class Stored(Batches):
        stored: ClassVar[bool] = True

    cache = EmbeddingCache(tmp_path)
    keys = [text_key("a"), text_key("b")]
    assert cache.missing(Stored(), keys, kind="document") == 0
    assert cache.missing(Batches(), keys, kind="document") == 2
    cache.embed(Batches(), ["a"], kind="document")
    assert cache.missing(Batches(), keys, kind="document") == 1
    assert cache.missing(Batches(), [], kind="document") == 0
    assert cache.token_counts(Batches(), []).tolist() == []
    assert EmbeddingCache(tmp_path / "none").embed(Stored(), ["a"], kind="query").shape == (1, 8)
    assert not (tmp_path / "none").exists()


def test_the_oldest_row_of_a_text_is_the_one_that_is_read(tmp_path: Path) -> None:
    """A number that was reported does not change because another process stored the text again."""
    cache, other = EmbeddingCache(tmp_path / "a"), EmbeddingCache(tmp_path / "b")
    first = cache.embed(Batches(), ["x y", "y"], kind="document")
    group = cache.group(Batches(), kind="document")
    (path,) = shard_paths(group)
    other.embed(Batches(), ["z", "y", "x y"], kind="document")
    (second,) = shard_paths(other.group(Batches(), kind="document"))
    (group / "000002.shard").write_bytes(second.read_bytes())
    again = EmbeddingCache(tmp_path / "a")
    assert np.array_equal(again.embed(Batches(), ["y", "z", "x y"], kind="document")[[2, 0]], first)
    assert again.statistics.hits == 3
    path.unlink()
    assert EmbeddingCache(tmp_path / "a").missing(Batches(), text_keys(["y", "z", "q"]).tolist(), kind="document") == 1


def test_stored_rows_of_another_width_are_an_error(tmp_path: Path) -> None:
    """Shards of one folder that do not agree are named, with what to do."""
    cache = EmbeddingCache(tmp_path)
    cache.embed(Batches(), ["a"], kind="document")
    group = cache.group(Batches(), kind="document")
    append_block(group, [text_key("b")], [1], np.eye(1, 5, dtype=np.float32))
    with pytest.raises(UsageError, match="holds vectors of 5 dimensions, but the model now gives 8"):
        cache.embed(Batches(), ["a", "b"], kind="document")


def test_the_identity_of_a_plug_in_holds_its_code() -> None:
    """Of ours the version says it."""
    assert vectors_identity(Hashing()) == Hashing().identity()
    assert set(vectors_identity(Batches())) == {"encoder", "code"}
