"""What a reader must know before trusting the numbers, in words, where it applies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.report.formats import is_published, joined, lower_is_better, measure_of, plural, score, with_unit
from evaluation.report.power import power_words
from evaluation.report.reading import is_read
from evaluation.report.tables import group_mean
from evaluation.report.view import View
from evaluation.results.comparisons import margin_of
from evaluation.results.facts import ChunkFacts
from evaluation.results.types import Results

DEFINITION_CHUNKERS = ("definitions", "functions", "declarations")
"""Chunkers whose chunk is what a docstring documents."""
_MANY = 0.05
"""Share of files or rows from which a loss is reported on the first screen."""
_FEW = 20
_LARGE_BUDGET = 0.2


def cautions(results: Results, views: Sequence[View]) -> list[str]:
    """Return every caution that applies, once; a change of order that affects only some settings names them."""
    scored = [view for view in views if view.rows]
    found: dict[str, list[str]] = {}
    for view in scored:
        for check in (
            _smoke,
            _relevance,
            _unseen,
            _gold_shape,
            _main_language,
            _budget,
            _fallbacks,
            _without_places,
            _offsets,
            _cut_answers,
            _drops,
        ):
            found |= {each: [] for each in check(view)}
        for order in (_by_budget, _by_kind) if measure_of(view.headline).direction != "none" else ():
            for each in order(view):
                found.setdefault(each, []).append(_where(view, results))
    said = [
        f"{'; '.join(where)}: {what}" if where and len(where) < len(scored) else what for what, where in found.items()
    ]
    return [*said, *(f"{spec} was left out: {reason}." for spec, reason in results.left_out.items())]


def _where(view: View, results: Results) -> str:
    """Return the setting; its dataset only if there are several."""
    parts = view.setting if len(results.datasets) > 1 else view.setting[1:]
    return " · ".join(part for part in parts if part)


def _smoke(view: View) -> Iterator[str]:
    if view.setting.embedder.partition(":")[0] == "hashing":
        yield "hashing is a smoke test, not a model: its numbers show that the pipeline runs and claim nothing."


def _relevance(view: View) -> Iterator[str]:
    """Warn if relevance depends on the size of chunks, or is of several kinds."""
    used = {row.cell.judgements.strategy_used for row in view.rows} & {"token-fallback", "mixed"}
    if used and any(map(is_published, view.measures)):
        how = "is guessed by token F1, which favours short chunks" if "mixed" not in used else "is of mixed kinds"
        yield f"on chunk ids, relevance {how}: those scores do not compare chunkers."


def _unseen(view: View) -> Iterator[str]:
    shares = {row.chunker: row.cell.search.truncated.tokens for row in view.rows if row.cell.search.truncated}
    most = max(shares.values(), default=0.0)
    if most >= 0.005:
        low = min(shares.values())
        share = (
            f"{100 * most:.0f} %" if round(100 * low) == round(100 * most) else f"{100 * low:.0f} to {100 * most:.0f} %"
        )
        yield f"{view.setting.embedder} does not see {share} of the tokens: what it cuts off is judged unread."


def _gold_shape(view: View) -> Iterator[str]:
    contestants = [row.chunker for row in view.rows if row.chunker.partition(":")[0] in DEFINITION_CHUNKERS]
    asked = sum(query.kind == "docstrings" for query in view.queries)
    if contestants and asked:
        yield (
            f"the answer to {plural(asked, 'docstring query')} is one definition, which is exactly what "
            f"{', '.join(contestants)} cuts: look at the other kinds of queries too."
        )


def _main_language(view: View) -> Iterator[str]:
    """Warn if few questions are about the main language of the code, or if there are few questions at all."""
    shares = view.dataset.details.get("languages") if view.dataset else None
    if not isinstance(shares, dict) or not shares or not all(isinstance(share, dict) for share in shares.values()):
        return  # custom datasets describe themselves: only mined ones know the shares
    parts = {language: share.get("code_share", 0.0) for language, share in shares.items()}
    if not all(isinstance(part, int | float) for part in parts.values()):
        return
    main = max(parts, key=parts.__getitem__)
    part, total = parts[main], len(view.queries)
    count = sum(query.language == main for query in view.queries)
    if count >= _FEW:
        return
    asked = plural(total, "query")
    if count < part * total / 2:
        about = f"{count or 'none'} of the {asked} {'is' if count == 1 else 'are'} about it"
        rest = "mostly about other languages" if count else "about other languages only"
        yield f"{main} is {100 * part:.0f} % of this code, and {about}: the verdict is {rest}."
    else:
        said = ": see above what so few could have shown" if power_words(view) else ", which can show little"
        yield f"there {'is' if total == 1 else 'are'} only {asked}{said}."


def _budget(view: View) -> Iterator[str]:
    """Warn if a budget is so large a part of a repository that reading at random finds much of the answer."""
    names = [name for name in view.measures if name.startswith("recall@") and name.endswith("tok")]
    for name in names:
        levels = [row.cell.judgements.chance[name] for row in view.rows if name in row.cell.judgements.chance]
        if levels and max(levels) > _LARGE_BUDGET:
            yield (
                f"the budget of {measure_of(name).budget_words} is a large part of these "
                f"repositories: a random ranking shows {100 * max(levels):.0f} % of the answer."
            )


def _fallbacks(view: View) -> Iterator[str]:
    for row in view.rows:
        chunks = row.cell.chunks
        if words := fallback_words(chunks):
            yield f"{row.chunker} {words}."
        if chunks.failed_files:
            yield f"{row.chunker} failed on {plural(len(chunks.failed_files), 'file')}: {chunks.failed_words}."


def fallback_words(chunks: ChunkFacts) -> str:
    """State how many files were not cut as the chunker's name promises, and why; nothing if there are few."""
    fallen = sum(chunks.fallbacks.values())
    if not chunks.files or fallen <= _MANY * chunks.files:
        return ""
    return f"cut {fallen:,} of {chunks.files:,} files some other way ({', '.join(chunks.fallbacks)})"


def _without_places(view: View) -> Iterator[str]:
    """Warn if a tool or a span run answered only some of the queries."""
    for row in view.rows:
        lacking = int(row.cell.search.diagnostics.get("queries_without_places", 0))
        if lacking > _MANY * len(view.queries):
            asked = plural(len(view.queries), "query")
            yield f"{row.chunker} has no places for {lacking:,} of {asked}: they count as not found."


def _offsets(view: View) -> Iterator[str]:
    """Report how much the place of the first cut matters, where scores are averaged over several."""
    for row in view.rows:
        means = next((each.means for each in row.cell.offsets if each.measure == view.headline), ())
        if means:
            low, high = (score(view.headline, end) for end in (min(means), max(means)))
            yield (
                f"{view.setting.title}: {row.chunker} is a mean over {len(means)} first cuts, which range "
                f"from {low} to {high}."
            )


def _cut_answers(view: View) -> Iterator[str]:
    """Report if a tool answered more than was read, or if a file holds queries that were not drawn."""
    for row in view.rows:
        counts = row.cell.search.diagnostics
        answers, places = int(counts.get("answers_cut_off", 0)), int(counts.get("places_cut_off", 0))
        if answers:
            yield (
                f"{row.chunker} answered {plural(answers, 'query')} with more than {view.config.depth:,} places: "
                f"{places:,} were not read."
            )
        if counts.get("rows_not_drawn"):
            rows = f"{int(counts['rows_not_drawn']):,} rows"
            yield f"{rows} of the span run {row.chunker} are about queries that were not drawn."


def _drops(view: View) -> Iterator[str]:
    if view.dataset is None:
        return
    rows, skipped = view.dataset.details.get("rows"), view.dataset.counts("skipped")
    if isinstance(rows, int) and sum(skipped.values()) > _MANY * rows:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items())
        yield f"{sum(skipped.values()):,} of {rows:,} rows of {view.setting.dataset} were left out: {reasons}."


def _by_budget(view: View) -> Iterator[str]:
    """Warn if another chunker is clearly ahead of the leader at another budget."""
    leader, budgets = view.rows[0], view.config.budgets
    if not leader.curve:
        return
    ahead: dict[str, list[str]] = {}
    for place, budget in enumerate(budgets):
        best = max((row for row in view.rows if row.curve), key=lambda row: row.curve[place])
        more = best.curve[place] - leader.curve[place]
        if 100 * more > view.config.margin:
            ahead.setdefault(best.chunker, []).append(f"{100 * more:.1f} points more at {budget:,} tokens")
    if ahead:
        said = [f"{name} has shown {joined(where)}" for name, where in ahead.items()]
        # Another measure may have another order at every budget.
        changes = "with the budget" if is_read(view.headline) else f"between {view.headline} and what has been shown"
        yield f"the order changes {changes}: {leader.chunker} leads, but {joined(said)}."


def _by_kind(view: View) -> Iterator[str]:
    """Warn if another chunker is clearly ahead of the leader on one kind of queries, if it has more than a few."""
    counts = Counter(query.kind for query in view.queries)
    kinds, clusters = (np.array([getattr(query, name) for query in view.queries]) for name in ("kind", "cluster"))
    measure, leader = measure_of(view.headline), view.rows[0].chunker
    sign = -1 if lower_is_better(measure) else 1
    ahead = []
    for kind in (each for each, count in counts.items() if count >= _FEW):
        chosen = kinds == kind
        found = {
            row.chunker: group_mean(view, row.cell.scores[view.headline][chosen], clusters[chosen]) for row in view.rows
        }
        means = {name: sign * mean for name, mean in found.items() if mean is not None}
        if leader not in means:
            continue
        best = max(means, key=lambda name: means[name])
        more = means[best] - means[leader]
        if more > margin_of(measure, view.config, means[leader]):
            where = f"{kind or 'other queries'} ({plural(counts[kind], 'query')})"
            ahead.append(f"on {where} {best} is {with_unit(measure, more)} better")
    if ahead:
        yield f"the order changes with the kind of query: {leader} leads, but {joined(ahead)}."
