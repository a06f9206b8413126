"""What stands beside the scores of a real run, computed again by hand; and what a second run does not do again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from evaluation.config import ExperimentConfig, make_config
from evaluation.experiment import loaded_dataset, stages
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.estimate import estimated_seconds
from evaluation.experiment.executors import Serial
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from indexing.encoders.hashing import Hashing

WINDOW = 12


@dataclass(frozen=True, kw_only=True)
class Narrow(Hashing):
    """An embedder that reads twelve words of a text."""

    max_tokens: ClassVar[int | None] = WINDOW

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words."""
        return [len(text.split()) for text in texts]


def config_of(repository: Path, **more: Any) -> ExperimentConfig:
    """Return an experiment of one cell on annotated code."""
    gold = repository.parent / "gold.jsonl"
    return make_config(
        {
            "datasets": f"annotations:path={gold},root={repository}",
            "chunkers": "fixed-lines:lines=4",
            "embedders": "hashing",
            "retrievers": "dense",
            "measures": ["recall@4000tok", "ndcg@5"],
            "headline": "ndcg@5",
            "flips": 100,
            **more,
        }
    )


def test_tokens_behind_a_rank_are_those_of_the_first_results(repository: Path, tmp_path: Path) -> None:
    """The mean over queries of the tokens of the first five and of the first ten chunks."""
    session = Session.resolve(config_of(repository), tmp_path / "cache")
    (cell,) = run_experiment(session, Serial()).cells
    chunks = stages.chunk(session, cell.key.dataset, cell.key.chunker)
    sizes = dict(zip(chunks.ids, chunks.sizes("tokens").tolist(), strict=True))
    assert set(cell.judgements.tokens_at) == {"5", "10"}
    for k in (5, 10):
        behind = [sum(sizes[chunk] for chunk in ids[:k]) for ids in cell.run.values()]
        assert cell.judgements.tokens_at[str(k)] == pytest.approx(np.mean(behind))


def test_what_the_model_cannot_see_is_a_share_of_chunks_and_of_tokens(repository: Path, tmp_path: Path) -> None:
    """Words beyond the window, over all words; chunks that have any, over all chunks; a search by words has neither."""
    config = config_of(repository, embedders="narrow", retrievers=["dense", "bm25"])
    session = Session.resolve(config, tmp_path / "cache", plugins={"narrow": Narrow()})
    dense, words = run_experiment(session, Serial()).cells
    chunks = stages.chunk(session, dense.key.dataset, dense.key.chunker)
    loaded = session.dataset(dense.key.dataset)
    files = [chunks.files[number] for number in chunks.columns["file"]]
    texts = [
        loaded.read(file)[start:end].decode()
        for file, start, end in zip(files, chunks.columns["start"], chunks.columns["end"], strict=True)
    ]
    counts = np.array(Narrow().count_tokens(texts))
    beyond = np.maximum(counts - WINDOW, 0)
    assert dense.search.truncated is not None
    assert dense.search.truncated.chunks == pytest.approx((beyond > 0).mean())
    assert dense.search.truncated.tokens == pytest.approx(beyond.sum() / counts.sum())
    assert 0 < dense.search.truncated.tokens < dense.search.truncated.chunks < 1
    assert words.search.truncated is None


def test_a_second_run_embeds_and_searches_nothing_again(repository: Path, tmp_path: Path) -> None:
    """With another measure only scores are made; with nothing new, nothing is."""
    heard: list[tuple[str, int]] = []
    progress = Progress(phase=lambda name, count: heard.append((name, count)))
    cache = tmp_path / "cache"
    run_experiment(Session.resolve(config_of(repository), cache), Serial(), progress=progress)
    assert [name for name, _ in heard][:3] == ["chunk", "embed", "score"]
    assert dict(heard)["embed"] > 16
    heard.clear()
    again = Session.resolve(config_of(repository, measures=["recall@2000tok"]), cache)
    run_experiment(again, Serial(), progress=progress)
    assert heard[:2] == [("embed", 0), ("score", 1)]
    heard.clear()
    run_experiment(Session.resolve(config_of(repository), cache), Serial(), progress=progress)
    assert [name for name, count in heard if count] == []


def test_gold_that_is_annotated_twice_counts_once(repository: Path, tmp_path: Path) -> None:
    """Overlapping annotations of one query are the union of their lines: the scores are those of the union."""
    gold = repository.parent / "gold.jsonl"
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    overlapping = [row | {"end_line": row["end_line"] - 1} for row in rows]
    overlapping += [row | {"start_line": row["start_line"] + 1} for row in rows]
    overlapping += [row | {"start_line": row["start_line"] + 1, "end_line": row["end_line"] - 1} for row in rows[::2]]

    def scores() -> dict[str, list[float]]:
        (cell,) = run_experiment(Session.resolve(config_of(repository), tmp_path / "cache"), Serial()).cells
        assert cell.curve is not None
        return {"recall@4000tok": cell.scores["recall@4000tok"].tolist(), "curve": cell.curve.ravel().tolist()}

    once = scores()
    gold.write_text("".join(json.dumps(row) + "\n" for row in overlapping if row["start_line"] <= row["end_line"]))
    assert scores() == once
    assert sum(once["recall@4000tok"]) > 0


def test_the_rulers_of_the_files_used_last_are_kept(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three may be kept: the one that was asked for longest ago gives way, and only then."""
    monkeypatch.setattr(loaded_dataset, "_RULERS_KEPT", 3)
    session = Session.resolve(config_of(repository), tmp_path / "cache")
    loaded = session.dataset(session.config.datasets[0])
    a, b, c, d = (CorpusFile("code", f"{name}.py", "python") for name in ("apple", "bolt", "candle", "drum"))
    first = {file: loaded.ruler(file, "tokens") for file in (a, b, c)}
    assert all(loaded.ruler(file, "tokens") is first[file] for file in (b, c, a))
    loaded.ruler(d, "tokens")
    assert loaded.ruler(a, "tokens") is first[a]
    assert loaded.ruler(c, "tokens") is first[c]
    assert loaded.ruler(b, "tokens") is not first[b]


def test_time_is_estimated_from_the_speed_that_was_seen(repository: Path, tmp_path: Path) -> None:
    """Texts of every kind of an embedder over its rate; an embedder without a rate makes it unknown."""
    config = config_of(repository, embedders=["hashing", "hashing:dimensions=64"])
    session = Session.resolve(config, tmp_path / "cache")
    run_experiment(Session.resolve(config_of(repository), tmp_path / "cache"), Serial())
    rate = session.embeddings.rate(session.encoder("hashing"))
    assert rate
    left = {("hashing", "document"): 100, ("hashing", "query"): 50, ("hashing:dimensions=64", "document"): 0}
    assert estimated_seconds(session, left, []) == pytest.approx(150 / rate)
    assert estimated_seconds(session, left | {("hashing:dimensions=64", "query"): 1}, []) is None
    assert estimated_seconds(session, {}, []) == 0
