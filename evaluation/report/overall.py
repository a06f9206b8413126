"""One statement over all settings of a run: where the order agrees, and on what it depends."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.report.formats import plural, score, span, unit_words
from evaluation.report.tables import Table
from evaluation.report.view import MAY_BE_BEST, View
from evaluation.results.types import Interaction, Overall, Results
from evaluation.types import CellKey


def overall_sentences(results: Results, views: Sequence[View]) -> list[str]:
    """Return what holds in all settings, what does not, and how much the settings change a difference."""
    found = results.overall
    if found is None:
        return [f"The {len(views)} settings share fewer than two chunkers, so nothing is said of all of them."]
    count = len(found.settings)
    said = [_who(found, count)]
    depends = _depends(found)
    if depends:
        said.append(depends)
    if found.interaction is not None:
        said.append(_interaction(found.interaction, found.measure))
    said.append(f"(Corrected for all {count} settings.)")
    return said


def _who(found: Overall, count: int) -> str:
    may, out = found.may_be_best, found.excluded
    over = f"Over all {plural(count, 'setting')}: "
    if len(may) == 1 and len(out) == len(found.chunkers) - 1:
        return f"{over}{may[0]} is best in every one."
    if not may:
        return f"{over}no chunker may be best everywhere: the best depends on the setting."
    best = may[0] if len(may) == 1 else f"{', '.join(may[:-1])} or {may[-1]}"
    rest = f"; {', '.join(out)} in none" if out else ""
    return f"{over}{best} may be best in every one{rest}."


def _depends(found: Overall) -> str:
    """Return the chunkers that are ruled out in some settings only."""
    parts = []
    for name in found.chunkers:
        if name in found.may_be_best or name in found.excluded:
            continue
        where = [_short(each.setting, found) for each in found.settings if name not in each.found.may_be_best]
        parts.append(f"{name} is ruled out by {', '.join(where)} only")
    return f"{'; '.join(parts)}." if parts else ""


def _interaction(one: Interaction, measure: str) -> str:
    unit = f" {unit_words(measure)}".rstrip()
    first, second = (score(measure, value, signed=True) for value in (one.in_first, one.in_second))
    places = f"{one.first.embedder} {one.first.retriever}", f"{one.second.embedder} {one.second.retriever}"
    if one.first.embedder == one.second.embedder:
        places = one.first.retriever, one.second.retriever
    said = f"{one.a} − {one.b} is {first} with {places[0]} and {second} with {places[1]}"
    change = f"{score(measure, abs(one.change.difference))}{unit} ({_span(one, measure)})"
    if one.change.shown:
        return f"The setting matters: {said}, a change of {change}."
    return f"That the setting changes the order is not shown; most would be {said}, a change of {change}."


def _span(one: Interaction, measure: str) -> str:
    low, high = one.change.low, one.change.high
    if one.change.difference < 0:
        low, high = -high, -low
    return span(measure, low, high, signed=not one.change.shown)


def _short(setting: CellKey, found: Overall) -> str:
    """Return only what tells the setting from the others."""
    parts = [
        getattr(setting, axis)
        for axis in ("dataset", "embedder", "retriever")
        if len({getattr(each.setting, axis) for each in found.settings}) > 1
    ]
    return " · ".join(parts)


def overall_table(results: Results) -> Table | None:
    """Return the matrix of chunkers and settings: means, and who may be best, corrected for all settings."""
    found = results.overall
    if found is None:
        return None
    header = ["chunker", *(_short(each.setting, found) for each in found.settings)]
    rows = []
    for name in found.chunkers:
        cells = []
        for each in found.settings:
            mark = f" {MAY_BE_BEST}" if name in each.found.may_be_best else ""
            cells.append(score(found.measure, each.found.standing(name).mean) + mark)
        rows.append([name, *cells])
    return Table(f"All settings: {found.measure}; {MAY_BE_BEST} may be best", header, rows)
