"""What a plan counts and how long it says things take, from a store of which everything is known."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from small_corpora import module, repository, session_of, word_dataset
from test_experiment_run import Choosy

from chunkers.errors import UsageError
from evaluation.experiment import estimate
from evaluation.experiment.code import plugin_inputs
from evaluation.experiment.estimate import estimated_seconds, probed_seconds
from evaluation.experiment.executors import Serial
from evaluation.experiment.plan import explain, find_cells, make_plan
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.experiment.store import StageKey
from evaluation.types import CellKey
from ground_truth.types import Dataset, Query
from indexing.encoders.hashing import Hashing
from indexing.types import Vectors

CELLS = [CellKey("d", "cast", "e", retriever) for retriever in ("bm25", "dense")]


@dataclass(frozen=True, kw_only=True)
class Slow(Hashing):
    """Takes a second for each text, by a clock that it moves itself; it notes how many it is given at once."""

    asked: ClassVar[list[int]] = []
    now: ClassVar[list[float]] = [0.0]

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return the vectors."""
        self.asked.append(len(texts))
        self.now[0] += len(texts) if texts else 0
        return super().encode(texts, kind=kind)


@dataclass(frozen=True, kw_only=True)
class Remote(Hashing):
    """Runs elsewhere."""

    local: ClassVar[bool] = False


class Clock:
    """A clock that the slow embedder moves."""

    @staticmethod
    def perf_counter() -> float:
        """Return the time."""
        return Slow.now[0]


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "time", Clock)
    Slow.asked.clear()


def session(tmp_path: Path, **config: Any) -> Session:
    """Return a session with embedders whose speed is known."""
    plugins = {"slow": Slow(), "quick": Hashing(dimensions=8), "remote": Remote(dimensions=4)}
    return session_of(word_dataset(), tmp_path, plugins=plugins, **config)


def entry(made: Session, stage: str, number: int, *, said: object, **inputs: Any) -> None:
    """Put an entry into the store that says how long it took."""
    name = "facts.json" if stage == "retrieve" else "seconds.json"

    def write(folder: Path) -> None:
        (folder / name).write_text(said if isinstance(said, str) else json.dumps(said))

    key = StageKey(stage, {"number": number, **inputs})
    made.store.put(key, write)
    os.utime(made.store.folder(key) / "manifest.json", (1_000 + number, 1_000 + number))


def test_a_stage_takes_what_it_took_on_average(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring as all scoring, a search as those by the same kind of retriever; the newest few count."""
    made = session(tmp_path, retrievers=("bm25", "dense"))
    words, dense = (plugin_inputs(made.retriever(name))["class"] for name in ("bm25", "dense"))
    for number, seconds in enumerate((1.0, 3.0, 5.0)):
        entry(made, "score", number, said={"score": seconds})
    for number, (kind, seconds) in enumerate(((words, 10.0), (dense, 100.0), (words, 30.0))):
        entry(made, "retrieve", number, said={"seconds": {"retrieve": seconds}}, retriever={"class": kind})
    by_words, by_vectors = CELLS
    assert estimated_seconds(made, {}, [("score", by_words)]) == 3.0
    assert estimated_seconds(made, {}, [("retrieve", by_words)]) == 20.0
    assert estimated_seconds(made, {}, [("retrieve", by_vectors), ("score", by_vectors)]) == 103.0
    assert estimated_seconds(made, {}, [("chunk", by_words)]) == 0
    monkeypatch.setattr(estimate, "_LOOKED_AT", 2)
    assert estimated_seconds(made, {}, [("score", by_words)]) == 4.0


def test_what_nothing_tells_is_not_estimated(tmp_path: Path) -> None:
    """One unknown part makes the whole unknown; entries that cannot be read tell nothing."""
    made = session(tmp_path, retrievers=("bm25", "dense"))
    by_words, by_vectors = CELLS
    assert estimated_seconds(made, {}, [("score", by_words)]) is None
    entry(made, "score", 0, said={"score": 2.0})
    entry(made, "score", 1, said="{")
    entry(made, "score", 2, said={"other": 7.0})
    entry(made, "score", 3, said={"score": None})
    entry(made, "retrieve", 0, said={"seconds": {"retrieve": 9.0}})
    assert estimated_seconds(made, {}, [("score", by_words)]) == 2.0
    assert estimated_seconds(made, {}, [("score", by_words), ("retrieve", by_vectors)]) is None


def test_texts_take_the_speed_of_a_few_that_are_embedded_now(tmp_path: Path) -> None:
    """The first text of an embedder loads its model and is not timed; documents and queries are counted together."""
    made = session(tmp_path)
    some = {"slow": ["a", "b", "c"], "quick": ["a"], "remote": ["a"]}
    left = {("slow", "document"): 40, ("slow", "query"): 2, ("remote", "query"): 0}
    assert probed_seconds(made, left, some) == 42.0
    assert Slow.asked == [1, 2]
    assert probed_seconds(made, {("slow", "document"): 5}, {"slow": ["a"]}) is None
    assert Slow.asked == [1, 2, 1, 0]
    assert probed_seconds(made, {("slow", "query"): 0}, some) is None
    assert probed_seconds(made, {}, {}) is None
    assert probed_seconds(made, {("remote", "query"): 1}, some) is None
    assert probed_seconds(made, {**left, ("remote", "query"): 1}, some) is None


def test_a_plan_counts_the_texts_that_have_no_vector(tmp_path: Path) -> None:
    """Distinct ones of all chunkers and of the queries, for each embedder; a search by words needs none."""
    chunkers = ("fixed-lines:lines=5", "whole-file")
    how: dict[str, Any] = {"chunkers": chunkers, "embedders": ("slow", "quick"), "retrievers": ("bm25", "dense")}
    made = session(tmp_path, **how)
    plan = make_plan(made)
    assert plan.texts == 2 * (12 + 6 + 6)
    assert [each.chunks for each in plan.cells] == [12] * 4 + [6] * 4
    assert all(set(each.states.values()) == {"run"} for each in plan.cells)
    assert (plan.seconds, plan.probed) == (None, None)
    assert Slow.asked == []
    run_experiment(session(tmp_path, **{**how, "embedders": ("quick",)}), Serial())
    again = make_plan(session(tmp_path, **how), probe=True)
    assert again.texts == 12 + 6 + 6
    assert again.probed == 24.0
    states = {each.cell[1:]: each.states for each in again.cells}
    assert set(states["whole-file", "quick", "dense"].values()) == {"cached"}
    assert states["whole-file", "slow", "dense"] == {"chunk": "cached", "retrieve": "run", "score": "run"}
    assert states["whole-file", "slow", "bm25"] == {"chunk": "cached", "retrieve": "cached", "score": "run"}


def test_a_probe_is_of_texts_from_all_over_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most so many, evenly apart; all of them where there are fewer."""
    texts = {f"{number:02}.py": module(f"w{number}") for number in range(20)}
    dataset = Dataset("words", (repository("one", texts),), (Query("q", "a", "one"),), ())
    for probed, expected in ((7, 7), (10, 10), (48, 20)):
        monkeypatch.setattr("evaluation.experiment.plan.PROBED", probed)
        Slow.asked.clear()
        made = session_of(
            dataset,
            tmp_path / str(probed),
            plugins={"slow": Slow()},
            chunkers=("whole-file",),
            embedders=("slow",),
            retrievers=("dense",),
        )
        assert make_plan(made, probe=True).probed == 21.0
        assert Slow.asked == [1, expected - 1]


def test_a_cell_that_cannot_be_chunked_fails_in_the_plan(tmp_path: Path) -> None:
    """With its reason; the others are planned."""
    made = session_of(
        word_dataset(), tmp_path, plugins={"choosy": Choosy(word="candle")}, chunkers=("choosy", "whole-file")
    )
    broken, whole = make_plan(made).cells
    assert (broken.states, broken.chunks) == (dict.fromkeys(("chunk", "retrieve", "score"), "fails"), 0)
    assert broken.reason == "no candles, please"
    assert (whole.reason, whole.chunks) == ("", 6)


def test_cells_are_found_by_name_or_by_a_whole_spec() -> None:
    """A part of a spec is none."""
    assert find_cells(CELLS, "d × cast × e × bm25") == CELLS[:1]
    assert find_cells(CELLS, "cast") == CELLS
    assert find_cells(CELLS, "dense") == CELLS[1:]
    with pytest.raises(UsageError, match="'cas' is no cell: write one of d × cast × e × bm25; d × cast × e × dense"):
        find_cells(CELLS, "cas")


def test_what_differs_is_told_against_the_nearest_entry(tmp_path: Path) -> None:
    """The one with the fewest differences, however old; lists and tuples of the same are the same."""
    first = session(tmp_path, budgets=(100, 200))
    (cell,) = first.cells
    assert list(explain(first, cell)) == [
        f"{stage}: will run; nothing of this kind is in the store" for stage in ("chunk", "retrieve", "score")
    ]
    run_experiment(first, Serial())
    run_experiment(session(tmp_path, budgets=(100, 300), depth=500), Serial())
    third = session(tmp_path, budgets=(100, 200), rule="iou(0.5)")
    assert list(explain(third, cell)) == [
        "chunk: cached",
        "retrieve: cached",
        "score: will run; rule was 'any' and is 'iou(0.5)'",
    ]
