"""The rules of ``.gitignore`` files, with git's semantics, matched in time linear in the length of a path.

Patterns are untrusted: each is compiled to a regular expression of atomic groups, which cannot backtrack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError

LARGEST = 1_000_000
"""Maximum bytes of a rules file."""

MOST_RULES = 10_000
_LONGEST = 4_096
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r"\ \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e", "punct": r"!-/:-@\[-`{-~",
    "space": r"\ \t\n\r\f\v", "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_NOTHING = "(?!)"


class Rule(NamedTuple):
    """One line: what it matches, and whether that is excluded or included again."""

    pattern: re.Pattern[str]
    excludes: bool
    folders_only: bool


class Rules(NamedTuple):
    """The rules of one file, for paths below its folder."""

    prefix: str
    rules: tuple[Rule, ...]

    def verdict(self, path: str) -> bool | None:
        """Return whether the last matching rule excludes the path; None if none matches. Folders end in a slash."""
        is_folder = path.endswith("/")
        name = path[len(self.prefix) :].removesuffix("/")
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.match(name):
                return rule.excludes
        return None


def read_rules(file: Path, *, prefix: str) -> Rules | None:
    """Return the rules of a file, or None if it is not a regular file."""
    if not file.is_file() or file.is_symlink():
        return None
    with file.open("rb") as handle:
        text = handle.read(LARGEST + 1).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    rules = tuple(parse_rules(text))
    if len(text) > LARGEST or len(rules) > MOST_RULES:
        raise UsageError(f"{file} has over {MOST_RULES:,} rules or {LARGEST // 10**6} MB: shorten it")
    return Rules(prefix, rules) if rules else None


def parse_rules(text: str) -> Iterator[Rule]:
    """Yield the rules of a file's text; rules that can match nothing are dropped, as git does."""
    for line in text.split("\n"):
        rule = _stripped(line.removesuffix("\r"))
        if not rule or rule.startswith("#"):
            continue
        excludes = not rule.startswith("!")
        rule = rule.removeprefix("!") if not excludes else rule
        folders_only = rule.endswith("/")
        rule = rule.removesuffix("/")
        if rule and len(rule) <= _LONGEST:
            anchored = "/" in rule
            expression = _path(rule.removeprefix("/")) if anchored else "(?:.*/)?" + _segment(rule)
            yield Rule(re.compile(expression + r"\Z", re.DOTALL), excludes, folders_only)


def _stripped(line: str) -> str:
    """Return the line without trailing spaces, unless a backslash escapes them."""
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 and len(bare) < len(line) else bare


def _path(rule: str) -> str:
    """Return the expression of a rule with folders; between two ``**``, the first match is the best one."""
    blocks: list[list[str]] = [[]]
    for part in _names(rule):
        if part == "**":
            blocks.append([])
        else:
            # Nothing can match between two slashes.
            blocks[-1].append(_segment(part) if part else _NOTHING)
    first, *rest = ["/".join(block) for block in blocks]
    if not rest:
        return first
    found = first + "/" if first else ""
    for block in rest[:-1]:
        found += f"(?>(?:[^/]+/)*?{block}/)" if block else ""
    # At the end, ** matches everything inside.
    return found + (f"(?:[^/]+/)*{rest[-1]}" if rest[-1] else ".+")


def _names(rule: str) -> list[str]:
    """Return the parts between slashes; a slash in brackets is a character of its class."""
    found = [""]
    at = 0
    while at < len(rule):
        end = at + 1
        if rule[at] == "[":
            end = _class(rule, at + 1)[1]
        elif rule[at] == "\\":
            end = at + 2
        if rule[at:end] in ("/", "\\/"):
            found.append("")
        else:
            found[-1] += rule[at:end]
        at = end
    return found


def _segment(rule: str) -> str:
    """Return the expression of one name with wildcards; between two stars, the first match is the best one."""
    parts: list[str] = [""]
    at = 0
    while at < len(rule):
        sign = rule[at]
        at += 1
        if sign == "*":
            parts.append("")
        elif sign == "?":
            parts[-1] += "[^/]"
        elif sign == "[":
            found, at = _class(rule, at)
            parts[-1] += found
        elif sign == "\\":
            if at == len(rule):
                return _NOTHING
            parts[-1] += re.escape(rule[at])
            at += 1
        else:
            parts[-1] += re.escape(sign)
    first, *rest = parts
    if not rest:
        return first
    return first + "".join(f"(?>[^/]*?{part})" for part in rest[:-1] if part) + f"[^/]*{rest[-1]}"


def _class(rule: str, at: int) -> tuple[str, int]:
    """Return the expression of a bracket that begins there, and where it ends.

    As in git, an unclosed bracket matches nothing, nor does an unknown class name, and of a reversed range only its
    first character counts.
    """
    negated = rule[at : at + 1] in ("!", "^") and at < len(rule)
    at += negated
    members: list[str] = []
    before = ""
    first = True
    while first or rule[at : at + 1] != "]":
        first = False
        sign = rule[at : at + 1]
        if sign == "-" and before and rule[at + 1 : at + 2] not in ("", "]"):
            at += 1 + (rule[at + 1] == "\\")
            if before <= (last := rule[at : at + 1]):
                members.append(f"{re.escape(before)}-{re.escape(last)}")
            sign = last and "range"
        elif sign == "[" and rule[at + 1 : at + 2] == ":" and (end := rule.find("]", at + 2)) >= at + 3:
            if rule[end - 1] == ":":
                members.append(_CLASSES.get(rule[at + 2 : end - 1], ""))
                at, sign = end, members[-1] and "class"
            else:
                members.append(re.escape(sign))
        else:
            at += sign == "\\"
            sign = rule[at : at + 1]
            members.append(re.escape(sign))
        if not sign:
            return _NOTHING, len(rule)
        before = sign if len(sign) == 1 else ""
        at += 1
    inside = "".join(members)
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), at + 1
