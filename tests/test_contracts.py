"""Contracts that authors of plug-ins can run: ours keep them, and each rule notices its breach."""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import Command

from chunkers.contract import check_chunker
from chunkers.errors import MissingExtraError
from chunkers.findings import Finding
from chunkers.fixed_lines import FixedLines
from chunkers.registry import CHUNKERS
from chunkers.sources import Skipped
from chunkers.types import Piece, SizeLimit, SourceFile
from evaluation.measures.audit import specimen
from evaluation.measures.batch import Batch
from evaluation.measures.contract import check_measure
from evaluation.measures.mrr import Mrr
from evaluation.measures.registry import measure_classes
from ground_truth.contract import check_dataset
from ground_truth.types import Annotation, Dataset, Query
from indexing.contract import check_embedder, check_retriever
from indexing.encoders.hashing import Hashing
from indexing.registry import ENCODERS, RETRIEVERS
from indexing.types import Hit, Index, QueryBatch, SearchSpace, Vectors


def problems(findings: Sequence[Finding]) -> dict[str, str]:
    """Return the broken rules, each with how."""
    return {finding.rule: finding.problem for finding in findings if finding.problem}


@pytest.mark.parametrize("name", sorted(CHUNKERS.builtin))
def test_our_chunkers_keep_their_contract(name: str) -> None:
    """Every chunker that is installed."""
    try:
        chunker = CHUNKERS.create(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert problems(check_chunker(chunker)) == {}


@pytest.mark.parametrize("name", ["minilm", "onnx", "hashing"])
def test_our_embedders_keep_their_contract(name: str) -> None:
    """Every embedder that works without a path or a network."""
    assert problems(check_embedder(ENCODERS.create(name))) == {}


@pytest.mark.parametrize("name", sorted(RETRIEVERS.builtin.keys() - {"rerank"}))
def test_our_retrievers_keep_their_contract(name: str) -> None:
    """Every retriever that works without a model of the user's."""
    assert problems(check_retriever(RETRIEVERS.create(name))) == {}


@pytest.mark.parametrize("name", sorted(measure_classes()))
def test_our_measures_keep_their_contract(name: str) -> None:
    """Every measure, with a cutoff or budget where it takes one."""
    assert problems(check_measure(specimen(measure_classes()[name], budget=25, cutoff=3))) == {}


def test_the_default_dataset_keeps_its_contract(chunkbench: Command) -> None:
    """Packages that are installed, through the command."""
    done = chunkbench("check-plugin", "dataset", "installed:packages=click,queries=6", "--json")
    assert (done.code, done.json["kept"]) == (0, True), done.out


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A chunker that breaks one rule, as its parameter says."""

    how: str
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = SizeLimit("lines", 2)

    def split(self, source: SourceFile) -> list[Piece]:
        """Cut into blocks of two lines, then do what is wrong."""
        pieces = FixedLines(lines=2).split(source)
        if self.how == "raises" and b"\xff" in source.data:
            raise ValueError("not\nUTF-8")
        if self.how == "again":
            _CALLS.append(self.how)
            return pieces if len(_CALLS) % 2 else FixedLines(lines=1).split(source)
        wrong: dict[str, Any] = {
            "tuples": [tuple(piece) for piece in pieces],
            "outside": [*pieces, Piece(len(source.data), len(source.data) + 1)],
            "backwards": pieces[::-1],
            "loses": pieces[:-1],
            "long": FixedLines(lines=3).split(source),
            "nothing": [],
            "something": pieces or [Piece(0, 0)],
        }
        return list(wrong.get(self.how, pieces))


_CALLS: list[str] = []


@pytest.mark.parametrize(
    ("how", "rule", "problem"),
    [
        ("tuples", "pieces lie inside the file", "box.py: (0, 17, '') is not a Piece"),
        ("outside", "pieces lie inside the file", "box.py: a piece from"),
        ("backwards", "pieces are ordered", "begins before the one above it"),
        ("loses", "lossless: every byte", "are in no piece"),
        ("long", "no chunk exceeds the limit", "a chunk of 3 lines, the limit being 2"),
        ("again", "the same file is cut in the same way", "the second time it was cut elsewhere"),
        ("nothing", "a file that holds anything", "box.py: no chunk at all"),
        ("something", "an empty file has no chunks", "chunks of nothing"),
        ("raises", "pieces lie inside the file", "latin1.py: it raised ValueError: not UTF-8"),
    ],
)
def test_each_rule_of_a_chunker_notices_its_breach(how: str, rule: str, problem: str) -> None:
    """The author reads which rule, which file and what was seen."""
    _CALLS.clear()
    found = problems(check_chunker(Wrong(how=how)))
    told = next((text for each, text in found.items() if each.startswith(rule)), f"only {found}")
    assert problem in told


def test_a_chunker_that_declares_nonsense_is_told() -> None:
    """A version that is no text, a limit that is a number, parameters that can be changed."""

    @dataclass(kw_only=True)
    class Loose:
        """Splits as FixedLines does."""

        version = 1
        lossless = "yes"
        limit = 50

        def split(self, source: SourceFile) -> list[Piece]:
            """Return blocks of lines."""
            return FixedLines().split(source)

    found = " ".join(problems(check_chunker(Loose())).values())  # type: ignore[arg-type] # what is refused
    assert "version is not a text" in found
    assert "its parameters can be changed" in found


@dataclass(frozen=True, kw_only=True)
class Skewed(Hashing):
    """An embedder that breaks one rule, as its parameter says."""

    how: str

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return hashed words, then do what is wrong."""
        vectors: Any = super().encode(texts, kind=kind)
        if self.how == "batch" and len(texts) > 1:
            vectors = vectors - vectors.mean(axis=0)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        if self.how == "long":
            vectors = vectors * 2
        if self.how == "nan":
            vectors = vectors + np.float32("nan")
        if self.how == "double":
            vectors = vectors.astype(float)
        if self.how == "random":
            _CALLS.append(self.how)
            vectors = np.roll(vectors, len(_CALLS), axis=1)
        return vectors if texts or self.how != "empty" else np.zeros((0, 3), np.float32)

    def identity(self) -> dict[str, Any]:
        """Return what decides the vectors, or what JSON cannot hold."""
        return {"how": self.how if self.how != "identity" else {1, 2}}

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the lengths, or nothing."""
        return [1] * len(texts) if self.how == "tokens" else super().count_tokens(texts)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("batch", "differs by"),
        ("long", "has length 2, not 1"),
        ("nan", "is not finite"),
        ("double", "the vectors are float64, not float32"),
        ("random", "the second time"),
        ("empty", "no texts gave (0, 3), not (0, 256)"),
        ("identity", "identity() holds what JSON cannot"),
        ("tokens", "count before truncation"),
    ],
)
def test_each_rule_of_an_embedder_notices_its_breach(how: str, problem: str) -> None:
    """The author reads which text and what was seen."""
    _CALLS.clear()
    assert problem in " ".join(problems(check_embedder(Skewed(how=how))).values())


@dataclass(frozen=True, kw_only=True)
class Misled:
    """A retriever that breaks one rule, as its parameter says."""

    how: str
    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Rank by the number of shared words, then do what is wrong."""
        rankings = []
        for query in queries.texts:
            scores = [float(len(set(query.split()) & set(text.split()))) for text in space.texts]
            order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
            rankings.append([Hit(at, scores[at]) for at in order][: depth if self.how != "deep" else None])
        wrong: dict[str, list[list[Hit]]] = {
            "ties": [sorted(run, key=lambda hit: (-hit.score, -hit.position)) for run in rankings],
            "twice": [[*run[:1], *run][:depth] for run in rankings],
            "outside": [[*run[:-1], Hit(len(space.texts), -1.0)] if run else run for run in rankings],
            "rising": [sorted(run, key=lambda hit: (hit.score, hit.position)) for run in rankings],
            "fewer": rankings[:1],
            "together": rankings[:1] * len(rankings),
        }
        if self.how == "random":
            _CALLS.append(self.how)
            return [run[len(_CALLS) % 3 :] for run in rankings]
        return wrong.get(self.how, rankings)

    def prepare(self, space: SearchSpace) -> Index:
        """Return an index that asks `search`, or one of nothing or without a size."""
        asked = SearchSpace(space.texts[:3]) if self.how == "unlike" else space
        return Index(-1 if self.how == "sizeless" else 0, functools.partial(self.search, asked))


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("ties", "the lower position comes first"),
        ("twice", "a passage is ranked twice"),
        ("outside", "a position outside"),
        ("rising", "comes after"),
        ("fewer", "4 queries gave 1 rankings"),
        ("together", "changes when it is asked alone"),
        ("deep", "hits for depth"),
        ("random", "the second search found something else"),
        ("unlike", "the prepared index finds something else"),
        ("sizeless", "not an Index with its bytes"),
    ],
)
def test_each_rule_of_a_retriever_notices_its_breach(how: str, problem: str) -> None:
    """The author reads what was seen."""
    _CALLS.clear()
    assert problems(check_retriever(Misled(how="none"))) == {}
    assert problem in " ".join(problems(check_retriever(Misled(how=how))).values())


@dataclass(frozen=True)
class Shelf:
    """A repository in memory."""

    name: str
    held: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the files."""
        return iter(self.held)

    def read(self, path: str) -> SourceFile | None:
        """Return one file."""
        return next((source for source in self.held if source.path == path), None)


GOOD = Dataset(
    name="own",
    repositories=(Shelf("code", (SourceFile("a.py", b"x\ny\n"), SourceFile("b.py", b"z\n"))),),
    queries=(Query("1", "where is x?", "code"), Query("2", "where is z?", "code")),
    annotations=(Annotation("1", "code", "a.py", 1, 2), Annotation("2", "code", "b.py", 1, 1)),
)


@dataclass(frozen=True, kw_only=True)
class Given:
    """A loader of a dataset that is at hand."""

    dataset: Dataset
    version: ClassVar[str] = "1"

    def load(self) -> Dataset:
        """Return it."""
        return self.dataset


def test_each_rule_of_a_dataset_notices_its_breach() -> None:
    """The author reads which query, which file and what was seen."""
    assert problems(check_dataset(Given(dataset=GOOD))) == {}
    shelf = GOOD.repositories[0]
    assert isinstance(shelf, Shelf)
    one, two = GOOD.queries
    first, second = GOOD.annotations
    breaches = [
        (replace(GOOD, repositories=()), "it has no repositories"),
        (replace(GOOD, repositories=(shelf, shelf)), "repository 'code' occurs 2 times"),
        (replace(GOOD, repositories=(replace(shelf, held=shelf.held[::-1]),)), "not in the order of their paths"),
        (replace(GOOD, queries=(one, replace(two, id="1"))), "query id '1' occurs 2 times"),
        (replace(GOOD, queries=(one, replace(two, text=" "))), "query '2' has no text"),
        (replace(GOOD, queries=(one, replace(two, repo="other"))), "is not a repository of the dataset"),
        (replace(GOOD, annotations=(first, replace(second, end_line=9))), "lines 1-9 are not in it"),
        (replace(GOOD, annotations=(first, replace(second, path="c.py"))), "is not in the corpus"),
        (replace(GOOD, annotations=(first, second, replace(second, query_id="9"))), "query '9', which does not exist"),
        (replace(GOOD, annotations=(first, replace(second, grade=float("nan")))), "grade nan is not a number"),
        (replace(GOOD, annotations=(first,)), "1 of 2 queries have no gold, '2' first"),
    ]
    for dataset, problem in breaches:
        assert problem in " ".join(problems(check_dataset(Given(dataset=dataset))).values()), problem


@dataclass(frozen=True, kw_only=True)
class Odd(Mrr):
    """A measure that breaks one rule, as its parameter says."""

    how: str = ""
    label: ClassVar[str] = "odd"
    properties: ClassVar[frozenset[str]] = frozenset({"bounded"})

    def score(self, batch: Batch) -> np.ndarray:
        """Score by length, then do what is wrong."""
        values = np.array([len(case.ranking) / 10 for case in batch.cases])
        wrong = {
            "range": values * 100 - 3,
            "few": values[:1],
            "batch": values + len(batch) / 1000,
            "ids": np.array([sum(map(ord, case.ranking)) / 1e6 for case in batch.cases]),
        }
        return wrong.get(self.how, values)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("range", "outside 0 to 1"),
        ("few", "cases gave values of shape (1,)"),
        ("batch", "among others"),
        ("ids", "with other ids"),
    ],
)
def test_each_rule_of_a_measure_notices_its_breach(how: str, problem: str) -> None:
    """The author reads which ranking and what was seen."""
    assert problem in " ".join(problems(check_measure(Odd(how=how, cutoff=5))).values())


def test_the_command_says_what_is_missing(chunkbench: Command, tmp_path: Path) -> None:
    """Plain lines and JSON; 0 where all is kept, 1 where a rule is broken, 2 where there is no such plug-in."""
    own = tmp_path / "own.py"
    source = """
        from dataclasses import dataclass
        from typing import ClassVar
        from chunkers.types import Piece


        @dataclass(frozen=True, kw_only=True)
        class First:
            size: int = 10
            version: ClassVar[str] = "1"
            lossless: ClassVar[bool] = True
            limit = None

            def split(self, source):
                return [Piece(0, min(self.size, len(source.data)))] if source.data else []
        """
    own.write_text(textwrap.dedent(source))
    done = chunkbench("check-plugin", "chunker", f"{own}:First")
    assert done.code == 1
    assert "✗ lossless: every byte is in a piece\n    box.py: bytes 10 to" in done.out
    found = chunkbench("check-plugin", "chunker", f"{own}:First,size=1000000", "--json")
    assert (found.code, found.json["kept"]) == (0, True)
    assert json.dumps(found.json["rules"][0]).startswith('{"rule": "pieces lie inside')
    missing = chunkbench("check-plugin", "chunker", f"{own}:Second")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "It has: First." in missing.err
