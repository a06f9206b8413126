"""A loaded dataset and the session that holds it: fingerprints, files, rulers, and keys of stages."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_corpora import loaded, module, repository, session_of, word_dataset

from chunkers.errors import UsageError
from chunkers.sizes import ruler
from chunkers.sources import Skipped, walk
from evaluation.experiment import session as session_module
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.executors import Serial
from evaluation.experiment.file_memory import MemoryLimit, MemoryRepository
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.experiment.shared_datasets import shared_datasets
from evaluation.measures.registry import parse_measure
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query


def other(**more: Any) -> LoadedDataset:
    """Return the dataset of words with some fields changed."""
    return loaded(replace(word_dataset(), **more))


def test_each_part_of_a_dataset_has_its_own_fingerprint() -> None:
    """Text, queries, gold and what is hidden: a change of one leaves the others as they are."""
    plain = other()
    whole = word_dataset()
    texts = {f"{word}.py": module(word) for word in ("apple", "bolt", "candle", "drum", "engine", "flute")}
    changed = {
        "corpus": other(repositories=(repository("one", {**texts, "apple.py": module("apple") + "\n"}),)),
        "queries": other(queries=(replace(whole.queries[0], text="other"), *whole.queries[1:])),
        "annotations": other(annotations=whole.annotations[:-1]),
        "hidden": other(hidden=(HiddenSpan("one", "apple.py", 0, 3),)),
    }
    for name, dataset in changed.items():
        same = {part for part in changed if getattr(dataset, part) == getattr(plain, part)}
        assert same == set(changed) - {name}
        assert dataset.fingerprint != plain.fingerprint
    assert plain.hidden == ""
    assert other(scope="all").corpus != plain.corpus
    assert other(queries=tuple(replace(query, language="go") for query in whole.queries)).queries == plain.queries


def test_files_are_by_repository_and_path_whatever_the_order_of_the_dataset() -> None:
    """Found out when they are asked for where nobody has said; each with its size and key."""
    dataset = replace(word_dataset(("two", "one")))
    held = loaded(dataset)
    names = [(known.file.repo, known.file.path) for known in held.files]
    assert names == sorted(names)
    assert [known.size for known in held.files[:2]] == [len(module("apple")), len(module("bolt"))]
    assert replace(held, known=None).files == held.files
    assert [(source.repo, source.path) for source in held.sources(held.files[4:8])] == names[4:8]


def test_a_dataset_of_no_queries_is_refused() -> None:
    """There is nothing to ask."""
    with pytest.raises(UsageError, match="dataset 'words' has no queries"):
        other(queries=())


def test_a_file_that_has_gone_or_changed_is_named() -> None:
    """Neither is taken for what it was."""
    held = loaded(word_dataset())
    state = {f"{word}.py": module(word) for word in ("apple", "bolt", "drum")}
    later = replace(held, dataset=replace(held.dataset, repositories=(repository("one", {**state, "bolt.py": "x"}),)))
    file = {known.file.path: known.file for known in held.files}
    assert later.read(file["apple.py"]) == module("apple").encode()
    with pytest.raises(UsageError, match=r"one/bolt\.py has changed since the dataset was loaded"):
        later.read(file["bolt.py"])
    with pytest.raises(UsageError, match=r"one/candle\.py has gone since the dataset was loaded"):
        later.read(file["candle.py"])


def test_a_file_that_is_deleted_from_a_folder_is_named(tmp_path: Path) -> None:
    """Read alone, with others, or for its gold; also where a file has taken the place of its folder."""
    for word in ("apple", "bolt"):
        (tmp_path / word).mkdir()
        (tmp_path / word / "a.py").write_text(module(word))
    query, note = Query("q", "make an apple", "one"), Annotation("q", "one", "apple/a.py", 6, 7)
    held = loaded(Dataset("code", (walk(tmp_path, name="one"),), (query,), (note,)))
    apple, bolt = held.files
    (tmp_path / "apple" / "a.py").unlink()
    (tmp_path / "bolt" / "a.py").unlink()
    (tmp_path / "bolt").rmdir()
    (tmp_path / "bolt").write_text("x")
    gone = "one/{}/a.py has gone since the dataset was loaded: run again"
    with pytest.raises(UsageError, match=gone.format("apple")):
        list(held.sources(held.files))
    with pytest.raises(UsageError, match=gone.format("apple")):
        held.read(apple.file)
    with pytest.raises(UsageError, match=gone.format("bolt")):
        held.read(bolt.file)
    with pytest.raises(UsageError, match=gone.format("apple")):
        assert held.gold_lines


def test_rulers_are_those_of_the_file_wherever_they_come_from(tmp_path: Path) -> None:
    """Counted now, or from what a run has kept; of other units always counted."""
    session = session_of(word_dataset(), tmp_path)
    stages.chunk(session, "words", "fixed-lines:lines=5")
    again = session_of(word_dataset(), tmp_path).dataset("words")
    assert again.tokens is not None
    for held in (loaded(word_dataset()), again):
        for known in held.files:
            for unit in ("tokens", "nws", "lines"):
                assert np.array_equal(held.ruler(known.file, unit).starts, ruler(held.read(known.file), unit).starts)
    assert again.ruler(again.files[0].file, "tokens") is again.ruler(again.files[0].file, "tokens")
    stray = CorpusFile("one", "apple.py", None)
    with pytest.raises(UsageError, match="has changed"):
        again.ruler(stray, "tokens")


def test_a_record_says_what_a_dataset_is() -> None:
    """Queries, clusters, repositories by name, and what was left out by reason."""
    whole = word_dataset(("two", "one"))
    first, second = whole.repositories
    skipped = (Skipped("a", "minified"), Skipped("b", "binary"), Skipped("c", "minified"))
    queries = tuple(replace(query, group="g" if place < 4 else "") for place, query in enumerate(whole.queries))
    dataset = replace(whole, repositories=(replace(first, skipped=skipped), second), queries=queries, mined=True)  # type: ignore[type-var] # a dataclass of the tests
    record = loaded(dataset).record()
    assert (record.queries, record.clusters, record.repositories) == (12, 3, ("one", "two"))
    assert record.skipped == {"binary": 1, "minified": 2}
    assert list(record.skipped) == ["binary", "minified"]
    assert (record.mined, record.scope, record.parts.hidden) == (True, "repository", "")


def test_what_is_hidden_is_found_by_file() -> None:
    """Its ranges, where its units begin, and what is left to see."""
    held = other(hidden=(HiddenSpan("one", "apple.py", 3, 20),))
    apple, bolt = held.files[0].file, held.files[1].file
    assert [held.files[place].file.path for place in held.hidden_edges.files] == ["apple.py"]
    assert held.hidden_ranges(apple).tolist() == [[3, 20]]
    assert len(held.hidden_ranges(bolt)) == len(held.hidden_starts(bolt, "tokens")) == 0
    starts = ruler(held.read(apple), "tokens").starts
    assert held.hidden_starts(apple, "tokens").tolist() == [at for at in starts.tolist() if 3 <= at < 20]
    assert held.visible(apple, 0, 30) == held.read(apple)[:3] + held.read(apple)[20:30]


def test_a_dataset_that_cannot_be_pickled_is_not_shared(tmp_path: Path) -> None:
    """Workers load it themselves; the others are shared under their specs."""
    session = session_of(word_dataset(), tmp_path)
    odd = other(name="odd", relevance=lambda _query, _text: None)
    with shared_datasets(session.store, [odd, session.dataset("words")]) as shared:
        assert list(shared) == ["words"]
        found = shared["words"].read()
        assert found is not None
        assert found.files == session.dataset("words").files


def test_several_files_are_read_from_memory_or_from_the_repository() -> None:
    """All held, some held, none there: the same as one by one."""
    inner = repository("one", {"a.py": "a", "b.py": "b"})
    for held in ((), ("a.py",), ("a.py", "b.py")):
        memory = MemoryRepository(inner, MemoryLimit(100))
        for path in held:
            memory.read(path)
        for paths in (["a.py", "b.py"], ["b.py", "gone.py", "a.py"], []):
            assert list(memory.read_many(paths)) == [inner.read(path) for path in paths]
        assert memory.skipped == ()
    copy = pickle.loads(pickle.dumps(MemoryRepository(inner, MemoryLimit(0))))  # noqa: S301 - our own
    assert copy.read("a.py") is copy.read("a.py")


def test_a_repository_that_fits_partly_is_walked_anew() -> None:
    """Every file comes in order each time, and those that are held are the same objects."""
    inner = repository("one", {"a.py": "a" * 10, "b.py": "b" * 50, "c.py": "c" * 10})
    memory = MemoryRepository(inner, MemoryLimit(25))
    first, second = list(memory.files()), list(memory.files())
    assert [source.path for source in second] == ["a.py", "b.py", "c.py"]
    assert [one is two for one, two in zip(first, second, strict=True)] == [True, False, True]
    assert memory.limit.left == 5
    roomy = MemoryRepository(inner, MemoryLimit(70))
    assert all(one is two for one, two in zip(list(roomy.files()), list(roomy.files()), strict=True))
    assert roomy.limit.left == 0


def keys(session: Session) -> dict[str, str]:
    """Return the digest of every key of the first cell."""
    cell = session.cells[0]
    found = {name: key.digest for name, key in session.stage_keys(cell).items()}
    pair = cell.dataset, cell.chunker
    return found | {"words": session.words_key(*pair).digest, "levels": session.levels_key(*pair).digest}


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ({}, set()),
        ({"chunkers": ("fixed-lines:lines=4",)}, {"chunk", "words", "retrieve", "score", "levels"}),
        ({"retrievers": ("bm25:k1=2",)}, {"retrieve", "score"}),
        ({"embedders": ("hashing:dimensions=8",)}, {"score"}),
        ({"retrievers": ("dense",)}, {"retrieve", "score"}),
        ({"depth": 500}, {"retrieve", "score", "levels"}),
        ({"budgets": (100, 9000)}, {"retrieve", "score"}),
        ({"budgets": (100, 8000)}, {"score"}),
        ({"rule": "iou(0.5)"}, {"score", "levels"}),
        ({"measures": ("recall@1000tok",)}, {"score", "levels"}),
        ({"measures": ("recall@9000tok", "ndcg@5", "recall@1000tok")}, {"retrieve", "score", "levels"}),
        ({"measures": ("ndcg@5", "recall@1000tok")}, set()),
        ({"seed": 7}, set()),
    ],
)
def test_a_key_changes_with_what_decides_its_stage_and_with_nothing_else(
    tmp_path: Path, config: dict[str, Any], changed: set[str]
) -> None:
    """An embedder decides a search by vectors only; the order of measures decides nothing."""
    before = keys(session_of(word_dataset(), tmp_path))
    after = keys(session_of(word_dataset(), tmp_path, **config))
    assert {name for name in before if before[name] != after[name]} == changed


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ({"hidden": (HiddenSpan("one", "apple.py", 0, 3),)}, {"words", "retrieve", "score", "levels"}),
        ({"annotations": (Annotation("one-apple", "one", "apple.py", 1, 1),)}, {"score", "levels"}),
        ({"queries": word_dataset().queries[:3]}, {"words", "retrieve", "score", "levels"}),
        ({"scope": "all"}, {"chunk", "words", "retrieve", "score", "levels"}),
        ({"queries": tuple(replace(q, expected="x") for q in word_dataset().queries)}, {"score", "levels"}),
        ({"relevance": lambda _query, _text: None}, {"score", "levels"}),
    ],
)
def test_a_key_changes_with_the_data_that_decides_its_stage(
    tmp_path: Path, part: dict[str, Any], changed: set[str]
) -> None:
    """Hidden text is cut as it is; expected answers and a dataset's own relevance decide scores."""
    before = keys(session_of(word_dataset(), tmp_path))
    after = keys(session_of(replace(word_dataset(), **part), tmp_path))
    assert {name for name in before if before[name] != after[name]} == changed


def _holding(word: str) -> Callable[[Query, str], bool]:
    return lambda _query, text: word in text


def _holds(word: str, _query: Query, text: str, *, whole: bool = False) -> bool:
    return text == word if whole else word in text


@dataclass
class _Holds:
    word: str

    def __call__(self, _query: Query, text: str) -> bool:
        """Look for the word."""
        return self.word in text

    def also(self, _query: Query, text: str) -> bool:
        """Look for it whole."""
        return self.word == text


@pytest.mark.parametrize(
    "relevances",
    [
        (_holding("apple"), _holding("pear")),
        (partial(_holds, "apple"), partial(_holds, "pear"), partial(_holds, "apple", whole=True)),
        (_Holds("apple"), _Holds("pear"), _Holds("apple").also),
        ("apple".__contains__, "pear".__contains__),
    ],
)
def test_a_function_of_relevance_is_known_by_what_it_holds(tmp_path: Path, relevances: Sequence[Any]) -> None:
    """Two functions of one line of code judge differently if they close over, or are bound to, different values."""
    made = [keys(session_of(replace(word_dataset(), relevance=each), tmp_path)) for each in relevances]
    assert len({each["score"] for each in made}) == len({each["levels"] for each in made}) == len(relevances)
    again = keys(session_of(replace(word_dataset(), relevance=relevances[0]), tmp_path))
    assert again == made[0]


def test_a_function_of_relevance_from_a_notebook_is_known_by_its_code(tmp_path: Path) -> None:
    """Its source is in no file; a cell that is run again with the same code judges the same."""

    def cell(word: str) -> Any:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(f"def relevance(query, text): return {word!r} in text", "<cell>", "exec"), names)  # noqa: S102 - a notebook's cell
        return names["relevance"]

    one, other, again = (
        keys(session_of(replace(word_dataset(), relevance=cell(word)), tmp_path)) for word in ("apple", "pear", "apple")
    )
    assert one == again
    assert one["score"] != other["score"]


def test_what_was_scored_on_insistence_is_not_scored_without_it(tmp_path: Path) -> None:
    """Relevance of several kinds is an error for the one who does not insist, whoever insisted before."""
    mixed = replace(word_dataset(), annotations=word_dataset().annotations[:1], relevance=lambda _query, _text: True)
    scores = [keys(session_of(mixed, tmp_path, insist=insist)) for insist in (True, False)]
    assert scores[0]["score"] != scores[1]["score"]
    assert keys(session_of(word_dataset(), tmp_path, insist=True)) == keys(session_of(word_dataset(), tmp_path))


def test_a_session_keeps_the_tables_that_were_used_last(tmp_path: Path) -> None:
    """Four of them: one that is asked for stays, the one that was used longest ago goes."""
    chunkers = tuple(f"fixed-lines:lines={lines}" for lines in range(2, 8))
    session = session_of(word_dataset(), tmp_path, chunkers=chunkers)
    made = {chunker: stages.chunk(session, "words", chunker) for chunker in chunkers[:4]}
    assert all(stages.chunk(session, "words", chunker) is table for chunker, table in made.items())
    assert stages.chunk(session, "words", chunkers[0]) is made[chunkers[0]]
    stages.chunk(session, "words", chunkers[4])
    kept = {chunker for chunker in chunkers if session.kept_table(session.chunk_key("words", chunker)) is not None}
    assert kept == {chunkers[0], *chunkers[2:5]}


def test_measures_are_called_by_their_own_names(tmp_path: Path) -> None:
    """However they are written, each once; those that cannot be looked at are refused with a remedy."""
    plain = session_of(word_dataset(), tmp_path, measures=("R@5", "recall@5", "naurc@100tok"), headline="naurc@100tok")
    assert plain.config.measures == tuple(dict.fromkeys(parse_measure(name).name for name in ("R@5", "naurc@100tok")))
    deep: dict[str, Any] = {"headline": "recall@100tok", "depth": 100}
    assert session_of(word_dataset(), tmp_path, measures=("recall@100",), **deep).config.depth == 100
    with pytest.raises(UsageError, match="recall@101 looks at 101 results, but depth is 100: write depth = 101"):
        session_of(word_dataset(), tmp_path, measures=("recall@101",), **deep)
    with pytest.raises(UsageError, match="has no mean to compare by"):
        session_of(word_dataset(), tmp_path, headline="tokens_to_recall(0.5)")


def test_a_rule_that_depends_on_sizes_compares_no_chunkers(tmp_path: Path) -> None:
    """Unless there is one, or the user insists."""
    both = ("fixed-lines:lines=5", "whole-file")
    with pytest.raises(UsageError, match="cannot compare chunkers"):
        session_of(word_dataset(), tmp_path, chunkers=both, rule="token_f1(0.5)")
    assert session_of(word_dataset(), tmp_path, rule="token_f1(0.5)").config.rule == "token_f1(0.5)"
    assert session_of(word_dataset(), tmp_path, chunkers=both, rule="token_f1(0.5)", insist=True).config.insist


def test_a_session_with_another_config_keeps_what_was_said_of_sizes(tmp_path: Path) -> None:
    """Unless something else is said; a dataset at hand needs no loading."""
    session = session_of(word_dataset(), tmp_path)
    fair = session.with_config(session.config, matched_size="5 lines", left_out={"whole-file": "no size"})
    again = fair.with_config(session.config)
    assert (again.matched_size, again.left_out) == ("5 lines", {"whole-file": "no size"})
    newer = again.with_config(session.config, matched_size="7 lines", left_out={"cast": "too small"})
    assert (newer.matched_size, newer.left_out) == ("7 lines", {"cast": "too small"})
    part = replace(session.dataset("words"), spec="part")
    config = session.config.model_copy(update={"datasets": ("part",)})
    held = session.with_dataset(config, InMemory(dataset=part.dataset), part)
    assert held.dataset("part") is part
    assert held.chunker("fixed-lines:lines=5") is session.chunker("fixed-lines:lines=5")
    assert held.loader("part") == InMemory(dataset=part.dataset)


def test_a_worker_takes_what_is_shared_or_loads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One session for one description; another description takes its place."""
    monkeypatch.setattr(session_module, "_here", {})
    session = session_of(word_dataset(), tmp_path)
    held = session.dataset("words")
    with shared_datasets(session.store, [held]) as shared:
        session.shared = shared
        worker = pickle.loads(pickle.dumps(session))  # noqa: S301 - our own
        monkeypatch.setattr(InMemory, "load", lambda _self: pytest.fail("it is shared"))
        assert worker.dataset("words").fingerprint == held.fingerprint
        assert worker.dataset("words") is worker.dataset("words")
        monkeypatch.undo()
        monkeypatch.setattr(session_module, "_here", {})
        late = pickle.dumps(session)
    worker = pickle.loads(late)  # noqa: S301 - our own
    assert worker.dataset("words").fingerprint == held.fingerprint
    other_session = session_of(word_dataset(), tmp_path, seed=9)
    assert pickle.loads(pickle.dumps(other_session)) is not worker  # noqa: S301 - our own
    assert len(session_module._here) == 1


def test_a_query_without_a_repository_of_its_own_finds_nothing(tmp_path: Path) -> None:
    """Words that are asked are by search space, or of all together."""
    queries = (Query("a", "make apple", "one"), Query("b", "apple bolt", "gone"), Query("c", "drum drum", "one"))
    for scope, expected in (("repository", {"one", "gone"}), ("all", {""})):
        dataset: Dataset = replace(word_dataset(), queries=queries, annotations=(), scope=scope)  # type: ignore[arg-type] # one of the two
        session = session_of(dataset, tmp_path / scope)
        asked = session.query_words("words")
        assert set(asked) == expected
        assert all(len(set(words)) == len(words) for words in asked.values())
        (cell,) = run_experiment(session, Serial()).cells
        assert len(cell.hits["b"]) == (0 if scope == "repository" else min(10, len(cell.hits["b"])))
        assert bool(cell.hits["b"]) == (scope == "all")
