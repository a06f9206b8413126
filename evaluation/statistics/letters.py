"""Compact letter display: two chunkers share a letter when no difference between them is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def letter_display(ranked: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give each name its letters (Piepho 2004); ``ranked`` is best first, so "a" is the best group."""
    groups: list[frozenset[str]] = [frozenset(ranked)]
    for first, second in different:
        split: list[frozenset[str]] = []
        for group in groups:
            parts = [group - {first}, group - {second}] if {first, second} <= group else [group]
            split.extend(parts)
        groups = _absorb(split)
    place = {name: rank for rank, name in enumerate(ranked)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    return {name: "".join(_letter(k) for k, group in enumerate(groups) if name in group) for name in ranked}


def _absorb(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Keep the groups that are not inside another, each once."""
    unique = list(dict.fromkeys(groups))
    return [group for group in unique if not any(group < other for other in unique)]


def _letter(index: int) -> str:
    """Name a group: a … z, then A … Z, then numbered."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return alphabet[index] if index < len(alphabet) else f"({index})"
