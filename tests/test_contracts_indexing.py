"""The contracts of embedders and retrievers at their bounds: what is just allowed, and what is just not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing.contract import TEXTS, check_embedder, check_retriever, search_problems
from indexing.encoders.hashing import Hashing
from indexing.types import Hit, Index, QueryBatch, SearchSpace, Vectors

LONG = TEXTS.index("word " * 3000)


@dataclass(frozen=True, kw_only=True)
class Own:
    """Hashed words whose rows, counts, window and identity a test may change."""

    version: ClassVar[str] = "1"
    rows: Callable[[Any, Sequence[str], str], Any] = lambda rows, texts, kind: rows  # noqa: ARG005 - a default
    counts: Callable[[list[Any]], Any] = lambda counts: counts
    max_tokens: int | None = None
    says: Callable[[], Mapping[str, Any]] = lambda: {"own": 1}

    def identity(self) -> Mapping[str, Any]:
        """Return what the test wants."""
        return self.says()

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return hashed words, changed."""
        found: Vectors = self.rows(Hashing().encode(texts, kind=kind), texts, kind)
        return found

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the numbers of words, changed."""
        counted: Sequence[int] = self.counts(list(Hashing().count_tokens(texts)))
        return counted


def broken(encoder: Own) -> list[str]:
    """Return what breaks a rule, in words."""
    return [finding.problem for finding in check_embedder(encoder) if finding.problem]


def test_an_embedder_that_keeps_all_rules_has_no_finding() -> None:
    """With a window of one token too, and with rows whose length rounding has changed by less than a thousandth."""
    assert broken(Own()) == []
    assert broken(Own(max_tokens=1)) == []
    assert broken(Own(rows=lambda rows, _texts, _kind: rows * np.float32(1.0009))) == []
    assert broken(Own(rows=lambda rows, _texts, _kind: rows * np.float32(0.9991))) == []


def shifted(by: float, when: Callable[[Sequence[str], str], bool]) -> Own:
    """Return an embedder that adds so much to the first number of every row, where it is asked so."""

    def rows(made: Vectors, texts: Sequence[str], kind: str) -> Vectors:
        moved = made.copy()
        moved[:, :1] += by if when(texts, kind) else 0
        return moved

    return Own(rows=rows)


@pytest.mark.parametrize(("by", "seen"), [(0.9e-4, False), (1.2e-4, True), (float("nan"), True)])
@pytest.mark.parametrize(
    ("when", "words"),
    [
        (lambda texts, _kind: len(texts) == 1, "when it comes alone"),
        (lambda texts, _kind: len(texts) > 1 and texts[0] != TEXTS[0], "in another order"),
    ],
)
def test_a_difference_is_one_from_a_ten_thousandth_on(
    by: float,
    seen: bool,  # noqa: FBT001 - of the test
    when: Callable[[Sequence[str], str], bool],
    words: str,
) -> None:
    """Alone or in another order: less is rounding, more depends on the others."""
    assert any(words in problem for problem in broken(shifted(by, when))) == seen


@pytest.mark.parametrize("which", ["document", "query"])
def test_each_kind_of_text_is_asked_for_twice(which: str) -> None:
    """Rows that change from call to call are noticed for documents and for queries."""
    calls = itertools.count()
    unsteady = shifted(0.01, lambda texts, kind: kind == which and len(texts) > 1 and next(calls) % 2 == 1)
    assert any("the second time" in problem for problem in broken(unsteady))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[:-1], "8 texts gave (7, 256), not one row each"),
        (lambda rows: rows[:, 0], "8 texts gave (8,), not one row each"),
        (lambda rows: rows.tolist(), "8 texts gave list, not one row each"),
        (lambda rows: rows.astype(np.float16), "the vectors are float16, not float32"),
    ],
)
@pytest.mark.parametrize("which", ["document", "query"])
def test_rows_of_either_kind_have_one_shape(change: Callable[[Any], Any], words: str, which: str) -> None:
    """One float32 row for each text."""
    encoder = Own(rows=lambda rows, texts, kind: change(rows) if kind == which and len(texts) > 1 else rows)
    assert any(words in problem for problem in broken(encoder))


@pytest.mark.parametrize(
    ("factor", "words"), [(1.0011, "has length 1.001, not 1"), (0.9989, "has length 0.9989"), (np.inf, "is not finite")]
)
def test_rows_have_length_one(factor: float, words: str) -> None:
    """To a thousandth; the text is named by its beginning."""
    found = broken(Own(rows=lambda rows, _texts, _kind: _scaled(rows, factor)))
    (said,) = {problem for problem in found if words in problem}
    assert said.startswith("the vector of 'def read(path):\\n    retu…' ")


def _scaled(rows: Vectors, factor: float) -> Any:
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(rows * np.float32(factor), nan=0.0, posinf=np.inf)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda counts: counts[:-1] if len(counts) > 1 else counts, "one whole number each"),
        (lambda counts: [*counts, 1] if len(counts) > 1 else counts, "one whole number each"),
        (lambda counts: [count + 0.5 for count in counts], "one whole number each"),
        (lambda counts: [-1, *counts[1:]], "one whole number each"),
        (lambda counts: [*counts[:LONG], counts[0], *counts[LONG + 1 :]], "count before truncation"),
        (lambda counts: [*counts[:LONG], counts[0] - 1, *counts[LONG + 1 :]], "count before truncation"),
        (lambda counts: [*counts[:LONG], counts[0] + 1, *counts[LONG + 1 :]], ""),
        (lambda counts: [float(count) for count in counts], ""),
    ],
)
def test_counts_are_whole_numbers_of_whole_texts(change: Callable[[list[Any]], Any], words: str) -> None:
    """One for each text, from 0 on, and more for a long text than for a short one."""
    problems = broken(Own(counts=change))
    assert [words in problem for problem in problems] == ([True] if words else [])


def test_declarations_are_read() -> None:
    """A window of no tokens, an identity that changes or that JSON cannot hold; stored vectors are asked for none."""
    numbers = itertools.count()
    assert broken(Own(max_tokens=0)) == ["max_tokens is 0: it is None or above 0"]
    assert broken(Own(says=lambda: {"n": next(numbers)})) == ["identity() differs from call to call"]
    assert "what JSON cannot" in broken(Own(says=lambda: {"n": {1}}))[0]

    class Stored(Own):
        stored: ClassVar[bool] = True

        def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
            """Never be asked."""
            raise AssertionError(f"{len(texts)} {kind}")

    assert broken(Stored()) == []
    assert len(check_embedder(Stored())) == 1


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """A retriever that returns what the test wants."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False
    runs: Callable[[SearchSpace, QueryBatch, int], list[list[Hit]]]

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return what the test wants."""
        return self.runs(space, queries, depth)


def judged(run: list[Hit], *, depth: int = 3, alone: list[Hit] | None = None) -> list[str]:
    """Return what is wrong with a ranking of four passages, asked for with another query and alone."""

    def runs(space: SearchSpace, queries: QueryBatch, depth: int) -> list[list[Hit]]:
        del space, depth
        return [run, run] if len(queries.texts) > 1 else [run if alone is None else alone]

    space, queries = SearchSpace(["a", "b", "c", "d"]), QueryBatch(["q", "r"])
    found = search_problems(
        Ranks(runs=runs), space, queries, depth=depth, alone=lambda at: QueryBatch([queries.texts[at]])
    )
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ([], ""),
        ([Hit(0, 1.0), Hit(3, 1.0), Hit(1, 0.5)], ""),
        ([Hit(0, 1.0), Hit(3, 1.0), Hit(1, 0.5), Hit(2, 0.1)], "4 hits for depth 3 among 4 passages"),
        ([Hit(1, 1.0), Hit(1, 1.0)], "a passage is ranked twice"),
        ([Hit(4, 1.0)], "a position outside the 4 passages"),
        ([Hit(-1, 1.0)], "a position outside the 4 passages"),
        ([Hit(0, 1.0), Hit(1, 1.5)], "the score 1.5 comes after 1.0"),
        ([Hit(0, 1.0), Hit(1, float("nan"))], "the score nan comes after 1.0"),
        ([Hit(3, 1.0), Hit(0, 1.0)], "equal scores in the order 3, 0: the lower position comes first"),
        ([Hit(3, 1.0), Hit(0, 0.9)], ""),
    ],
)
def test_a_ranking_is_judged_hit_by_hit(run: list[Hit], words: str) -> None:
    """At most the depth, each passage once, inside the space, scores that never rise, ties by position."""
    assert judged(run, alone=None if "nan" not in words else [])[:1] == ([words] if words else [])


def test_a_query_is_judged_alone_too() -> None:
    """Other positions, or scores that differ by more than a millionth; a space of fewer passages than the depth."""
    run = [Hit(0, 1.0), Hit(1, 0.5)]
    assert judged(run, alone=[Hit(0, 1.0), Hit(1, 0.5 + 9e-7)]) == []
    assert judged(run, alone=[Hit(0, 1.0), Hit(1, 0.5 + 1.2e-6)]) == [
        *["the scores of 'q' change when it is asked alone", "the scores of 'r' change when it is asked alone"]
    ]
    assert judged(run, alone=run[:1])[0] == "the ranking of 'q' changes when it is asked alone"
    five = [*run, Hit(2, 0.4), Hit(3, 0.3), Hit(3, 0.2)]
    assert judged(five, depth=9)[0] == "5 hits for depth 9 among 4 passages"


def overlap(space: SearchSpace, queries: QueryBatch, depth: int) -> list[list[Hit]]:
    """Rank passages by the words that they share with the query."""
    rankings = []
    for query in queries.texts:
        scores = [float(len(set(query.split()) & set(text.split()))) for text in space.texts]
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
        rankings.append([Hit(at, scores[at]) for at in order][:depth])
    return rankings


def complaints(retriever: Any) -> list[str]:
    """Return what breaks a rule, in words."""
    return [finding.problem for finding in check_retriever(retriever) if finding.problem]


def test_a_retriever_needs_no_index_of_its_own() -> None:
    """One without `prepare` keeps all rules; one whose index has no bytes as well."""
    assert complaints(Ranks(runs=overlap)) == []

    class Prepared(Ranks):
        size: ClassVar[Any] = 0

        def prepare(self, space: SearchSpace) -> Any:
            """Return an index, or what a test has in its place."""
            return Index(self.size, lambda queries, *, depth: self.search(space, queries, depth=depth))

    assert complaints(Prepared(runs=overlap)) == []
    for size in (-1, 1.5, True, None):
        Prepared.size = size
        assert "not an Index with its bytes" in complaints(Prepared(runs=overlap))[0]
    Prepared.prepare = lambda self, space: (0, overlap)  # type: ignore[method-assign] # noqa: ARG005 - what is refused
    assert "not an Index with its bytes" in complaints(Prepared(runs=overlap))[0]


def test_retrievers_are_tried_on_passages_of_every_kind() -> None:
    """Empty ones, equal ones, one or two alone, fewer and more than are asked for, by queries that share words."""
    seen: list[tuple[SearchSpace, QueryBatch, int]] = []

    def runs(space: SearchSpace, queries: QueryBatch, depth: int) -> list[list[Hit]]:
        seen.append((space, queries, depth))
        return overlap(space, queries, depth)

    assert complaints(Ranks(runs=runs)) == []
    spaces = [space for space, _, _ in seen]
    assert any("" in space.texts for space in spaces if len(space.texts) > 20)
    assert any(len(set(space.texts)) < len(space.texts) for space in spaces)
    assert {1, 2} & {len(space.texts) for space in spaces}
    assert {depth < len(space.texts) for space, _, depth in seen if space.texts} == {True, False}
    assert all(space.vectors is None or len(space.vectors) == len(space.texts) for space in spaces)
    assert {len(queries.texts) > 1 for _, queries, _ in seen} == {True, False}
    assert any(hit.score > 1 for space, queries, _ in seen for run in overlap(space, queries, 1) for hit in run)


@pytest.mark.parametrize(
    ("uses", "asks", "words"),
    [
        (True, True, None),
        (False, False, None),
        (True, False, "uses_vectors is True, but it does not ask for vectors"),
        (False, True, "uses_vectors is False, but without vectors: no vectors"),
    ],
)
def test_vectors_are_used_if_it_says_so(uses: bool, asks: bool, words: str | None) -> None:  # noqa: FBT001 - of the test
    """And only then."""

    def runs(space: SearchSpace, queries: QueryBatch, depth: int) -> list[list[Hit]]:
        if asks and space.vectors is None:
            raise UsageError("no vectors")
        return overlap(space, queries, depth)

    class Declared(Ranks):
        uses_vectors: ClassVar[bool] = uses

    found = complaints(Declared(runs=runs))
    assert [words in problem for problem in found if words] == ([True] if words else [])
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("version", "uses", "words"),
    [
        ("", False, "version is not a text"),
        (1, False, "version is not a text"),
        ("1", 0, "uses_vectors is neither True nor False"),
        ("1", None, "uses_vectors is neither True nor False"),
    ],
)
def test_a_retriever_declares_a_version_and_whether_it_uses_vectors(version: Any, uses: Any, words: str) -> None:
    """A text that is not empty, and a boolean."""
    odd: Any = type("Odd", (Ranks,), {"version": version, "uses_vectors": uses})
    assert words in complaints(odd(runs=overlap))[0]


@pytest.mark.parametrize(
    "nothing", [lambda s, _q, _d: not s.texts, lambda _s, q, _d: not q.texts, lambda _s, _q, d: d == 0]
)
def test_nothing_gives_nothing(nothing: Callable[[SearchSpace, QueryBatch, int], bool]) -> None:
    """No passages, no queries, or depth 0: an empty ranking for each query."""

    def runs(space: SearchSpace, queries: QueryBatch, depth: int) -> list[list[Hit]]:
        return [[Hit(0, 1.0)]] * 2 if nothing(space, queries, depth) else overlap(space, queries, depth)

    found = [problem for problem in complaints(Ranks(runs=runs)) if "passages, " in problem]
    assert len(found) == 1
