"""The queries that moved most between two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from evaluation.history.gate import Finding
from evaluation.results.types import Results
from evaluation.types import CellKey

MOST = 5


class Mover(NamedTuple):
    """A query whose score changed."""

    key: CellKey
    measure: str
    query_id: str
    text: str
    place: str
    """Where its answer is."""
    before: float
    now: float

    @property
    def link(self) -> str:
        """The query in the explorer of the run's report."""
        return f"report.html#query={quote(self.query_id, safe='')}&a={quote(self.key.chunker, safe='')}"


def movers(now: Results, before: Results, findings: Sequence[Finding], *, most: int = MOST) -> list[Mover]:
    """Return, for each finding that is a change, the queries that moved most in its direction.

    If no finding is a change, those that moved most overall are returned.
    """
    changed = [each for each in findings if each.verdict in ("improvement", "regression")]
    found = []
    for finding in changed:
        found += _of(now, before, finding, sign=np.sign(finding.difference or 0.0))[:most]
    if not changed:
        every = [mover for finding in findings if finding.queries for mover in _of(now, before, finding, sign=0.0)]
        every.sort(key=lambda mover: -abs(mover.now - mover.before))
        found = every[:most]
    return found


def _of(now: Results, before: Results, finding: Finding, *, sign: float) -> list[Mover]:
    """Return the queries of one finding that moved in the given direction, or in any, largest moves first."""
    new = next(cell for cell in now.cells if cell.key == finding.key).scores[finding.measure]
    old = next(cell for cell in before.cells if cell.key == finding.key).scores[finding.measure]
    places = {query.id: place for place, query in enumerate(before.queries_of(finding.key.dataset))}
    found = []
    for k, query in enumerate(now.queries_of(finding.key.dataset)):
        if query.id not in places:
            continue
        was, value = float(old[places[query.id]]), float(new[k])
        change = value - was
        if np.isnan(change) or change == 0 or sign * change < 0:
            continue
        gold = query.gold[0] if query.gold else None
        place = f"{gold.path}:{gold.start_line}–{gold.end_line}" if gold else ""
        found.append(Mover(finding.key, finding.measure, query.id, query.text, place, was, value))
    return sorted(found, key=lambda mover: (-abs(mover.now - mover.before), mover.query_id))
