"""Experiment files: what they may say, and what is said of their mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkers.errors import UsageError
from evaluation.config import ExperimentConfig, load_config, make_config
from evaluation.experiment.session import Session
from evaluation.run_options import RunOptions
from scripts.compare import command
from scripts.verbosity import add_verbosity

EXAMPLES = sorted((Path(__file__).parents[1] / "scripts" / "experiments").glob("*.toml"))


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
        ("[run]\nengin = 'serial'", "unknown key 'run.engin'. Did you mean 'engine'"),
        ("[run]\njobs = 0", "run.jobs"),
        ("[run]\noverwrite = 'sometimes'", "run.overwrite"),
        ("[nightly]\nkeeep = 3", "unknown key 'nightly.keeep'. Did you mean 'keep'"),
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


def test_every_option_of_compare_is_a_key() -> None:
    """What can be said on the command line can be written in the file, and the other way round."""
    # targets and annotations name datasets
    options = {parameter.name for parameter in add_verbosity(command).params} - {"targets", "annotations"}
    keys = ExperimentConfig.model_fields.keys() | RunOptions.model_fields.keys()
    assert options == keys - {"run", "nightly"}


def test_options_override_single_keys_of_the_run_table(tmp_path: Path) -> None:
    """An option replaces its key and leaves the rest of the table."""
    path = config_file(tmp_path, "[run]\nengine = 'serial'\njobs = 3")
    run = load_config(path, run={"jobs": 1}).run
    assert (run.engine, run.jobs) == ("serial", 1)


def test_how_it_is_run_is_not_part_of_the_experiment() -> None:
    """Two engines run one experiment: its identity has no run table."""
    assert make_config({"run": {"engine": "serial"}}).model_dump() == make_config({}).model_dump()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_valid_and_name_their_schema(path: Path, tmp_path: Path) -> None:
    """Every example loads, all its plug-ins exist, and editors find the schema."""
    session = Session.resolve(load_config(path), tmp_path)
    assert len(session.cells) > 1
    first = path.read_text().splitlines()[0]
    assert first == "#:schema experiment.schema.json"
    assert (path.parent / "experiment.schema.json").is_file()
