"""The answer in words, claiming only what the comparisons carry."""

from __future__ import annotations

from evaluation.report.formats import (
    is_published,
    lower_is_better,
    measure_of,
    p_value,
    plural,
    score,
    span,
    unit_words,
)
from evaluation.report.view import View, views
from evaluation.results.types import Results
from evaluation.statistics import SIGNIFICANT, Comparison


def verdict(results: Results) -> str:
    """Return one paragraph per setting: what is shown, what is not, and what would be needed."""
    found = views(results)
    paragraphs = [f"{_where(view)}:\n{' '.join(sentences(view))}" for view in found]
    if len(found) > 1:
        paragraphs.append(
            f"Each of the {len(found)} settings is corrected for its own comparisons, not for the number of settings."
        )
    return "\n\n".join(paragraphs)


def sentences(view: View) -> list[str]:
    """Return the verdict on one setting, sentence by sentence."""
    if not view.rows:
        return ["Nothing was scored, so nothing is compared.", *_failures(view)]
    if len(view.rows) == 1:
        row = view.rows[0]
        mean = score(view.headline, row.mean(view.headline))
        return [f"Only {row.chunker} was scored ({view.headline} {mean}), so nothing is compared.", *_failures(view)]
    if not view.comparisons:
        return [f"{len(view.rows)} chunkers were scored and no comparison was computed.", *_failures(view)]
    main = _against_baseline(view) if _has_baseline(view) else _among_all(view)
    return [*main, *_caveats(view), *_failures(view)]


def _where(view: View) -> str:
    asked = "mined query" if view.mined else "query"
    counts = f"{plural(len(view.queries), asked)}, {plural(view.repositories, 'repository')}"
    return f"{view.setting.dataset} ({counts}; {view.setting.embedder}, {view.setting.retriever})"


def _has_baseline(view: View) -> bool:
    return len(view.rows) > 2 and len({row.b for row in view.comparisons}) == 1 and view.baseline is not None


def _among_all(view: View) -> list[str]:
    """Compare the best with the runner-up, then with the others, then count the pairs that are shown."""
    best, second = view.rows[0].chunker, view.rows[1].chunker
    shown = [row for row in view.comparisons if row.shown]
    if not shown:
        return _nothing_shown(view)
    tied = [row.chunker for row in view.rows[1:] if _not_shown(view, best, row.chunker)]
    nearest = view.comparison(best, tied[0] if tied else second)
    said = []
    if not tied and nearest is not None:
        said.append(f"{best} is best. {claim(view.headline, nearest)}.")
    elif nearest is not None:
        others = tied[0] if len(tied) == 1 else f"{', '.join(tied[:-1])} or {tied[-1]}"
        largest = max(shown, key=lambda row: abs(row.difference))
        said.append(f"{best} has the best mean, but no difference from {others} can be shown.")
        said.append(f"{_undecided(view.headline, nearest)}.")
        said.append(f"What is shown: {claim(view.headline, _better_first(view.headline, largest))}.")
    if len(view.rows) > 2:
        count = len(view.comparisons)
        said.append(
            f"{len(shown)} of {plural(count, 'pair')} {'differs' if len(shown) == 1 else 'differ'} after correction."
        )
    return said


def _against_baseline(view: View) -> list[str]:
    base = view.comparisons[0].b
    better = [row for row in view.comparisons if row.shown and _better_first(view.headline, row) is row]
    worse = [row for row in view.comparisons if row.shown and _better_first(view.headline, row) is not row]
    open_ = [row for row in view.comparisons if not row.shown]
    if not better and not worse:
        return _nothing_shown(view)
    said = [f"{claim(view.headline, row)}." for row in sorted(better, key=lambda row: -abs(row.difference))]
    said += [f"{claim(view.headline, row.turned())}." for row in worse]
    if open_:
        names = ", ".join(row.a for row in open_)
        said.append(f"No difference from {base} can be shown for {names}.")
    return said


def _nothing_shown(view: View) -> list[str]:
    closest = min(view.comparisons, key=lambda row: (row.p_corrected, row.p))
    who = "the two chunkers" if len(view.rows) == 2 else f"any of the {len(view.rows)} chunkers"
    if _has_baseline(view):
        who = f"{view.comparisons[0].b} and any other"
    said = f"No difference between {who} can be shown."
    return [said, f"The nearest to one: {_undecided(view.headline, _better_first(view.headline, closest))}."]


def claim(measure: str, row: Comparison) -> str:
    """Return the sentence for a difference that is shown, without its full stop; ``a`` is the better one."""
    amount = score(measure, abs(row.difference))
    low, high = row.low, row.high
    if row.difference < 0:
        low, high = -high, -low
    unit = f" {unit_words(measure)}".rstrip()
    interval = span(measure, low, high)
    asked = measure_of(measure)
    basis = _basis(row)
    if asked.label == "recall" and asked.budget:
        said = f"{row.a} reads {amount}{unit} ({interval}) more of the answer than {row.b} within {asked.budget_words}"
    elif asked.label == "naurc":
        said = (
            f"{row.a} reads more of the answer, earlier, than {row.b} within {asked.budget_words}: "
            f"{measure} is {amount}{unit} ({interval}) higher"
        )
    else:
        more = "lower" if lower_is_better(asked) else "higher"
        said = f"{measure} of {row.a} is {amount}{unit} ({interval}) {more} than that of {row.b}"
    return f"{said}; {basis}"


def _undecided(measure: str, row: Comparison) -> str:
    unit = f" {unit_words(measure)}".rstrip()
    difference = score(measure, row.difference, signed=True)
    interval = span(measure, row.low, row.high, signed=True)
    said = f"{row.a} against {row.b} is {difference}{unit} ({interval}) in {measure}; {_basis(row)}"
    if row.detectable == row.detectable:
        return f"{said}; {score(measure, row.detectable)}{unit} or more could have been shown"
    return f"{said}; the means are equal" if row.difference == 0 else said


def _basis(row: Comparison) -> str:
    """Return the p with what it is a p over, and what it is corrected for."""
    over = plural(row.n_clusters, "repository")
    if row.unit == "query":
        over = f"{plural(row.n_queries, 'query')} of {over}"
    corrected = f", corrected for {row.family} comparisons" if row.family > 1 else ""
    alone = f" ({p_value(row.p_alone)} alone)" if row.p_alone <= SIGNIFICANT < row.p else ""
    return f"{p_value(row.p_corrected)} over {over}{corrected}{alone}"


def _better_first(measure: str, row: Comparison) -> Comparison:
    sign = -1 if lower_is_better(measure) else 1
    return row if sign * row.difference >= 0 else row.turned()


def _not_shown(view: View, first: str, second: str) -> bool:
    row = view.comparison(first, second)
    return row is not None and not row.shown


def _caveats(view: View) -> list[str]:
    found = dict.fromkeys(part for row in view.comparisons for part in row.caveat.split("; ") if part)
    return [*_about_relevance(view), *(f"Note: {part}." for part in found)]


def _about_relevance(view: View) -> list[str]:
    """Return a warning where what counts as relevant does not compare chunkers."""
    used = {row.cell.judgements.strategy_used for row in view.rows} & {"token-fallback", "mixed"}
    if not used or not any(map(is_published, view.measures)):
        return []
    how = (
        "is guessed by token F1 with an expected answer, which"
        if used == {"token-fallback"}
        else "is of mixed kinds and"
    )
    return [f"Note: on chunk ids, relevance {how} favours some chunk sizes: those scores do not compare chunkers."]


def _failures(view: View) -> list[str]:
    if not view.failed:
        return []
    names = ", ".join(cell.key.chunker for cell in view.failed)
    left_out = "is left out" if len(view.failed) == 1 else "are left out"
    return [f"{plural(len(view.failed), 'chunker')} failed and {left_out}: {names}."]
