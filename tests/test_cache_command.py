"""`chunkbench cache`, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evaluation.experiment.store import StageKey, Store
from ground_truth.archives import unpacked
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
    os.utime(shards.shard_paths(group)[0], (old, old))
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


@pytest.fixture
def killed(home: Path) -> Path:
    """Return the stages of the cache: a result, two drafts of which one is old, and a folder without its manifest."""
    store = Store(home / "stages")
    for number in range(2):
        store.put(StageKey("chunk", {"n": number}), lambda folder: _fill(folder / "value.txt", "seven"))
    (store.folders()[1] / "manifest.json").unlink()
    for days in (0, 40):
        draft = store.draft("dataset")
        _fill(draft / "0", "x" * 1_000)
        for path in (draft / "0", draft):
            os.utime(path, (time.time() - days * 86_400,) * 2)
    return store.root


def _fill(file: Path, text: str) -> None:
    file.write_text(text)


def test_what_kills_have_left_is_shown(home: Path, killed: Path) -> None:
    """Drafts and folders without a manifest are counted apart from results, with their bytes."""
    assert _json(home)["unfinished"] == {"entries": 3, "bytes": 2_005}
    assert f"{killed}: 3 unfinished, under way or left by a kill, 2.0 kB" in _run(home).stdout
    _run(home, "clear")
    assert _json(home)["unfinished"] == {"entries": 0, "bytes": 0}
    assert "unfinished" not in _run(home).stdout


def test_prune_drops_what_kills_have_left_and_nothing_that_a_run_may_be_writing(home: Path, killed: Path) -> None:
    """An old draft and a folder without a manifest go; a draft of the last day stays, whatever the limit."""
    assert _json(home, "prune", "--days", "41")["unfinished"] == 1
    for manifest in killed.glob("chunk/[!.]*/manifest.json"):
        os.utime(manifest.parent, (1_000, 1_000))
    found = _json(home, "prune", "--days", "0")
    assert (found["unfinished"], found["results"]) == (1, 1)
    assert [path.name for path in sorted(killed.rglob("*")) if path.is_file()] == ["0"]
    assert _json(home, "prune", "--days", "0")["unfinished"] == 0


def test_clear_leaves_nothing_of_the_stages(home: Path, killed: Path) -> None:
    """Not even what a run was writing a moment ago; one part of the vectors is cleared alone."""
    before = sorted(killed.rglob("*"))
    part = _json(home)["parts"][0]["name"]
    assert _json(home, "clear", "--encoder", part)["unfinished"] == 0
    assert sorted(killed.rglob("*")) == before
    done = _run(home, "clear")
    assert "1 results of stages, 3 unfinished and 0 records of files" in done.stdout
    assert list(killed.iterdir()) == []


def test_verify_names_a_folder_without_its_manifest(home: Path, killed: Path) -> None:
    """It is damaged, and a repair drops it."""
    (spoiled,) = (path.parent for path in killed.glob("chunk/*/value.txt") if len(list(path.parent.iterdir())) == 1)
    done = _run(home, "verify")
    assert (done.returncode, f"{spoiled}: damaged" in done.stdout) == (1, True)
    assert _json(home, "verify", "--repair")["damaged_results"] == [str(spoiled)]
    assert not spoiled.exists()
    assert _run(home, "verify").returncode == 0


def test_dropping_frees_an_entry_at_once(home: Path, killed: Path) -> None:
    """A kill in the middle leaves an old draft and no half entry: all of an entry moves before any of it goes."""
    script = (
        "import shutil, sys; from scripts.cache import command\n"
        "shutil.rmtree = lambda *_, **__: sys.exit(9)\n"
        "command(sys.argv[1:], standalone_mode=False)"
    )
    killing = [sys.executable, "-c", script, "prune", "--days", "0"]
    for entry in killed.glob("chunk/*"):
        os.utime(entry, (1_000, 1_000))
    assert subprocess.run(killing, cwd=ROOT, env={**os.environ, "CHUNKBENCH_CACHE": str(home)}, check=False).returncode
    places = [path for path in killed.glob("chunk/*") if not path.name.startswith(".")]
    assert all(not (path / "manifest.json").exists() for path in places)
    assert [path.name for path in sorted(killed.glob("chunk/.draft-*/*"))] == ["manifest.json", "value.txt"]


@pytest.fixture
def archive(home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an archive that is unpacked in the cache, beside a folder of a user and two kills, one of them old."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(home))
    path = tmp_path_factory.mktemp("data") / "sources.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("a/one.py", "x = 1\n")
    folder = unpacked(path)
    for name, days in (("abcd1234", 0), ("efgh5678", 40)):
        draft = folder.with_name(f"{folder.name}.{name}")
        draft.mkdir()
        _fill(draft / "one.py", "x" * 1_000)
        os.utime(draft, (time.time() - days * 86_400,) * 2)
    (folder.parent / "mine").mkdir()
    return path


def test_unpacked_archives_are_shown_and_cleared(home: Path, archive: Path) -> None:
    """With those whose unpacking was killed; one part of the vectors is cleared alone."""
    assert _json(home)["archives"] == {"entries": 1, "unfinished": 2, "bytes": 2_006}
    assert f"{home}/archives: 1 unpacked archives, 2 unfinished, 2.0 kB" in _run(home).stdout
    assert _json(home, "clear", "--encoder", _json(home)["parts"][0]["name"])["archives"] == 0
    assert unpacked(archive).is_dir()
    assert _json(home, "clear")["archives"] == 3
    assert [path.name for path in (home / "archives").iterdir()] == ["mine"]
    assert _json(home)["archives"] == {"entries": 0, "unfinished": 0, "bytes": 0}


def test_prune_drops_archives_that_nobody_used_and_what_kills_have_left(home: Path, archive: Path) -> None:
    """The use of an archive keeps it; a draft of the last day stays, whatever the limit."""
    folder = unpacked(archive)
    os.utime(folder, (1_000, 1_000))
    unpacked(archive)
    assert "1 unpacked archives" in _run(home, "prune").stdout
    assert _json(home)["archives"] == {"entries": 1, "unfinished": 1, "bytes": 1_006}
    os.utime(folder, (1_000, 1_000))
    assert _json(home, "prune", "--days", "0")["archives"] == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == [f"{folder.name}.abcd1234", "mine"]
    assert (unpacked(archive) / "a" / "one.py").read_text() == "x = 1\n"


def test_a_cache_that_is_a_file(tmp_path: Path) -> None:
    """It is not an empty cache."""
    (tmp_path / "file").write_text("")
    done = _run(tmp_path / "file")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a folder" in done.stderr
