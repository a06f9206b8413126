"""What is said of embedders and retrievers: cells that differ in one of them and agree in the rest."""

from __future__ import annotations

from evaluation.report.formats import score, span, unit_words
from evaluation.results.types import BestRecord, Results


def axis_sentences(results: Results) -> list[str]:
    """Return one line for each axis and setting in which something is shown of more than one alternative."""
    found = [each for each in results.best if each.axis != "chunker" and each.measure == results.config.headline]
    return [_line(results, each) for each in found]


def _line(results: Results, record: BestRecord) -> str:
    best = record.found
    held = [part for part in (record.chunker, record.embedder, record.retriever) if part]
    names = [each.name for each in best.standings]
    means = ", ".join(f"{each.name} {score(record.measure, each.mean)}" for each in best.standings)
    head = f"{record.axis.capitalize()}s with {' · '.join(held)}: {means}."
    if len(best.may_be_best) == 1:
        winner = best.standing(best.may_be_best[0])
        unit = f" {unit_words(record.measure)}".rstrip()
        ahead = f"{score(record.measure, abs(winner.difference))}{unit}"
        return f"{head} {winner.name} is best, {ahead} ahead of {winner.rival} ({_pair(results, record, winner.name)})."
    if len(best.may_be_best) == len(names):
        return f"{head} Any of them may be best."
    return f"{head} {' or '.join(best.may_be_best)} may be best."


def _pair(results: Results, record: BestRecord, name: str) -> str:
    """Return the interval of the difference between the best and its nearest rival."""
    rival = record.found.standing(name).rival
    where = (record.axis, record.dataset, record.chunker, record.embedder, record.retriever, record.measure)
    for each in results.comparisons:
        if (each.axis, each.dataset, each.chunker, each.embedder, each.retriever, each.measure) == where:
            row = each.found if (each.found.a, each.found.b) == (name, rival) else each.found.turned()
            if (row.a, row.b) == (name, rival):
                return (
                    span(record.measure, *sorted((abs(row.low), abs(row.high))))
                    if row.shown
                    else span(record.measure, row.low, row.high, signed=True)
                )
    return "no interval"
