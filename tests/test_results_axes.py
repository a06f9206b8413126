"""What is compared: finished cells that differ in one axis, two at least."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

from evaluation.results.axes import alternatives

simulated_results = runpy.run_path(str(Path(__file__).with_name("report_case.py")))["simulated_results"]


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
