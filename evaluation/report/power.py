"""What a run could have shown: the smallest true difference that it would detect four times in five."""

from __future__ import annotations

import math

import numpy as np

from evaluation.report.formats import score, with_unit
from evaluation.report.view import View
from evaluation.statistics.detectable import middle


def detectable(view: View) -> float:
    """Return that difference; NaN if unknown."""
    if view.best is None:
        return math.nan
    if not view.baseline:
        return view.best.detectable
    # Those with an effect differ; if they have no such difference, they can show none.
    found = [row.detectable for row in view.comparisons if row.effect is not None]
    return middle(np.array([math.inf if math.isnan(each) else each for each in found]))


def power_words(view: View) -> str:
    """Return it in words, with what four times as many repositories would show if something is undecided."""
    smallest = detectable(view)
    if view.best is None or math.isnan(smallest):
        return ""
    said = f"a true difference of {with_unit(view.headline, smallest)}"
    asked = [row for row in view.comparisons if view.baseline or {row.a, row.b} <= set(view.best.may_be_best)]
    if view.best.unit != "repository" or all(row.decision != "undecided" for row in asked):
        return f"{said}, four times in five"
    # An error shrinks with the square root of the number.
    more = f"with {4 * view.repositories} repositories like these, one of {score(view.headline, smallest / 2)}"
    return f"{said}, four times in five; {more}"
