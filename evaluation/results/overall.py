"""All settings of a run together: where the order of the chunkers agrees, and what it depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.measures import parse_measure
from evaluation.results.axes import Alternatives, alternatives
from evaluation.results.types import Interaction, Overall, Results, SettingBest
from evaluation.statistics import best_set, compare_pairs
from evaluation.types import CellKey


def overall(results: Results) -> Overall | None:
    """Return the statement over all settings, or None if there is only one or too few chunkers are in all."""
    measure = parse_measure(results.config.headline)
    groups = [group for group in alternatives(results.cells, ["chunker"]) if _scored(group, measure.name)]
    shared = [name for name in (groups[0].names if groups else ()) if all(name in group.names for group in groups)]
    if len(groups) < 2 or len(shared) < 2 or measure.centre == "median" or measure.direction == "none":
        return None
    options: dict[str, Any] = {
        "weight": results.config.weight,
        "test": results.config.test,
        "flips": results.config.flips,
        "seed": results.config.seed,
    }
    better: dict[str, Any] = {"higher_is_better": measure.direction != "lower", "value_range": measure.range}
    found = [
        SettingBest(
            _setting(group),
            best_set(
                _scores(group, shared, measure.name),
                results.clusters_of(group.setting.dataset),
                names=shared,
                corrections=len(groups),
                **options,
                **better,
            ),
        )
        for group in groups
    ]
    return Overall(
        measure=measure.name,
        chunkers=tuple(shared),
        settings=tuple(found),
        may_be_best=tuple(name for name in shared if all(name in each.found.may_be_best for each in found)),
        excluded=tuple(name for name in shared if not any(name in each.found.may_be_best for each in found)),
        interaction=_interaction(results, groups, shared, measure.name, options),
    )


def _setting(group: Alternatives) -> CellKey:
    """Return what the cells share; an unused embedder is not named."""
    used = any(cell.search.uses_vectors for cell in group.cells)
    return group.setting if used else group.setting._replace(embedder="")


def _scored(group: Alternatives, measure: str) -> bool:
    return all(measure in cell.scores for cell in group.cells)


def _scores(group: Alternatives, names: Sequence[str], measure: str) -> np.ndarray:
    by_name = dict(zip(group.names, group.cells, strict=True))
    return np.array([by_name[name].scores[measure] for name in names])


def _interaction(
    results: Results, groups: Sequence[Alternatives], names: Sequence[str], measure: str, options: dict[str, Any]
) -> Interaction | None:
    """Return the pair of chunkers and settings whose change in difference is most certainly not zero."""
    candidates: list[Interaction] = []
    pairs = list(combinations(range(len(names)), 2))
    low, high = parse_measure(measure).range
    sizes = Counter(group.setting.dataset for group in groups)
    # One change is selected from those of all datasets.
    changes_of_all = len(pairs) * sum(count * (count - 1) // 2 for count in sizes.values())
    for dataset in dict.fromkeys(group.setting.dataset for group in groups):
        same = [group for group in groups if group.setting.dataset == dataset]
        if len(same) < 2:
            continue
        scores = [_scores(group, names, measure) for group in same]
        clusters = results.clusters_of(dataset)
        titles = [str(place) for place in range(len(same))]
        for i, j in pairs:
            differences = np.array([each[i] - each[j] for each in scores])
            changes = compare_pairs(
                differences,
                clusters,
                names=titles,
                value_range=(low - high, high - low),
                corrections=changes_of_all,
                **options,
            )
            largest = max(changes, key=lambda change: (-change.p, abs(change.difference)))
            first, second = int(largest.a), int(largest.b)
            candidates.append(
                Interaction(
                    names[i],
                    names[j],
                    _setting(same[first]),
                    _setting(same[second]),
                    _mean(differences[first], clusters, options["weight"]),
                    _mean(differences[second], clusters, options["weight"]),
                    largest,
                )
            )
    return max(candidates, key=lambda each: (-each.change.p, abs(each.change.difference)), default=None)


def _mean(values: np.ndarray, clusters: Sequence[str], weight: str) -> float:
    if weight == "query":
        return float(np.nanmean(values))
    names = np.asarray(clusters)
    return float(np.nanmean([np.nanmean(values[names == name]) for name in dict.fromkeys(clusters)]))
