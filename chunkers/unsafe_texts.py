"""Texts that are not given to their grammar: its scanner would not return from them, or end the process."""

from __future__ import annotations

import re

ENDLESS_LAST_LINE = {"perl": b"#"}
"""Characters not allowed on a last line without a line break: the grammar's scanner would never return, and time limits
are not checked inside a scanner. Perl's waits for the end of a comment's line."""

LONGEST_LINE = {"scala": 10_000}
"""Maximum bytes of a line, for grammars whose scanner reads to the line's end from every character unknown to it: a
megabyte took three quarters of an hour."""

_MOST_TEMPLATES = 1_000
_NESTED = {
    "markdown": re.compile(rb"^ ?+(?>(?:  |\t|>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])) ?+){100}", re.MULTILINE),
    "yaml": re.compile(rb"^[ \t?:-]{200}", re.MULTILINE),
    "perl": re.compile(rb"(?>[$@]\{(?:(?![$@]\{)[^}])*+){50}"),
}
"""What scanners do not survive that write more than their buffer of 1,024 bytes holds: 256 blocks inside each other in
Markdown and YAML, which all begin a line, and in Perl a hundred texts with a ``${``. Kotlin's ends the process at 1,025
of these."""


def unsafe_text(language: str, data: bytes) -> str:
    """Return why a text is not given to its grammar, or nothing."""
    mark = ENDLESS_LAST_LINE.get(language)
    if mark is not None and data.find(mark, data.rfind(b"\n") + 1) >= 0:
        return f"the {language} grammar never leaves its last line: end it with a line break"
    longest = LONGEST_LINE.get(language)
    if longest is not None and max(map(len, data.split(b"\n"))) > longest:
        return f"{language} is parsed up to {longest // 1000} kB a line: its grammar is slow on long lines"
    nested = _NESTED.get(language)
    if (nested is not None and nested.search(data)) or (language == "kotlin" and data.count(b"${") > _MOST_TEMPLATES):
        return f"the {language} grammar does not bear so deep a nesting"
    return ""
