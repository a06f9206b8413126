"""What the measures see of a query: its results, its gold, the chunks around it and the space it searches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import loaded, repository, session_of, word_dataset

from chunkers.sizes import ruler
from evaluation.experiment import stages
from evaluation.experiment.cases import CaseBuilder
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.gold_text import answer_key, gold_text
from evaluation.experiment.levels import chunk_levels
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.qrels import placed, qrels_of
from evaluation.experiment.reading_cost import reading_cost
from evaluation.experiment.scoring import Scored, Scoring, load_scored, save_scored, score_ranking
from evaluation.measures.registry import parse_measure
from evaluation.statistics import Weight
from evaluation.statistics.intervals import weighted_mean
from evaluation.types import TextSpan
from ground_truth.rules import parse_rule
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query
from indexing.encoders.hashing import Hashing
from indexing.types import Hit

TEXT = {"a.py": "a1\na2\na3\na4\n", "b.py": "b1\nb2\nb3\nb4\n", "c.py": "c1\nc2\n"}


def small(*notes: Annotation, **more: Any) -> Dataset:
    """Return a repository of three files that are cut into pairs of lines."""
    queries = (Query("q", "text", "one"), Query("r", "other", "one"))
    return Dataset("words", (repository("one", TEXT),), queries, notes, **more)


def table(dataset: Dataset, cache: Path, chunker: str = "fixed-lines:lines=2") -> tuple[LoadedDataset, ChunkTable]:
    """Return the dataset and its chunks."""
    session = session_of(dataset, cache, chunkers=(chunker,))
    return session.dataset("words"), stages.chunk(session, "words", chunker)


def embed_lengths(texts: Sequence[str]) -> np.ndarray:
    """Return a vector of one number: the length of the text."""
    return np.array([[float(len(text))] for text in texts]).reshape(len(texts), 1)


def builder(held: LoadedDataset, chunks: ChunkTable, *needs: str, **more: Any) -> CaseBuilder:
    """Return a builder of cases with all that is needed."""
    judged = qrels_of(parse_rule("any"), held, chunks)
    units: Collection[Any] = more.pop("units", ("tokens", "lines"))
    return CaseBuilder(held, chunks, judged, needs=needs, units=units, embed=embed_lengths, **more)


def ranked(**rows: Sequence[int]) -> Mapping[str, list[Hit]]:
    """Return rankings of rows; queries that are not named have none."""
    return {name: [Hit(row, 1.0) for row in rows.get(name, ())] for name in ("q", "r")}


def note(path: str, first: int, last: int, **more: Any) -> Annotation:
    """Return lines that answer the first query."""
    return Annotation("q", "one", path, first, last, **more)


def test_gold_is_merged_where_it_overlaps_and_stays_apart_where_it_touches(tmp_path: Path) -> None:
    """File by file, in order; what has no grade is no gold."""
    del tmp_path
    dataset = small(
        note("b.py", 1, 2), note("a.py", 1, 2), note("a.py", 2, 3), note("a.py", 4, 4), note("c.py", 1, 2, grade=0),
        note("b.py", 1, 1), note("b.py", 3, 3),
    )  # fmt: skip
    held = loaded(dataset)
    index = {("one", name): number for number, name in enumerate(sorted(TEXT))}
    found = gold_text(dataset, index, held.gold_lines)
    assert found == {"q": [TextSpan(0, 0, 9), TextSpan(0, 9, 12), TextSpan(1, 0, 6), TextSpan(1, 6, 9)]}


@given(st.lists(st.tuples(st.sampled_from(sorted(TEXT)[:2]), st.integers(1, 4), st.integers(0, 3)), max_size=6))
def test_merged_gold_is_the_union_of_its_lines(spans: list[tuple[str, int, int]]) -> None:
    """Byte by byte, without overlap and in order."""
    notes = [note(path, first, min(first + more, 4)) for path, first, more in spans]
    dataset = small(*notes)
    index = {("one", name): number for number, name in enumerate(sorted(TEXT))}
    found = gold_text(dataset, index, loaded(dataset).gold_lines).get("q", [])
    expected = {
        (index["one", each.path], byte)
        for each in notes
        for byte in range(3 * (each.start_line - 1), 3 * each.end_line)
    }
    covered = [(span.file, byte) for span in found for byte in range(span.start, span.end)]
    assert len(covered) == len(set(covered))
    assert set(covered) == expected
    assert found == sorted(found)


def test_alternative_answers_have_gold_of_their_own(tmp_path: Path) -> None:
    """Numbered in their order, beside the union; each has its grades and its regions."""
    dataset = small(note("a.py", 1, 2, alternative="x"), note("b.py", 1, 1, alternative="y"))
    held, chunks = table(dataset, tmp_path)
    gold = gold_text(dataset, chunks.file_index, held.gold_lines)
    assert gold[answer_key("q", 0)] == [TextSpan(0, 0, 6)]
    assert gold[answer_key("q", 1)] == [TextSpan(1, 0, 3)]
    assert gold["q"] == [TextSpan(0, 0, 6), TextSpan(1, 0, 3)]
    case, other = builder(held, chunks, "text", "nuggets").cases(dataset.queries, ranked(q=[0]))
    first, second = case.answers
    assert (first.gold, second.gold) == (gold[answer_key("q", 0)], gold[answer_key("q", 1)])
    assert (list(first.grades or ()), list(second.grades or ())) == ([chunks.ids[0]], [chunks.ids[2]])
    assert first.nuggets == {chunks.ids[0]: frozenset({0})}
    assert second.nuggets == {chunks.ids[2]: frozenset({0})}
    assert other.answers == []


def test_a_case_has_what_is_needed_and_nothing_else(tmp_path: Path) -> None:
    """Results as they are ranked; chunks around gold, regions, the space and vectors only where they are asked for."""
    dataset = small(note("b.py", 2, 3), note("a.py", 1, 1))
    held, chunks = table(dataset, tmp_path)
    plain, _ = builder(held, chunks, "grades").cases(dataset.queries, ranked(q=[2, 0]))
    assert (plain.text, plain.nuggets, plain.space, plain.vectors) == (None, None, None, None)
    assert plain.ranking == [chunks.ids[2], chunks.ids[0]]
    assert plain.grades == {chunks.ids[0]: 1, chunks.ids[2]: 1, chunks.ids[3]: 1}
    text = builder(held, chunks, "text").cases(dataset.queries, ranked(q=[2, 0]))[0].text
    assert text is not None
    assert text.results == [TextSpan(1, 0, 6), TextSpan(0, 0, 6)]
    assert text.gold == [TextSpan(0, 0, 3), TextSpan(1, 3, 9)]
    assert (text.chunks, text.headers, text.visible) == (None, {}, None)
    around = builder(held, chunks, "text", "chunks").cases(dataset.queries, ranked())[0].text
    assert around is not None
    assert around.chunks == [TextSpan(0, 0, 6), TextSpan(0, 6, 12), TextSpan(1, 0, 6), TextSpan(1, 6, 12)]
    (nuggets, nothing) = (case.nuggets for case in builder(held, chunks, "nuggets").cases(dataset.queries, ranked()))
    assert nuggets == {chunks.ids[place]: frozenset({nugget}) for place, nugget in ((0, 0), (2, 1), (3, 1))}
    assert nothing == {}


def test_a_region_of_which_a_chunk_shows_nothing_is_not_touched(tmp_path: Path) -> None:
    """Hidden bytes are not shown; a chunk that ends where gold begins has none of it."""
    hidden = (HiddenSpan("one", "a.py", 3, 6),)
    dataset = small(note("a.py", 2, 3), hidden=hidden)
    held, chunks = table(dataset, tmp_path)
    case, _ = builder(held, chunks, "nuggets", "text").cases(dataset.queries, ranked(q=[0]))
    assert case.nuggets == {chunks.ids[1]: frozenset({0})}
    assert case.text is not None
    assert case.text.visible is not None
    assert case.text.visible[0].at(np.array([0, 3, 6, 12])).tolist() == [0, 3, 3, 9]


def test_vectors_are_those_of_the_first_results(tmp_path: Path) -> None:
    """As deep as asked for, each text embedded once for all queries, in the order of each ranking."""
    dataset = small()
    held, chunks = table(dataset, tmp_path, "fixed-lines:lines=3")
    asked: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.append(list(texts))
        return embed_lengths(texts)

    judged = qrels_of(parse_rule("any"), held, chunks)
    how: dict[str, Any] = {"needs": {"vectors"}, "units": (), "embed": embed}
    first, second = CaseBuilder(held, chunks, judged, vector_depth=2, **how).cases(
        dataset.queries, ranked(q=[1, 0, 3], r=[0])
    )
    assert (len(asked), sorted(asked[0])) == (1, sorted(["a1\na2\na3\n", "a4\n"]))
    assert first.vectors is not None
    assert second.vectors is not None
    assert (first.vectors.tolist(), second.vectors.tolist()) == ([[3.0], [9.0]], [[9.0]])
    everything, _ = CaseBuilder(held, chunks, judged, **how).cases(dataset.queries, ranked(q=[1, 0, 3]))
    assert everything.vectors is not None
    assert everything.vectors.tolist() == [[3.0], [9.0], [3.0]]


@pytest.mark.parametrize("scope", ["repository", "all"])
def test_a_space_is_what_its_query_searches(tmp_path: Path, scope: Any) -> None:
    """All chunks of its repository or of all, without hidden ones, with their sizes; one for all that share it."""
    hidden = (HiddenSpan("two", "apple.py", 0, 1_000), HiddenSpan("one", "bolt.py", 0, 5))
    dataset = word_dataset(("one", "two"), scope=scope, hidden=hidden)
    held, chunks = table(dataset, tmp_path, "fixed-lines:lines=5,header=path")
    made = builder(held, chunks, "space", units=("tokens", "lines", "nws"), depth=17)
    cases = made.cases(dataset.queries, {query.id: [] for query in dataset.queries})
    spaces = {id(case.space): case.space for case in cases}
    assert len(spaces) == (1 if scope == "all" else 2)
    assert sorted(len(space) for space in spaces.values() if space) == ([22] if scope == "all" else [10, 12])
    space = cases[0].space
    assert space is not None
    assert space.depth == 17
    files = [file.repo for file in chunks.files]
    wanted = [row for row in range(len(chunks)) if files[chunks.columns["file"][row]] == "one" or scope == "all"]
    wanted = [row for row in wanted if chunks.files[chunks.columns["file"][row]][:2] != ("two", "apple.py")]
    assert space.spans.tolist() == [
        [int(chunks.columns[name][row]) for name in ("file", "start", "end")] for row in wanted
    ]
    for unit in ("tokens", "nws", "lines"):
        for (file, start, end), size, cost in zip(
            space.spans.tolist(), space.sizes[unit], space.headers[unit], strict=True
        ):
            data = held.read(chunks.files[file])
            starts = [at for at in ruler(data, unit).starts.tolist() if start <= at < end]
            unseen = sum(at < 5 for at in starts) if chunks.files[file][:2] == ("one", "bolt.py") else 0
            assert size == len(starts) - unseen
            header = (chunks.headers[wanted[0]].replace("apple", chunks.files[file].path[:-3]) + "\n").encode()
            assert cost == ruler(header, unit).count(0, len(header))


def test_a_query_of_a_repository_without_chunks_has_an_empty_space(tmp_path: Path) -> None:
    """It chooses from nothing."""
    dataset = Dataset("words", (repository("one", TEXT),), (Query("q", "x", "gone"),), ())
    held, chunks = table(dataset, tmp_path)
    (case,) = builder(held, chunks, "space").cases(dataset.queries, ranked())
    assert case.space is not None
    assert len(case.space) == 0


def test_headers_cost_what_they_hold(tmp_path: Path) -> None:
    """One for each result, nothing where a chunk has none."""
    dataset = small()
    held, chunks = table(dataset, tmp_path, "fixed-lines:lines=2,header=path")
    headers = ["", *chunks.headers[1:]]
    some = ChunkTable(chunks.files, chunks.columns, chunks.ids, headers)
    assert some.seconds == 0
    case, empty = builder(held, some, "text").cases(dataset.queries, ranked(q=[0, 1]))
    assert case.text is not None
    assert empty.text is not None
    data = (headers[1] + "\n").encode()
    assert case.text.headers == {unit: [0, ruler(data, unit).count(0, len(data))] for unit in ("tokens", "lines")}
    assert empty.text.headers == {}


def test_rows_of_chosen_files_are_placed(tmp_path: Path) -> None:
    """Ids, paths and lines as the table has them; all of them where nothing is chosen."""
    _, chunks = table(small(), tmp_path)
    assert [(row.path, row.span.start_line, row.span.end_line) for row in placed(chunks, files={1})] == [
        ("b.py", 1, 2),
        ("b.py", 3, 4),
    ]
    everything = list(placed(chunks))
    assert [row.id for row in everything] == chunks.ids
    assert list(placed(chunks, files=set())) == []


def scoring(*names: str, **more: Any) -> Scoring:
    """Return how rankings are scored."""
    given_: dict[str, Any] = {"rule": parse_rule("any"), "insist": False, "budgets": (5, 50), "depth": 100, **more}

    def embed(texts: Sequence[str]) -> np.ndarray:
        return Hashing().encode(texts, kind="document")

    return Scoring([parse_measure(name) for name in names], embed=embed, **given_)


def word_rankings(dataset: Dataset, chunks: ChunkTable) -> dict[str, list[Hit]]:
    """Rank all chunks of a query's repository, from a row of its own on."""
    count = len(chunks)
    return {
        query.id: [Hit((place + step) % count, 1.0) for step in range(count)]
        for place, query in enumerate(dataset.queries)
    }


@pytest.mark.parametrize("weight", get_args(Weight))
def test_levels_are_averaged_as_the_scores_between_them(tmp_path: Path, weight: Weight) -> None:
    """The level of a measure is the mean of the measure called chance or ceiling, under the same weight."""
    dataset = word_dataset(("one", "two"))
    kept = tuple(query for k, query in enumerate(dataset.queries) if k in (0, 1, 2, 3, 4, 9))
    notes = [note for note in dataset.annotations if note.query_id in {query.id for query in kept}]
    # The second repository's answer is longer, so that its levels are others.
    notes = [replace(note, start_line=1) if note.repo == "two" else note for note in notes]
    held, chunks = table(replace(dataset, queries=kept, annotations=tuple(notes)), tmp_path, "fixed-lines:lines=5")
    how = scoring("recall@10tok", "chance(recall@10tok)", "ceiling(recall@10tok)")
    levels = chunk_levels(how, held, chunks, weight=weight)
    scores = score_ranking(how, held, chunks, word_rankings(held.dataset, chunks)).scores
    clusters = [query.cluster for query in held.dataset.queries]
    for name, found in (("chance", levels.chance), ("ceiling", levels.ceiling)):
        each = scores[f"{name}(recall@10tok)"]
        assert len(set(each)) > 1
        assert found["recall@10tok"] == pytest.approx(weighted_mean(each, clusters, weight=weight))


def test_scores_are_the_same_in_blocks_of_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four at a time or all at once: scores, curve, facts and levels; and read as they were written."""
    dataset = word_dataset()
    held, chunks = table(dataset, tmp_path, "fixed-lines:lines=5")
    how = scoring("recall@30tok", "ndcg@3", "tokens_to_recall(0.5)", "ild@2", "ild@5")
    ranking = word_rankings(dataset, chunks)
    whole, levels = score_ranking(how, held, chunks, ranking), chunk_levels(how, held, chunks)
    monkeypatch.setattr("evaluation.experiment.scoring.BLOCK", 4)
    monkeypatch.setattr("evaluation.experiment.levels._BLOCK", 4)
    parts = score_ranking(how, held, chunks, ranking)
    assert same(whole, parts)
    assert chunk_levels(how, held, chunks) == levels
    save_scored(whole, tmp_path)
    assert same(load_scored(tmp_path), whole)
    assert list(whole.scores) == ["recall@30tok", "ndcg@3", "tokens_to_recall(0.5)", "ild@2", "ild@5"]
    assert levels.chance.keys() == levels.ceiling.keys() == {"recall@30tok", "ndcg@3"}
    assert all(0 < levels.chance[name] < levels.ceiling[name] <= 1 for name in levels.chance)
    assert whole.curve.shape == (6, 2)
    diverse = score_ranking(scoring("ild@2"), held, chunks, ranking).scores["ild@2"]
    assert np.array_equal(diverse, whole.scores["ild@2"])


def same(one: Scored, other: Scored) -> bool:
    """Return whether two cells have the same scores and facts."""
    return (
        list(one.query_ids) == list(other.query_ids)
        and one.scores.keys() == other.scores.keys()
        and all(np.array_equal(one.scores[name], other.scores[name], equal_nan=True) for name in one.scores)
        and np.array_equal(one.curve, other.curve)
        and (one.qrels, one.facts, one.reading) == (other.qrels, other.facts, other.reading)
    )


def test_what_stands_beside_scores_is_counted(tmp_path: Path) -> None:
    """Queries with and without relevant chunks, relevant chunks of a query, and tokens of the first five and ten."""
    whole = word_dataset()
    dataset = Dataset("words", whole.repositories, whole.queries, whole.annotations[:4])
    held, chunks = table(dataset, tmp_path, "fixed-lines:lines=5")
    ranking = word_rankings(dataset, chunks)
    facts = score_ranking(scoring("recall@30tok"), held, chunks, ranking).facts
    assert (facts.uncovered_queries, facts.queries_with_relevant) == (2, 4)
    assert facts.relevant_per_query == pytest.approx(4 / 6)
    tokens = chunks.sizes("tokens")
    for k in (5, 10):
        behind = [sum(int(tokens[hit.position]) for hit in hits[:k]) for hits in ranking.values()]
        assert facts.tokens_at[str(k)] == pytest.approx(np.mean(behind))


def test_reading_is_summed_up_within_the_largest_budget() -> None:
    """What is reached at the budget is reached, what is reached beyond it is not; half must get there for a median."""
    half, most = "tokens_to_recall(0.5)", "tokens_to_recall(0.8)"
    scores = {half: np.array([10.0, 100.0, 101.0, np.nan]), most: np.array([100.0, 101.0, np.nan, np.nan])}
    found = reading_cost(scores, budgets=[50, 100])
    assert (found.tokens_to_50.reached, found.tokens_to_80.reached) == (0.5, 0.25)
    assert found.tokens_to_80.median is None
    nobody = reading_cost({half: np.zeros(0), most: np.zeros(0)}, budgets=[100])
    assert (nobody.tokens_to_50.reached, nobody.tokens_to_50.median) == (0.0, None)
