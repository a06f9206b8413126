"""One statement over all settings of a run: where the order agrees, and what it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.report.formats import MINUS, MOST_NAMED, joined, measure_of, named, score, span, with_unit
from evaluation.report.legend import mark_words
from evaluation.report.tables import Table
from evaluation.report.view import MAY_BE_BEST, View
from evaluation.results.types import Interaction, Overall, Results
from evaluation.types import CellKey

OVERALL_LEGEND = (
    f"{MAY_BE_BEST} may be best in its setting, corrected for the number of settings: with 95 % confidence the truly "
    "best chunkers of all settings are among those marked."
)


def marks_beside_others(results: Results, view: View) -> dict[str, str]:
    """Return chunker → mark in a table of several settings: ● is corrected for all of them if they are compared."""
    if view.baseline is None:
        for each in results.overall.settings if results.overall else ():
            key = each.setting
            if (key.dataset, key.retriever) == (view.setting.dataset, view.setting.retriever) and (
                key.embedder == view.setting.embedder or not view.setting.embedder
            ):
                return dict.fromkeys(each.found.may_be_best, MAY_BE_BEST)
    return {row.chunker: row.mark for row in view.rows}


def marks_legend(results: Results, view: View) -> list[str]:
    """Return what those marks mean."""
    return [OVERALL_LEGEND] if results.overall and view.baseline is None else mark_words(view)


def overall_sentences(results: Results, views: Sequence[View]) -> list[str]:
    """Return what holds in all settings, what does not, and how much the settings change a difference."""
    found = results.overall
    if found is None:
        measure = measure_of(results.config.headline)
        if measure.centre == "median" or measure.direction == "none":
            return [f"{measure.name} has no test, so nothing is said of all {len(views)} settings together."]
        return ["Fewer than two settings share two chunkers, so nothing is said of all of them together."]
    count = len(found.settings)
    said = [_who(found, count, noun=views[0].noun)]
    depends = _depends(found)
    if depends:
        said.append(depends)
    if found.interaction is not None:
        said.append(_interaction(found.interaction, found))
    said.append(f"(Corrected for {_all(count)}; a setting by itself, as below, may rule out more.)")
    return said


def overall_lead(results: Results, views: Sequence[View]) -> list[str]:
    """Return its first part: which may be best, where it depends, and a change between settings if it is shown."""
    found = results.overall
    if found is None:
        return overall_sentences(results, views)
    shown = found.interaction is not None and found.interaction.change.shown
    said = [_who(found, len(found.settings), noun=views[0].noun), _depends(found)]
    said += [_interaction(found.interaction, found)] if found.interaction is not None and shown else []
    return [each for each in said if each]


def _who(found: Overall, count: int, *, noun: str) -> str:
    may, out = found.may_be_best, found.excluded
    over = f"Over {_all(count)}: "
    if len(may) == 1 and len(out) == len(found.chunkers) - 1:
        return f"{over}{may[0]} is best in every one."
    if len(may) == len(found.chunkers):
        return f"{over}any of the {len(may)} {noun}s may be best in every one."
    if not may:
        rest = f"; {joined(out) if len(out) <= MOST_NAMED else f'{len(out)} of them'} in none" if out else ""
        return f"{over}no {noun} may be best in every one{rest}: the best depends on the setting."
    rest = f"; {joined(out) if len(out) <= MOST_NAMED else f'{len(out)} others'} in none" if out else ""
    return f"{over}{named(may, 'or')} may be best in every one{rest}."


def _all(count: int) -> str:
    return "both settings" if count == 2 else f"all {count} settings"


def _depends(found: Overall) -> str:
    """Return the chunkers that are ruled out in only some settings."""
    parts = []
    some = [name for name in found.chunkers if name not in found.may_be_best and name not in found.excluded]
    for name in some[:MOST_NAMED]:
        where = [_short(each.setting, found) for each in found.settings if name not in each.found.may_be_best]
        parts.append(f"{name} may be best except with {joined(where)}")
    if len(some) > MOST_NAMED:
        parts.append(f"{len(some) - MOST_NAMED} more may be best in some settings only")
    return f"{'; '.join(parts)}." if parts else ""


def _interaction(one: Interaction, found: Overall) -> str:
    """Return how much the setting changes a difference, with the chunkers in the same order in both."""
    measure = found.measure
    first, second = (score(measure, value, signed=True) for value in (one.in_first, one.in_second))
    places = [_short(setting, found) for setting in (one.first, one.second)]
    said = f"{one.a} {MINUS} {one.b} is {first} with {places[0]} and {second} with {places[1]}"
    change = f"a change of {with_unit(measure, abs(one.change.difference))} ({_span(one, measure)})"
    if not one.change.shown:
        return f"No difference is shown to depend on the setting. Closest to significance: {said}, {change}."
    return f"The setting matters: {said}, {change}."


def _span(one: Interaction, measure: str) -> str:
    low, high = one.change.low, one.change.high
    if one.change.difference < 0:
        low, high = -high, -low
    return span(measure, low, high, signed=not one.change.shown)


def _short(setting: CellKey, found: Overall) -> str:
    """Return only the part that distinguishes the setting from the others."""
    parts = [
        getattr(setting, axis)
        for axis in ("dataset", "embedder", "retriever")
        if len({getattr(each.setting, axis) for each in found.settings}) > 1
    ]
    return " · ".join(part for part in parts if part)


def overall_table(results: Results) -> Table | None:
    """Return the matrix of chunkers and settings: means, and which may be best, corrected for all settings."""
    found = results.overall
    if found is None:
        return None
    header = ["chunker", *(_short(each.setting, found) for each in found.settings)]
    rows, data = [], []
    for name in found.chunkers:
        cells = []
        record: dict[str, Any] = {"chunker": name, "measure": found.measure}
        for each in found.settings:
            may, mean = name in each.found.may_be_best, each.found.standing(name).mean
            cells.append(score(found.measure, mean) + (f" {MAY_BE_BEST}" if may else ""))
            record |= {_short(each.setting, found): mean, f"{_short(each.setting, found)} may be best": may}
        rows.append([name, *cells])
        data.append(record)
    return Table(f"All settings: {found.measure}", header, rows, data)
