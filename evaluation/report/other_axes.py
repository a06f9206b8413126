"""What is said of embedders and retrievers: cells that differ in one of them and agree in the rest."""

from __future__ import annotations

from evaluation.report.formats import joined, named, score, span, with_unit
from evaluation.results.types import BestRecord, Results
from evaluation.statistics import Standing


def axis_sentences(results: Results) -> list[str]:
    """Return one line for each axis and setting in which there is more than one alternative."""
    found = [each for each in results.best if each.axis != "chunker" and each.measure == results.config.headline]
    datasets = {each.dataset for each in results.best}
    return [_line(each, name_dataset=len(datasets) > 1) for each in found]


def _line(record: BestRecord, *, name_dataset: bool) -> str:
    best = record.found
    parts = (record.dataset if name_dataset else "", record.chunker, record.embedder, record.retriever)
    ranked = sorted(best.standings, key=lambda each: -each.mean if best.higher_is_better else each.mean)
    means = ", ".join(f"{each.name} {score(record.measure, each.mean)}" for each in ranked)
    head = f"{record.axis.capitalize()}s with {' · '.join(part for part in parts if part)}: {means}."
    may = best.may_be_best
    out = [each for each in ranked if not each.may_be_best and each.rival]
    if not out:
        return f"{head} Any of them may be best."
    behind = ", ".join(_behind(record.measure, each) for each in out)
    if len(may) == 1:
        return f"{head} {may[0]} is best: {behind}."
    are = "is" if len(out) == 1 else "are"
    return f"{head} {named(may, 'or')} may be best; {joined([each.name for each in out])} {are} not: {behind}."


def _behind(measure: str, one: Standing) -> str:
    low, high = sorted(abs(end) for end in (one.low, one.high))
    return f"{one.name} is {with_unit(measure, abs(one.difference))} behind ({span(measure, low, high)})"
