"""The overlap rules by name: when lines of a chunk and annotated lines make the chunk relevant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from ground_truth.token_f1 import THRESHOLD

Share = Literal["coverage", "purity", "iou"]
RuleName = Literal[
    "any", "annotation_fraction", "chunk_fraction", "iou", "best_cover", "min_cover", "graded", "token_f1"
]
_FORM = re.compile(r"([a-z_0-9]+)(?:\((.*)\))?\Z")
_USAGE = {
    "any": "any or any(blank=true)",
    "annotation_fraction": "annotation_fraction(0.5)",
    "chunk_fraction": "chunk_fraction(0.5)",
    "iou": "iou(0.5)",
    "best_cover": "best_cover",
    "min_cover": "min_cover",
    "graded": "graded(coverage), graded(purity) or graded(iou)",
    "token_f1": "token_f1(0.3)",
}


_MEANING = {
    "any": "shares a line that is not blank with the gold; with blank=true, any line",
    "annotation_fraction": "holds at least this share of the gold's lines",
    "chunk_fraction": "at least this share of its lines is gold",
    "iou": "shared lines over the lines of both are at least this",
    "best_cover": "holds the most of a gold region: one chunk per region",
    "min_cover": "is in the smallest set of chunks that covers the gold",
    "graded": "every chunk that shares gold, graded by the share",
    "token_f1": "token F1 with the expected answer is at least this; depends on chunk size, so not for comparing",
}


def describe_rules() -> dict[str, str]:
    """Return each rule as written → when it makes a chunk relevant."""
    return {written: _MEANING[name] for name, written in _USAGE.items()}


@dataclass(frozen=True, slots=True)
class Rule:
    """One overlap rule with its parameter; every share is a share of lines that are not blank."""

    name: RuleName
    threshold: float = 0.0
    share: Share = "coverage"
    blank: bool = False
    """Whether a shared blank line is enough (`any` only)."""

    @property
    def compares_chunkers(self) -> bool:
        """Whether its relevance does not depend on a chunk's size alone."""
        return self.name != "token_f1"

    def __str__(self) -> str:
        """Return the rule as `parse_rule` reads it."""
        if self.name in ("annotation_fraction", "chunk_fraction", "iou", "token_f1"):
            return f"{self.name}({self.threshold:g})"
        if self.name == "graded":
            return f"graded({self.share})"
        return "any(blank=true)" if self.blank else self.name


def parse_rule(text: str) -> Rule:
    """Parse a rule such as ``iou(0.5)``."""
    match = _FORM.match(text.strip())
    name = match[1] if match else text.strip()
    if match is None or name not in _USAGE:
        hint = nearest(name, _USAGE) or f" Known: {', '.join(_USAGE)}."
        raise UsageError(f"unknown overlap rule {text!r}.{hint}")
    argument = (match[2] or "").strip()
    if name == "token_f1" and not argument:
        return Rule("token_f1", threshold=THRESHOLD)
    if name in ("annotation_fraction", "chunk_fraction", "iou", "token_f1"):
        return Rule(name, threshold=_threshold(text, name, argument))  # type: ignore[arg-type] # one of the names above
    if name == "graded" and argument in get_args(Share):
        return Rule("graded", share=argument)  # type: ignore[arg-type] # tested in this condition
    if name == "any" and argument in ("", "blank=true", "blank=false"):
        return Rule("any", blank=argument == "blank=true")
    if name in ("best_cover", "min_cover") and not argument:
        return Rule(name)  # type: ignore[arg-type] # tested in this condition
    raise UsageError(f"overlap rule {text!r} is not understood: write {_USAGE[name]}")


def _threshold(text: str, name: str, argument: str) -> float:
    try:
        value = float(argument)
    except ValueError:
        raise UsageError(f"overlap rule {text!r} needs a threshold: write {_USAGE[name]}") from None
    if not 0 < value <= 1:
        raise UsageError(f"overlap rule {text!r}: the threshold must be above 0 and at most 1")
    return value
