"""What is handed to `import chunkbench`: right as it is meant, or refused in a line that says what to give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import chunkbench as cb
from chunkers.cast import Cast
from evaluation.api import evaluate_batch
from evaluation.measures.batch import Batch
from evaluation.measures.recall import Recall

QRELS = {"q": {"a"}}
PAIRS = [("q", {"a"})]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))


def refusal(call: Any, *arguments: Any, **named: Any) -> str:
    """Return the one line with which a call is refused."""
    with pytest.raises(cb.UsageError) as caught:
        call(*arguments, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, np.float64("nan"), "1", None, 10**400])
def test_scores_and_grades_are_finite_numbers(wrong: object) -> None:
    """Anything else is named with its query and its id: it would be sorted or counted in any way at all."""
    said = refusal(cb.evaluate, {"q": {"a": 1.0, "b": wrong}}, QRELS, ["mrr"])
    assert said.startswith("the score of 'b' in the ranking of query 'q' is ")
    said = refusal(cb.evaluate, {"q": ["a"]}, {"q": {"a": 1, "b": wrong}}, ["mrr"])
    assert said.startswith("the grade of 'b' in the relevant ids of query 'q' is ")
    said = refusal(cb.benchmark, lambda _query: ["a"], [("q", {"a": wrong})])
    assert said.startswith("the grade of 'a' in the relevant ids of query 'q' is ")
    assert "it must be a finite number" in refusal(cb.measure("ndcg@5"), ["a"], {"a": wrong})


def test_numbers_of_other_libraries_are_scores_and_grades() -> None:
    """NumPy's numbers, whole or not, and truth values."""
    run: Any = {"q": {"a": np.float32(0.5), "b": np.int64(3)}}
    assert cb.evaluate(run, {"q": {"a": np.int64(2), "b": False}}, ["mrr"])["mrr"] == 0.5
    assert cb.evaluate({"q": np.array(["b", "a"])}, QRELS, ["mrr"])["mrr"] == 0.5  # type: ignore[dict-item] # as good as a list


def test_scores_rank_the_ids_of_a_measure_that_is_called_too() -> None:
    """Best first, equal ones as given; what has no order is refused."""
    assert cb.measure("mrr")({"a": 0.1, "b": 0.9}, {"a"}) == 0.5
    assert cb.measure("mrr")({"b": 1.0, "a": 1.0}, {"b"}) == 1.0
    assert cb.measure("kendall_tau")(["a", "b"], reference={"b": 0.1, "a": 3.0}) == 1.0
    assert "it must be a finite number" in refusal(cb.measure("mrr"), {"a": float("nan")}, {"a"})
    for unordered in ({"a"}, frozenset("ab")):
        assert "give a list of ids, best first" in refusal(cb.measure("mrr"), unordered, {"a"})
        assert "give a list of ids, best first" in refusal(cb.evaluate, {"q": unordered}, QRELS, ["mrr"])


@pytest.mark.parametrize(
    ("run", "qrels", "said"),
    [
        ({"q": "abc"}, QRELS, "the ranking of query 'q' is the text 'abc': give a list of ids, best first"),
        ({"q": None}, QRELS, "the ranking of query 'q' is None: give a list of ids, best first"),
        ({"q": [1]}, QRELS, "1 in the ranking of query 'q' is no text: write each id as a text"),
        ({"q": {1: 0.5}}, QRELS, "1 in the ranking of query 'q' is no text"),
        ({"q": ["a"]}, {"q": {1}}, "1 in the relevant ids of query 'q' is no text"),
        ({"q": ["a"]}, {"q": {1: 2}}, "1 in the relevant ids of query 'q' is no text"),
        ({"q": ["a"]}, {"q": 3}, "the relevant ids of query 'q' are 3: give a set of ids"),
        ({"q": ["a"]}, {"q": "a"}, "the relevant ids of query 'q' are the text 'a'"),
        ({"q": ["a\udc80"]}, QRELS, r"'a\udc80' in the ranking of query 'q' is not UTF-8"),
        ({"q": ["a", "a"]}, QRELS, "query 'q' ranks 'a' twice"),
        ({"q": ["a"]}, {"q": None}, "query 'q' is not labelled"),
        ([["a"]], QRELS, "run is [['a']]: give a mapping by query id, as in {'q1': ['a', 'b']}"),
        ({"q": ["a"]}, [{"a"}], "qrels is [{'a'}]: give a mapping by query id, as in {'q1': {'a'}}"),
    ],
)
def test_a_run_and_its_judgements_are_refused_by_query(run: Any, qrels: Any, said: str) -> None:
    """The query has the name that the run gave it, and nothing is scored as 0 for its type."""
    assert refusal(cb.evaluate, run, qrels, ["mrr"]).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((3, {"a"}), "the ranking is 3: give a list of ids"),
        (([1], {"a"}), "1 in the ranking is no text"),
        ((["a"], {1}), "1 in the relevant ids is no text"),
        ((["a"], 3), "the relevant ids are 3"),
    ],
)
def test_one_ranking_is_refused_as_a_run_is(arguments: tuple[Any, ...], said: str) -> None:
    """A measure that is called has no query to name."""
    assert refusal(cb.measure("ndcg@5"), *arguments).startswith(said)
    assert refusal(cb.measure("rbo"), ["a"], reference="a").startswith("the reference ranking is the text 'a'")


def test_values_are_found_by_the_id_of_their_query() -> None:
    """In the order of the judgements, and by id whatever its letters; without ids, by number."""
    ids = ["late", "early", "", "q\0r", "\udc80", "x" * 5000]
    found = cb.evaluate({"early": ["b", "a"], "q\0r": ["a"]}, {query: {"a"} for query in ids}, ["mrr"])
    assert [row["mrr"] for row in found.per_query] == [0, 0.5, 0, 1, 0, 0]
    assert {query: row["mrr"] for query, row in found.by_query.items()} == dict(
        zip(ids, [0, 0.5, 0, 1, 0, 0], strict=True)
    )
    assert found.by_query["early"]["MRR"] == 0.5
    assert list(evaluate_batch([["a"], []], [{"a"}, {"a"}]).by_query) == ["0", "1"]
    named = cb.benchmark(lambda query: [query], [("a", {"a"}), ("b", {"a"})], measures="mrr")
    assert {query: row["mrr"] for query, row in named.by_query.items()} == {"a": 1, "b": 0}
    alike = cb.benchmark(lambda query: [query], [("a", {"a"}), ("a", {"b"})], measures="mrr")
    assert {query: row["mrr"] for query, row in alike.by_query.items()} == {"0": 1, "1": 0}


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_equal_scores_stay_in_the_order_given(names: str) -> None:
    """The spelling of an id decides nothing, as in a TREC run; a higher score is first wherever it is given."""
    run = {"q": {names[0]: 1.0, names[1]: 1.0, "c": 2.0}}
    assert cb.evaluate(run, {"q": {names[0]}}, ["mrr"])["mrr"] == 1 / 2
    assert cb.evaluate(run, {"q": {names[1]}}, ["mrr"])["mrr"] == 1 / 3
    assert cb.evaluate(run, {"q": {"c"}}, ["mrr"])["mrr"] == 1


def test_a_single_measure_is_a_list_of_one() -> None:
    """By name and as an object, for a run and for a function."""
    for given, name in (("mrr", "mrr"), (Recall(cutoff=3), "recall@3")):
        assert dict(cb.evaluate({"q": ["a"]}, QRELS, given)) == {name: 1}
        assert dict(cb.benchmark(lambda _query: ["a"], PAIRS, measures=given)) == {name: 1}


def test_a_measure_of_ones_own_is_given_as_an_object() -> None:
    """Whether or not a name leads to its class."""

    @dataclass(frozen=True, kw_only=True)
    class Half(Recall):
        """Recall, halved."""

        label: ClassVar[str] = "half"

        def score(self, batch: Batch) -> np.ndarray:
            """Return half of what was found."""
            return np.asarray((batch.gains[:, : self.cutoff] > 0).mean(axis=1) / 2)

    assert dict(cb.evaluate({"q": ["a"]}, QRELS, [Half(cutoff=3)])) == {"half@3": 0.5}
    assert dict(cb.benchmark(lambda _query: ["a"], PAIRS, measures=Half(cutoff=3))) == {"half@3": 0.5}


@pytest.mark.parametrize("wrong", [3, None, Recall])
def test_what_names_no_measure_is_said(wrong: Any) -> None:
    """Alone or in a list, and wherever measures are named."""
    assert "is no name of a measure: write ndcg@5" in refusal(cb.measure, wrong)
    assert "is no name of a measure: write ndcg@5" in refusal(cb.evaluate, {"q": ["a"]}, QRELS, [wrong])
    assert refusal(cb.evaluate, {"q": ["a"]}, QRELS, wrong).startswith("measures is ")


@pytest.mark.parametrize(
    ("retriever", "dataset", "more", "said"),
    [
        (3, PAIRS, {}, "the retriever is 3: give a function from a query to a list of ids"),
        (list, 3, {}, "the dataset is 3: give a spec, or pairs of a query and its relevant ids"),
        (list, ["q"], {}, "item 1 of the dataset is the text 'q': give pairs of a query and its relevant ids"),
        (list, [*PAIRS, "ab"], {}, "item 2 of the dataset is the text 'ab': give pairs"),
        (list, Recall, {}, "dataset Recall is a class: give an object of it, Recall()"),
        (lambda _: [1, 2], [("q", {"1"})], {}, "1 in the ranking of query 'q' is no text"),
        (lambda _: ["1"], [("q", {1})], {}, "1 in the relevant ids of query 'q' is no text"),
        (lambda _: ["a", "a"], PAIRS, {}, "query 'q' ranks 'a' twice"),
        (list, PAIRS, {"k_values": 5}, "k_values is 5: give whole numbers, as in [1, 5, 10]"),
        (list, PAIRS, {"k_values": []}, "k_values is []: give whole numbers"),
        (list, PAIRS, {"k_values": "10"}, "k_values is the text '10': give whole numbers"),
        (list, PAIRS, {"k_values": [5, "10"]}, "k_values is [5, '10']: give whole numbers"),
    ],
)
def test_a_benchmark_that_cannot_be_run_is_refused(
    retriever: Any,
    dataset: Any,
    more: dict[str, Any],
    said: str,
) -> None:
    """Each argument is named, with what to give in its place."""
    assert refusal(cb.benchmark, retriever, dataset, **more).startswith(said)


def test_a_folder_is_no_dataset_of_a_function(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds no questions; a dataset's name is one, whatever folder is called so."""
    for folder in (repository, str(repository)):
        said = refusal(cb.benchmark, list, folder)
        assert said.startswith(f"'{repository}' is a folder, and a dataset has questions about it")
        assert f"annotations:path=FILE,root={repository}" in said
    monkeypatch.chdir(repository)
    (repository / "simple-json").mkdir()
    assert "path" in refusal(cb.benchmark, list, "simple-json")


def test_ids_of_a_function_on_a_dataset_are_texts_or_places(repository: Path) -> None:
    """A number is neither, and the query is named."""
    gold = f"annotations:path={repository.parent / 'gold.jsonl'},root={repository}"
    assert refusal(cb.benchmark, lambda _query: [1, 2], gold).startswith("query 'apple0', place 1: ")


def test_places_of_a_function_may_hold_the_numbers_and_paths_of_other_libraries(repository: Path) -> None:
    """They score as plain ones do; what is no place is refused in the words of this project."""
    dataset = f"annotations:path={repository.parent / 'gold.jsonl'},root={repository}"
    first = next(path.relative_to(repository) for path in sorted(repository.rglob("*.py")))
    given = [(first.as_posix(), 1, 2), (first, np.int64(1), np.int32(2)), {"file": first, "start_byte": np.int64(0)}]
    scores = [cb.benchmark(lambda _query, place=place: [place], dataset)["naurc@4000tok"] for place in given[:2]]
    assert scores[0] == scores[1]
    assert "end_byte is missing" in refusal(cb.benchmark, lambda _query: [given[2]], dataset)
    said = refusal(cb.benchmark, lambda _query: [(first, True, 2)], dataset)
    assert "start_line is True: lines are whole numbers counted from 1" in said
    said = refusal(cb.benchmark, lambda _query: [5], dataset)
    assert said.endswith("place 1: it is 5: write an object with file, start_line and end_line")


@pytest.mark.parametrize(
    ("path", "chunker", "said"),
    [
        (__file__, object(), "chunker 'object' has no split: give a spec such as 'cast', or a chunker"),
        (__file__, None, "chunker 'NoneType' has no split"),
        (__file__, Cast, "chunker Cast is a class: give an object of it, Cast()"),
        (None, "cast", "the path is None: give a file or a folder"),
        (3, "cast", "the path is 3: give a file or a folder"),
    ],
)
def test_what_cannot_be_chunked_is_refused(path: Any, chunker: Any, said: str) -> None:
    """Neither a path nor a chunker is guessed."""
    assert refusal(cb.chunk, path, chunker).startswith(said)


def test_a_class_in_place_of_an_object_is_said(repository: Path) -> None:
    """In a list, alone, and as the baseline; measures too."""
    for named in ({"chunkers": [Cast]}, {"chunkers": Cast}, {"baseline": Cast}):
        said = refusal(cb.compare, repository, **named)
        assert said == "chunker Cast is a class: give an object of it, Cast()"
    assert refusal(cb.compare, repository, measures=[Recall]).startswith("measure Recall is a class")


def test_a_single_object_is_compared_as_a_single_spec_is(repository: Path) -> None:
    """A list of one need not be written."""
    how: dict[str, Any] = {
        "embedders": "hashing",
        "retrievers": "bm25",
        "annotations": repository.parent / "gold.jsonl",
    }
    given: tuple[Any, ...] = (Cast(size=200), "cast:size=200")
    by_object, by_spec = (cb.compare(repository, chunkers=each, **how) for each in given)
    assert [cell.key for cell in by_object.cells] == [cell.key for cell in by_spec.cells]


def test_a_place_for_results_is_refused_in_words_of_both_doors(repository: Path, tmp_path: Path) -> None:
    """Whoever calls `save` has no option to write; whoever writes options calls nothing."""
    how: dict[str, Any] = {"chunkers": "fixed-lines:lines=5", "embedders": "hashing", "retrievers": "bm25"}
    results = cb.compare(repository, annotations=repository.parent / "gold.jsonl", **how)
    (tmp_path / "bad.py").write_text("")
    said = f"{tmp_path / 'bad.py'} is a file: name a folder (--out, or save() in Python)"
    assert refusal(results.save, tmp_path / "bad.py") == said


@pytest.mark.parametrize("source", ["nope", "/no/such/folder", ["nope"], "instaled"])
def test_a_source_that_is_not_there_may_have_been_a_folder(source: str | list[str]) -> None:
    """Both things that a text may stand for are said, and the datasets that there are."""
    said = refusal(cb.compare, source)
    assert "is neither a folder nor a known dataset." in said
    assert "Did you mean 'installed'?" in said if source == "instaled" else "Known: annotations, " in said
