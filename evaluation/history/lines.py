"""The findings of a night, and the trend of a measure, as lines for a terminal or a cron mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.history.comparison import Night
from evaluation.history.gate import Finding
from evaluation.history.summary import headline
from evaluation.history.trend import Series, by_setting
from evaluation.report.fitting import wrapped
from evaluation.report.formats import p_value, plural, score, span

_MOVERS = 3
_LONGEST_NAME = 30


def night_lines(night: Night) -> Iterator[str]:
    """Yield the verdict first, then each finding, then what changed."""
    against = f", against run {night.baseline.number}" if night.baseline else ""
    yield f"run {night.record.number}{against}: {headline(night)}"
    for finding in night.findings:
        yield f"  {finding.verdict:<14} {_words(finding)}"
    yield from (f"  failed         {line}" for line in night.failed)
    yield from (f"  not cut        {line}" for line in night.not_cut)
    for dataset, commits in night.commits.items():
        count = plural(commits.count, "commit") if commits.count is not None else "history rewritten"
        yield f"  {dataset}: {commits.before[:12]}..{commits.now[:12]}, {count}"
    for dataset, counted in night.queries.items():
        yield f"  {dataset}: {counted.shared} queries shared, {counted.appeared} new, {counted.vanished} gone"
    yield from (f"  changed: {each.words}" for each in night.differences)
    if night.of("regression") or night.of("improvement"):
        for mover in night.movers[:_MOVERS]:
            change = f"{score(mover.measure, mover.before)} → {score(mover.measure, mover.now)}"
            yield f"  moved: {mover.key.chunker} {change}: {' '.join(mover.text.split())} ({mover.query_id})"
    yield from (f"  note: {note}" for note in night.notes)


def trend_lines(series: Sequence[Series], *, width: int) -> Iterator[str]:
    """Yield one line per measure, setting and chunker: as many of the newest runs as fit, and the newest mean."""
    for place, (title, rows) in enumerate(by_setting(series).items()):
        yield from [""] if place else []
        values = [_newest(one) for one in rows]
        names = min(max(len(one.key.chunker) for one in rows), _LONGEST_NAME)
        room = max(8, width - names - max(map(len, values)) - 6)
        runs = max(len(one.points) for one in rows)
        cut = f", the newest {room} of {runs} runs" if runs > room else ""
        yield from wrapped(f"{title}{cut}", width, hang=2).split("\n")
        for one, value in zip(rows, values, strict=True):
            name = one.key.chunker
            if len(name) > names:
                yield f"  {name}"
                name = ""
            yield f"  {name:<{names}}  {one.spark[-room:]:<{min(room, runs)}}  {value}"


def _newest(one: Series) -> str:
    point = one.points[-1]
    return f"{score(one.measure, point.mean)} ({span(one.measure, point.low, point.high)})"


def _words(finding: Finding) -> str:
    name = f"{finding.key.chunker} {finding.measure}"
    if finding.verdict == "not comparable":
        return f"{name}: {finding.reason}"
    change = score(finding.measure, finding.difference, signed=True)
    return (
        f"{name}: {score(finding.measure, finding.before)} → {score(finding.measure, finding.now)} "
        f"({change}, {p_value(finding.p_corrected)}, {plural(finding.queries, 'query')})"
    )
