"""The answer in words, plain ones first, claiming only what the comparisons support."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluation.report.cautions import cautions
from evaluation.report.costs import index_sentences
from evaluation.report.formats import (
    MINUS,
    basis,
    joined,
    lower_is_better,
    measure_of,
    named,
    plural,
    score,
    span,
    unit_words,
    with_unit,
)
from evaluation.report.glance import asked_words
from evaluation.report.other_axes import axis_sentences
from evaluation.report.overall import overall_sentences
from evaluation.report.power import power_words
from evaluation.report.reading import reading_sentence
from evaluation.report.view import View, views
from evaluation.results.types import Results
from evaluation.statistics import BestSet, Comparison, Standing

_NO_MEDIAN_TEST = "A query that never gets there has no difference to test, so none is called best."
_FEW = 4
"""Chunkers behind the best that are named individually."""


def verdict(results: Results) -> str:
    """Return the statement over all settings first, then a paragraph for each of them, then the cautions."""
    found = views(results)
    axes, alone = axis_sentences(results), axes_alone(results, found)
    paragraphs = [" ".join(overall_sentences(results, found))] if len(found) > 1 and not alone else []
    # With one chunker, the other axes are what is compared.
    paragraphs += [] if alone else [f"{where(view)}:\n{' '.join(sentences(view))}" for view in found]
    paragraphs.append("\n".join(axes))
    paragraphs.append("\n".join(index_sentences(found)))
    paragraphs.append("\n".join(f"Caution: {each}" for each in cautions(results, found)))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def axes_alone(results: Results, found: Sequence[View]) -> bool:
    """Return whether only embedders and retrievers are compared."""
    return bool(axis_sentences(results)) and all(len(view.rows) == 1 and not view.failed for view in found)


def sentences(view: View, *, power: bool = True) -> list[str]:
    """Return the verdict on one setting, sentence by sentence; ``power`` includes what the run could have shown."""
    return [*_answer(view, power=power), *_failures(view)]


def where(view: View) -> str:
    """Return the setting with its number of queries and repositories."""
    return f"{view.setting.title} ({asked_words(view)}, {plural(view.repositories, 'repository')})"


def _answer(view: View, *, power: bool) -> list[str]:
    untested = _untested(view)
    if untested:
        return [untested, *([_NO_MEDIAN_TEST] if measure_of(view.headline).centre == "median" else [])]
    assert view.best is not None  # noqa: S101 - `_untested` has looked
    main = _against_baseline(view, view.baseline) if view.baseline else _among_all(view, view.best)
    same = [f"{joined(names)} cut this code identically." for names in _identical(view)]
    notes = [f"Note: {part}." for part in dict.fromkeys((*view.best.caveats, *_of_the_headline(view, view.best)))]
    return [*main, *_could_have_shown(view, power=power), *same, *_other_weight(view), *notes]


def _of_the_headline(view: View, best: BestSet) -> tuple[str, ...]:
    """Return the caveats of the comparison behind the figures; what concerns all is stated for the set."""
    behind = [row.chunker for row in view.rows if row.chunker in best.excluded and best.standing(row.chunker).rival]
    leader, other = (best.may_be_best or behind)[0], (behind or best.may_be_best)[0 if behind else -1]
    pair = view.comparison(leader, view.baseline or other)
    return () if pair is None else pair.caveats


def _untested(view: View) -> str:
    """Return why nothing is compared, or nothing if there is something to compare."""
    measure = measure_of(view.headline)
    compared = [row for row in view.comparisons if row.n_queries]
    summaries = {row.chunker: row.cell.measures.get(view.headline) for row in view.rows}
    valued = [name for name, found in summaries.items() if found is not None and found.scored]
    values = ", ".join(f"{row.chunker} {score(measure, row.mean(view.headline))}" for row in view.rows)
    reasons = {
        "Nothing was scored, so nothing is compared.": not view.rows,
        f"Only one {view.noun} was scored ({values} in {view.headline}), so nothing is compared.": len(view.rows) == 1,
        "The chunkers cut this code identically, so there is nothing to compare.": _all_identical(view),
        _medians(view): measure.centre == "median",
        f"No query has a value of {view.headline}, so nothing is compared.": not valued,
        f"Only {''.join(valued)} has a value of {view.headline} on any query, so nothing is compared.": (
            len(valued) == 1
        ),
        f"No two chunkers have a value of {view.headline} on the same query, so nothing is compared.": (
            bool(view.comparisons) and not compared
        ),
        f"{view.headline} ({measure.words}): {values}. More is neither better nor worse, so none is called best.": (
            measure.direction == "none"
        ),
        f"{len(view.rows)} {view.noun}s were scored, and no comparison was computed.": view.best is None,
        f"All {view.noun}s have the same {view.headline} on every query that has one: none is shown to be better.": (
            bool(compared) and all(row.ties == row.n_queries for row in compared)
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _among_all(view: View, best: BestSet) -> list[str]:
    """State which may be best, how far the others are behind, and what is undecided."""
    may = best.may_be_best
    out = [row.chunker for row in view.rows if row.chunker in best.excluded and best.standing(row.chunker).rival]
    if not may:
        return [
            f"No {view.noun} is left as the best: each is behind another on the queries that both have a value for."
        ]
    if len(may) == 1:
        two_sided = not any(best.standing(name).one_sided for name in out)
        said = [
            f"{may[0]} is best{_here(view, best)}." if two_sided else f"Only {may[0]} may be best{_here(view, best)}."
        ]
    elif out:
        others = named(out) if len(out) <= _FEW else f"the other {len(out)}"
        others += " is not" if len(out) == 1 else " are not"
        said = [f"{named(may, 'or')} may be best{_here(view, best)}; {others}."]
    else:
        either = (
            f"Either {view.noun} may be best: neither"
            if len(may) == 2
            else f"Any of the {len(may)} {view.noun}s may be best: none"
        )
        said = [f"{either} is shown to be behind.", *_range(view, may)]
    if out:
        which = "" if len(out) == 1 else ", the closest," if len(may) == 1 else ", the closest of those that are not,"
        said += _behind(view, may[0], best.standing(out[0]), which=which)
    return [*said, *_among_the_best(view, may)]


def _here(view: View, best: BestSet) -> str:
    """Return the limit of a claim if repositories are too few to generalise to others."""
    if best.unit == "repository":
        return ""
    return " in this repository" if view.repositories == 1 else f" in these {view.repositories} repositories"


def _range(view: View, may: Sequence[str]) -> list[str]:
    """Return what the first and the lowest have shown, and the range of the headline's means."""
    known = [mean for row in view.rows if (mean := row.mean(view.headline)) is not None]
    low, high = (score(view.headline, end) for end in (min(known), max(known)))
    means = f"all have {low}" if low == high else f"they have {low} to {high}"
    least = _least_shown(view, may)
    which = ", the lowest," if len(may) > 2 else ""
    plain = reading_sentence(view, may[0], least, which=which, basis=_basis(view)) if least != may[0] else ""
    return _plain_first(plain, f"In {_explained(view)}, {means}", _basis(view))


def _least_shown(view: View, may: Sequence[str]) -> str:
    """Return the chunker that has shown least of the answer; of two, the one that does not lead."""
    name = view.recall_name
    if len(may) == 2 or name is None:
        return may[-1]
    shown = {one: mean for one in may if (mean := view.row(one).mean(name)) is not None}
    return min(reversed(shown), key=lambda one: shown[one]) if shown else may[-1]


def _plain_first(plain: str, figures: str, basis: str, *, rest: str = "") -> list[str]:
    """Return the plain sentence and the one with the measure's name; their basis is stated once."""
    return [plain, f"{figures}{rest}."] if plain else [f"{figures}, {basis}{rest}."]


def _behind(view: View, leader: str, one: Standing, *, which: str) -> list[str]:
    """Return how far the nearest excluded one is behind the best, with both means and what the interval is over."""
    measure = measure_of(view.headline)
    first, second = (score(measure, view.row(name).mean(view.headline)) for name in (leader, one.name))
    amount = with_unit(measure, abs(one.difference))
    pair = view.comparison(leader, one.name)
    plain = reading_sentence(view, leader, one.name, which=which, basis=_basis(view))
    said = (
        f"In {_explained(view)}, {leader} has {first} and {one.name}{'' if plain else which} {second}: {amount} behind "
        f"the best ({_how_far(view, one, pair)})"
    )
    return _plain_first(plain, said, _basis(view), rest=_without_one(view, pair))


def _how_far(view: View, one: Standing, pair: Comparison | None) -> str:
    """Return the interval to the best; if only the one-sided test shows a difference, with the pair's own interval."""
    if not one.one_sided:
        return span(view.headline, *sorted(abs(end) for end in (one.low, one.high)))
    said = f"p = {one.p:.3f}, one-sided, which decides who may be best"
    if pair is None or not pair.n_queries:
        return said
    low, high = (-pair.high, -pair.low) if lower_is_better(view.headline) else (pair.low, pair.high)
    return f"{said}; two-sided, {span(view.headline, low, high, signed=True)}, {'shown' if pair.shown else 'undecided'}"


def _among_the_best(view: View, may: Sequence[str]) -> list[str]:
    """State what is known among those that may be best."""
    if len(may) < 2:
        return []
    pairs = [row for k, a in enumerate(may) for b in may[k + 1 :] if (row := view.comparison(a, b)) is not None]
    if pairs and all(row.decision == "practically the same" for row in pairs):
        they = named(may) if len(may) == 2 else f"These {len(may)}"
        widest = max(pairs, key=lambda row: abs(row.difference))
        return [
            f"{they} are practically the same: every difference is within {_margin(view)}. {_difference(view, widest)}."
        ]
    said = []
    with_leader = [row for row in pairs if row.a == may[0]]
    same = [row.b for row in with_leader if row.decision == "practically the same"]
    if same:
        said.append(f"Practically the same as {may[0]}, within {_margin(view)}: {named(same)}.")
    rest = [row for row in with_leader if row.b not in same]
    return [*said, *([_open(view, rest[-1])] if rest else [])]


def _against_baseline(view: View, base: str) -> list[str]:
    found = [view.comparison(row.chunker, base) for row in view.rows if row.chunker != base]
    known = [row for row in found if row is not None]
    better = [row for row in known if row.better == row.a]
    worse = [row for row in known if row.better == row.b]
    same = [row.a for row in known if row.decision == "practically the same"]
    undecided = [row for row in known if row.decision == "undecided"]
    said = []
    if better:
        said.append(f"Better than {base}: {', '.join(_by(view, row) for row in better)}.")
    if worse:
        said.append(f"Worse than {base}: {', '.join(_by(view, row) for row in worse)}.")
    if same:
        said.append(f"Practically the same as {base}, within {_margin(view)}: {', '.join(same)}.")
    if undecided:
        said.append(f"Undecided against {base}: {', '.join(_signed(view, row) for row in undecided)}.")
    plain = reading_sentence(view, known[0].a, base, basis=_basis(view)) if known else ""
    value = score(view.headline, view.row(base).mean(view.headline))
    return [*said, *_plain_first(plain, f"{base} has {value} in {_explained(view)}", _basis(view))]


def _by(view: View, row: Comparison) -> str:
    low, high = sorted(abs(end) for end in (row.low, row.high))
    small = f", which is within {_margin(view)}" if row.within_margin else ""
    ends = f"{span(view.headline, low, high)}{small}{_without_one(view, row)}"
    return f"{row.a} by {with_unit(view.headline, abs(row.difference))} ({ends})"


def _signed(view: View, row: Comparison) -> str:
    return f"{row.a} {_numbers(view, row, and_more=_without_one(view, row, signed=True))}"


def _open(view: View, row: Comparison) -> str:
    """Return what is known about two chunkers that may both be best."""
    if row.shown:
        # Two alternatives that are far from each other may both be near the best of many.
        first = row if row.better == row.a else row.turned()
        return f"{first.a} is better than {first.b}: {_difference(view, first)}."
    if not row.n_queries:
        return f"{row.a} and {row.b} have no query in common that has a value."
    return f"Which of {row.a} and {row.b} is better is undecided: {_difference(view, row)}."


def _difference(view: View, row: Comparison) -> str:
    first, second = (f"({name})" if " " in name else name for name in (row.a, row.b))
    return f"{first} {MINUS} {second} is {_numbers(view, row)}{_without_one(view, row, signed=True)}"


def _numbers(view: View, row: Comparison, *, and_more: str = "") -> str:
    unit = f" {unit_words(view.headline)}".rstrip()
    difference = score(view.headline, row.difference, signed=True)
    return f"{difference}{unit} ({span(view.headline, row.low, row.high, signed=True)}{and_more})"


def _explained(view: View) -> str:
    """Return the headline's name with its meaning, and which direction is better if it is not the usual one."""
    measure = measure_of(view.headline)
    less = "; less is better" if lower_is_better(measure) else ""
    return f"{measure.name} ({measure.words}{less})"


def _basis(view: View) -> str:
    assert view.best is not None  # noqa: S101 - `_answer` has looked
    return basis(view.best)


def _without_one(view: View, row: Comparison | None, *, signed: bool = False) -> str:
    """Return the range of the difference when one repository is left out.

    Beside an amount without a sign, the range is in the direction of the amount, and has signs only if it includes 0.
    """
    if row is None or math.isnan(row.without_one_low) or row.n_clusters < 3:
        return ""
    low, high = row.without_one_low, row.without_one_high
    if not signed and row.difference < 0:
        low, high = -high, -low
    signed = signed or low <= 0 <= high
    ends = [score(view.headline, end, signed=True) for end in (low, high)]
    if not signed:
        ends = [score(view.headline, end) for end in sorted((abs(low), abs(high)))]
    between = f"it stays at {ends[0]}" if ends[0] == ends[1] else f"it is between {ends[0]} and {ends[1]}"
    return f"; without any one repository {between}"


def _could_have_shown(view: View, *, power: bool) -> list[str]:
    assert view.best is not None  # noqa: S101 - `_answer` has looked
    words = power_words(view)
    if not words:
        if view.best.excluded or any(row.shown for row in view.comparisons):
            return []
        if (view.best.unit, view.best.weight) == ("repository", "query"):
            # Where few repositories hold most of the queries, there are no bounds, however many queries there are.
            return ["With repositories of such unequal sizes, hardly any difference could have been shown."]
        return ["With so few queries, no difference could have been shown."]
    said = words.replace(", four times in five", " would have been shown four times in five", 1)
    return [f"{said[:1].upper()}{said[1:]}."] if power else []


def _margin(view: View) -> str:
    amount = f"{view.config.margin:g}"
    return f"{amount} points" if measure_of(view.headline).unit == "share" else f"{amount} % of the mean"


def _other_weight(view: View) -> list[str]:
    """Add a note if the other weight has another leader."""
    known = {row.chunker: value for row in view.rows if (value := row.part(view.headline, "other_mean")) is not None}
    if not known or view.repositories < 2:
        return []
    best = (min if lower_is_better(view.headline) else max)(known, key=lambda name: known[name])
    leader = view.rows[0].chunker
    if best == leader or known[best] == known.get(leader):
        return []
    other = "query" if view.config.weight == "repository" else "repository"
    values = " to ".join(score(view.headline, known[name]) for name in (best, leader))
    return [f"With each {other} counting once, the best mean would be that of {best}, not of {leader}: {values}."]


def _medians(view: View) -> str:
    """Return the medians of a measure that some queries never reach, with the number that do."""
    measure, total = measure_of(view.headline), len(view.queries)
    said = []
    for row in view.rows:
        middle = row.mean(view.headline)
        value = "no median, as half never get there" if middle is None else with_unit(measure, middle)
        said.append(
            f"{row.chunker} {value} ({row.cell.measures[view.headline].scored:,} of {total:,} queries get there)"
        )
    return f"Median of {_explained(view)}: {'; '.join(said)}."


def _all_identical(view: View) -> bool:
    return [len(names) for names in _identical(view)] == [len(view.rows)]


def _identical(view: View) -> list[list[str]]:
    """Return the groups of chunkers that cut every file at the same places."""
    groups: dict[str, list[str]] = {}
    for row in view.rows:
        if row.cell.chunks.fingerprint:
            groups.setdefault(row.cell.chunks.fingerprint, []).append(row.chunker)
    return [names for names in groups.values() if len(names) > 1]


def _failures(view: View) -> list[str]:
    if not view.failed:
        return []
    names = ", ".join(cell.key.chunker for cell in view.failed)
    left_out = "is left out" if len(view.failed) == 1 else "are left out"
    return [f"{plural(len(view.failed), view.noun)} failed and {left_out}: {names}."]
