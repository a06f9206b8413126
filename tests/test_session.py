"""A session: what one run shares, made once, and gone with the run."""

from __future__ import annotations

import gc
import json
import os
import pickle
import textwrap
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import chunkbench as cb
from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig, make_config
from evaluation.experiment import keys, session
from evaluation.experiment.executors import Serial
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session

COUNTED = """
    import os
    from dataclasses import dataclass

    from chunkers.fixed_lines import FixedLines
    from ground_truth.datasets.annotations import Annotations
    from indexing.bm25 import BM25
    from indexing.encoders.hashing import Hashing


    def note(kind, made):
        with open(os.environ["MADE"], "a") as file:
            print(os.getpid(), kind, made, file=file)


    @dataclass(frozen=True, kw_only=True)
    class Chunker(FixedLines):
        def __post_init__(self):
            note("chunker", self)


    @dataclass(frozen=True, kw_only=True)
    class Encoder(Hashing):
        def __post_init__(self):
            note("encoder", self)


    @dataclass(frozen=True, kw_only=True)
    class Retriever(BM25):
        def __post_init__(self):
            note("retriever", self)


    @dataclass(frozen=True, kw_only=True)
    class Dataset(Annotations):
        def __post_init__(self):
            note("dataset", self)
    """


def config_of(repository: Path, **more: Any) -> ExperimentConfig:
    """Return an experiment of two cells on annotated code."""
    gold = repository.parent / "gold.jsonl"
    return make_config(
        {
            "datasets": f"annotations:path={gold},root={repository}",
            "chunkers": ["fixed-lines:lines=5", "cast:size=120"],
            "embedders": "hashing",
            "retrievers": "bm25",
            "measures": ["recall@10"],
            "flips": 100,
            **more,
        }
    )


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_each_plugin_is_made_once_in_a_process(
    chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """One file, one query, two cells: a dataset, an embedder, a retriever and two chunkers, whatever the engine."""
    root, plugins = tmp_path / "code", tmp_path / "counted.py"
    root.mkdir()
    (root / "a.py").write_text("a = 1\n" * 20)
    row = {"query_id": "q", "query": "a", "repo": "code", "file": "a.py", "start_line": 1, "end_line": 2}
    (tmp_path / "gold.jsonl").write_text(json.dumps({**row, "relevance": 1}) + "\n")
    plugins.write_text(textwrap.dedent(COUNTED))
    monkeypatch.setenv("MADE", str(tmp_path / "made.txt"))
    result = chunkbench(
        *("compare", f"--dataset={plugins}:Dataset,path={tmp_path / 'gold.jsonl'},root={root}"),
        *(f"--chunker={plugins}:Chunker,lines=5", f"--chunker={plugins}:Chunker,lines=10"),
        *(f"--embedder={plugins}:Encoder", f"--retriever={plugins}:Retriever", "--measure", "recall@10"),
        *("--engine", engine, "--jobs", "2", "--flips", "100", "--out", tmp_path / "out"),
    )
    assert result.code == 0, result.err
    made = Counter((tmp_path / "made.txt").read_text().splitlines())
    assert set(made.values()) == {1}
    here = str(os.getpid())
    assert sorted(line.split()[1] for line in made if line.split()[0] == here) == [
        *("chunker", "chunker", "dataset", "encoder", "retriever")
    ]


def test_each_key_is_computed_once(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells have two keys of each stage; asking again computes none."""
    computed: Counter[str] = Counter()

    def counted(name: str) -> Callable[..., Any]:
        real = getattr(keys, name)

        def compute(*arguments: Any, **named: Any) -> Any:
            computed[name] += 1
            return real(*arguments, **named)

        return compute

    for name in ("chunk_key", "retrieve_key", "score_key"):
        monkeypatch.setattr(keys, name, counted(name))
    made = Session.resolve(config_of(repository), tmp_path / "cache")
    run_experiment(made, Serial())
    assert computed == {"chunk_key": 2, "retrieve_key": 2, "score_key": 2}


def test_a_changed_source_is_seen_by_the_next_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two comparisons in one process: the second one has the chunks of the files as they are then."""
    options: dict[str, Any] = {"chunkers": ["whole-file"], "embedders": ["hashing"], "retrievers": ["bm25"]}
    gold = repository.parent / "gold.jsonl"
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(repository.parent / "cache"))
    first = cb.compare(repository, annotations=gold, **options)
    with (repository / "apple.py").open("a") as file:
        file.write("\n\ndef peel(apple):\n    return apple.skin\n")
    second = cb.compare(repository, annotations=gold, **options)
    assert first.datasets[0].fingerprint != second.datasets[0].fingerprint
    assert not any("apple.skin" in text for text in first.texts.values())
    assert any("apple.skin" in text for text in second.texts.values())
    assert second.cells[0].chunks.total_nws > first.cells[0].chunks.total_nws


def test_nothing_outlives_its_session(repository: Path, tmp_path: Path) -> None:
    """When a run is over and its session has gone, no cache of the process holds its dataset or its chunks."""
    made = Session.resolve(config_of(repository), tmp_path / "cache")
    run_experiment(made, Serial())
    (spec,) = made.config.datasets
    loaded = weakref.ref(made.dataset(spec))
    table = made.kept_table(made.chunk_key(spec, "cast:size=120"))
    chunks = weakref.ref(table) if table is not None else None
    assert loaded() is not None
    assert chunks is not None
    assert session._here == {}
    del made, table
    gc.collect()
    assert loaded() is None
    assert chunks() is None


def test_a_worker_refuses_data_that_has_changed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pickled session is one that loads its own data, once, and must find what the run found."""
    monkeypatch.setattr(session, "_here", {})
    made = Session.resolve(config_of(repository), tmp_path / "cache")
    (spec,) = made.config.datasets
    seen = made.dataset(spec).fingerprint
    sent = pickle.dumps(made)
    worker = pickle.loads(sent)  # noqa: S301 - our own
    assert worker is not made
    assert worker is pickle.loads(sent)  # noqa: S301 - our own
    assert worker.dataset(spec).fingerprint == seen
    assert [worker.score_key(cell).digest for cell in worker.cells] == [
        made.score_key(cell).digest for cell in made.cells
    ]
    monkeypatch.setattr(session, "_here", {})
    (repository / "apple.py").write_text("apple = None\n" * 30)
    late = pickle.loads(sent)  # noqa: S301 - our own
    with pytest.raises(UsageError, match="is not the same here as where the run began"):
        late.dataset(spec)


def test_a_session_of_another_config_shares_what_was_made(repository: Path, tmp_path: Path) -> None:
    """Plug-ins, datasets and chunk tables are the same objects, whichever of the two made them first."""
    one = Session.resolve(config_of(repository), tmp_path / "cache")
    other = one.with_config(one.config.model_copy(update={"depth": 500}))
    (spec,) = one.config.datasets
    assert other.dataset(spec) is one.dataset(spec)
    assert other.chunker("cast:size=120") is one.chunker("cast:size=120")
    key = other.chunk_key(spec, "cast:size=120")
    assert one.chunk_key(spec, "cast:size=120") == key
    run_experiment(other, Serial())
    assert one.kept_table(key) is other.kept_table(key) is not None
    assert one.retrieve_key(one.cells[0]) != other.retrieve_key(other.cells[0])


def test_one_plugin_written_twice_is_refused(repository: Path, tmp_path: Path) -> None:
    """Two spellings of one chunker would be compared with themselves."""
    config = config_of(repository, chunkers=["fixed-lines:lines=50", "fixed-lines"])
    with pytest.raises(UsageError, match="are the same chunker: write it one way"):
        Session.resolve(config, tmp_path / "cache")
