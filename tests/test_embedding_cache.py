"""The embedding cache: nothing is embedded twice, and nothing that was stored is lost or trusted when damaged."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing import cache_upkeep, embedding_cache, shards
from indexing.embedding_cache import DamagedShardWarning, EmbeddingCache
from indexing.encoders.hashing import Hashing
from indexing.types import Vectors

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True)
class Counting:
    """A real encoder that writes down what reaches it, and reads at most 4 words."""

    version: ClassVar[str] = "1"
    zero_rows: ClassVar[bool] = True
    dimensions: int = 64
    asked: list[str] = field(default_factory=list, compare=False)
    counted: list[str] = field(default_factory=list, compare=False)

    @property
    def max_tokens(self) -> int | None:
        """A small window."""
        return 4

    def identity(self) -> Mapping[str, Any]:
        """Say nothing about dimensions: like a model that changes under its name."""
        return {"encoder": "counting"}

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Hash the words."""
        self.asked.extend(texts)
        return Hashing(dimensions=self.dimensions).encode(texts, kind=kind)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the words."""
        self.counted.extend(texts)
        return Hashing().count_tokens(texts)


def _texts(count: int, *, start: int = 0) -> list[str]:
    return [f"def function_{number}(): return {number}" for number in range(start, start + count)]


def _shard(folder: Path) -> Path:
    return next(folder.rglob("*.shard"))


def test_each_text_is_embedded_once(tmp_path: Path) -> None:
    """Repeats within a call and across caches reach the encoder once; rows keep their order."""
    encoder = Counting()
    texts = [*_texts(5), *_texts(5), "", "\udc80"]
    first = EmbeddingCache(tmp_path).embed(encoder, texts, kind="document")
    assert sorted(encoder.asked) == sorted(set(texts))
    again = EmbeddingCache(tmp_path)
    second = again.embed(encoder, list(reversed(texts)), kind="document")
    assert len(encoder.asked) == 7
    assert (again.statistics.texts, again.statistics.distinct, again.statistics.hits) == (12, 7, 7)
    assert again.statistics.embedded == 0
    assert np.array_equal(first, second[::-1])
    assert np.array_equal(first, Hashing(dimensions=64).encode(texts, kind="document"))
    assert first.dtype == np.float32


def test_encoders_and_kinds_are_apart(tmp_path: Path) -> None:
    """A vector is found again only for the same encoder and kind."""
    cache = EmbeddingCache(tmp_path)
    cache.embed(Hashing(), ["a"], kind="document")
    cache.embed(Hashing(), ["a"], kind="query")
    cache.embed(Hashing(dimensions=8), ["a"], kind="document")
    assert cache.statistics.embedded == 3


def test_no_texts(tmp_path: Path) -> None:
    """Nothing asked, nothing written."""
    assert EmbeddingCache(tmp_path / "none").embed(Hashing(), [], kind="query").shape == (0, 256)
    assert not (tmp_path / "none").exists()


def test_token_counts_come_from_the_cache(tmp_path: Path) -> None:
    """What lies beyond the window is known of embedded texts without a tokenizer, and counted for others."""
    encoder = Counting()
    cache = EmbeddingCache(tmp_path)
    texts = ["a b c d e f", "a b", "a b"]
    cache.embed(encoder, texts, kind="document")
    encoder.counted.clear()
    assert cache.token_counts(encoder, texts).tolist() == [6, 2, 2]
    assert encoder.counted == []
    assert cache.token_counts(encoder, [*texts, "x"]).tolist() == [6, 2, 2, 1]
    assert encoder.counted == ["x"]


def test_progress_and_increments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is stored step by step, and the steps are told."""
    monkeypatch.setattr(embedding_cache, "INCREMENT", 4)
    told: list[tuple[int, int]] = []
    EmbeddingCache(tmp_path).embed(
        Hashing(), _texts(10), kind="document", progress=lambda done, total: told.append((done, total))
    )
    assert told == [(4, 10), (8, 10), (10, 10)]
    shard = shards.read_shard(_shard(tmp_path))
    assert shard is not None
    assert [block.rows for block in shard.blocks] == [4, 4, 2]


def test_shards_roll_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full shard is followed by a new one, and both are read."""
    monkeypatch.setattr(embedding_cache, "INCREMENT", 4)
    monkeypatch.setattr(shards, "MAX_SHARD_BYTES", 6_000)
    cache = EmbeddingCache(tmp_path)
    vectors = cache.embed(Hashing(), _texts(30), kind="document")
    assert len(list(tmp_path.rglob("*.shard"))) > 3
    assert np.array_equal(vectors, cache.embed(Hashing(), _texts(30), kind="document"))
    assert cache.statistics.embedded == 30


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), damage=st.sampled_from(["flip", "cut", "zero"]))
def test_any_damage_is_found_and_repaired(tmp_path_factory: pytest.TempPathFactory, where: float, damage: str) -> None:
    """Whatever is flipped, cut or zeroed: one warning, the right vectors, and no second warning."""
    folder = tmp_path_factory.mktemp("cache")
    texts = _texts(12)
    expected = Hashing().encode(texts, kind="document")
    for part in (texts[:4], texts[4:8], texts[8:]):
        EmbeddingCache(folder).embed(Hashing(), part, kind="document")
    path = _shard(folder)
    data = bytearray(path.read_bytes())
    at = int(where * len(data))
    block = len(data) // 3
    if damage == "cut":
        if at % block == 0:
            at += 1
        del data[at:]
    elif damage == "flip":
        data[at] ^= 0x40
    else:
        at = min(at, len(data) - 1500)
        data[at:] = bytes(len(data) - at)
    path.write_bytes(data)
    cache = EmbeddingCache(folder)
    with pytest.warns(DamagedShardWarning, match="damaged"):
        assert np.array_equal(cache.embed(Hashing(), texts, kind="document"), expected)
    assert 1 <= cache.statistics.embedded <= 12
    healed = EmbeddingCache(folder)
    assert np.array_equal(healed.embed(Hashing(), texts, kind="document"), expected)
    assert healed.statistics.embedded == 0


def test_damage_beside_what_is_needed_costs_nothing(tmp_path: Path) -> None:
    """Vectors of other blocks are not read: their damage is found when they are asked for."""
    cache = EmbeddingCache(tmp_path)
    cache.embed(Hashing(), _texts(4), kind="document")
    cache.embed(Hashing(), _texts(4, start=4), kind="document")
    path = _shard(tmp_path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    EmbeddingCache(tmp_path).embed(Hashing(), _texts(4), kind="document")
    with pytest.warns(DamagedShardWarning, match="4 of its vectors are kept"):
        EmbeddingCache(tmp_path).embed(Hashing(), _texts(8), kind="document")


def test_model_that_changed_its_dimensions(tmp_path: Path) -> None:
    """Vectors of another size under the same identity are an error that says what to do, and nothing is lost."""
    EmbeddingCache(tmp_path).embed(Counting(dimensions=64), _texts(3), kind="document")
    before = _shard(tmp_path).read_bytes()
    with pytest.raises(UsageError, match=r"64 dimensions, but the model now gives 32.*cache clear --encoder counting-"):
        EmbeddingCache(tmp_path).embed(Counting(dimensions=32), _texts(4), kind="document")
    assert _shard(tmp_path).read_bytes() == before


def _script(folder: Path, body: str) -> list[str]:
    head = f"""
        import sys
        from pathlib import Path
        from indexing import embedding_cache
        from indexing.embedding_cache import EmbeddingCache
        from indexing.encoders.hashing import Hashing
        embedding_cache.INCREMENT = 16
        cache = EmbeddingCache(Path({str(folder)!r}))
        texts = [f"def function_{{n}}(): return {{n}}" for n in range(400)]
    """
    return [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(body)]


def test_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    """When a write does not fit, what was stored before stays, the file is whole, and a later run goes on."""
    body = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        from chunkers.errors import UsageError
        try:
            cache.embed(Hashing(), texts, kind="document")
        except UsageError as error:
            sys.exit(f"{error} | {cache.statistics.embedded}")
    """
    done = subprocess.run(_script(tmp_path, body), cwd=ROOT, capture_output=True, text=True, check=False)
    message, _, stored = done.stderr.strip().rpartition(" | ")
    assert "no room for more vectors" in message
    assert "What was stored before is kept" in message
    assert 0 < int(stored) < 400
    cache = EmbeddingCache(tmp_path)
    texts = _texts(400)
    assert np.array_equal(cache.embed(Hashing(), texts, kind="document"), Hashing().encode(texts, kind="document"))
    assert cache.statistics.hits == int(stored)


def test_killed_run_keeps_what_it_had(tmp_path: Path) -> None:
    """A process that is killed while embedding leaves its finished steps behind, and no damage."""
    body = """
        import time
        def slow(done, total):
            print(done, flush=True)
            time.sleep(0.02)
        cache.embed(Hashing(), texts, kind="document", progress=slow)
    """
    with subprocess.Popen(_script(tmp_path, body), cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        done = [int(process.stdout.readline()) for _ in range(3)][-1]
        process.send_signal(signal.SIGKILL)
    cache = EmbeddingCache(tmp_path)
    cache.embed(Hashing(), _texts(400), kind="document")
    assert cache.statistics.hits >= done


def test_two_processes_at_once(tmp_path: Path) -> None:
    """Processes that write the same cache together lose nothing and break nothing."""
    body = "cache.embed(Hashing(), texts, kind='document')"
    running = [subprocess.Popen(_script(tmp_path, body), cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=600)
        assert (process.returncode, errors) == (0, b"")
    cache = EmbeddingCache(tmp_path)
    texts = _texts(400)
    assert np.array_equal(cache.embed(Hashing(), texts, kind="document"), Hashing().encode(texts, kind="document"))
    assert cache.statistics.embedded == 0


def test_block_that_is_being_written_is_not_damage(tmp_path: Path) -> None:
    """A reader that meets half a block waits for its writer instead of dropping it."""
    cache = EmbeddingCache(tmp_path)
    cache.embed(Hashing(), _texts(4), kind="document")
    path = _shard(tmp_path)
    whole = path.read_bytes()
    body = f"""
        import time
        with embedding_cache.locked(Path({str(path.parent)!r})):
            Path({str(path)!r}).write_bytes(Path({str(path)!r}).read_bytes()[:-50])
            print("cut", flush=True)
            time.sleep(1)
            with Path({str(path)!r}).open("ab") as file:
                file.write(bytes.fromhex({whole[-50:].hex()!r}))
    """
    with subprocess.Popen(_script(tmp_path, body), cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "cut\n"
        reader = EmbeddingCache(tmp_path)
        reader.embed(Hashing(), _texts(4), kind="document")
    assert reader.statistics.hits == 4
    assert path.read_bytes() == whole


def test_warm_run_loads_no_model(tmp_path: Path) -> None:
    """Where every text is known neither torch nor a tokenizer is imported, for vectors and for counts of tokens."""
    body = """
        from indexing.encoders.minilm import MiniLM
        for again in range(int(sys.argv[1])):
            cache.embed(MiniLM(), texts[:2], kind="document")
            cache.token_counts(MiniLM(), texts[:2])
        heavy = {"torch", "tokenizers", "transformers"} & set(sys.modules)
        print(sorted(heavy), cache.statistics.embedded)
    """
    command = [*_script(tmp_path, body), "1"]
    outputs = [subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outputs[0].endswith(" 2\n")
    assert outputs[1] == "[] 0\n"


def test_use_is_written_down(tmp_path: Path) -> None:
    """Each call leaves a line from which hit rates are made."""
    cache = EmbeddingCache(tmp_path)
    began = int(time.time())
    cache.embed(Hashing(), ["a", "a", "b"], kind="document")
    log = cache.group(Hashing(), kind="document") / "usage.jsonl"
    row = json.loads(log.read_text("utf-8"))
    assert row.pop("at") >= began
    assert row.pop("seconds") >= 0
    assert row == {"texts": 3, "distinct": 2, "embedded": 2, "characters": 2}


def test_what_is_missing_and_how_fast_it_went(tmp_path: Path) -> None:
    """Missing texts are counted without embedding, and the rate comes from what was embedded before."""
    cache = EmbeddingCache(tmp_path)
    assert cache.rate(Hashing()) is None
    keys = [embedding_cache.text_key(text) for text in _texts(3000)]
    assert cache.missing(Hashing(), keys, kind="document") == 3000
    cache.embed(Hashing(), _texts(2000), kind="document")
    assert cache.missing(Hashing(), keys, kind="document") == 1000
    rate = cache.rate(Hashing())
    assert rate is not None
    assert rate > 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_cache_is_a_clear_error(tmp_path: Path) -> None:
    """A folder that may not be written is named."""
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written"):
        EmbeddingCache(tmp_path / "x").embed(Hashing(), ["a"], kind="document")


def test_a_shard_of_another_encoder_is_refused(tmp_path: Path) -> None:
    """The same text has the same key everywhere: a shard copied between two encoders' folders is found out."""
    cache = EmbeddingCache(tmp_path)
    texts = ["alpha beta", "gamma delta"]
    right = cache.embed(Hashing(dimensions=64), texts, kind="document")
    cache.embed(Counting(), texts[::-1], kind="document")
    mine, theirs = (cache.group(encoder, kind="document") for encoder in (Hashing(dimensions=64), Counting()))
    shutil.copy(theirs / "000001.shard", mine / "000001.shard")
    assert [check.damaged for check in cache_upkeep.verify(tmp_path, repair=False)] == [False, True]
    with pytest.warns(DamagedShardWarning, match="another encoder"):
        again = EmbeddingCache(tmp_path).embed(Hashing(dimensions=64), texts, kind="document")
    assert (again == right).all()


@pytest.mark.parametrize(
    ("row", "words"),
    [([np.nan, 0], "not finite"), ([np.inf, 0], "not finite"), ([0, 0], "all zeros"), ([3e38, 0], "holds 3e"),
     ([2, 0], "length 2"), ([0.1, 0], "length 0.1")],
)  # fmt: skip
def test_vectors_that_are_none_are_never_stored(tmp_path: Path, row: list[float], words: str) -> None:
    """Neither infinite, zero, huge nor of another length; nothing of the call is on the disk."""

    class Broken(Counting):
        def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
            """Give the same row for every text."""
            del kind
            return np.array([row] * len(texts), dtype=np.float32)

    Broken.zero_rows = False
    cache = EmbeddingCache(tmp_path)
    with pytest.raises(UsageError, match=words):
        cache.embed(Broken(), ["a", "b"], kind="document")
    assert list(tmp_path.rglob("*.shard")) == []


@pytest.mark.parametrize("line", ["{", "[]", "7", '{"at": "x"}', '{"seconds": 1e999}', '{"distinct": -1}', "[" * 99_999,
                                  '{"embedded": null}', "9" * 9_999, "\udcff"])  # fmt: skip
def test_an_edited_record_of_use_is_passed_over(tmp_path: Path, line: str) -> None:
    """The rate and the list of parts count the lines that can be read."""
    cache = EmbeddingCache(tmp_path)
    cache.embed(Counting(), ["a b", "c d"], kind="document")
    with (cache.group(Counting(), kind="document") / "usage.jsonl").open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape") + b"\n")
    (group,) = cache_upkeep.groups(tmp_path)
    assert (group.asked, group.hits) == (2, 0)
    assert cache.rate(Counting()) is None or cache.rate(Counting())
