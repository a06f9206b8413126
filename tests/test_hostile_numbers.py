"""Numbers that are none, and names that no file can have: one line wherever they are written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from conftest import Command

from chunkers.errors import UsageError
from chunkers.size_matching import parse_target
from evaluation.config import make_config
from evaluation.experiment.run import ExperimentShard
from ground_truth.datasets.annotations import Annotations
from ground_truth.miners.rows import mined_rows
from indexing.bm25 import BM25
from indexing.registry import RETRIEVERS
from scripts.cli import _VERBS
from scripts.cli import chunkbench as group
from scripts.numbers import LARGEST

HUGE = "1" + "0" * 400


def _numbers(command: click.Command) -> Iterator[tuple[click.Command, click.Parameter]]:
    for parameter in command.params:
        if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
            yield command, parameter
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from _numbers(each)


@pytest.mark.parametrize("verb", sorted(_VERBS))
def test_every_number_of_every_verb_is_bounded(verb: str) -> None:
    """Also those of subcommands; click lets nan, inf and any length through a range without an end."""
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    for owner, parameter in _numbers(command):
        for text in (HUGE, "nan", "inf", "1e308", str(LARGEST * 10)):
            with pytest.raises(click.BadParameter):
                parameter.process_value(click.Context(owner), (text,) if parameter.multiple else text)


def test_such_a_number_is_one_error(chunkbench: Command, tmp_path: Path) -> None:
    """These were tracebacks; an age in days is smaller still."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.0 t\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("a = 1\n")
    for arguments in (
        ("score", "--qrels", tmp_path / "qrels", "--run", tmp_path / "run", "--limit", HUGE),
        ("cache", "--folder", tmp_path, "prune", "--days", "nan"),
        ("cache", "--folder", tmp_path, "prune", "--days", "1e308"),
        ("recommend", tmp_path / "code", "--max-chunks", HUGE),
        ("history", "prune", "--older-than", "999999999999", "--history", tmp_path),
        ("chunk", tmp_path / "code", "--stats", "--match-size", f"nws={HUGE}"),
        ("compare", tmp_path / "code", "--margin", "inf"),
        ("report", tmp_path / "code", "--margin", "nan"),
    ):
        done = chunkbench(*arguments)
        assert done.code == 2, arguments
        assert "Traceback" not in done.err, arguments


@pytest.mark.parametrize("text", ["²/3", "1/" + "9" * 5000, f"1/{HUGE}", "1/٣", "/", "0/1"])
def test_what_is_no_shard(text: str) -> None:
    """Other digits than ours, and more of them than a number has."""
    with pytest.raises(UsageError, match="is not a shard"):
        ExperimentShard.parse(text)


@pytest.mark.parametrize("amount", ["9" * 5000, HUGE, "0", "000", "-1", "٣", "", "1000000000"])
def test_what_is_no_size(amount: str) -> None:
    """The message is a line that can be read."""
    with pytest.raises(UsageError, match="is not a size") as raised:
        parse_target(f"nws={amount}")
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "values",
    [
        {"margin": float("inf")},
        {"margin": float("nan")},
        {"margin": True},
        {"limit": True},
        {"seed": False},
        {"run": {"jobs": True}},
        {"nightly": {"minimum_effect": float("inf")}},
        {"nightly": {"keep": True}},
        {"datasets": [[[]]]},
        {"chunkers": [["cast"]]},
        {"readers": [1]},
    ],
)
def test_a_value_of_another_kind_names_its_key(values: dict[str, object]) -> None:
    """Of an experiment file or of the options of `compare` in Python."""
    (name, inner), *_ = values.items()
    key = next(iter(inner)) if isinstance(inner, dict) else name
    with pytest.raises(UsageError, match=f"^night.toml: (?:[a-z]+[.])?{key}[.0-9]*: "):
        make_config(values, source="night.toml")


def test_parameters_are_finite() -> None:
    """In a spec and in Python."""
    for text in ("inf", "nan", "1e400"):
        with pytest.raises(UsageError, match="finite"):
            RETRIEVERS.create(f"bm25:k1={text}")
    for value in (float("inf"), float("nan")):
        with pytest.raises(UsageError, match="k1"):
            BM25(k1=value)


def test_a_span_run_whose_name_no_file_can_have(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """TOML and JSON can write what the command line cannot."""
    file = tmp_path / "night.toml"
    file.write_text(
        f'datasets = ["annotations:path={tmp_path / "gold.jsonl"},root={repository}"]\nchunkers = ["cast"]\n'
        'retrievers = ["bm25"]\nspans = ["x=a\\u0000b"]\n[run]\nengine = "serial"\n'
    )
    done = chunkbench("compare", file, "--out", tmp_path / "out", "--quiet")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be the name of a file" in done.err


@pytest.mark.parametrize("name", ["a/" * 3000 + "b.py", "x" * 300 + ".py"])
def test_an_annotation_of_a_name_that_is_too_long_names_its_row(tmp_path: Path, name: str) -> None:
    """As for every other file that is not there."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("a = 1\n")
    row = {"query_id": "q", "query": "where?", "repo": "code", "file": name, "start_line": 1, "end_line": 1}
    (tmp_path / "gold.jsonl").write_text(json.dumps({**row, "relevance": 1}))
    with pytest.raises(UsageError, match=r"gold\.jsonl:1: .* is not in 'code'"):
        Annotations(path=str(tmp_path / "gold.jsonl"), root=str(tmp_path / "code")).load()


def test_rows_of_a_folder_that_is_not_utf8(tmp_path: Path) -> None:
    """They would name it, and JSON cannot."""
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    with pytest.raises(UsageError, match="is not UTF-8"):
        mined_rows(folder, ["docstrings"], limit=1, seed=0, max_files=1)
