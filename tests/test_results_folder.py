"""A results folder: what is written is read back, and nothing of anybody else's is overwritten."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.results.comparisons import with_statistics
from evaluation.results.folder import check_output, read_results, write_results
from evaluation.results.types import CellRecord, Results


@pytest.fixture(scope="module")
def results() -> Results:
    """Return a run of two chunkers and one that failed, with a query that has no score."""
    made = simulated_results(names=("one", "two"), edges=(0.1, 0.0), queries=12, failed={"three": "out of memory"})
    holes = made.cells[0].scores["recall@5"].copy()
    holes[3] = np.nan
    first = dataclasses.replace(made.cells[0], scores={**made.cells[0].scores, "recall@5": holes})
    return with_statistics(dataclasses.replace(made, cells=(first, *made.cells[1:])))


def _same_arrays(one: CellRecord, other: CellRecord) -> bool:
    curves = (one.curve is None, other.curve is None)
    if curves == (False, False):
        assert one.curve is not None
        assert other.curve is not None
        np.testing.assert_array_equal(one.curve, other.curve)
    return (
        curves in {(True, True), (False, False)}
        and one.scores.keys() == other.scores.keys()
        and all(np.array_equal(values, other.scores[name], equal_nan=True) for name, values in one.scores.items())
    )


def test_what_is_written_is_read_back(results: Results, tmp_path: Path) -> None:
    """Every fact, score, curve, hit, ranking and judgement; a failed cell has its reason and none of these."""
    asked = tuple(dataclasses.replace(query, kind="comments", category="symbol") for query in results.queries[:6])
    results = dataclasses.replace(results, queries=(*asked, *results.queries[6:]))
    write_results(results, tmp_path)
    read = read_results(tmp_path, rankings=True)
    for name in ("config", "environment", "datasets", "comparisons", "queries", "budget_unit", "shard"):
        # By their text, since a number that is undefined is not equal to itself.
        assert repr(getattr(read, name)) == repr(getattr(results, name)), name
    assert dict(read.texts) == dict(results.texts)
    assert results.files
    assert results.cuts
    assert (read.files, read.cuts, read.hidden) == (results.files, results.cuts, results.hidden)
    for one, other in zip(results.cells, read.cells, strict=True):
        assert _same_arrays(one, other)
        for name in ("key", "status", "reason", "chunks", "search", "judgements", "measures", "seconds", "hits"):
            assert getattr(one, name) == getattr(other, name), name
        # Every query has its line in a run file that found something for it.
        assert {query: list(ids) for query, ids in one.run.items() if ids} == dict(other.run)
        assert {query: dict(row) for query, row in one.qrels.items() if row} == dict(other.qrels)
    assert [cell.status for cell in read.cells] == ["ok", "ok", "failed"]
    assert (read.cells[2].scores, read.cells[2].curve, read.cells[2].run) == ({}, None, {})
    assert all(cell.run == {} for cell in read_results(tmp_path).cells)


def test_an_undefined_score_is_counted_and_left_out_of_the_mean(results: Results) -> None:
    """Eleven of twelve queries have a value: the mean is theirs."""
    summary, values = results.cells[0].measures["recall@5"], results.cells[0].scores["recall@5"]
    assert (summary.scored, summary.undefined) == (11, 1)
    whole = results.cells[1].measures["recall@5"]
    assert (whole.scored, whole.undefined) == (12, 0)
    assert summary.mean is not None
    assert np.nanmin(values) <= summary.mean <= np.nanmax(values)


def test_a_measure_that_may_never_get_there_has_a_median_and_a_count(results: Results) -> None:
    """Of twelve queries nine get there: counts say so, and there is no mean of the nine."""
    values = np.array([100.0, 200.0, 300.0] * 3 + [np.nan] * 3)
    cells = tuple(
        dataclasses.replace(cell, scores={**cell.scores, "tokens_to_recall(0.5)": values}) for cell in results.cells[:2]
    )
    summary = with_statistics(dataclasses.replace(results, cells=cells)).cells[0].measures["tokens_to_recall(0.5)"]
    assert (summary.mean, summary.scored, summary.undefined) == (None, 9, 3)
    assert summary.caveat == "9 of 12 queries get there"
    assert summary.median == 250.0


def test_a_measure_without_any_value_has_no_margin(results: Results) -> None:
    """The margin of what is no share is a part of the mean, and there is none."""
    nothing = np.full(12, np.nan)
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, "tokens_behind@5": nothing}) for cell in results.cells[:2]
    ]
    config = results.config.model_copy(update={"measures": (*results.config.measures, "tokens_behind@5")})
    made = with_statistics(dataclasses.replace(results, cells=tuple(cells), config=config))
    found = [record.found for record in made.comparisons if record.measure == "tokens_behind@5"]
    assert found
    assert [(each.margin, each.n_queries, each.decision) for each in found] == [(0.0, 0, "undecided")] * len(found)


def test_a_second_write_replaces_the_first(results: Results, tmp_path: Path) -> None:
    """The files of a cell that is gone are gone, and no draft stays."""
    write_results(results, tmp_path)
    fewer = dataclasses.replace(results, cells=results.cells[:1])
    write_results(fewer, tmp_path)
    assert len(list((tmp_path / "runs").iterdir())) == len(list((tmp_path / "qrels").iterdir())) == 1
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert len(read_results(tmp_path).cells) == 1


def test_only_the_same_experiment_may_be_written_again(results: Results, tmp_path: Path) -> None:
    """A new or empty folder, or one with the same experiment; anything else is refused before work begins."""
    check_output(tmp_path / "new" / "deep", config=results.config)
    (tmp_path / "empty").mkdir()
    check_output(tmp_path / "empty", config=results.config)
    write_results(results, tmp_path / "same")
    check_output(tmp_path / "same", config=results.config)
    other = results.config.model_copy(update={"seed": 99})
    for config, shard in ((other, None), (results.config, "1/2")):
        with pytest.raises(UsageError, match="results of another experiment"):
            check_output(tmp_path / "same", config=config, shard=shard)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        check_output(tmp_path / "foreign", config=results.config)
    with pytest.raises(UsageError, match="is a file"):
        check_output(tmp_path / "foreign" / "thesis.tex", config=results.config)


def test_what_a_killed_run_left_is_no_obstacle(results: Results, tmp_path: Path) -> None:
    """Tables without results.json, and drafts, are of a run that was killed while it wrote."""
    write_results(results, tmp_path)
    (tmp_path / "results.json").unlink()
    (tmp_path / ".draft-abc").mkdir()
    check_output(tmp_path, config=results.config)
    write_results(results, tmp_path)
    assert not (tmp_path / ".draft-abc").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not a results file"),
        ("[]", "is not a results file"),
        ('{"version": 99}', "has version 99; this chunkbench reads 1"),
    ],
)
def test_what_is_no_results_file_is_refused(results: Results, tmp_path: Path, text: str, why: str) -> None:
    """The file is named, and what to do."""
    write_results(results, tmp_path)
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(UsageError, match=why):
        read_results(tmp_path)
    with pytest.raises(UsageError, match=r"holds no results\.json"):
        read_results(tmp_path / "runs")


def test_a_part_of_another_type_is_named(results: Results, tmp_path: Path) -> None:
    """A number where a mapping belongs says where it is."""
    write_results(results, tmp_path)
    file = tmp_path / "results.json"
    found = json.loads(file.read_text("utf-8"))
    found["cells"][0]["chunks"]["failed_files"] = {"a.py": ["not", "text"]}
    file.write_text(json.dumps(found))
    with pytest.raises(UsageError, match=r"is not a results file \(failed_files\.a\.py"):
        read_results(tmp_path)


def test_a_folder_that_cannot_be_made_is_not_for_want_of_space(results: Results, tmp_path: Path) -> None:
    """The remedy fits the cause: another folder, and nothing about space."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"name another folder \(--out, or save\(\) in Python\)") as raised:
        write_results(results, tmp_path / "file" / "out")
    assert "free some space" not in str(raised.value)
