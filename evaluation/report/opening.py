"""What a terminal shows before any table: the answer, its facts, and the cautions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evaluation.report.cautions import cautions
from evaluation.report.fitting import Prose
from evaluation.report.formats import named
from evaluation.report.glance import Fact, facts, overall_facts
from evaluation.report.other_axes import axis_sentences, axis_summary
from evaluation.report.overall import marks_beside_others, overall_lead, overall_sentences
from evaluation.report.verdict import axes_alone, sentences
from evaluation.report.view import View
from evaluation.results.types import Results

if TYPE_CHECKING:
    from rich.console import RenderableType


def opening(results: Results, views: Sequence[View], *, wide: bool) -> Iterator[RenderableType]:
    """Yield the answer, the facts and the cautions, each followed by an empty line; ``wide``: in full."""
    if axes_alone(results, views):
        # With one chunker, the other axes are what is compared.
        yield from (Prose(line) for line in axis_sentences(results))
    elif len(views) == 1:
        yield from answer(views[0])
        yield ""
        yield from fact_lines(facts(views[0]))
    else:
        first, *rest = (overall_sentences if wide else overall_lead)(results, views)
        yield Prose(" ".join([first, *rest]), strong=first)
        alone = _by_setting(views) if _rules_out_more(results, views) else ()
        yield from (Prose(line, hang=2) for line in (*alone, *axis_summary(results)))
        yield ""
        yield from fact_lines(overall_facts(results, views))
    yield ""
    found = cautions(results, views)
    yield from (Prose(f"Caution: {each}", hang=2) for each in found)
    yield from [""] if found else []


def answer(view: View) -> Iterator[RenderableType]:
    """Yield the answer for one setting in words; what the run could show is among the facts."""
    first, *rest = sentences(view, power=False)
    yield Prose(" ".join([first, *rest]), strong=first)


def fact_lines(found: Sequence[Fact]) -> Iterator[RenderableType]:
    """Yield each fact with its name."""
    width = max((len(fact.name) for fact in found), default=0) + 2
    for fact in found:
        words = named(fact.chunkers) if fact.chunkers else fact.words
        yield Prose(f"{fact.name:<{width}}{words}", hang=width)


def _rules_out_more(results: Results, views: Sequence[View]) -> bool:
    """Return whether some setting by itself says something other than all of them together."""
    if results.overall is None or any(view.best is None or view.failed for view in views):
        return True
    beside = [{name for name, mark in marks_beside_others(results, view).items() if mark} for view in views]
    return any(view.best and set(view.best.may_be_best) != held for view, held in zip(views, beside, strict=True))


def _by_setting(views: Sequence[View]) -> Iterator[str]:
    """Yield the first sentence on each setting by itself; settings with the same statement share a line."""
    said: dict[str, list[str]] = {}
    for view in views:
        said.setdefault(sentences(view)[0], []).append(view.setting.title)
    for sentence, titles in said.items():
        which = f"Each of the {len(titles)} by itself" if len(titles) == len(views) > 1 else "; ".join(titles)
        yield f"{which}: {sentence}"
