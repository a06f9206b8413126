"""The findings of a night, or its failure, as a message to a chat, an issue or a program."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from chunkers.plain_text import one_line
from evaluation.history.comparison import Night
from evaluation.history.gate import Finding
from evaluation.history.summary import headline, night_json, night_markdown
from evaluation.report.formats import p_value, plural, score

Form = Literal["slack", "teams", "github", "json"]
_MOST = 5
"""Findings named in a message."""
_LONGEST = 300
"""Maximum characters of a line: chats reject very long messages."""


class Link(NamedTuple):
    """A page of the history."""

    name: str
    address: str


class _Message(NamedTuple):
    title: str
    lines: list[str]
    links: list[Link]
    body: str
    """Markdown, for an issue."""

    @property
    def text(self) -> str:
        """The whole text, for plain-text destinations."""
        return "\n".join([self.title, *self.lines, *(f"{link.name}: {link.address}" for link in self.links)])


def night_notice(night: Night, form: Form, *, url: str = "") -> dict[str, Any]:
    """Return the message of a night; ``url`` is where the history folder is published, else links are relative."""
    number = night.record.number
    base, folder = _base(url), f"runs/{number:05}/"
    links = [Link("report", f"{base}{folder}report.html"), _trend(base)]
    message = _Message(
        f"chunkbench run {number}: {one_line(headline(night), limit=_LONGEST)}",
        _lines(night),
        links,
        night_markdown(night, links=f"{base}{folder}"),
    )
    return _formed(message, form, night_json(night))


def failure_notice(reason: str, form: Form, *, exit_code: int, url: str = "", earlier: bool = False) -> dict[str, Any]:
    """Return the message of a night that did not finish; with ``earlier`` nights it links to their trend."""
    title = f"chunkbench: the night did not come to its end (exit {exit_code})"
    said = one_line(reason, limit=_LONGEST)
    links = [_trend(_base(url))] if earlier else []
    below = "".join(f"\n[Earlier nights]({link.address})\n" for link in links)
    message = _Message(title, [said], links, f"# {title}\n\n{_fenced(said)}\n{below}")
    return _formed(message, form, {"headline": title, "exit_code": exit_code, "reason": reason})


def _base(url: str) -> str:
    return url.rstrip("/") + "/" if url else ""


def _trend(base: str) -> Link:
    return Link("trend", f"{base}trend.html")


def _lines(night: Night) -> list[str]:
    moved = [*night.of("regression"), *night.of("improvement")]
    said = [one_line(_words(finding), limit=_LONGEST) for finding in moved[:_MOST]]
    more = len(moved) - len(said)
    said += [f"and {more} more"] if more else []
    said += [one_line(f"failed: {line}", limit=_LONGEST) for line in night.failed[:_MOST]]
    against = f"against run {night.baseline.number}" if night.baseline else "there is no accepted run to compare with"
    return [*said, f"{plural(len(night.findings), 'comparison')}, {against}"]


def _words(finding: Finding) -> str:
    change = score(finding.measure, finding.difference, signed=True)
    ends = f"{score(finding.measure, finding.before)} → {score(finding.measure, finding.now)}"
    name = f"{finding.key.chunker} {finding.measure}"
    return f"{finding.verdict}: {name} {ends} ({change}, {p_value(finding.p_corrected)})"


def _formed(message: _Message, form: Form, facts: dict[str, Any]) -> dict[str, Any]:
    if form == "slack":
        return {"text": _slack(message.text), "blocks": _slack_blocks(message)}
    if form == "teams":
        return {"type": "message", "text": message.text, "attachments": [_teams_card(message)]}
    if form == "github":
        return {"text": message.text, "title": message.title, "body": message.body}
    links = {link.name: link.address for link in message.links}
    return {**facts, "text": message.text, "links": links}


def _slack(words: str) -> str:
    """Return text that mentions nobody and creates no links."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _slack_blocks(message: _Message) -> list[dict[str, Any]]:
    links = " · ".join(
        f"<{_slack(link.address)}|{link.name}>" for link in message.links if link.address.startswith("http")
    )
    parts = [f"*{_slack(message.title)}*", *map(_slack, message.lines), *([links] if links else [])]
    return [{"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(parts)[:2900]}}]


def _teams_card(message: _Message) -> dict[str, Any]:
    body = [_teams_text(message.title, weight="Bolder"), *(_teams_text(line) for line in message.lines)]
    actions = [
        {"type": "Action.OpenUrl", "title": link.name, "url": link.address}
        for link in message.links
        if link.address.startswith("http")
    ]
    content = {"type": "AdaptiveCard", "version": "1.4", "body": body, "actions": actions}
    return {"contentType": "application/vnd.microsoft.card.adaptive", "content": content}


def _teams_text(words: str, **how: str) -> dict[str, Any]:
    # A text block is Markdown: markup characters are escaped.
    plain = "".join(f"\\{character}" if character in "\\`*_[]<>#" else character for character in words)
    return {"type": "TextBlock", "text": plain, "wrap": True, **how}


def _fenced(words: str) -> str:
    """Return a block of code that its own backticks cannot end."""
    ticks = "`" * (1 + max(len(run) for run in ["``", *re.findall(r"`+", words)]))
    return f"{ticks}\n{words}\n{ticks}"
