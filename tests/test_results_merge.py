"""Several runs of parts of one experiment become the one run that they are parts of."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.results.merge import merge_results
from evaluation.results.types import CellRecord, Results


@pytest.fixture(scope="module")
def whole() -> Results:
    """Return a run of four chunkers with two embedders."""
    made = simulated_results(queries=12, repositories=3, embedders=("minilm", "bge"))
    places = made.config.chunkers.index
    # As a run deals them: the embedders of a chunker one after the other.
    return dataclasses.replace(made, cells=tuple(sorted(made.cells, key=lambda cell: places(cell.key.chunker))))


def with_cells(results: Results, cells: list[CellRecord]) -> Results:
    """Return the run with these cells only, and a config that names what they are of."""
    chunkers = tuple(name for name in results.config.chunkers if name in {cell.key.chunker for cell in cells})
    config = results.config.model_copy(update={"chunkers": chunkers})
    return dataclasses.replace(results, cells=tuple(cells), config=config)


def failed(cell: CellRecord) -> CellRecord:
    """Return the cell as it would be had it failed."""
    return CellRecord(cell.key, "failed", "out of memory")


@pytest.mark.parametrize("of", [2, 3, 5])
def test_shards_in_any_order_are_the_whole(whole: Results, of: int) -> None:
    """Cells come in the order of one run, whichever part is named first and however they were dealt out."""
    parts = [
        dataclasses.replace(whole, cells=whole.cells[number::of], shard=f"{number + 1}/{of}") for number in range(of)
    ]
    for order in itertools.islice(itertools.permutations(parts), 6):
        merged = merge_results(order)
        assert [cell.key for cell in merged.cells] == [cell.key for cell in whole.cells]
        assert merged.shard is None
        assert merged.comparisons == ()
        assert (merged.queries, dict(merged.texts)) == (whole.queries, dict(whole.texts))
        assert merged.config == whole.config


def test_runs_of_different_chunkers_are_in_the_order_of_the_runs(whole: Results) -> None:
    """The chunkers of the first run come first."""
    names = list(whole.config.chunkers)
    one, two = (
        with_cells(whole, [cell for cell in whole.cells if cell.key.chunker in part]) for part in (names[2:], names[:2])
    )
    merged = merge_results([one, two])
    assert merged.config.chunkers == (*names[2:], *names[:2])
    assert [cell.key.chunker for cell in merged.cells] == [name for name in merged.config.chunkers for _ in range(2)]
    assert [cell.key.embedder for cell in merged.cells] == ["minilm", "bge"] * 4


def test_what_does_not_differ_is_that_of_the_first_run(whole: Results) -> None:
    """The seed of the statistics, for one, is the first run's; one run alone stays as it is."""
    other = dataclasses.replace(whole, config=whole.config.model_copy(update={"seed": 7}))
    assert merge_results([whole, other]).config == whole.config
    assert merge_results([other, whole]).config == other.config
    assert merge_results([whole]).cells == whole.cells


def test_what_failed_once_and_was_done_another_time_is_done(whole: Results) -> None:
    """A cell that is ok in any run is ok; one that failed in all of them keeps its reason."""
    bad = dataclasses.replace(whole, cells=tuple(map(failed, whole.cells)))
    for order in ((whole, bad), (bad, whole)):
        assert {cell.status for cell in merge_results(order).cells} == {"ok"}
    assert {cell.reason for cell in merge_results([bad, bad]).cells} == {"out of memory"}


def test_the_same_cell_with_other_scores_is_refused(whole: Results) -> None:
    """Scores that are undefined in both are the same; any other difference is named with its cell."""
    first, *rest = whole.cells
    measure = next(iter(first.scores))
    holes = first.scores[measure].copy()
    holes[0] = np.nan
    with_holes = dataclasses.replace(first, scores={**first.scores, measure: holes})
    run = dataclasses.replace(whole, cells=(with_holes, *rest))
    assert len(merge_results([run, run]).cells) == len(whole.cells)
    with pytest.raises(UsageError, match="two runs disagree about"):
        merge_results([whole, run])
    fewer = dataclasses.replace(first, scores={measure: first.scores[measure]})
    with pytest.raises(UsageError, match="two runs disagree about"):
        merge_results([whole, dataclasses.replace(whole, cells=(fewer, *rest))])


def test_datasets_that_changed_in_between_are_refused(whole: Results) -> None:
    """Two snapshots are two datasets; another dataset beside the first is welcome."""
    (dataset,) = whole.datasets
    changed = dataclasses.replace(dataset, fingerprint="another")
    with pytest.raises(UsageError, match=f"different versions of dataset {dataset.name!r}"):
        merge_results([whole, dataclasses.replace(whole, datasets=(changed,))])
    other = dataclasses.replace(changed, name="other")
    queries = tuple(dataclasses.replace(query, dataset="other") for query in whole.queries)
    cells = tuple(dataclasses.replace(cell, key=cell.key._replace(dataset="other")) for cell in whole.cells)
    config = whole.config.model_copy(update={"datasets": ("other",)})
    second = dataclasses.replace(whole, datasets=(other,), queries=queries, cells=cells, config=config)
    merged = merge_results([whole, second])
    assert merged.config == whole.config.model_copy(update={"datasets": (dataset.name, "other")})
    assert [cell.key.dataset for cell in merged.cells] == [dataset.name] * 8 + ["other"] * 8
    assert [each.name for each in merged.datasets] == [dataset.name, "other"]
    assert len(merged.cells) == 2 * len(whole.cells)
    assert merged.queries_of("other") == queries
    assert merged.queries_of(dataset.name) == whole.queries


def test_what_a_run_left_out_stays_known(whole: Results) -> None:
    """Each run's reasons, and a matched size only if it is that of all of them."""
    one, two = (
        dataclasses.replace(whole, matched_size=size, left_out={spec: reason})
        for size, spec, reason in (("900 nws", "definitions", "no size"), ("1,200 nws", "functions", "too large"))
    )
    merged = merge_results([one, two])
    assert (merged.matched_size, merged.left_out) == ("", {"definitions": "no size", "functions": "too large"})
    assert merge_results([one, one]).matched_size == "900 nws"
