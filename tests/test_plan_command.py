"""`chunkbench plan`: what will run, what is cached, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command, Outcome

from evaluation.experiment.schema import experiment_schema

SCHEMA = Path(__file__).parents[1] / "scripts" / "experiments" / "experiment.schema.json"


class Lab:
    """An experiment file on annotated code, and the commands that read it."""

    def __init__(self, chunkbench: Command, repository: Path) -> None:
        self._run, self.repository = chunkbench, repository
        self.file = repository.parent / "experiment.toml"
        self.rule, self.size, self.more = "any", 120, ""

    def run(self, verb: str, *options: object) -> Outcome:
        """Run the verb on the experiment as it is now."""
        gold = self.repository.parent / "gold.jsonl"
        self.file.write_text(
            f'datasets = ["annotations:path={gold},root={self.repository}"]\n'
            f'chunkers = ["fixed-lines:lines=5", {{name = "cast", size = {self.size}}}]\n'
            'embedders = ["hashing"]\nretrievers = ["dense"]\n'
            f'measures = ["ndcg@5"]\nrule = "{self.rule}"\nflips = 100\n'
            f'{self.more}[run]\nengine = "serial"\n'
        )
        return self._run(verb, self.file, *options)

    def compare(self) -> None:
        """Run the experiment, with results of its own."""
        out = self.repository.parent / f"out-{self.rule}-{self.size}"
        result = self.run("compare", "--out", out)
        assert result.code == 0, result.err

    def explained(self) -> str:
        """Return what is said of the cell whose chunker has a size."""
        result = self.run("plan", "--explain", f"cast:size={self.size}")
        assert result.code == 0, result.err
        return result.out


@pytest.fixture
def lab(chunkbench: Command, repository: Path) -> Lab:
    """Return an experiment that has not been run."""
    return Lab(chunkbench, repository)


def test_a_plan_lists_cells_texts_and_time(lab: Lab) -> None:
    """Before a run everything is to be done; after it nothing is."""
    before = lab.run("plan", "--json").json
    assert [cell["chunker"] for cell in before["cells"]] == ["fixed-lines:lines=5", "cast:size=120"]
    assert all(cell["stages"] == dict.fromkeys(("chunk", "retrieve", "score"), "run") for cell in before["cells"])
    assert all(cell["chunks"] > 0 for cell in before["cells"])
    assert before["texts_to_embed"] > 16
    assert before["seconds"] is None
    lab.compare()
    after = lab.run("plan", "--json").json
    assert all(set(cell["stages"].values()) == {"cached"} for cell in after["cells"])
    assert (after["texts_to_embed"], after["seconds"]) == (0, 0)
    lab.rule, lab.size = "iou(0.5)", 90
    changed = lab.run("plan", "--json").json
    assert changed["cells"][0]["stages"] == {"chunk": "cached", "retrieve": "cached", "score": "run"}
    assert set(changed["cells"][1]["stages"].values()) == {"run"}
    assert 0 < changed["texts_to_embed"] < before["texts_to_embed"]
    assert changed["seconds"] > 0
    words = lab.run("plan").out
    (dataset,) = {cell["dataset"] for cell in changed["cells"]}
    assert words.splitlines()[0] == f"dataset: {dataset}"
    assert words.splitlines()[1].split()[:3] == ["chunker", "embedder", "retriever"]
    assert "2 of 2 cells will run" in words
    assert "on one core at the speed seen so far" in words


def test_the_embedder_sees_as_many_texts_as_planned(lab: Lab) -> None:
    """The number of texts is exact: it is what the run then embeds."""
    planned = lab.run("plan", "--json").json["texts_to_embed"]
    lab.compare()
    cache = lab.repository.parent / "cache" / "embeddings"
    used = [json.loads(line) for log in cache.glob("*/usage.jsonl") for line in log.read_text().splitlines()]
    assert sum(row["embedded"] for row in used) == planned


def test_explain_names_the_input_that_changed(lab: Lab) -> None:
    """A changed file, parameter or rule is named with the stage that it touches, and the rest is cached."""
    assert "nothing of this kind is in the store" in lab.explained()
    lab.compare()
    assert lab.explained().splitlines() == ["chunk: cached", "retrieve: cached", "score: cached"]

    lab.rule = "iou(0.5)"
    chunk, retrieve, score = lab.explained().splitlines()
    assert (chunk, retrieve) == ("chunk: cached", "retrieve: cached")
    assert score == "score: will run; rule was 'any' and is 'iou(0.5)'"

    lab.rule, lab.size = "any", 90
    lines = lab.explained().splitlines()
    assert "chunk: will run; chunker.size was 120 and is 90" in lines
    assert any(line.startswith("retrieve: will run; chunks was") for line in lines)

    lab.size = 120
    with (lab.repository / "apple.py").open("a") as file:
        file.write("\n\ndef peel(apple):\n    return apple.skin\n")
    first = lab.explained().splitlines()[0]
    assert first.startswith("chunk: will run; corpus was")
    assert first.endswith("(a source file was changed, added or removed)")


def test_a_cell_is_explained_by_its_name_or_by_one_of_its_specs(lab: Lab) -> None:
    """The name as the plan writes it means one cell; a spec means all that have it; a part of a spec means none."""
    (dataset,) = {cell["dataset"] for cell in lab.run("plan", "--json").json["cells"]}
    name = f"{dataset} × cast:size=120 × hashing × dense"
    one = lab.run("plan", "--explain", name, "--json")
    assert one.code == 0, one.err
    assert list(one.json) == [name]
    both = lab.run("plan", "--explain", dataset, "--json").json
    assert list(both) == [name.replace("cast:size=120", "fixed-lines:lines=5"), name]
    nearly = lab.run("plan", "--explain", name.replace("120", "121"))
    assert nearly.code == 2
    assert f"Did you mean {name!r}" in nearly.err
    assert lab.run("plan", "--explain", "size=120").code == 2


def test_every_input_that_differs_is_explained_by_its_own_name(lab: Lab) -> None:
    """Nested inputs have dotted names, lists compare by what they hold, and what is new was None before."""
    lab.compare()
    lab.more = "budgets = [100, 200]\ndepth = 200\n"
    lines = lab.explained().splitlines()
    assert lines[0] == "chunk: cached"
    retrieve = [line for line in lines if line.startswith("retrieve")]
    assert [line.split()[3] for line in retrieve] == ["budgets.tokens", "depth"]
    assert retrieve[1] == "retrieve: will run; depth was 1000 and is 200"
    score = [line for line in lines if line.startswith("score")]
    assert "score: will run; budgets was [250, 500, 1000, 2000, 4000, 8000] and is [100, 200]" in score
    assert any(line.startswith("score: will run; ranking was ") and line.endswith(" (see retrieve)") for line in score)
    assert len(score) == 2


def test_an_unknown_cell_is_refused_with_the_known_ones(lab: Lab) -> None:
    """The message lists what could have been meant."""
    result = lab.run("plan", "--explain", "cast")
    assert result.code == 2
    assert "cast:size=120" in result.err


def test_the_published_schema_is_that_of_the_model(chunkbench: Command) -> None:
    """`chunkbench plan --schema` prints what is published; refresh the file with it when this fails."""
    assert json.loads(SCHEMA.read_text()) == experiment_schema()
    assert chunkbench("plan", "--schema").json == experiment_schema()


def test_all_cells_of_a_spec_are_explained(lab: Lab) -> None:
    """A chunker with two embedders is two cells: each has its name and its stages."""
    result = lab.run("plan", "--explain", "hashing", "--json")
    assert result.code == 0, result.err
    assert len(result.json) > 1
    assert all(" × hashing × " in name and lines for name, lines in result.json.items())


def test_a_repository_is_planned_before_its_first_run(chunkbench: Command, repository: Path) -> None:
    """The cells that `compare` would run, with their chunks and texts, and how long embedding takes by a probe."""
    gold = ("--annotations", repository.parent / "gold.jsonl")
    options = (*gold, "--chunker", "cast:size=120", "--embedder", "hashing", "--retriever", "dense")
    found = chunkbench("plan", repository, *options, "--json")
    assert found.code == 0, found.err
    (cell,) = found.json["cells"]
    assert (cell["chunker"], cell["stages"]["score"]) == ("cast:size=120", "run")
    assert cell["chunks"] > 8
    assert found.json["texts_to_embed"] > cell["chunks"] // 2
    assert found.json["seconds"] is None
    assert found.json["probed_seconds"] > 0
    assert "at the speed of a few" in chunkbench("plan", repository, *options).out
    lexical = chunkbench("plan", repository, *gold, "--chunker", "cast:size=120", "--retriever", "bm25", "--json")
    assert (lexical.json["texts_to_embed"], lexical.json["probed_seconds"]) == (0, None)
    assert chunkbench("plan", repository.parent / "nowhere").code == 2


def test_every_offset_is_planned(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """An experiment that averages over first cuts runs a cell for each; the one without is only the first of them."""
    gold = repository.parent / "gold.jsonl"
    text = (
        f'datasets = ["annotations:path={gold},root={repository}"]\nchunkers = ["fixed-lines:lines=6"]\n'
        'embedders = ["hashing"]\nretrievers = ["bm25"]\n'
    )
    one, three = tmp_path / "one.toml", tmp_path / "three.toml"
    one.write_text(text)
    three.write_text(text + "offsets = 3\n")
    assert chunkbench("compare", one, "--out", tmp_path / "out").code == 0
    states = [cell["stages"]["score"] for cell in chunkbench("plan", three, "--json").json["cells"]]
    assert states == ["cached", "run", "run"]
    assert chunkbench("compare", three, "--out", tmp_path / "all").code == 0
    assert "0 of 3 cells will run" in chunkbench("plan", three).out
