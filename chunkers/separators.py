"""Where text of each language is best cut, coarse to fine, for `recursive`: each match's end is a possible cut."""

from __future__ import annotations

import functools
import re

_BLANK_LINES = r"^[ \t\r]*\n(?![ \t\r]*\n)"


def _before(words: str, *, indented: bool = False) -> str:
    """Return a pattern for the start of a line that begins with one of the words."""
    choices = "|".join(re.escape(word) + (r"\b" if word.isalpha() else "") for word in words.split())
    indent = r"[ \t]+" if indented else ""
    return f"^(?={indent}(?:{choices}))"


_C = "struct union enum typedef static inline extern void int char unsigned namespace template class #define #if #ifdef"
_JAVA = "public protected private abstract final static class interface enum record @"
_SCRIPT = "export class function async const let var interface enum type namespace declare abstract @"
_MEMBERS = "async static get set constructor public private protected readonly abstract function const let var"
_BY_LANGUAGE = {
    "python": [_before("class def async @"), _before("def async class @", indented=True)],
    "javascript": [_before(_SCRIPT), _before(_MEMBERS, indented=True)],
    "java": [_before(_JAVA), _before(_JAVA, indented=True)],
    "c": [_before(_C)],
    "cpp": [_before(_C), _before("public private protected virtual static template class struct", indented=True)],
    "csharp": [_before(f"namespace internal sealed {_JAVA}"), _before(f"namespace internal {_JAVA}", indented=True)],
    "go": [_before("func type var const import")],
    "rust": [_before("pub fn impl struct enum trait mod use macro_rules! #"), _before("pub fn #", indented=True)],
    "ruby": [_before("class module def"), _before("class module def", indented=True)],
    "php": [_before(f"namespace trait function {_JAVA}"), _before(f"function {_JAVA}", indented=True)],
    "kotlin": [
        _before("class object interface fun data sealed enum val var private internal @"),
        _before("fun @", indented=True),
    ],
    "swift": [_before("class struct enum protocol extension func @"), _before("func init var let @", indented=True)],
    "scala": [_before("class object trait case def val @"), _before("def val class object @", indented=True)],
    "lua": [_before("function local")],
    "bash": [_before("function if for while case")],
    "markdown": [r"^(?=# )", r"^(?=## )", r"^(?=### )", r"^(?=#{4,} )"],
}
_LIKE = {"typescript": "javascript", "tsx": "javascript", "cuda": "cpp", "objc": "c", "groovy": "java", "luau": "lua"}


@functools.cache
def separators(language: str | None) -> tuple[re.Pattern[bytes], ...]:
    """Return the language's patterns; every list ends with blank lines, which is all that an unknown language has."""
    own = _BY_LANGUAGE.get(_LIKE.get(language or "", language or ""), [])
    return tuple(re.compile(pattern.encode(), re.MULTILINE) for pattern in (*own, _BLANK_LINES))


def has_separators(language: str | None) -> bool:
    """Return whether the language has patterns of its own."""
    return _LIKE.get(language or "", language) in _BY_LANGUAGE
