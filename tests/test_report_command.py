"""`chunkbench report` rebuilds a report from its folder and merges several runs into one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.results.comparisons import with_statistics
from evaluation.results.folder import write_results
from evaluation.results.types import Results
from evaluation.statistics.types import TestName, Weight
from scripts.report import TESTS, WEIGHTS, command


def _only(results: Results, names: set[str]) -> Results:
    return dataclasses.replace(
        results,
        cells=tuple(cell for cell in results.cells if cell.key.chunker in names),
        comparisons=tuple(row for row in results.comparisons if {row.found.a, row.found.b} <= names),
    )


def test_a_report_is_rebuilt_from_its_folder(tmp_path: Path) -> None:
    """The command writes the five files again and ends with the verdict; the page is the one of the run."""
    write_results(simulated_results(queries=96), tmp_path)
    result = CliRunner().invoke(command, [str(tmp_path)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "may be best" in result.output
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    again = (tmp_path / "report.html").read_bytes()
    CliRunner().invoke(command, [str(tmp_path)], catch_exceptions=False)
    assert (tmp_path / "report.html").read_bytes() == again


def test_two_runs_become_one_with_comparisons_across_them(tmp_path: Path) -> None:
    """Chunkers of two runs on the same queries are compared with each other after merging."""
    everything = simulated_results(queries=24)
    names = [cell.key.chunker for cell in everything.cells]
    write_results(_only(everything, set(names[:2])), tmp_path / "one")
    write_results(_only(everything, set(names[2:])), tmp_path / "two")
    arguments = [str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "both"), "--json"]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    found = json.loads(result.output)
    pairs = {
        frozenset((row["a"], row["b"]))
        for row in found["comparisons"]
        if row["measure"] == "naurc@4000tok" and row["axis"] == "chunker"
    }
    assert len(pairs) == 6
    assert (tmp_path / "both" / "report.html").exists()


def test_a_site_leaves_out_folders_that_hold_a_report_alone(tmp_path: Path) -> None:
    """`results/*` also names what `report --out` wrote; a folder that is not there is still an error."""
    runs = tmp_path / "runs"
    write_results(simulated_results(queries=24), runs / "monday")
    invoke = CliRunner().invoke
    invoke(command, [str(runs / "monday"), "--out", str(runs / "paper")], catch_exceptions=False)
    folders = [str(runs / "monday"), str(runs / "paper")]
    made = invoke(command, [*folders, "--site", str(tmp_path / "site")], catch_exceptions=False)
    assert made.exit_code == 0
    assert f"{folders[1]} holds no results.json: left out" in made.stderr
    assert (tmp_path / "site" / "monday").is_dir()
    assert not (tmp_path / "site" / "paper").exists()
    for wrong in (folders[1:], [folders[0], str(tmp_path / "absent")]):
        with pytest.raises(UsageError, match=r"holds no results\.json"):
            invoke(command, [*wrong, "--site", str(tmp_path / "other")], catch_exceptions=False)


def test_a_report_goes_to_no_place_of_something_else(tmp_path: Path) -> None:
    """The report of one run is not put beside the results of another, nor is a file replaced by it."""
    for name in ("one", "other"):
        write_results(simulated_results(queries=24), tmp_path / name)
    (tmp_path / "file").write_text("mine")
    for out, why in (("other", "results of another run"), ("file", "cannot be written")):
        with pytest.raises(UsageError, match=why):
            CliRunner().invoke(command, [str(tmp_path / "one"), "--out", str(tmp_path / out)], catch_exceptions=False)
    assert not (tmp_path / "other" / "report.html").exists()


def test_every_cell_has_a_file_name_of_its_own() -> None:
    """Names are readable where they can be; long ones, and those that other specs would share, end in a hash."""
    template = simulated_results(queries=24).cells[0]

    def slug(dataset: str) -> str:
        return dataclasses.replace(template, key=template.key._replace(dataset=dataset)).slug

    assert slug("mined:root=a/b").startswith("mined_root=a_b__")
    assert slug("mined:root=a b") != slug("mined:root=a+b")
    deep = "mined:root=" + "folder/" * 60
    assert slug(deep) != slug(deep + "x")
    assert len(slug(deep) + ".qrels") < 255
    rest = len("__".join(template.key)) - len(template.key.dataset)
    assert slug("d" * (200 - rest)) == "__".join(template.key._replace(dataset="d" * (200 - rest))).replace(":", "_")
    assert slug("d" * (201 - rest)).startswith("d" * (201 - rest) + "__")
    assert len(slug("d" * (201 - rest))) == 200 + len("-") + 12


def test_merging_needs_a_place_to_write(tmp_path: Path) -> None:
    """Two folders without --out are refused before anything is written."""
    with pytest.raises(UsageError, match="--out DIR"):
        CliRunner().invoke(command, [str(tmp_path), str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda run: {"measures": run.config.measures[:1]}, "measures"),
        (lambda run: {"budgets": tuple(2 * budget for budget in run.budgets)}, "budgets"),
    ],
)
def test_runs_of_different_experiments_are_not_merged(
    tmp_path: Path, change: Callable[[Results], dict[str, object]], named: str
) -> None:
    """What one run did not measure cannot be compared: the error says what differs, and nothing is written."""
    run = simulated_results(queries=24)
    write_results(run, tmp_path / "one")
    write_results(dataclasses.replace(run, config=run.config.model_copy(update=change(run))), tmp_path / "two")
    arguments = [str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "both")]
    with pytest.raises(UsageError, match=f"different {named}"):
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert not (tmp_path / "both").exists()


def test_intervals_stay_within_what_the_measure_can_be() -> None:
    """Three queries with scores near 1 give a wide interval that does not pass 1, as no mean can."""
    run = simulated_results(queries=3, repositories=3)
    (measure,) = run.config.measures[:1]
    scores = {measure: np.array([1.0, 0.7, 1.0])}
    cell = dataclasses.replace(run.cells[0], scores=scores)
    (found,) = with_statistics(dataclasses.replace(run, cells=(cell,))).cells
    summary = found.measures[measure]
    assert summary.high is not None
    assert 0.99 < summary.high <= 1
    assert summary.low is not None
    assert summary.mean is not None
    assert 0 < summary.low < summary.mean


def test_another_test_and_a_baseline_are_computed_again(tmp_path: Path) -> None:
    """--test and --baseline compute the comparisons again; a baseline that no run has is refused by name."""
    write_results(simulated_results(queries=24), tmp_path)
    arguments = [
        str(tmp_path),
        "--test",
        "sign-flip",
        "--baseline",
        "functions",
        "--json",
        "--out",
        str(tmp_path / "new"),
    ]
    found = json.loads(CliRunner().invoke(command, arguments, catch_exceptions=False).output)
    assert {(row["test"], row["b"], row["family"]) for row in found["comparisons"]} == {("sign-flip", "functions", 3)}
    with pytest.raises(UsageError, match="'function'"):
        CliRunner().invoke(command, [str(tmp_path), "--baseline", "function"], catch_exceptions=False)


def test_another_weight_and_margin_are_computed_again(tmp_path: Path) -> None:
    """--weight and --margin reach every comparison and the verdict; the folder's own results stay as they are."""
    write_results(simulated_results(queries=24), tmp_path)
    arguments = [str(tmp_path), "--weight", "query", "--margin", "1.5", "--out", str(tmp_path / "new")]
    found = json.loads(CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False).output)
    assert {(row["weight"], row["margin"]) for row in found["comparisons"] if row["measure"] == "naurc@4000tok"} == {
        ("query", 0.015)
    }
    said = CliRunner().invoke(command, arguments, catch_exceptions=False).output
    assert "each query counting once" in said
    # Chance and ceiling are means under the other weight, and their queries' values are not kept.
    assert "Between chance and ceiling" not in said
    assert "Between chance and ceiling" in CliRunner().invoke(command, [*arguments[:1], *arguments[3:]]).output
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["config"]["weight"] == "repository"


def test_the_tests_on_offer_are_those_of_the_statistics() -> None:
    """The names that --test and --weight offer are the ones that compare_pairs knows."""
    assert get_args(TestName) == TESTS
    assert get_args(Weight) == WEIGHTS


def test_a_folder_with_a_damaged_table_is_refused(tmp_path: Path) -> None:
    """Scores that were cut short are named; nothing is built from the rest."""
    write_results(simulated_results(queries=24), tmp_path)
    table = tmp_path / "scores.parquet"
    table.write_bytes(table.read_bytes()[:-40])
    with pytest.raises(UsageError, match="is not complete"):
        CliRunner().invoke(command, [str(tmp_path)], catch_exceptions=False)
