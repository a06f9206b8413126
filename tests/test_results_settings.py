"""Statements over several settings at their bounds: which are made, what they are corrected for, what is written."""

from __future__ import annotations

import dataclasses
import functools
import math
import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evaluation.results.document import from_json, json_number, to_json
from evaluation.results.overall import overall
from evaluation.results.types import Results

_CASE = runpy.run_path(str(Path(__file__).with_name("report_case.py")))
simulated_results: Callable[..., Results] = _CASE["simulated_results"]
HEADLINE: str = _CASE["HEADLINE"]


@functools.cache
def settings(headline: str = HEADLINE) -> Results:
    """Return results of two chunkers in two settings in which the first is far higher."""
    made = simulated_results(
        names=("one", "two"), edges=(0.3, 0.0), embedders=("x", "y"), headline=headline, queries=12
    )
    values = np.linspace(0.3, 0.6, len(made.queries))
    cells = [
        dataclasses.replace(cell, scores={**cell.scores, headline: values + 0.3 * (cell.key.chunker == "one")})
        for cell in made.cells
    ]
    return dataclasses.replace(made, cells=tuple(cells))


@pytest.mark.parametrize(("headline", "best"), [(HEADLINE, "one"), ("split_rate", "two")])
def test_the_best_over_all_settings_is_the_better_one(headline: str, best: str) -> None:
    """Where less is better, the lower; the setting names its embedder where it is used."""
    found = overall(settings(headline))
    assert found is not None
    assert found.may_be_best == (best,)
    assert [each.setting.embedder for each in found.settings] == ["x", "y"]


@pytest.mark.parametrize("headline", ["tokens_behind@5", "tokens_to_recall(0.5)"])
def test_a_measure_without_a_better_end_says_nothing_over_all(headline: str) -> None:
    """Nor does one that has a median in place of a mean."""
    assert overall(settings(headline)) is None


def test_a_setting_without_a_score_is_none() -> None:
    """Cells that lack the headline leave their group out; one group says nothing."""
    made = settings()
    lacking = [
        dataclasses.replace(cell, scores={}) if (cell.key.chunker, cell.key.embedder) == ("one", "y") else cell
        for cell in made.cells
    ]
    assert overall(dataclasses.replace(made, cells=tuple(lacking))) is None


def test_a_change_is_picked_from_all_pairs_of_three_settings() -> None:
    """The surest of three, corrected for three; it is the one between the settings that differ most."""
    made = simulated_results(names=("one", "two"), edges=(0.1, 0.0), embedders=("x", "y", "z"), queries=12)
    edges, noise = {"x": 0.0, "y": 0.02, "z": 0.12}, np.random.default_rng(3)
    cells = []
    for cell in made.cells:
        edge = edges[cell.key.embedder] * (cell.key.chunker == "one")
        drawn = 0.4 + edge + noise.normal(0, 0.05, len(made.queries))
        cells.append(dataclasses.replace(cell, scores={**cell.scores, HEADLINE: drawn}))
    found = overall(dataclasses.replace(made, cells=tuple(cells)))
    assert found is not None
    turned = found.interaction
    assert turned is not None
    assert {turned.first.embedder, turned.second.embedder} == {"x", "z"}
    assert 0 < turned.change.p_alone < 1 / 3
    assert turned.change.p == pytest.approx(3 * turned.change.p_alone)


def test_a_setting_without_vectors_names_no_embedder() -> None:
    """It is the same whatever the embedder was."""
    made = simulated_results(names=("one", "two"), edges=(0.3, 0.0), retrievers=("dense", "bm25"), queries=12)
    found = overall(made)
    assert found is not None
    assert {each.setting.retriever: each.setting.embedder for each in found.settings} == {"dense": "minilm", "bm25": ""}


def test_settings_of_different_datasets_have_no_change() -> None:
    """A difference changes between settings of the same queries only; all settings may still agree."""
    made = simulated_results(names=("one", "two"), edges=(0.3, 0.0), queries=12)
    there = tuple(dataclasses.replace(cell, key=cell.key._replace(dataset="other")) for cell in made.cells)
    queries = tuple(dataclasses.replace(query, dataset="other") for query in made.queries)
    both = dataclasses.replace(made, cells=(*made.cells, *there), queries=(*made.queries, *queries))
    found = overall(both)
    assert found is not None
    assert len(found.settings) == 2
    assert found.interaction is None
    document = to_json(dataclasses.replace(both, overall=found))
    assert document["overall"]["interaction"] is None
    assert from_json(document, source="here").overall == found


def test_an_undefined_number_is_null_and_again_undefined() -> None:
    """In a change between settings too; any other value is itself."""
    found = overall(settings())
    assert found is not None
    assert found.interaction is not None
    odd = dataclasses.replace(found, interaction=dataclasses.replace(found.interaction, in_first=math.nan))
    made = dataclasses.replace(settings(), overall=odd)
    document = to_json(made)
    assert document["overall"]["interaction"]["in_first"] is None
    again = from_json(document, source="here").overall
    assert again is not None
    assert again.interaction is not None
    assert math.isnan(again.interaction.in_first)
    assert again.interaction.in_second == found.interaction.in_second
    for value in (0.0, 1, "nan", None, math.inf):
        assert json_number(value) == value
    assert json_number(math.nan) is None
