"""What a contract finds: each rule of a kind of plug-in, and how this plug-in breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from chunkers.errors import UsageError, reason_of

T = TypeVar("T")

Check = Callable[[T], Iterable[str]]
"""Yields every way in which a plug-in breaks a rule, in plain words; nothing where the rule is kept."""


class Finding(NamedTuple):
    """One rule, and what was seen of it."""

    rule: str
    problem: str = ""
    """How the rule is broken; empty where it is kept."""


def examine(plugin: T, rules: Mapping[str, Check[T]]) -> list[Finding]:
    """Return one finding for each rule, with the first problem; a plug-in that raises breaks the rule it raised in."""
    return [Finding(rule, _first_problem(plugin, check)) for rule, check in rules.items()]


def _first_problem(plugin: T, check: Check[T]) -> str:
    try:
        return next(iter(check(plugin)), "")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever other people's code raises is the finding
        return raised(error)


def raised(error: BaseException) -> str:
    """Return what a plug-in raised, in one line: its own words where they are meant for the user."""
    return str(error) if isinstance(error, UsageError) else f"it raised {reason_of(error)}"
