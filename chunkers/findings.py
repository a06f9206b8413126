"""The findings of a contract: each rule of a kind of plug-in, and how this plug-in violates it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from chunkers.errors import UsageError, reason_of

T = TypeVar("T")

Check = Callable[[T], Iterable[str]]
"""Yields every violation of a rule by a plug-in, in plain words; nothing if there is none."""


class Finding(NamedTuple):
    """One rule and its result."""

    rule: str
    problem: str = ""
    """How the rule is violated; empty if it is not."""


def examine(plugin: T, rules: Mapping[str, Check[T]]) -> list[Finding]:
    """Return one finding per rule, with the first problem; a plug-in that raises violates the rule being checked."""
    return [Finding(rule, _first_problem(plugin, check)) for rule, check in rules.items()]


def _first_problem(plugin: T, check: Check[T]) -> str:
    try:
        return next(iter(check(plugin)), "")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever third-party code raises is the finding
        return raised(error)


def raised(error: BaseException) -> str:
    """Return an exception of a plug-in in one line: only its message if that is meant for the user."""
    return str(error) if isinstance(error, UsageError) else f"it raised {reason_of(error)}"
