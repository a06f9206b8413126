"""The answer in words, plain ones first, claiming only what the comparisons carry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from evaluation.report.cautions import cautions
from evaluation.report.formats import lower_is_better, measure_of, plural, score, span, unit_words
from evaluation.report.other_axes import axis_sentences
from evaluation.report.overall import overall_sentences
from evaluation.report.view import View, views
from evaluation.results.types import Results
from evaluation.statistics import Comparison


def verdict(results: Results) -> str:
    """Return the statement over all settings first, then a paragraph for each of them."""
    found = views(results)
    paragraphs = []
    if len(found) > 1:
        paragraphs.append(" ".join(overall_sentences(results, found)))
    paragraphs += [f"{where(view)}:\n{' '.join(sentences(view))}" for view in found]
    others = axis_sentences(results)
    if others:
        paragraphs.append("\n".join(others))
    noted = cautions(results, found)
    if noted:
        paragraphs.append("\n".join(f"Caution: {each}" for each in noted))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def sentences(view: View) -> list[str]:
    """Return the verdict on one setting, sentence by sentence."""
    if not view.rows:
        return ["Nothing was scored, so nothing is compared.", *_failures(view)]
    if len(view.rows) == 1:
        row = view.rows[0]
        mean = score(view.headline, row.mean(view.headline))
        return [f"Only {row.chunker} was scored ({view.headline} {mean}), so nothing is compared.", *_failures(view)]
    if _cut_identically(view):
        return ["The chunkers cut this code identically, so there is nothing to compare.", *_failures(view)]
    if view.best is None:
        return [f"{len(view.rows)} chunkers were scored and no comparison was computed.", *_failures(view)]
    if all(row.ties == row.n_queries for row in view.comparisons):
        return [f"All chunkers have the same {view.headline} on every query.", *_failures(view)]
    main = _against_baseline(view) if view.baseline else _among_all(view)
    return [*main, *_could_have_shown(view), *_other_weight(view), *_caveats(view), *_failures(view)]


def where(view: View) -> str:
    """Return the setting with the number of its queries and repositories."""
    asked = "mined query" if view.mined else "query"
    counts = f"{plural(len(view.queries), asked)}, {plural(view.repositories, 'repository')}"
    return f"{view.setting.title} ({counts})"


def _cut_identically(view: View) -> bool:
    prints = {row.cell.chunks.fingerprint for row in view.rows}
    return len(prints) == 1 and "" not in prints


def _among_all(view: View) -> list[str]:
    """Say who may be best, by how much the others are behind, and what is left open."""
    assert view.best is not None  # noqa: S101 - `sentences` has looked
    may, out = view.best.may_be_best, [row.chunker for row in view.rows if row.chunker in view.best.excluded]
    leader = view.rows[0].chunker
    if len(may) == 1:
        said = [f"{may[0]} is best."]
    elif out:
        said = [f"{_either(may)} may be best; {_both(out)} {'is' if len(out) == 1 else 'are'} not."]
    else:
        said = [f"Any of the {len(view.rows)} chunkers may be best: none is shown to be behind."]
    if out:
        worst = view.comparison(leader, out[0]) if len(may) == 1 else _surest(view, may, out)
        if worst is not None:
            said += explained(view, worst)
    rival = next((row.chunker for row in view.rows[1:] if row.chunker in may), None)
    found = view.comparison(leader, rival) if rival else None
    if found is not None:
        said.append(_open(view, found))
    return said


def _surest(view: View, may: Sequence[str], out: Sequence[str]) -> Comparison | None:
    """Return the comparison that shows the most of the distance between those that may be best and the others."""
    found = [row for one in may for other in out if (row := view.comparison(one, other)) is not None]
    return min(found, key=lambda row: (row.p, -abs(row.difference)), default=None)


def _against_baseline(view: View) -> list[str]:
    base = view.baseline
    found = [view.comparison(row.chunker, str(base)) for row in view.rows if row.chunker != base]
    known = [row for row in found if row is not None]
    better = [row for row in known if row.better == row.a]
    worse = [row for row in known if row.better == row.b]
    same = [row.a for row in known if row.decision == "practically the same"]
    undecided = [row.a for row in known if row.decision == "undecided"]
    said = [sentence for row in better for sentence in explained(view, row)]
    said += [sentence for row in worse for sentence in explained(view, row.turned())]
    if same:
        said.append(f"Practically the same as {base}, within {_margin(view)}: {', '.join(same)}.")
    if undecided:
        said.append(f"Undecided against {base}: {', '.join(undecided)}.")
    if not better and not worse and known:
        said.append(_open(view, min(known, key=lambda row: row.p)))
    return said


def explained(view: View, row: Comparison) -> list[str]:
    """Return the difference of two chunkers in plain words, with both means, the interval and what it is over."""
    measure = measure_of(view.headline)
    recall = _recall_sentence(view, row)
    first, second = (score(measure, view.row(name).mean(view.headline)) for name in (row.a, row.b))
    more = "less" if (row.difference < 0) else "more"
    amount = f"{score(measure, abs(row.difference))} {unit_words(measure)}".rstrip()
    low, high = (row.low, row.high) if row.difference >= 0 else (-row.high, -row.low)
    said = (
        f"In {measure.name} ({measure.words}) {row.a} has {first}, {row.b} {second}: {amount} {more} "
        f"({span(measure, low, high)}), {_basis(row)}{_without_one(view, row)}."
    )
    return [*recall, said]


def _recall_sentence(view: View, row: Comparison) -> list[str]:
    """Return what was shown of the answer within the headline's budget, which anyone understands."""
    measure = measure_of(view.headline)
    name = f"recall@{view.headline.partition('@')[2]}"
    if measure.label != "naurc" or name not in view.measures:
        return []
    first, second = (view.row(one).mean(name) for one in (row.a, row.b))
    if first is None or second is None:
        return []
    said = (
        f"Of the code that answers a question, {row.a} has shown {100 * first:.0f} % once you have read "
        f"{measure.budget_words}, {row.b} {100 * second:.0f} %."
    )
    return [said]


def _open(view: View, row: Comparison) -> str:
    """Return what is known of two chunkers of which neither is shown to be better."""
    measure = view.headline
    if row.shown:
        first = row if row.better == row.a else row.turned()
        return f"{first.a} is better than {first.b} all the same: {_numbers(view, first)}."
    if row.decision == "practically the same":
        return f"{row.a} and {row.b} are practically the same, within {_margin(view)}: {_numbers(view, row)}."
    if row.difference == 0:
        return f"{row.a} and {row.b} have the same mean {measure}; which is better is undecided."
    return f"Between {row.a} and {row.b} it is undecided: {_numbers(view, row)}."


def _numbers(view: View, row: Comparison) -> str:
    difference = score(view.headline, row.difference, signed=True)
    unit = f" {unit_words(view.headline)}".rstrip()
    return f"{difference}{unit} ({span(view.headline, row.low, row.high, signed=True)})"


def _basis(row: Comparison) -> str:
    """Return what the interval is over, and what counts once."""
    if row.unit == "query":
        return f"over {plural(row.n_queries, 'query')} of {plural(row.n_clusters, 'repository')}"
    if row.weight == "query":
        return f"each of {plural(row.n_queries, 'query')} of {plural(row.n_clusters, 'repository')} counting once"
    return f"each of {plural(row.n_clusters, 'repository')} counting once"


def _without_one(view: View, row: Comparison) -> str:
    """Return the range of the difference when one repository is left out."""
    if math.isnan(row.without_one_low) or row.n_clusters < 3:
        return ""
    ends = (score(view.headline, end, signed=True) for end in (row.without_one_low, row.without_one_high))
    return f"; between {' and '.join(ends)} without one repository"


def _could_have_shown(view: View) -> list[str]:
    assert view.best is not None  # noqa: S101 - `sentences` has looked
    smallest = view.best.detectable
    if math.isnan(smallest):
        return []
    unit = f" {unit_words(view.headline)}".rstrip()
    return [f"This run can show differences of {score(view.headline, smallest)}{unit} or more (80 % power)."]


def _margin(view: View) -> str:
    measure = measure_of(view.headline)
    amount = f"{view.config.margin:g}"
    return f"{amount} points" if measure.unit == "share" else f"{amount} % of the mean"


def _other_weight(view: View) -> list[str]:
    """Say so where the other weight has another leader."""
    known = {row.chunker: value for row in view.rows if (value := row.part(view.headline, "other_mean")) is not None}
    if not known or view.repositories < 2:
        return []
    best = (min if lower_is_better(view.headline) else max)(known, key=lambda name: known[name])
    leader = view.rows[0].chunker
    if best == leader or known[best] == known.get(leader):
        return []
    other = "query" if view.config.weight == "repository" else "repository"
    values = " to ".join(score(view.headline, known[name]) for name in (best, leader))
    return [f"With each {other} counting once, {best} would lead {leader}, {values}."]


def _caveats(view: View) -> list[str]:
    assert view.best is not None  # noqa: S101 - `sentences` has looked
    return [f"Note: {part}." for part in view.best.caveats]


def _failures(view: View) -> list[str]:
    if not view.failed:
        return []
    names = ", ".join(cell.key.chunker for cell in view.failed)
    left_out = "is left out" if len(view.failed) == 1 else "are left out"
    return [f"{plural(len(view.failed), 'chunker')} failed and {left_out}: {names}."]


def _either(names: Iterable[str]) -> str:
    return _joined(list(names), "or")


def _both(names: Iterable[str]) -> str:
    return _joined(list(names), "and")


def _joined(names: Sequence[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
