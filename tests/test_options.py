"""Options that commands share: a draw of queries, cutoffs, the test, and how much is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st

import chunkbench as cb
from evaluation.config import make_config
from evaluation.statistics.types import TestName
from ground_truth.draw import draw_queries
from ground_truth.types import Annotation, Dataset, Query
from scripts.cli import _VERBS, chunkbench

ROOT = Path(__file__).parent.parent


def _dataset(ids: list[str]) -> Dataset:
    queries = tuple(Query(each, f"query {each}", "code") for each in ids)
    return Dataset("own", (), queries, tuple(Annotation(each, "code", "a.py", 1, 1) for each in ids))


@given(
    ids=st.lists(st.text(st.characters(codec="utf-8"), max_size=5), unique=True, max_size=30),
    limit=st.integers(1, 40),
    seed=st.integers(0, 9),
)
def test_a_draw_is_stable_and_complete(ids: list[str], limit: int, seed: int) -> None:
    """Order stays, gold stays with its query, the seed decides, and a larger draw holds the smaller one."""
    whole = _dataset(ids)
    drawn = draw_queries(whole, limit, seed=seed)
    kept = [query.id for query in drawn.queries]
    assert kept == [each for each in ids if each in set(kept)]
    assert len(kept) == min(limit, len(ids))
    assert [note.query_id for note in drawn.annotations] == kept
    assert ("queries_drawn" in drawn.details) == (limit < len(ids))
    assert draw_queries(whole, limit, seed=seed) == drawn
    assert set(kept) <= {query.id for query in draw_queries(whole, limit + 1, seed=seed).queries}
    assert draw_queries(whole, None, seed=seed) == whole


def _arguments(repository: Path) -> list[object]:
    gold = repository.parent / "gold.jsonl"
    chunkers = ["--chunker", "fixed-lines:lines=5", "--chunker", "fixed-lines:lines=9"]
    options = ["--embedder", "hashing", "--retriever", "dense", "--engine", "serial"]
    return ["compare", repository, "--annotations", gold, *options, *chunkers]


def test_limit_draws_queries_and_says_so(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Five of sixteen, the same ones again, named in the output and kept in the results."""
    done = chunkbench(*_arguments(repository), "--limit", 5, "--json", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "5 of 16 queries, drawn with seed 0" in done.err
    assert done.json["config"]["limit"] == 5
    assert done.json["datasets"][0]["queries"] == 5
    assert done.json["datasets"][0]["details"]["queries_drawn"] == {"of": 16, "limit": 5, "seed": 0}
    other = chunkbench(*_arguments(repository), "--limit", 5, "--seed", 1, "--json", "--out", tmp_path / "other")
    assert other.json["datasets"][0]["fingerprint"] != done.json["datasets"][0]["fingerprint"]
    again = cb.compare(repository, annotations=repository.parent / "gold.jsonl", embedders=["hashing"], limit=5)
    assert again.datasets[0].fingerprint == done.json["datasets"][0]["fingerprint"]


def test_cutoffs_replace_the_default_ones(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """-k 3 -k 7 asks for the usual measures there; measures at a budget stay; named measures are kept beside them."""
    done = chunkbench(*_arguments(repository), "-k", 3, "-k", 7, "--json", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    names = done.json["config"]["measures"]
    at_k = [f"{label}@{k}" for label in ("ndcg", "precision", "recall", "hit") for k in (3, 7)]
    assert names == [*at_k, "mrr@7", "map@7", "recall@4000tok", "naurc@4000tok"]
    both = make_config({"k": [3], "measures": ["rbo"]})
    assert both.measures == ("ndcg@3", "precision@3", "recall@3", "hit@3", "mrr@3", "map@3", "rbo", "naurc@4000tok")
    assert make_config(both.model_dump(mode="json")).measures == both.measures


@pytest.mark.parametrize("name", get_args(TestName))
def test_the_test_is_chosen(chunkbench: Command, repository: Path, tmp_path: Path, name: str) -> None:
    """The comparisons name it."""
    done = chunkbench(*_arguments(repository), "--test", name, "--json", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert {row["test"] for row in done.json["comparisons"]} == {name}


def _commands(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    inner = command.commands if isinstance(command, click.Group) else {}
    return [(name, command), *(pair for key in inner for pair in _commands(inner[key], f"{name} {key}"))]


@pytest.mark.parametrize("verb", list(_VERBS))
def test_every_command_takes_quiet_and_verbose(verb: str) -> None:
    """Verbs and their subcommands, each option once."""
    group = chunkbench
    assert isinstance(group, click.Group)
    for _ in range(2):  # asking twice adds nothing
        command = group.get_command(click.Context(group), verb)
    assert command is not None
    for name, each in _commands(command, verb):
        named = [option for parameter in each.params for option in parameter.opts]
        assert (named.count("--quiet"), named.count("--verbose")) == (1, 1), name


@pytest.mark.parametrize("verb", ["chunk", "qrels", "mine", "annotate"])
def test_quiet_says_nothing_that_is_no_error(chunkbench: Command, repository: Path, verb: str) -> None:
    """What was skipped, kept, dropped or judged is said on stderr, and not with --quiet."""
    inside = "    for box in boxes:\n        room.take(box)\n        box.lock()\n    return room\n"
    text = f'def move(boxes, room):\n    """Move every heavy box to the storage room behind the house."""\n{inside}'
    (repository / "boxes.py").write_text(text)
    (repository / "notes.unknown").write_text("no known language\n")
    gold = repository.parent / "gold.jsonl"
    orders: dict[str, list[object]] = {
        "chunk": ["chunk", repository, "--json"],
        "qrels": ["qrels", gold, "--root", repository],
        "mine": ["mine", repository],
        "annotate": ["annotate", "--check", gold, repository],
    }
    said, silent = chunkbench(*orders[verb]), chunkbench(*orders[verb], "--quiet")
    assert said.code == silent.code == 0
    assert said.err
    assert (silent.out, silent.err) == (said.out, "")


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_how_much_is_said(repository: Path, tmp_path: Path, engine: str) -> None:
    """Quiet: the data alone. Verbose: the phases, from a pipe too. Both together are refused."""
    arguments = [*map(str, _arguments(repository)), "--engine", engine, "--jobs", "2", "--limit", "5", "--out", "out"]

    def run(*more: str, what: list[str] = arguments) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "chunkbench", *what, "--overwrite", "always", "--json", *more]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "CHUNKBENCH_CACHE": str(tmp_path / "cache")}
        return subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)

    file = tmp_path / "experiment.toml"
    data = f'datasets = ["annotations:path={repository.parent / "gold.jsonl"},root={repository}"]'
    file.write_text(f'{data}\nembedders = "hashing"\nlimit = 5\nk = [3]\n[run]\nquiet = true\nout = "quietly"\n')
    arguments_of_file = ["compare", str(file), "--engine", engine, "--jobs", "2"]
    quiet, verbose, both = run("--quiet"), run("--verbose"), run("--quiet", "--verbose")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert json.loads(quiet.stdout)["datasets"][0]["queries"] == 5
    assert verbose.returncode == 0
    assert "chunking: 8\n" in verbose.stderr  # files, whatever the number of chunkers
    written = run(what=arguments_of_file)
    assert (written.returncode, written.stderr) == (0, "")
    assert json.loads(written.stdout)["config"]["measures"][0] == "ndcg@3"
    assert both.returncode == 2
    assert "exclude each other" in both.stderr
