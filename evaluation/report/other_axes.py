"""Statements about embedders and retrievers: cells that differ in one of them and agree in the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluation.report.formats import MINUS, basis, joined, measure_of, named, score, span, unit_words, with_unit
from evaluation.report.view import find_pair
from evaluation.results.axes import AXES
from evaluation.results.types import BestRecord, ComparisonRecord, Results
from evaluation.statistics import Comparison, Standing


def axis_sentences(results: Results) -> list[str]:
    """Return one line for each axis and setting in which there is more than one alternative."""
    headline = [each for each in results.best if each.measure == results.config.headline]
    found = [each for each in headline if each.axis != "chunker"]
    return [_line(results, each, alone=len(found) == len(headline)) for each in found]


def axis_summary(results: Results) -> list[str]:
    """Return one line for each axis and dataset: what holds with every chunker, or that it depends."""
    groups: dict[tuple[str, str], list[BestRecord]] = {}
    for each in results.best:
        if each.measure == results.config.headline and each.axis != "chunker":
            groups.setdefault((each.axis, each.dataset), []).append(each)
    several = len({dataset for _, dataset in groups}) > 1
    return [
        f"{axis.capitalize()}s{f' on {dataset}' if several else ''}: {_summed(found)}."
        for (axis, dataset), found in groups.items()
    ]


def _summed(found: Sequence[BestRecord]) -> str:
    """Return which alternatives may be best in all of some settings, and how far the others are behind."""
    names = [each.name for each in found[0].found.standings]
    every = [name for name in names if all(name in each.found.may_be_best for each in found)]
    none = [name for name in names if not any(name in each.found.may_be_best for each in found)]
    where = "with every chunker" if len({each.chunker for each in found}) == len(found) else "in every setting"
    where = where if len(found) > 1 else f"with {found[0].chunker}"
    if not every:
        return f"which is best depends on the {'chunker' if where.endswith('chunker') else 'setting'}"
    if len(every) + len(none) < len(names) or not none:
        return f"{named(every, 'or')} may be best {where}" + (f", {joined(none)} in none" if none else "")
    behind = [f"{name} is {_distance(found, name)} behind" for name in none]
    return f"{named(every, 'or')} {'is' if len(every) == 1 else 'may be'} best {where}: {', '.join(behind)}"


def _distance(found: Sequence[BestRecord], name: str) -> str:
    measure = found[0].measure
    away = [abs(each.found.standing(name).difference) for each in found]
    low, high = (score(measure, end) for end in (min(away), max(away)))
    return with_unit(measure, max(away)) if low == high else f"{low} to {with_unit(measure, max(away))}"


def _line(results: Results, record: BestRecord, *, alone: bool) -> str:
    """Return the answer for one axis in one setting; if no chunkers are compared, also what it is over."""
    best, measure = record.found, record.measure
    several = len({each.dataset for each in results.best}) > 1
    embedder = record.embedder if _embeds(results, record) else ""
    parts = (record.dataset if several else "", record.chunker, embedder, record.retriever)
    ranked = sorted(best.standings, key=lambda each: -each.mean if best.higher_is_better else each.mean)
    means = ", ".join(f"{each.name} {score(measure, each.mean)}" for each in ranked)
    over = f" in {measure} ({measure_of(measure).words}), {basis(best)}" if alone else ""
    said = [f"{record.axis.capitalize()}s with {' · '.join(part for part in parts if part)}{over}: {means}."]
    said.append(_who(measure, best.may_be_best, [each for each in ranked if not each.may_be_best and each.rival]))
    pair = _pair(results, record) if len(best.may_be_best) > 1 else None
    if pair is not None:
        said.append(_open(measure, pair))
    if not math.isnan(best.detectable):
        said.append(f"{with_unit(measure, best.detectable)} would have been shown four times in five.")
    notes = [f"Note: {each}." for each in best.caveats] if alone else []
    return " ".join([*said, *notes])


def _embeds(results: Results, record: BestRecord) -> bool:
    """Say whether any of those compared uses the embedder that they agree in."""
    names = [each.name for each in record.found.standings]
    return any(
        cell.search.uses_vectors
        for cell in results.cells
        if cell.status == "ok"
        and getattr(cell.key, record.axis) in names
        and cell.key._replace(**{record.axis: ""}) == (record.dataset, *(getattr(record, axis) for axis in AXES))
    )


def _who(measure: str, may: Sequence[str], out: Sequence[Standing]) -> str:
    if not out:
        return f"{'Either' if len(may) == 2 else 'Any of them'} may be best."
    behind = ", ".join(_behind(measure, each) for each in out)
    if len(may) == 1:
        # As of chunkers: a one-sided test alone leaves one, and does not show it to be best.
        best = f"Only {may[0]} may be best" if any(each.one_sided for each in out) else f"{may[0]} is best"
        return f"{best}: {behind}."
    are = "is" if len(out) == 1 else "are"
    return f"{named(may, 'or')} may be best; {joined([each.name for each in out])} {are} not: {behind}."


def _pair(results: Results, record: BestRecord) -> Comparison | None:
    """Return the comparison of the first and the last of those that may be best."""
    same = [each.found for each in results.comparisons if _place(each) == _place(record)]
    return find_pair(same, record.found.may_be_best[0], record.found.may_be_best[-1])


def _place(record: BestRecord | ComparisonRecord) -> tuple[str, ...]:
    return record.axis, record.dataset, record.chunker, record.embedder, record.retriever, record.measure


def _open(measure: str, pair: Comparison) -> str:
    """Return the difference of two that may both be best, with its decision."""
    difference = f"{score(measure, pair.difference, signed=True)} {unit_words(measure)}".rstrip()
    answer = "" if pair.shown else f": {pair.decision}"
    return f"{pair.a} {MINUS} {pair.b} is {difference} ({span(measure, pair.low, pair.high, signed=True)}){answer}."


def _behind(measure: str, one: Standing) -> str:
    low, high = sorted(abs(end) for end in (one.low, one.high))
    how_far = f"p = {one.p:.3f}, one-sided" if one.one_sided else span(measure, low, high)
    return f"{one.name} is {with_unit(measure, abs(one.difference))} behind ({how_far})"
