"""Several settings together: where the order of the chunkers agrees, and on what it depends."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest
from report_case import HEADLINE, simulated_results

from evaluation.results.overall import overall
from evaluation.results.types import Results

NAMES = ("one", "two", "three")


def settings(edges: Mapping[str, tuple[float, ...]]) -> Results:
    """Return results in which each embedder gives each chunker its own edge, over 64 queries of 8 repositories."""
    made = simulated_results(names=NAMES, edges=(0.0, 0.0, 0.0), embedders=tuple(edges))
    rng = np.random.default_rng(5)
    base = rng.uniform(0.3, 0.7, len(made.queries))
    cells = []
    for cell in made.cells:
        drawn = base + edges[cell.key.embedder][NAMES.index(cell.key.chunker)] + rng.normal(0, 0.02, len(base))
        cells.append(dataclasses.replace(cell, scores={**cell.scores, HEADLINE: drawn}))
    return dataclasses.replace(made, cells=tuple(cells))


def test_one_setting_or_one_chunker_says_nothing_over_all() -> None:
    """A statement over settings needs two of them, and two chunkers that are in both."""
    several = settings({"minilm": (0.1, 0.0, -0.1), "bge": (0.1, 0.0, -0.1)})
    assert overall(several) is not None
    assert overall(simulated_results(names=NAMES, edges=(0.1, 0.0, -0.1))) is None
    alone = [cell for cell in several.cells if cell.key.embedder == "minilm" or cell.key.chunker in ("one", "four")]
    assert overall(dataclasses.replace(several, cells=tuple(alone))) is None
    kept = [cell for cell in several.cells if (cell.key.embedder, cell.key.chunker) != ("bge", "three")]
    found = overall(dataclasses.replace(several, cells=tuple(kept)))
    assert found is not None
    assert found.chunkers == ("one", "two")


def test_a_chunker_that_is_best_in_each_setting_may_be_best_and_the_worst_is_excluded() -> None:
    """Where the settings agree, one is left, and no change between settings is shown."""
    found = overall(settings({"minilm": (0.2, 0.0, -0.2), "bge": (0.25, 0.05, -0.15)}))
    assert found is not None
    assert (found.measure, len(found.settings)) == (HEADLINE, 2)
    assert found.may_be_best == ("one",)
    assert found.excluded == ("two", "three")
    assert found.interaction is not None
    assert found.interaction.change.p > 0.05


def test_an_order_that_turns_is_an_interaction() -> None:
    """The pair whose difference changes most surely is named, with its mean in both settings."""
    found = overall(settings({"minilm": (0.2, 0.0, 0.0), "bge": (-0.2, 0.0, 0.0)}))
    assert found is not None
    assert found.may_be_best == ()
    assert "one" not in found.excluded
    turned = found.interaction
    assert turned is not None
    assert turned.change.p < 0.05
    assert "one" in {getattr(turned, field.name) for field in dataclasses.fields(turned)[:2]}
    means = [value for field in dataclasses.fields(turned) if isinstance(value := getattr(turned, field.name), float)]
    assert sorted(means) == pytest.approx([-0.2, 0.2], abs=0.03)


@pytest.mark.parametrize("weight", ["repository", "query"])
def test_the_change_is_the_difference_of_the_two_means(weight: str) -> None:
    """By the weight of the experiment: where repositories are of unequal size the two weights differ."""
    made = settings({"minilm": (0.2, 0.0, 0.0), "bge": (-0.2, 0.0, 0.0)})
    queries = tuple(
        dataclasses.replace(query, cluster="large" if place < 40 else query.cluster)
        for place, query in enumerate(made.queries)
    )
    config = made.config.model_copy(update={"weight": weight})
    found = overall(dataclasses.replace(made, queries=queries, config=config))
    assert found is not None
    turned = found.interaction
    assert turned is not None
    assert turned.in_first - turned.in_second == pytest.approx(turned.change.difference, abs=1e-12)


def test_a_change_is_corrected_for_every_pair_of_chunkers_and_settings() -> None:
    """Three pairs of chunkers in two settings are three changes that could have been named."""
    found = overall(settings({"minilm": (0.04, 0.0, 0.0), "bge": (-0.04, 0.0, 0.0)}))
    assert found is not None
    assert found.interaction is not None
    change = found.interaction.change
    assert 0 < change.p_alone < 0.3
    assert change.p == pytest.approx(3 * change.p_alone)
