"""A run: every cell once, failures where they belong, work that is kept not done again, and progress that adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from small_corpora import Elsewhere, repository, session_of, stop_clocks, word_dataset

from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.types import Piece, SourceFile
from evaluation.experiment import stages
from evaluation.experiment.blocks import Division
from evaluation.experiment.executors import Executor, Outcome, Serial
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_chunks, make_scores, run_experiment
from evaluation.results.types import Results
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Dataset, Query
from indexing.bm25 import BM25
from indexing.encoders.hashing import Hashing
from indexing.types import Vectors

BOTH = ("fixed-lines:lines=5", "whole-file")


@dataclass
class Heard:
    """What is said of a run while it goes on."""

    phases: list[tuple[str, int]]
    ticks: Counter[str]

    @property
    def progress(self) -> Progress:
        """The two callbacks."""
        return Progress(lambda name, count: self.phases.append((name, count)), self._tick)

    def _tick(self, name: str, count: int) -> None:
        assert name in dict(self.phases)
        self.ticks[name] += count


def heard() -> Heard:
    """Return a listener that has heard nothing."""
    return Heard([], Counter())


def scores(results: Results) -> dict[tuple[str, ...], list[float]]:
    """Return the scores of every cell."""
    return {(*cell.key, name): values.tolist() for cell in results.cells for name, values in cell.scores.items()}


def statuses(results: Results) -> dict[str, str]:
    """Return chunker, embedder and retriever → the reason why the cell failed, or nothing."""
    return {" ".join(cell.key[1:]): cell.reason for cell in results.cells}


def test_progress_adds_up(tmp_path: Path) -> None:
    """Every phase ends at the number it began with: files, texts and cells, whoever does the work."""
    how: dict[str, Any] = {"chunkers": BOTH, "retrievers": ("bm25", "dense")}
    for executor in (Serial(), Elsewhere()):
        log = heard()
        dataset = word_dataset(("one", "two"))
        run_experiment(session_of(dataset, tmp_path / str(executor), **how), executor, progress=log.progress)
        phases = dict(log.phases)
        assert len(phases) == len(log.phases)
        assert log.ticks == Counter(phases)
        assert (phases["chunk"], phases["score"], phases["levels"]) == (12, 4, 2)
        assert phases["embed"] == 2 * 12 + 12 * 2 + 12


def test_levels_are_made_only_where_they_are_asked_for(tmp_path: Path) -> None:
    """And once for all retrievers of a chunker."""
    session = session_of(word_dataset(), tmp_path, retrievers=("bm25", "dense"))
    log = heard()
    assert make_scores(session, session.cells, Serial(), log.progress) == {}
    assert "levels" not in dict(log.phases)
    log = heard()
    assert make_scores(session, session.cells, Serial(), log.progress, levels=True) == {}
    assert [each for each in log.phases if each[1]] == [("levels", 1)]
    assert log.ticks == {"levels": 1}


def test_the_seconds_of_embedding_are_those_of_all_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the chunks and of the queries; a search by words has none, nor has a score of rankings that are kept."""
    stop_clocks(monkeypatch)
    engine = Elsewhere()
    session = session_of(word_dataset(), tmp_path, retrievers=("dense", "bm25"))
    dense, words = run_experiment(session, engine).cells
    assert [part.rows for part in engine.embedded] == [None, range(12)]
    assert [part.texts for part in engine.embedded] == [6, 12]
    assert (dense.seconds["embed"], words.seconds["embed"]) == (20.0, 0.0)
    assert engine.closed == 1
    again = session_of(word_dataset(), tmp_path, retrievers=("dense",), measures=("recall@1000tok", "ndcg@3"))
    assert run_experiment(again, Elsewhere()).cells[0].seconds["embed"] == 0.0
    quick = session_of(word_dataset(), tmp_path / "quick", retrievers=("dense",))
    assert run_experiment(quick, Elsewhere(seconds=0.0)).cells[0].seconds["embed"] == 0.0


def test_seconds_are_those_that_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the clock stands still nothing takes any time, in one block or in several."""
    stop_clocks(monkeypatch)
    kinds = ("dense", "bm25", "hybrid", "dense:index=hnsw")
    for name, division in (("one", Division(1, 10**9, 10**9)), ("three", Division(3, 1, 10**9))):
        monkeypatch.setattr("evaluation.experiment.stages.ROWS", division)
        session = session_of(word_dataset(), tmp_path / name, retrievers=kinds)
        for cell in run_experiment(session, Serial()).cells:
            assert [cell.seconds[stage] for stage in ("embed", "retrieve", "score")] == [0.0, 0.0, 0.0]
            assert (cell.cost.index_seconds, cell.cost.query_seconds_p50, cell.cost.query_seconds_p95) == (0, 0, 0)
    (key,) = session_of(word_dataset(), tmp_path / "alone").cells
    assert stages.score(session_of(word_dataset(), tmp_path / "alone"), key).seconds["embed"] == 0.0
    session = session_of(word_dataset(), tmp_path / "alone", retrievers=("dense",))
    parts = stages.embedding_parts(session, *session.cells[0][:3])
    assert [stages.embed(session, part) for part in parts] == [0.0, 0.0]


@dataclass(frozen=True, kw_only=True)
class Choosy(FixedLines):
    """Cuts lines, and refuses to work at all where a file has a word."""

    word: str = "nowhere"

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces."""
        if self.word.encode() in source.data:
            raise UsageError(f"no {self.word}s, please")
        return super().split(source)


@dataclass(frozen=True, kw_only=True)
class Mute(Hashing):
    """Embeds queries and refuses chunks."""

    version: ClassVar[str] = "mute"

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return vectors of queries."""
        if kind == "document":
            raise ConnectionError("nobody answers")
        return super().encode(texts, kind=kind)


@dataclass(frozen=True, kw_only=True)
class Broken(BM25):
    """Searches by words, but not with this parameter."""

    def reach(self, depth: int) -> int:
        """Raise."""
        raise ZeroDivisionError(f"at {depth}")


@pytest.mark.parametrize("executor", [Serial(), Elsewhere()])
def test_a_failure_is_that_of_the_cells_that_need_what_failed(tmp_path: Path, executor: Executor) -> None:
    """A chunker's of its cells, an embedder's of those that search by vectors, a retriever's of its own."""
    plugins = {"choosy": Choosy(word="candle"), "mute": Mute(), "broken": Broken()}
    session = session_of(
        word_dataset(),
        tmp_path,
        plugins=plugins,
        chunkers=("choosy", "whole-file"),
        embedders=("mute", "hashing"),
        retrievers=("bm25", "dense", "broken"),
    )
    found = statuses(run_experiment(session, executor))
    chunker, mute, other = "no candles, please", "ConnectionError: nobody answers", "ZeroDivisionError: at 1000"
    assert {name: reason for name, reason in found.items() if name.startswith("choosy")} == {
        f"choosy {embedder} {retriever}": chunker
        for embedder in ("mute", "hashing")
        for retriever in ("bm25", "dense", "broken")
    }
    assert {name: reason for name, reason in found.items() if name.startswith("whole")} == {
        "whole-file mute bm25": "",
        "whole-file mute dense": mute,
        "whole-file mute broken": other,
        "whole-file hashing bm25": "",
        "whole-file hashing dense": "",
        "whole-file hashing broken": other,
    }


def test_a_broken_chunker_fails_on_its_own_dataset_only(tmp_path: Path) -> None:
    """Another dataset under the same chunker, and another chunker of the same dataset, are made."""
    other = repository("other", {"a.py": "a = 1\n" * 7})
    dataset = word_dataset()
    second = Dataset("second", (other,), (Query("q", "a", "other"),), ())
    session = session_of(
        dataset,
        tmp_path,
        plugins={"choosy": Choosy(word="candle"), "second": InMemory(dataset=second)},
        datasets=("words", "second"),
        chunkers=("choosy", "whole-file"),
    )
    failed = make_chunks(session, session.cells, Serial(), Progress())
    assert {cell[:2] for cell in failed} == {("words", "choosy")}
    for pair in (("words", "whole-file"), ("second", "choosy"), ("second", "whole-file")):
        assert session.store.has(session.chunk_key(*pair))
    assert len(stages.chunk(session, "second", "choosy")) == 1


def test_files_that_were_cut_before_need_no_other_process(tmp_path: Path) -> None:
    """Tables that are lost are put together here; one new file is cut by the engine."""
    engine = Elsewhere()
    session = session_of(word_dataset(), tmp_path)
    make_chunks(session, session.cells, engine, Progress())
    assert [task.files for task in engine.done] == [range(6)]
    table = stages.chunk(session, "words", BOTH[0])
    for case in ("lost", "there"):
        again, second = Elsewhere(), session_of(word_dataset(), tmp_path)
        if case == "lost":
            second.store.drop(second.chunk_key("words", BOTH[0]))
        assert make_chunks(second, second.cells, again, Progress()) == {}
        assert again.done == []
        assert stages.chunk(second, "words", BOTH[0]).ids == table.ids
    third = session_of(word_dataset(), tmp_path, chunkers=BOTH)
    fresh = Elsewhere()
    make_chunks(third, third.cells, fresh, Progress())
    assert [task.chunkers for task in fresh.done] == [("whole-file",)]


def test_a_cell_is_searched_in_blocks_only_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process searches at once what it need not share; one block is no division; scores are the same."""
    monkeypatch.setattr("evaluation.experiment.stages.ROWS", Division(2, 1, 10**9))
    kinds: dict[str, Counter[str]] = {}
    found = {}
    for name, executor in (("here", Serial()), ("there", Elsewhere())):
        log = heard()
        session = session_of(word_dataset(("one", "two")), tmp_path / name, retrievers=("bm25", "dense"))
        found[name] = scores(run_experiment(session, executor, progress=log.progress))
        kinds[name] = Counter(dict(log.phases))
        assert log.ticks == kinds[name]
    assert found["here"] == found["there"]
    assert "search" not in kinds["here"]
    assert "words" not in kinds["here"]
    assert kinds["there"]["search"] == 2 * 2
    assert kinds["there"]["words"] == 12
    monkeypatch.setattr("evaluation.experiment.stages.ROWS", Division(1, 10**9, 10**9))
    log = heard()
    whole = run_experiment(
        session_of(word_dataset(("one", "two")), tmp_path / "one"), Elsewhere(), progress=log.progress
    )
    assert "search" not in dict(log.phases)
    assert {key: found["here"][key] for key in scores(whole)} == scores(whole)


def test_rankings_that_are_kept_are_not_searched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another measure on the same rankings needs no search, in blocks or otherwise, and no vectors."""
    monkeypatch.setattr("evaluation.experiment.stages.ROWS", Division(3, 1, 10**9))
    how: dict[str, Any] = {"retrievers": ("bm25", "dense")}
    run_experiment(session_of(word_dataset(), tmp_path, **how), Serial())
    engine, log = Elsewhere(), heard()
    again = session_of(word_dataset(), tmp_path, measures=("recall@1000tok", "ndcg@3"), **how)
    run_experiment(again, engine, progress=log.progress)
    assert {name for name, count in log.phases if count} == {"score", "levels"}
    assert engine.embedded == []


class Stubborn(Elsewhere):
    """An engine that loses every task of one kind."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self._kind = kind

    def map(self, work: Any, tasks: Sequence[Any]) -> Any:
        """Yield outcomes; those of the kind have no value."""
        for task in tasks:
            lost = isinstance(task, self._kind)
            yield Outcome(task, None, "lost") if lost else next(iter(super().map(work, [task])))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (stages.WordBlock, {"bm25": "lost", "dense": "", "hybrid": "lost"}),
        (stages.SearchBlock, {"bm25": "lost", "dense": "lost", "hybrid": "lost"}),
        (stages.ChunkBlock, {"bm25": "lost", "dense": "lost", "hybrid": "lost"}),
    ],
)
def test_a_block_that_is_lost_fails_the_cells_that_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, expected: dict[str, str]
) -> None:
    """Words are needed by those that search by words."""
    monkeypatch.setattr("evaluation.experiment.stages.ROWS", Division(3, 1, 10**9))
    session = session_of(word_dataset(), tmp_path, retrievers=tuple(expected))
    found = make_scores(session, session.cells, Stubborn(kind), Progress())
    assert {cell.retriever: found.get(cell, "") for cell in session.cells} == expected


@pytest.mark.parametrize(("broken", "failed"), [("levels", {"bm25", "dense"}), ("dense", {"dense"})])
def test_a_score_that_is_lost_fails_its_cell_and_levels_fail_all_of_their_table(
    tmp_path: Path, broken: str, failed: set[str]
) -> None:
    """The other chunker has both."""

    class Picky(Elsewhere):
        def map(self, work: Any, tasks: Sequence[Any]) -> Any:
            for task in tasks:
                own = isinstance(task, tuple) and "whole-file" in task
                wanted = own and (len(task) == 2 if broken == "levels" else broken in task)
                yield Outcome(task, None, "lost") if wanted else next(iter(super().map(work, [task])))

    session = session_of(word_dataset(), tmp_path, chunkers=BOTH, retrievers=("bm25", "dense"))
    found = make_scores(session, session.cells, Picky(), Progress(), levels=True)
    assert {(cell.chunker, cell.retriever) for cell in found} == {("whole-file", name) for name in failed}
    assert set(found.values()) == {"lost"}


def test_workers_have_the_datasets_while_the_work_lasts(tmp_path: Path) -> None:
    """Of what is yet to be made; afterwards nothing is shared any longer, and nothing is where nobody else works."""
    seen: list[set[str]] = []

    class Watching(Elsewhere):
        def map(self, work: Any, tasks: Sequence[Any]) -> Any:
            seen.append(set(session.shared))
            return super().map(work, tasks)

    session = session_of(word_dataset(), tmp_path)
    assert make_scores(session, session.cells, Watching(), Progress()) == {}
    assert seen
    assert all(each == {"words"} for each in seen)
    assert session.shared == {}
    assert [path for path in session.store.root.glob("dataset/*") if not path.name.startswith(".draft")] == []


def test_an_engine_is_let_go_of_whatever_happens(tmp_path: Path) -> None:
    """Also where the run cannot go on, while it loads or later."""

    class Falling(Elsewhere):
        def map(self, work: Any, tasks: Sequence[Any]) -> Any:
            if calls:
                calls.pop()
                return super().map(work, tasks)
            raise KeyboardInterrupt

    for left in (0, 1, 2):
        engine, calls = Falling(), [None] * left
        with pytest.raises(KeyboardInterrupt):
            run_experiment(session_of(word_dataset(), tmp_path / str(left)), engine)
        assert engine.closed == 1
