"""Texts that are not given to their grammar: its scanner would not return from them, or end the process."""

from __future__ import annotations

import re

ENDLESS_LAST_LINE = {"perl": b"#"}
"""Characters not allowed on a last line without a line break: the grammar's scanner would never return, and time limits
are not checked inside a scanner. Perl's waits for the end of a comment's line."""

LONGEST_LINE = {"scala": 10_000}
"""Maximum bytes of a line, for grammars whose scanner reads to the line's end from every character unknown to it: a
megabyte took three quarters of an hour."""

_NESTED = {
    "markdown": re.compile(rb"^ ?+(?>(?: ?(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))|  |\t) ?+){100}", re.MULTILINE),
    "yaml": re.compile(rb"^[ \t?:-]{200}|(?>[?:-][ \t]++){50}", re.MULTILINE),
}
"""What scanners do not survive that write more than their buffer of 1,024 bytes holds: 256 blocks inside each other in
Markdown and YAML, where they begin a line or, in YAML, follow each other on one."""

_MOST = {"kotlin": 1_000, "perl": 75, "python": 300}
"""Maximum of what `_open` counts. Kotlin's scanner ends the process at 1,025 open texts, Perl's at 83 quotes, Python's
at some 400 to 511 indentations inside each other, depending on the quotes open in them."""

_PERL_CLOSED = re.compile(
    rb"""[{\[](?:"[\w .:-]*+"|'[\w .:-]*+'"""
    rb"""|(?![\w\t $@:>,.+*=()!&|-]*?(?<![$@%&\w>-])(?:q[qrwx]?|m|s|y|tr)\b)[\w\t $@:>,.+*=()!&|-]*+)[}\]]"""
)
"""A subscript or block of Perl in which nothing can hide its end."""

_PERL_OPENED = re.compile(
    rb"(?<![\w:$@%#&*^>-])[\w:%#&*^>-]*+[$@][\w:$@%#&*^>-]*+\s*+[{\[]"
    rb"|(?<![\w:$@%#&*^>-])[\w:$%#&*^>-]*+@[\w:$@%#&*^>-]*+\("
    rb"|[$@][^\s\w]\s*+[{\[]|[$@]\s++#"
)
"""What opens code inside a text of Perl, so that the next quote is inside that text."""

_PERL_PAIRED = re.compile(rb"(?<![$@%&\w\\])(?<!->)(?:(?:y|tr|s)\s*+[<{(\[]|q[qrx][-:>,.+*])")
"""Quotes of Perl that its scanner never takes off its stack, or whose end may look like a part of an expression."""

_TAB = 8
_BLANKS = bytes.maketrans(b"\t\f\r\n\\", b"     ")
_CONTINUED = re.compile(rb"\\\r?\n")
_PYTHON_INDENT = re.compile(rb"^(?:[ \t\f\r]|\\\r?\n)*+", re.MULTILINE)


def _may_be_deep(data: bytes, depth: int) -> bool:
    """Return whether a Python text is as long as that many indentations inside each other, and has the widest of them.

    Looking at every line takes a tenth of the parse; this, a hundredth of it for long files, and less for others.
    """
    wide = _TAB if b"\t" in data else 1
    if len(data) < depth * depth / 2 / wide:
        return False
    blanks = b" " * (depth // wide)
    mixed = wide > 1 or b"\f" in data or _CONTINUED.search(data) is not None
    return blanks in data or (mixed and blanks in data.translate(_BLANKS))


def _open(language: str, data: bytes) -> int:
    """Return a number that no count of what is open at one time can exceed."""
    if language == "kotlin":
        return data.count(b"${")
    if language == "python":
        return len(set(_PYTHON_INDENT.findall(data))) if _may_be_deep(data, _MOST[language]) else 0
    paired = len(_PERL_PAIRED.findall(data))
    for _ in range(4):
        data = _PERL_CLOSED.sub(b"", data)
    return paired + len(_PERL_OPENED.findall(data))


def unsafe_text(language: str, data: bytes) -> str:
    """Return why a text is not given to its grammar, or nothing."""
    mark = ENDLESS_LAST_LINE.get(language)
    if mark is not None and data.find(mark, data.rfind(b"\n") + 1) >= 0:
        return f"the {language} grammar never leaves its last line: end it with a line break"
    longest = LONGEST_LINE.get(language)
    if longest is not None and max(map(len, data.split(b"\n"))) > longest:
        return f"{language} is parsed up to {longest // 1000} kB a line: its grammar is slow on long lines"
    nested = _NESTED.get(language)
    most = _MOST.get(language)
    if (nested is not None and nested.search(data)) or (most is not None and _open(language, data) > most):
        return f"the {language} grammar does not bear so deep a nesting"
    return ""
