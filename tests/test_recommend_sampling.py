"""The parts of a race: growing, disjoint from the final, and the same for the same seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from chunkers.sources import Skipped
from chunkers.types import SourceFile
from evaluation.recommend.sampling import divide, part_of
from ground_truth.types import Annotation, Dataset, Query


@dataclass(frozen=True)
class Files:
    """A repository that is at hand."""

    name: str
    kept: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()

    def files(self) -> Iterator[SourceFile]:
        """Yield the files."""
        return iter(self.kept)

    def read(self, path: str) -> SourceFile | None:
        """Return one file."""
        return next((source for source in self.kept if source.path == path), None)


def _dataset(repositories: int, files: int, queries: int, size: int) -> Dataset:
    names = [f"r{k}" for k in range(repositories)]
    kept = tuple(
        Files(name, tuple(SourceFile(f"f{k}.py", b"x = 1\n" * size, "python", name) for k in range(files)))
        for name in names
    )
    asked = [(f"{name}-{k}", name, f"f{k % files}.py") for name in names for k in range(queries)]
    return Dataset(
        "own",
        kept,
        tuple(Query(each, f"query {each}", repo) for each, repo, _ in asked),
        tuple(Annotation(each, repo, path, 1, 1) for each, repo, path in asked),
    )


@given(
    repositories=st.integers(1, 26),
    files=st.integers(1, 12),
    queries=st.integers(0, 9),
    size=st.sampled_from([20, 2_000, 40_000]),
    seed=st.integers(0, 5),
)
def test_parts_grow_and_the_final_is_fresh(repositories: int, files: int, queries: int, size: int, seed: int) -> None:
    """Each round holds the one before; no query is in a round and in the final; answers are among the files."""
    whole = _dataset(repositories, files, queries, min(size, 100_000 // files))
    parts = divide(whole, seed=seed)
    assert parts == divide(whole, seed=seed)
    *rounds, final = parts
    assert final.files is None
    seen = rounds[-1].queries if rounds else frozenset()
    assert final.queries | seen == {query.id for query in whole.queries}
    assert not final.queries & seen
    if len(whole.queries) >= 4:
        assert final.queries
    for before, after in itertools.pairwise(rounds):
        assert before.queries <= after.queries
        assert (before.files or set()) <= (after.files or set())
    for each in rounds:
        part = part_of(whole, each)
        held = {(repository.name, source.path) for repository in part.repositories for source in repository.files()}
        assert held == each.files
        assert {(note.repo, note.path) for note in part.annotations} <= held
        assert {query.id for query in part.queries} == each.queries


def test_many_small_repositories_are_taken_one_by_one() -> None:
    """Of 24 repositories of 100 kB a round takes some, each with enough text, and the final has all the others."""
    whole = _dataset(24, 10, 10, 1_700)
    first, second, final = divide(whole, seed=0)
    names = [{repo for repo, _ in part.files or ()} for part in (first, second)]
    assert 6 <= len(names[0]) <= len(names[1]) < 24
    assert all(sum(10_200 for repo, _ in second.files or () if repo == name) >= 40_000 for name in names[1])
    assert {query.repo for query in whole.queries if query.id in final.queries} == {f"r{k}" for k in range(24)}
    assert 0.1 < first.share < second.share < 0.4


def test_of_a_large_repository_some_files_are_taken() -> None:
    """A third of the text at most, and about as many queries."""
    first, second, final = divide(_dataset(1, 40, 200, 2_000), seed=1)
    assert 0.1 < first.share < 0.25 < second.share < 0.35
    assert len(second.queries) + len(final.queries) == 200
    assert len(second.queries) <= 100
