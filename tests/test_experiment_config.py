"""Experiment files: what they may say, and what is said of their mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkers.errors import UsageError
from evaluation.experiment.config import load_config, make_config


def config_file(folder: Path, text: str) -> Path:
    """Write an experiment file."""
    path = folder / "experiment.toml"
    path.write_text(text)
    return path


def test_lists_in_a_table_are_swept(tmp_path: Path) -> None:
    """Each combination of listed values is one spec, beside specs written out."""
    text = 'chunkers = ["fixed-lines:lines=50", {name = "cast", size = [1000, 2000], expansion = [true, false]}]'
    assert load_config(config_file(tmp_path, text)).chunkers == (
        "fixed-lines:lines=50",
        "cast:size=1000,expansion=true",
        "cast:size=1000,expansion=false",
        "cast:size=2000,expansion=true",
        "cast:size=2000,expansion=false",
    )


def test_options_override_the_file(tmp_path: Path) -> None:
    """What the command line says wins over the file."""
    config = load_config(config_file(tmp_path, "seed = 1\nflips = 500"), seed=2)
    assert (config.seed, config.flips) == (2, 500)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chunker = ['cast']", "unknown key 'chunker'. Did you mean 'chunkers'"),
        ("seed = 'x'", "seed"),
        ("chunkers = []", "chunkers"),
        ("budgets = [-1]", "budgets"),
        ("chunkers = [{size = 3}]", "needs a name"),
        ("seed = ", "is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    """The error names the file, the key and what would be right."""
    path = config_file(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_headline_is_always_measured_and_the_baseline_always_run() -> None:
    """A verdict needs its measure and its baseline, listed or not."""
    config = make_config({"measures": ("ndcg@5",), "chunkers": ("cast",), "baseline": "whole-file"})
    assert config.measures == ("ndcg@5", "naurc@4000tok")
    assert config.chunkers == ("whole-file", "cast")
