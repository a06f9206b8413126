"""A cell that is searched in parts, by one process, by two or by Ray: the ranking is that of the whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from conftest import Command

from chunkers.sources import walk
from evaluation.config import ExperimentConfig, make_config
from evaluation.experiment import stages
from evaluation.experiment.blocks import Division
from evaluation.experiment.executors import Executor, Processes, Serial
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_scores
from evaluation.experiment.session import Session
from evaluation.types import CellKey
from ground_truth.types import Annotation, Dataset, Query
from indexing.found import Found
from indexing.word_counts import WordCounter

RETRIEVERS = ("bm25", "dense", "hybrid", "mmr", "dartboard", "dense:index=hnsw")
ONE = Division(1, 10**9, 10**9)


@dataclass(frozen=True, kw_only=True)
class Code:
    """Our own chunkers as one repository or several, asked for the names of functions; some text is hidden."""

    version: ClassVar[str] = "1"
    root: str
    kind: str

    def load(self) -> Dataset:
        """Return the dataset."""
        root = Path(self.root)
        asked = [
            (path.name, line, text.split("(")[0].removeprefix("def ").replace("_", " "))
            for path in sorted(root.glob("*.py"))
            for line, text in enumerate(path.read_text("utf-8").splitlines(), start=1)
            if text.startswith("def ")
        ]
        repos = ("code",) if self.kind == "one" else ("code", "other")
        queries = tuple(
            Query(f"{repo}{number}", text, repo) for repo in repos for number, (_, _, text) in enumerate(asked[::7])
        )
        notes = tuple(
            Annotation(f"{repo}{number}", repo, path, line, line)
            for repo in repos
            for number, (path, line, _) in enumerate(asked[::7])
        )
        folders = tuple(walk(root, name=repo) for repo in repos)
        return Dataset("code", folders, queries, notes, scope="all" if self.kind == "all" else "repository")


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of source files, one of them twice."""
    folder = tmp_path_factory.mktemp("code")
    for path in sorted((Path(__file__).parents[1] / "chunkers").glob("*.py"))[:16]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "again.py").write_bytes((folder / "cast.py").read_bytes())
    return folder


def config(*retrievers: str) -> ExperimentConfig:
    """Return an experiment on the dataset."""
    return make_config(
        {
            "datasets": ("code",),
            "chunkers": ("fixed-lines:lines=4",),
            "embedders": ("hashing:dimensions=32",),
            "retrievers": retrievers or RETRIEVERS,
            "measures": ("ndcg@5", "recall@10"),
        }
    )


def session_of(code: Path, cache: Path, kind: str, *retrievers: str) -> Session:
    """Return a session with an empty cache."""
    return Session(config(*retrievers), cache, plugins={"code": Code(root=str(code), kind=kind)})


Ranked = Mapping[CellKey, Mapping[str, list[tuple[int, float]]]]


def rankings(session: Session, executor: Executor) -> Ranked:
    """Return every hit of every cell, after the scores were made."""
    failed = make_scores(session, session.cells, executor, Progress())
    assert failed == {}
    found = {cell: stages.retrieve(session, cell).ranking for cell in session.cells}
    return {
        cell: {name: [(hit.position, hit.score) for hit in hits] for name, hits in each.items()}
        for cell, each in found.items()
    }


def divided(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    """Let a cell be searched in about so many parts."""
    division = ONE if parts == 1 else Division(parts, 1, 10**9)
    for name in ("ROWS", "ROWS_HERE"):
        monkeypatch.setattr(f"evaluation.experiment.stages.{name}", division)


@pytest.mark.parametrize("kind", ["one", "several", "all"])
def test_parts_change_nothing_in_one_process(
    code: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One repository, two that are searched apart, two that are searched together; hits and their scores."""
    made: dict[int, Ranked] = {}
    for parts in (1, 2, 7):
        divided(monkeypatch, parts)
        session = session_of(code, tmp_path / f"{parts}", kind)
        assert len(stages.search_blocks(session, session.cells[0])) >= parts
        made[parts] = rankings(session, Serial())
    assert made[1] == made[2] == made[7]
    assert all(any(hits for hits in runs.values()) for runs in made[1].values())


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_two_processes_find_what_one_finds(
    code: Path, tmp_path: Path, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are counted and parts searched by both; nothing is left behind in the store but what is of use."""
    divided(monkeypatch, 1)
    alone = rankings(session_of(code, tmp_path / "alone", "several"), Serial())
    divided(monkeypatch, parts)
    session = session_of(code, tmp_path / "two", "several")
    executor = Processes(2)
    try:
        assert rankings(session, executor) == alone
    finally:
        executor.close()
    assert not list((session.store.root / "search").glob("[!.]*"))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by the number of texts whenever words are counted."""
    seen: list[int] = []
    plain = WordCounter.count

    def count(self: WordCounter, texts: Iterable[str]) -> object:
        held = list(texts)
        seen.append(len(held))
        return plain(self, held)

    monkeypatch.setattr(WordCounter, "count", count)
    return seen


def test_only_the_words_of_changed_files_are_counted_again(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing for a file that stayed, whatever else is asked; one file for one that changed."""
    root = tmp_path / "work"
    root.mkdir()
    for path in code.iterdir():
        (root / path.name).write_bytes(path.read_bytes())
    divided(monkeypatch, 5)
    seen = counted(monkeypatch)
    cache = tmp_path / "cache"
    first = rankings(session_of(root, cache, "one", "bm25"), Serial())
    assert len(seen) == len(list(root.iterdir()))
    seen.clear()
    assert rankings(session_of(root, cache, "one", "bm25", "bm25:k1=0.9", "hybrid"), Serial()).items() >= first.items()
    assert seen == []
    (root / "cast.py").write_text((root / "cast.py").read_text("utf-8") + "\n\ndef added_later():\n    return 1\n")
    changed = rankings(session_of(root, cache, "one", "bm25"), Serial())
    assert len(seen) == 1
    fresh = rankings(session_of(root, tmp_path / "fresh", "one", "bm25"), Serial())
    assert changed == fresh != first


def test_a_run_that_was_cut_off_goes_on_with_the_parts_that_it_has(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that is in the store is not searched again; a damaged one is, and the ranking is the same."""
    divided(monkeypatch, 5)
    session = session_of(code, tmp_path / "cache", "one", "hybrid")
    (cell,) = session.cells
    blocks = stages.search_blocks(session, cell)
    before = [  # copies: what is found lies in the files of the store
        [Found(*map(np.array, each)) for each in stages.search_block(session, block).found] for block in blocks[:3]
    ]
    (broken, *_) = sorted((session.store.root / "search").glob("*/scores0.npy"))
    broken.write_bytes(b"rubbish")
    again = session_of(code, tmp_path / "cache", "one", "hybrid")
    whole = rankings(again, Serial())
    for found, block in zip(before, blocks, strict=False):
        for one, other in zip(found, stages.search_block(again, block).found, strict=True):
            assert np.array_equal(one.positions, other.positions)
            assert np.array_equal(one.scores, other.scores)
    assert whole == rankings(session_of(code, tmp_path / "fresh", "one", "hybrid"), Serial())


def test_words_are_entries_that_the_cache_command_finds(
    chunkbench: Command, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are shown, verified and cleared like every other result of a stage."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    how = ("--annotations", tmp_path / "gold.jsonl", "--retriever", "bm25", "--chunker", "fixed-lines:lines=5")
    assert chunkbench("compare", repository, *how, "--engine", "serial", "--out", tmp_path / "out").code == 0
    shown = json.loads(chunkbench("cache", "show", "--json").out)["stages"]
    assert {"counted", "words"} <= {row["stage"] for row in shown}
    assert chunkbench("cache", "verify").code == 0
    assert chunkbench("cache", "clear").code == 0
    assert not list((tmp_path / "cache" / "stages").glob("counted*/[!.]*"))
