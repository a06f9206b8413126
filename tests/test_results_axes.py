"""What is compared: finished cells that differ in one axis, two at least."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import pytest
from report_case import simulated_results

from evaluation.results import facts
from evaluation.results.axes import alternatives
from evaluation.types import NO_STAGE, CellKey


def test_an_axis_needs_two_finished_cells() -> None:
    """A failed cell is compared with nothing, and where one is left there is no group."""
    results = simulated_results(names=("cast", "functions"), edges=(0.1, 0.0), retrievers=("dense", "bm25"))
    groups = {(group.axis, *group.names) for group in alternatives(results.cells)}
    assert groups == {("chunker", "cast", "functions"), ("retriever", "dense", "bm25")}
    broken = [replace(cell, status="failed") if cell.key.chunker == "cast" else cell for cell in results.cells]
    assert {(group.axis, *group.names) for group in alternatives(broken)} == {("retriever", "dense", "bm25")}
    assert list(alternatives(results.cells[:1])) == []


def test_a_retriever_without_vectors_is_one_cell_whatever_the_embedder() -> None:
    """It stands beside the retrievers of each embedder, and is no alternative to itself."""
    results = simulated_results(
        names=("cast",), edges=(0.1,), embedders=("minilm", "bge"), retrievers=("dense", "bm25")
    )
    lexical = [
        replace(cell, search=replace(cell.search, uses_vectors=cell.key.retriever == "dense")) for cell in results.cells
    ]
    groups = [(group.axis, group.setting.embedder, *group.names) for group in alternatives(lexical)]
    assert groups == [
        ("embedder", "", "minilm", "bge"),
        ("retriever", "minilm", "dense", "bm25"),
        ("retriever", "bge", "bm25", "dense"),
    ]


def test_a_span_run_stands_beside_the_chunkers_of_its_own_dataset() -> None:
    """In each setting of that dataset, and in none of another; alone with other span runs where there is no setting."""
    results = simulated_results(names=("cast", "functions"), edges=(0.1, 0.0), retrievers=("dense", "bm25"))
    here = list(results.cells)
    there = [replace(cell, key=cell.key._replace(dataset="other")) for cell in here]
    spans = [replace(here[0], key=CellKey(here[0].key.dataset, name, NO_STAGE, NO_STAGE)) for name in ("mine", "yours")]
    assert all(cell.key.is_span_run for cell in spans)
    groups = list(alternatives([*here, *there, *spans], ["chunker"]))
    for group in groups:
        beside = {"mine", "yours"} if group.setting.dataset == here[0].key.dataset else set()
        assert set(group.names) == {"cast", "functions"} | beside
    assert len(groups) == 4
    alone = list(alternatives([*there, *spans], ["chunker"]))
    assert [set(group.names) for group in alone] == [{"cast", "functions"}] * 2 + [{"mine", "yours"}]


@pytest.mark.parametrize(
    "kind", [each for each in vars(facts).values() if is_dataclass(each) and each.__module__ == facts.__name__]
)
def test_what_nobody_has_counted_is_nothing(kind: type) -> None:
    """A number that results do not tell, as those of earlier versions, is 0, and a sum over it is right."""
    for each in fields(kind):
        if isinstance(each.default, (int, float)) and not isinstance(each.default, bool):
            assert each.default == 0, each.name
