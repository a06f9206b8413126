"""The findings of a night, as a JSON object for programs and as Markdown for people."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from chunkers.plain_text import shown
from evaluation.history.comparison import Night
from evaluation.history.gate import Finding, row
from evaluation.history.movers import Mover
from evaluation.report.formats import measure_of, p_value, plural, score, span

VERSION = 1


def headline(night: Night) -> str:
    """Summarise the night in a few words."""
    if night.of("regression"):
        names = dict.fromkeys(f"{each.key.chunker} in {each.measure}" for each in night.of("regression"))
        return f"regression: {', '.join(names)}"
    if night.failed:
        return f"{plural(len(night.failed), 'cell')} failed"
    if night.baseline is None:
        return "first run" if not night.notes else "no baseline"
    if night.of("improvement"):
        names = dict.fromkeys(f"{each.key.chunker} in {each.measure}" for each in night.of("improvement"))
        return f"improvement: {', '.join(names)}"
    if len(night.of("not comparable")) == len(night.findings):
        return "not comparable with the baseline"
    return "no change"


def night_json(night: Night) -> dict[str, Any]:
    """Return the JSON object for a webhook."""
    verdicts = ("regression", "improvement", "no change", "not comparable")
    return {
        "version": VERSION,
        "run": night.record.number,
        "time": night.record.time,
        "baseline": night.baseline.number if night.baseline else None,
        "headline": headline(night),
        "exit_code": night.exit_code,
        "counts": {name: sum(each.verdict == name for each in night.findings) for name in verdicts},
        "findings": [row(finding) for finding in night.findings],
        "failed": night.failed,
        "not_cut": list(night.not_cut),
        "queries": {name: count._asdict() for name, count in night.queries.items()},
        "changes": [{**each._asdict(), "words": each.words} for each in night.differences],
        "commits": {name: dataclasses.asdict(each) for name, each in night.commits.items()},
        "movers": [
            {
                **mover.key._asdict(),
                **{name: getattr(mover, name) for name in ("measure", "query_id", "text", "place", "before", "now")},
                "link": f"runs/{night.record.number:05}/{mover.link}",
            }
            for mover in night.movers
        ],
        "notes": list(night.notes),
    }


def night_markdown(night: Night, *, links: str) -> str:
    """Return the night for people; ``links`` is the path from the text to the run's folder."""
    return "\n".join(_lines(night, links)).rstrip() + "\n"


def _lines(night: Night, links: str) -> Iterator[str]:
    number = night.record.number
    yield f"# Run {number}: {_text(headline(night))}"
    yield ""
    if night.baseline is None:
        yield f"There is no accepted run to compare with. [Report]({links}report.html)"
    else:
        counts = ", ".join(f"{count} {name}" for name, count in night_json(night)["counts"].items() if count)
        base = f"run {night.baseline.number} ({night.baseline.time})"
        yield f"Compared with {base}: {counts}. [Report]({links}report.html)"
    yield ""
    yield from _scores(night)
    yield from _section("Failed", [f"- {_text(line)}" for line in night.failed])
    yield from _section("Files that were not cut", [f"- {_text(line)}" for line in night.not_cut])
    yield from _section("Not comparable", _refusals(night))
    yield from _section("What changed", _changes(night))
    yield from _section("Queries that moved most", [_mover(mover, links) for mover in night.movers])
    yield from _section("Skipped", [f"- {_text(note)}" for note in night.notes])
    if night.baseline is not None and any(each.verdict != "no change" for each in night.findings):
        yield f'If this is as it should be: `chunkbench history accept {number} --why "…"`'


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from (f"## {title}", "", *lines, "")


def _scores(night: Night) -> Iterator[str]:
    compared = [each for each in night.findings if each.verdict != "not comparable"]
    if not compared:
        return
    several = len({(each.key.dataset, each.key.embedder, each.key.retriever) for each in compared}) > 1
    yield "| chunker | measure | baseline | now | difference | 95 % | corrected p | queries | verdict |"
    yield "|---|---|---:|---:|---:|---|---|---:|---|"
    for each in compared:
        yield _score_row(each, several=several)
    yield ""
    yield _promise(night, compared)
    yield ""
    yield from (f"{sentence}\n" for sentence in _opposites(compared))


def _promise(night: Night, compared: Sequence[Finding]) -> str:
    """Return what the means are over, how the nights were compared, and the false-alarm rate of a quiet night."""
    limits = night.limits
    least = f"{100 * limits.minimum_effect:g}"
    units = dict.fromkeys(each.unit for each in compared)
    how = {"repository": "repositories (t)", "query": "queries (sign flips)"}
    over = " or ".join(how[unit] for unit in units if unit in how)
    return (
        "Means are over the queries that both runs have, each repository counting once; shares are in points of 100. "
        f"A change is one that the paired test over {over} shows at {limits.alpha:g}, corrected for the "
        f"{plural(len(compared), 'comparison')} of the night, and that is at least {least} "
        f"{'point' if least == '1' else 'points'} of a share or "
        f"{least} % of another mean. So on nights on which nothing changed, at most {100 * limits.alpha:g} % raise any "
        f"alarm: {30 * limits.alpha:.2g} in a month of 30 such nights."
    )


def _opposites(compared: Sequence[Finding]) -> Iterator[str]:
    """Explain each chunker for which one measure got better and another got worse."""
    for key in dict.fromkeys(each.key for each in compared):
        moved = {
            verdict: [each.measure for each in compared if each.key == key and each.verdict == verdict]
            for verdict in ("improvement", "regression")
        }
        if all(moved.values()):
            up, down = ("; ".join(f"{name} ({measure_of(name).words})" for name in found) for found in moved.values())
            yield _text(
                f"{' × '.join(key)} got better in {up} and worse in {down}: they measure different things, so both "
                "can be true, and the queries that moved most show which one matters to you."
            )


def _score_row(each: Finding, *, several: bool) -> str:
    name = " × ".join(each.key) if several else each.key.chunker
    strong = "**" if each.verdict in ("regression", "improvement") else ""
    cells = [
        _text(name),
        each.measure,
        score(each.measure, each.before),
        score(each.measure, each.now),
        score(each.measure, each.difference, signed=True),
        span(each.measure, each.low, each.high, signed=True),
        p_value(each.p_corrected).removeprefix("p ").removeprefix("= "),
        str(each.queries),
        f"{strong}{each.verdict}{strong}",
    ]
    return "| " + " | ".join(cells) + " |"


def _refusals(night: Night) -> list[str]:
    groups: dict[str, list[str]] = {}
    for each in night.of("not comparable"):
        groups.setdefault(each.reason, []).append(each.key.chunker)
    return [f"- {_text(', '.join(dict.fromkeys(names)))}: {_text(reason)}" for reason, names in groups.items()]


def _changes(night: Night) -> list[str]:
    lines = []
    for dataset, found in night.commits.items():
        count = "commits unknown to the clone" if found.count is None else plural(found.count, "commit")
        lines.append(f"- {_text(dataset)}: `{found.before[:12]}..{found.now[:12]}`, {count}")
        lines += [f"  - {_text(subject)}" for subject in found.subjects]
    for dataset, asked in night.queries.items():
        if asked.appeared or asked.vanished:
            lines.append(
                f"- {_text(dataset)}: {plural(asked.shared, 'query')} shared, "
                f"{asked.appeared:,} appeared, {asked.vanished:,} vanished"
            )
    lines += [f"- {_text(each.words)}" for each in night.differences]
    return lines


def _mover(mover: Mover, links: str) -> str:
    measure = mover.measure
    change = f"{score(measure, mover.before)} → {score(measure, mover.now)}"
    where = f" ({_text(mover.place)})" if mover.place else ""
    text = _text(" ".join(mover.text.split()))
    return f"- {_text(mover.key.chunker)}, {measure} {change}: [{text}]({links}{mover.link}){where}"


def _text(words: str) -> str:
    """Return text escaped for Markdown."""
    for mark in ("\\", "`", "*", "_", "[", "]", "<", ">", "|", "#"):
        words = words.replace(mark, "\\" + mark)
    return " ".join(shown(words).splitlines())
