"""The published JSON Schema of `results.json`: real results fit it, and what is missing or of another type does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from jsonschema import Draft202012Validator

from evaluation.results.document import from_json, results_schema, to_json

SCHEMA = Path(__file__).parents[1] / "evaluation" / "results" / "results.schema.json"
Document = dict[str, Any]


def faults(found: Document) -> list[str]:
    """Return where the document does not fit the published schema."""
    published = json.loads(SCHEMA.read_text("utf-8"))
    Draft202012Validator.check_schema(published)
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(published).iter_errors(found)]


def again(found: Document) -> Document:
    """Return the document after it was read as values and written."""
    written: Document = json.loads(json.dumps(to_json(from_json(found, source="here")), allow_nan=False))
    return written


def compare(chunkbench: Command, repository: Path, *options: object, out: str = "out") -> Document:
    """Return what `results.json` holds after a comparison."""
    gold, folder = repository.parent / "gold.jsonl", repository.parent / out
    target = () if any(str(each).startswith("--dataset") for each in options) else (repository, "--annotations", gold)
    how = ("--engine", "serial", "--flips", "100", "--out", folder)
    ran = chunkbench("compare", *target, *how, *options)
    assert ran.code in (0, 1), ran.err
    found: Document = json.loads((folder / "results.json").read_text("utf-8"))
    return found


def test_the_published_schema_is_that_of_the_types(chunkbench: Command) -> None:
    """`chunkbench report --schema` prints what is published; refresh the file with it when this fails."""
    assert json.loads(SCHEMA.read_text("utf-8")) == results_schema()
    assert chunkbench("report", "--schema").json == results_schema()


@pytest.fixture
def whole(chunkbench: Command, repository: Path) -> Document:
    """Return a comparison of two chunkers with vectors and with words."""
    chunkers = ("--chunker", "fixed-lines:lines=5", "--chunker", "cast:size=120")
    return compare(chunkbench, repository, *chunkers, "--embedder", "hashing", "--retriever=dense", "--retriever=bm25")


def test_a_whole_run_fits(whole: Document) -> None:
    """Cells, measures and comparisons of a real run are what the schema says, and are read back as they were."""
    assert [cell["status"] for cell in whole["cells"]] == ["ok"] * 4
    assert whole["comparisons"]
    assert faults(whole) == []
    assert again(whole) == whole


def test_failed_cells_fit(chunkbench: Command, repository: Path) -> None:
    """A cell without numbers fits: it has its reason, and empty objects where the others have facts."""
    (repository.parent / "never.py").write_text(
        "from dataclasses import dataclass\nfrom chunkers.fixed_lines import FixedLines\n\n\n"
        "@dataclass(frozen=True, kw_only=True)\nclass Never(FixedLines):\n"
        "    def split(self, source):\n        raise RuntimeError('never')\n"
    )
    never = f"--chunker={repository.parent / 'never.py'}:Never"
    found = compare(
        chunkbench, repository, never, "--chunker", "whole-file", "--embedder", "hashing", "--retriever=bm25"
    )
    assert [cell["status"] for cell in found["cells"]] == ["failed", "ok"]
    assert faults(found) == []
    assert again(found) == found


def test_several_datasets_and_shards_fit(chunkbench: Command, repository: Path) -> None:
    """A part of an experiment on two datasets fits, and so does what its parts become together."""
    few = repository.parent / "few.jsonl"
    few.write_text("".join((repository.parent / "gold.jsonl").read_text().splitlines(keepends=True)[:4]))
    both = [f"--dataset=annotations:path={repository.parent}/{n}.jsonl,root={repository}" for n in ("gold", "few")]
    shape = [*both, "--chunker", "whole-file", "--embedder", "hashing", "--retriever", "bm25"]
    parts = [compare(chunkbench, repository, *shape, "--shard", f"{n}/2", out=f"part{n}") for n in (1, 2)]
    assert [part["config"]["shard"] for part in parts] == ["1/2", "2/2"]
    folders = [repository.parent / f"part{n}" for n in (1, 2)]
    merged = chunkbench("report", *folders, "--out", repository.parent / "merged", "--json").json
    assert (len(merged["datasets"]), len(merged["cells"])) == (2, 2)
    for found in (*parts, merged):
        assert faults(found) == []


def test_undefined_numbers_are_null_and_fit(chunkbench: Command, repository: Path) -> None:
    """One query gives no interval: null, not NaN, in cells and comparisons."""
    gold = repository.parent / "gold.jsonl"
    gold.write_text(gold.read_text().splitlines()[0] + "\n")
    found = compare(
        chunkbench, repository, "--chunker", "fixed-lines:lines=5", "--chunker", "whole-file", "--embedder", "hashing"
    )
    assert found["cells"][0]["measures"]["naurc@4000tok"]["low"] is None
    assert faults(found) == []


def _drop(name: str) -> Callable[[Document], object]:
    return lambda part: part.pop(name)


def _set(name: str, value: object) -> Callable[[Document], object]:
    return lambda part: part.__setitem__(name, value)


Spoil = Callable[[Document], object]
SPOILED: list[tuple[tuple[str | int, ...], Spoil]] = [
    ((), _drop("cells")),
    ((), _set("version", 99)),
    (("config",), _drop("measures")),
    (("config",), _set("shard", 3)),
    (("environment",), _drop("packages")),
    (("environment", "run"), _set("jobs", "many")),
    (("datasets", 0), _drop("fingerprint")),
    (("datasets", 0, "parts"), _drop("corpus")),
    (("datasets", 0), _set("queries", "sixteen")),
    (("cells", 0), _set("status", "fine")),
    (("cells", 0), _drop("reason")),
    (("cells", 0, "chunks"), _set("failed_files", {"a.py": 1})),
    (("cells", 0, "chunks"), _drop("count")),
    (("cells", 0, "chunks", "sizes"), _drop("edges")),
    (("cells", 0, "chunks"), _set("truncated", {"chunks": 0.5})),
    (("cells", 0, "measures", "naurc@4000tok"), _drop("scored")),
    (("cells", 0, "seconds"), _set("chunk", "fast")),
    (("comparisons", 0), _drop("measure")),
    (("comparisons", 0), _drop("p_alone")),
    (("comparisons", 0), _set("wins", 1.5)),
]


def test_what_is_missing_or_of_another_type_is_found(whole: Document) -> None:
    """The schema is strict enough to notice each of these."""
    unnoticed = []
    for number, (path, change) in enumerate(SPOILED):
        spoiled: Any = copy.deepcopy(whole)
        part = spoiled
        for step in path:
            part = part[step]
        change(part)
        if not faults(spoiled):
            unnoticed.append((number, path))
    assert unnoticed == []
