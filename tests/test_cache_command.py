"""`chunkbench cache`, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evaluation.experiment.store import StageKey, Store
from indexing import shards
from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.hashing import Hashing

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [f"text {number}" for number in range(10)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Fill a cache folder with two parts, one of them used twice."""
    cache = EmbeddingCache(tmp_path / "embeddings")
    cache.embed(Hashing(), TEXTS, kind="document")
    cache.embed(Hashing(), TEXTS, kind="document")
    cache.embed(Hashing(dimensions=16), TEXTS[:3], kind="query")
    return tmp_path


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scripts", "cache", *arguments],
        cwd=ROOT,
        env={**os.environ, "CHUNKBENCH_CACHE": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def _json(home: Path, *arguments: str) -> Any:
    done = _run(home, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _shards(home: Path) -> list[Path]:
    return sorted(home.rglob("*.shard"))


def test_a_folder_that_is_not_there(home: Path) -> None:
    """A mistyped folder is an error, and not an empty cache."""
    done = _run(home, "--folder", str(home / "typo"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a folder" in done.stderr


def test_show(home: Path) -> None:
    """Each part is listed with what it holds and how often it helped."""
    parts = _json(home)["parts"]
    assert [(part["kind"], part["vectors"], part["dimensions"], part["hit_rate"]) for part in parts] in (
        [("document", 10, 256, 0.5), ("query", 3, 16, 0.0)],
        [("query", 3, 16, 0.0), ("document", 10, 256, 0.5)],
    )
    assert parts[0]["encoder"]["encoder"] == "hashing"
    text = _run(home, "show").stdout
    assert "13 vectors" in text
    assert "10 × 256" in text
    assert "hit rate 50.0%" in text


def test_empty_cache(tmp_path: Path) -> None:
    """A cache that was never used is no error."""
    for verb in ("show", "verify", "prune", "clear"):
        assert _run(tmp_path, verb).returncode == 0


def test_verify_and_repair(home: Path) -> None:
    """Damage makes verify end with 1; after a repair it ends with 0, and the rest is still there."""
    assert _run(home, "verify").returncode == 0
    path = max(_shards(home), key=lambda shard: shard.stat().st_size)
    EmbeddingCache(home / "embeddings").embed(Hashing(), ["another"], kind="document")
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    broken = _run(home, "verify")
    assert (broken.returncode, "damaged, 10 vectors are sound" in broken.stdout) == (1, True)
    assert _run(home, "verify", "--repair").returncode == 0
    assert _run(home, "verify").returncode == 0
    cache = EmbeddingCache(home / "embeddings")
    cache.embed(Hashing(), [*TEXTS, "another"], kind="document")
    assert cache.statistics.embedded == 1


def test_prune_drops_what_is_old(home: Path) -> None:
    """A part that was last used 40 days ago goes, the other stays."""
    group = EmbeddingCache(home / "embeddings").group(Hashing(), kind="document")
    old = int(time.time()) - 40 * 86_400
    (group / "usage.jsonl").write_text(json.dumps({"at": old, "distinct": 1}) + "\n{cut", "utf-8")
    assert _json(home, "prune")["vectors"] == 10
    assert [part["kind"] for part in _json(home)["parts"]] == ["query"]


def test_prune_drops_repeats(home: Path) -> None:
    """Rows that two processes have both stored are kept once, and read as before."""
    cache = EmbeddingCache(home / "embeddings")
    group = cache.group(Hashing(), kind="document")
    path = shards.shard_paths(group)[0]
    path.write_bytes(path.read_bytes() * 2)
    cache.embed(Hashing(), ["new"], kind="document")
    before = cache.embed(Hashing(), [*TEXTS, "new"], kind="document")
    assert _json(home, "prune")["vectors"] == 10
    again = EmbeddingCache(home / "embeddings")
    assert (again.embed(Hashing(), [*TEXTS, "new"], kind="document") == before).all()
    assert again.statistics.embedded == 0


def test_clear_one_part_or_all(home: Path) -> None:
    """One part by name, a near miss is suggested, and without a name everything goes."""
    names = [part["name"] for part in _json(home)["parts"]]
    assert _json(home, "clear", "--encoder", names[0])["vectors"] in (3, 10)
    assert [part["name"] for part in _json(home)["parts"]] == names[1:]
    wrong = _run(home, "clear", "--encoder", names[1][:-1])
    assert (wrong.returncode, f"Did you mean {names[1]!r}?" in wrong.stderr) == (2, True)
    assert _run(home, "clear").returncode == 0
    assert _shards(home) == []


def test_help_imports_nothing_heavy() -> None:
    """Help shows examples and loads no model library."""
    code = (
        "import sys; from click.testing import CliRunner; from scripts.cache import command\n"
        "result = CliRunner().invoke(command, ['--help']); print(result.output)\n"
        "print(sorted({'torch', 'faiss', 'numpy', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "chunkbench cache prune --days 30" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_results_of_stages_are_shown_checked_and_dropped(home: Path) -> None:
    """They are stored beside the vectors; a damaged one is named, and unused ones can go."""
    store = Store(home / "stages")

    def write(folder: Path) -> None:
        (folder / "value.txt").write_text("seven")

    for number in range(3):
        store.put(StageKey("chunk", {"n": number}), write)
    assert [(row["stage"], row["entries"]) for row in _json(home)["stages"]] == [("chunk", 3)]
    assert "3 results of stages" in _run(home).stdout
    first, second, _ = store.folders()
    (first / "value.txt").write_text("eight")
    done = _run(home, "verify")
    assert done.returncode == 1
    assert str(first) in done.stdout
    assert _json(home, "verify", "--repair")["damaged_results"] == [str(first)]
    assert _run(home, "verify").returncode == 0
    os.utime(second, (0, 0))
    assert _json(home, "prune", "--days", "1")["results"] == 1
    assert _json(home, "clear")["results"] == 1
    assert store.folders() == []


def test_a_cache_that_is_a_file(tmp_path: Path) -> None:
    """It is not an empty cache."""
    (tmp_path / "file").write_text("")
    done = _run(tmp_path / "file")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a folder" in done.stderr
