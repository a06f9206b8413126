"""Scores of places: tokens behind ranks, headers, gold that nobody found, and what a function returned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_corpora import loaded, module, repository, session_of, word_dataset

from chunkers.errors import UsageError
from chunkers.sizes import ruler
from evaluation.experiment.contestants import contestants
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.span_places import PlaceFinder, SpanRun
from evaluation.experiment.span_results import score_places, score_runs, score_span_files, span_measures
from evaluation.experiment.span_scoring import score_spans, span_units
from evaluation.measures.registry import parse_measure
from evaluation.spans.rows import PlaceRow
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

QUERY = Query("q", "text", "one")


def words_run(dataset: LoadedDataset, places: Mapping[str, list[tuple[str, int, int]]], **more: Any) -> SpanRun:
    """Return a run of places by lines."""
    finder = PlaceFinder(dataset)
    queries = {query.id: query for query in dataset.dataset.queries}
    found = {
        name: [
            finder.find(PlaceRow(file=file, start_line=first, end_line=last, **more), queries[name])
            for file, first, last in each
        ]
        for name, each in places.items()
    }
    return SpanRun("r", found)


def test_tokens_behind_the_first_places_are_a_mean_over_all_queries() -> None:
    """Five and ten of them, with repetitions; hidden tokens are not there; a query without an answer has none."""
    text = module("apple").encode()
    start, end = text.index(b"def"), text.index(b"\n\n\nAPPLE") + 1
    tokens = ruler(text, "tokens").count(start, end)
    for hidden, left in (((), tokens), ((HiddenSpan("one", "apple.py", start, end),), 0)):
        held = loaded(word_dataset(hidden=hidden))
        run = words_run(held, {"one-apple": [("apple.py", 6, 7)] * 12})
        found = score_spans([parse_measure("recall@100tok")], held, run, budgets=[100])
        assert found.tokens_at == pytest.approx({"5": 5 * left / 6, "10": 10 * left / 6})


def test_the_header_of_a_place_costs_what_it_says() -> None:
    """As text in every unit, as a number in tokens; a number is no help where lines are counted."""
    held = loaded(word_dataset())
    gold = {query.id: [(f"{query.id[4:]}.py", 6, 7)] for query in held.dataset.queries}
    names = ["tokens_to_recall(1)", "recall@2lines", "recall@3lines"]
    measures = [parse_measure(name) for name in names]
    plain, above = words_run(held, gold), words_run(held, gold, header="above it")
    costs = [score_spans(measures, held, run, budgets=[100]).scores[measures[0].name][0] for run in (plain, above)]
    data = b"above it\n"
    assert costs[1] - costs[0] == ruler(data, "tokens").count(0, len(data))
    scores = score_spans(measures, held, above, budgets=[100]).scores
    assert scores["recall@2lines"][0] < scores["recall@3lines"][0] == 1
    counted = words_run(held, gold, header_tokens=7)
    assert score_spans(measures[:1], held, counted, budgets=[100]).scores[measures[0].name][0] == costs[0] + 7
    with pytest.raises(UsageError, match="header_tokens is a number of tokens, and a measure counts lines"):
        score_spans(measures, held, counted, budgets=[100])
    nothing = words_run(held, gold, header_tokens=0)
    assert score_spans(measures, held, nothing, budgets=[100]).scores["recall@2lines"][0] == 1


def test_queries_without_gold_are_counted_and_score_nothing() -> None:
    """Every other query keeps its score, in the order of the dataset."""
    whole = word_dataset()
    held = loaded(Dataset("words", whole.repositories, whole.queries, whole.annotations[1:]))
    run = words_run(held, {query.id: [(f"{query.id[4:]}.py", 6, 7)] for query in held.dataset.queries})
    found = score_spans([parse_measure("recall@100tok")], held, run, budgets=[50, 100])
    assert found.unanswerable == 1
    assert found.scores["recall@100tok"].tolist() == [0, 1, 1, 1, 1, 1]
    assert found.curve.shape == (6, 2)


def test_many_queries_are_scored_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of two, and of one over the end."""
    held = loaded(word_dataset())
    run = words_run(held, {"one-bolt": [("bolt.py", 6, 6)], "one-flute": [("flute.py", 1, 7)]})
    measures = [parse_measure("recall@100tok"), parse_measure("file_rr")]
    whole = score_spans(measures, held, run, budgets=[100])
    monkeypatch.setattr("evaluation.experiment.span_scoring.BLOCK", 4)
    parts = score_spans(measures, held, run, budgets=[100])
    assert all(np.array_equal(whole.scores[name], values) for name, values in parts.scores.items())
    assert np.array_equal(whole.curve, parts.curve)
    assert whole.scores["file_rr"].tolist() == [0, 1, 0, 0, 0, 1]


def test_units_are_those_that_span_measures_count_in() -> None:
    """And tokens, for the curve; what needs chunks counts in nothing here."""
    assert span_units([]) == {"tokens"}
    assert span_units(map(parse_measure, ["recall@5lines", "recall@90nws", "ndcg@5"])) == {"tokens", "lines", "nws"}


def test_measures_of_spans_are_taken_once_and_need_no_ids() -> None:
    """What is missing is named."""
    assert [each.name for each in span_measures(["file_rr", "recall@100tok", "file_rr"])] == [
        "file_rr",
        "recall@100tok",
    ]
    with pytest.raises(UsageError, match="'ndcg@5' needs grades, which a span run does not have"):
        span_measures(["file_rr", "ndcg@5"])
    with pytest.raises(UsageError, match="needs vectors, which a span run does not have"):
        span_measures(["ild@5"])


def test_runs_in_memory_are_compared_by_the_first_measure_that_has_a_mean() -> None:
    """A median has none to compare by; without any other the usual headline stands."""
    held = loaded(word_dataset())
    run = words_run(held, {"one-bolt": [("bolt.py", 6, 7)]})
    names = ["tokens_to_recall(0.5)", "file_rr", "recall@100tok"]
    measures = [parse_measure(name) for name in names]
    made = score_runs([run], held, measures, limit=5, seed=3, weight="query")
    config = made.config
    assert (config.headline, config.seed, config.limit, config.weight) == ("file_rr", 3, 5, "query")
    (cell,) = made.cells
    assert cell.search.diagnostics["queries_without_places"] == 5
    assert cell.judgements.queries_with_relevant == 6
    alone = score_runs([run], held, measures[:1]).config
    assert (alone.headline, alone.seed, alone.limit, alone.weight) == ("naurc@4000tok", 0, None, "repository")


def test_runs_of_files_are_scored_by_any_measure_that_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A median alone, or before others; chance is that of windows where a measure has any."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("a = 1\n" * 120)
    row = {"query_id": "q", "repo": "code", "file": "a.py", "start_line": 3, "end_line": 4}
    (tmp_path / "gold.jsonl").write_text(json.dumps({**row, "query": "a", "relevance": 1}) + "\n")
    (tmp_path / "run.jsonl").write_text(json.dumps({**row, "rank": 1}) + "\n")
    dataset = f"annotations:path={tmp_path / 'gold.jsonl'},root={tmp_path / 'code'}"
    headlines = {
        ("tokens_to_recall(0.5)",): "naurc@4000tok",
        ("tokens_to_recall(0.5)", "file_rr"): "file_rr",
        ("recall@100tok", "file_rr"): "recall@100tok",
    }
    for names, headline in headlines.items():
        made = score_span_files([f"mine={tmp_path / 'run.jsonl'}"], dataset, names)
        assert (made.config.headline, made.config.seed) == (headline, 0)
        (cell,) = made.cells
        assert list(cell.scores) == list(names)
        assert list(cell.judgements.chance) == [name for name in names if name == "recall@100tok"]
    with pytest.raises(UsageError, match="two span runs are called 'mine': name one another way"):
        score_span_files([f"mine={tmp_path / 'run.jsonl'}"] * 2, dataset, ["file_rr"])


def test_places_of_a_function_are_those_of_its_queries_in_order() -> None:
    """Each answer belongs to the query at its place; scores that rise, and places that are none, are named."""
    dataset = word_dataset()
    measures = [parse_measure("file_rr")]
    answers: list[list[Any]] = [[("drum.py", 1, 2), (f"{query.id[4:]}.py", 1, 2)] for query in dataset.queries]
    (cell,) = score_places(answers, dataset, measures).cells
    assert cell.scores["file_rr"].tolist() == [0.5, 0.5, 0.5, 1, 0.5, 0.5]
    assert {hit.score for hits in cell.hits.values() for hit in hits} == {0.0}
    place = {"file": "drum.py", "start_line": 1, "end_line": 1}
    bad: list[tuple[list[Any], str]] = [
        ([{**place, "score": 1.0}, {**place, "score": 2.0}], "query 'one-bolt', place 2: its score"),
        ([{**place, "end_line": 99}], "query 'one-bolt', place 1: drum.py has 10 lines"),
    ]
    for answer, said in bad:
        with pytest.raises(UsageError, match=said):
            score_places([[], answer, [], [], [], []], dataset, measures)


def test_annotations_in_files_that_no_place_names_count(tmp_path: Path) -> None:
    """Gold is in the corpus whether anybody found it or not; of several answers one is enough."""
    texts = {f"{name}.py": "a\nb\nc\nd\n" for name in "xyz"}
    notes = (
        Annotation("q", "one", "z.py", 1, 2, alternative="first"),
        Annotation("q", "one", "x.py", 3, 4, alternative="second"),
    )
    dataset = Dataset("d", (repository("one", texts),), (QUERY,), notes)
    held = loaded(dataset)
    run = words_run(held, {"q": [("x.py", 1, 4)]})
    found = score_spans([parse_measure("recall@100tok"), parse_measure("file_recall@5")], held, run, budgets=[100])
    assert {name: values.tolist() for name, values in found.scores.items()} == {
        "recall@100tok": [1],
        "file_recall@5": [1],
    }
    assert contestants(session_of(dataset, tmp_path)) == []


def test_hidden_bytes_are_no_part_of_measures_in_bytes() -> None:
    """Gold of which the rest is found is found whole; where nothing is hidden, a half is a half."""
    start = module("apple").index("def")
    end = module("apple").index("\n    return") + 1
    for hidden, expected in (((), 0.5), ((HiddenSpan("one", "apple.py", start, end),), 1.0)):
        held = loaded(word_dataset(hidden=hidden))
        run = words_run(held, {"one-apple": [("apple.py", 7, 7)]})
        measure = parse_measure("chroma_recall@5")
        found = score_spans([measure], held, run, budgets=[100]).scores[measure.name][0]
        assert (found == 1.0) == (expected == 1.0)
        assert found > 0
