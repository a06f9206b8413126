"""From documentation to a query: its first sentence or two, without markup."""

from __future__ import annotations

import re

MIN_WORDS, MAX_WORDS = 4, 60
_ENOUGH_WORDS = 6
_ROLE = re.compile(r":(?:[a-z]+:)?[a-z]+:`~?\.?([^`<]*?)(?:\s*<[^`]*>)?`")
_INLINE_TAG = re.compile(r"\{@\w+\s+([^}]*)\}")
_XML_REFERENCE = re.compile(r"<(?:see|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/>")
_MARKUP_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINK = re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])?")
_MARKS = re.compile(r"[`*]+|(?<!\w)\+(?=\w+\+)|(?<=\w)\+(?!\w)")
# Where prose ends and lists of parameters begin.
_SECTION = re.compile(
    r"\n\s*\n|\n\s*(?:[:@\\](?!see\b)\w+|Args?:|Arguments:|Parameters?:?\s*$|Returns?:|Raises:|Examples?:|>>>|-{3,}|={3,}|"
    r"\.\. |[#*-] |\d+\. |\[[^\]]+\]:\s)",
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)\s+(?=[A-Z\"'(`])")
_EMPTY_PHRASES = (
    "deprecated",
    "see ",
    "see:",
    "inherit",
    "override",
    "overridden",
    "same as",
    "initializes a new instance",
    "alias ",
    ":",
    "@",
    "..",
    ">>>",
)


def query_text(doc: str, name: str = "") -> str:
    """Return the first sentence, and the second where the first is short; empty where there is no prose.

    A text that begins with the definition's own name, as all of Go's do, goes without it: the name is in the code.
    """
    summary = re.search(r"<summary>(.*?)</summary>", doc, re.DOTALL)
    text = (summary[1] if summary else doc).strip()
    text = _SECTION.split("\n" + text if text.startswith((":", "@")) else text, maxsplit=1)[0]
    for pattern in (_ROLE, _INLINE_TAG, _XML_REFERENCE, _LINK):
        text = pattern.sub(r"\1", text)
    text = " ".join(_MARKS.sub("", _MARKUP_TAG.sub(" ", text)).split())
    sentences = _SENTENCE_END.split(text)
    taken = sentences[0]
    if len(taken.split()) < _ENOUGH_WORDS and len(sentences) > 1:
        taken = f"{taken} {sentences[1]}"
    if name and taken.startswith(f"{name} "):
        taken = taken.removeprefix(name).strip()
    return taken


def unfit(text: str) -> str:
    """Return why a text is no good query, or nothing."""
    words = len(text.split())
    if words < MIN_WORDS:
        return "too short"
    if words > MAX_WORDS:
        return "too long"
    if text.lower().startswith(_EMPTY_PHRASES):
        return "says nothing about the code"
    if " = " in text or "::=" in text:
        return "not English prose"
    letters = [character for character in text if character.isalpha()]
    english = sum(character.isascii() for character in letters)
    if english < 0.95 * len(letters) or len(letters) < 0.6 * len(text):
        return "not English prose"
    return ""
