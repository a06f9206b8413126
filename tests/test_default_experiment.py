"""The default experiment: enough repositories, equal in queries and in both kinds, contestants of one size."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import Command

from evaluation.config import DEFAULT_CHUNKERS, make_config
from evaluation.experiment import stages
from evaluation.experiment.matching import match_sizes
from evaluation.experiment.session import Session
from evaluation.experiment.visible_chunks import visible_sizes
from ground_truth.datasets.installed import DEFAULT_PACKAGES


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Return the default experiment with its sizes matched; nothing is embedded."""
    return match_sizes(Session.resolve(make_config({}), tmp_path_factory.mktemp("cache"))).session


def test_every_repository_has_as_many_queries_of_each_kind(default: Session) -> None:
    """At least 24 repositories, 12 queries each, half docstrings and half comments; none is left out."""
    loaded = default.dataset("installed").dataset
    counts = Counter((query.repo, query.kind) for query in loaded.queries)
    assert len(loaded.repositories) == len(DEFAULT_PACKAGES.split(",")) >= 24
    assert set(counts.values()) == {6}
    assert len(counts) == 2 * len(loaded.repositories)
    assert loaded.details["left_out"] == {}


def test_a_budget_of_4000_tokens_is_at_most_a_fifth_of_any_repository(default: Session) -> None:
    """Reading at random within the budget shows at most 20 % of the answer."""
    loaded = default.dataset("installed")
    table = stages.chunk(default, "installed", "fixed-lines:lines=50")
    sizes = visible_sizes(loaded, table, "tokens")
    for repo, rows in table.repository_rows.items():
        assert 4000 / sizes[rows.start : rows.stop].sum() <= 0.20, repo


def test_the_default_chunkers_have_one_mean_size(default: Session) -> None:
    """Families lie within 3 % of each other on the corpus at hand."""
    means = [stages.chunk(default, "installed", spec).facts.mean_nws for spec in default.config.chunkers]
    assert len(means) == len(DEFAULT_CHUNKERS)
    assert max(means) / min(means) <= 1.03


def test_a_chunker_that_cannot_be_matched_is_left_out_and_said(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """The others are compared; the reason is on stderr and in the results."""
    options = ["--annotations", tmp_path / "gold.jsonl", "--retriever", "bm25", "--match-size", "nws=150"]
    chunkers = ["--chunker", "fixed-nws", "--chunker", "recursive", "--chunker", "whole-file"]
    done = chunkbench("compare", repository, *options, *chunkers, "--out", tmp_path / "out", "--json")
    assert done.code == 0
    assert "left out: whole-file has no size to match" in done.err
    assert list(done.json["left_out"]) == ["whole-file"]
    assert {cell["chunker"].partition(":")[0] for cell in done.json["cells"]} == {"fixed-nws", "recursive"}
    assert done.json["matched_size"] == "150 nws"


def test_several_repositories_are_several_units(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Paths, or a folder of clones, make one dataset whose repositories the statistics count."""
    other = tmp_path / "other"
    other.mkdir()
    for file in list(repository.iterdir()):
        text = file.read_text().replace("Return a new", "Paint a freshly made object in the given colour, a")
        file.write_text(text)
        (other / file.name).write_text(text.replace("freshly made", "carefully assembled"))
    options = ["--chunker", "fixed-lines:lines=5", "--chunker", "cast:size=200", "--retriever", "bm25"]
    done = chunkbench("compare", repository, other, *options, "--out", tmp_path / "pool", "--json")
    assert done.code == 0, done.err
    assert done.json["dataset"]["repositories"] == ["code", "other"]
    for place in (repository, other):
        (place / ".git").mkdir()
    clones = tmp_path / "clones"
    clones.mkdir()
    repository.rename(clones / "code")
    other.rename(clones / "other")
    again = chunkbench("compare", clones, *options, "--out", tmp_path / "clones-out", "--json")
    assert again.code == 0, again.err
    assert again.json["dataset"]["repositories"] == ["code", "other"]
