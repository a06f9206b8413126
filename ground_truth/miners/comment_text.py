"""What a comment says: a description of the code below it, or one of the many other things that comments contain."""

from __future__ import annotations

import re

from ground_truth.miners.english import ARTICLES, AUXILIARIES, COMMENT_FILLERS, NO_VERBS, POINTERS, VERBS
from ground_truth.miners.query_text import not_prose, query_text

MIN_WORDS = 5
MIN_CONTENT_WORDS = 4

_DIRECTIVES = (
    # Python, JavaScript and TypeScript
    r"no ?qa|nosec|type:|pylint|pyright|mypy:|pragma|fmt:|isort|yapf|flake8|ruff|black:|autopep8|doctest|cython:"
    r"|cov(?:erage)?:|eslint|jshint|jslint|tslint|standard:|prettier|biome|deno-|istanbul|c8 |v8 |webpack|@?vite|@?ts-"
    r"|@?flow\b|__PURE__"
    # Go, C and C++, Ruby, Bash
    r"|nolint|go:|\+build|export |lint:|clang-format|clang-tidy|iwyu|lcov|gcovr?|cppcheck|coverity|astyle|rubocop|reek"
    r"|sorbet|typed:|frozen_string|:nocov:|:nodoc:|shellcheck"
    # Swift, Kotlin, Java, Scala, PHP, Lua, Elixir, Haskell, Zig, C#
    r"|swiftlint|swift-?format|sourcery|ktlint|detekt|noinspection|@formatter|checkstyle|spotless|scalastyle|scalafmt"
    r"|scalafix|\$coverage|wartremover|phpcs|phpstan|psalm|@codecoverage|@phan|luacheck|selene|stylua|credo|dialyzer"
    r"|sobelow|hlint|stylish|fourmolu|ormolu|zig fmt|resharper|nosonar"
    # editors, spelling, folding, documentation tags
    r"|cspell|codespell|spell|falls?[- ]?th|region\b|#?(?:end)?region|mark:|vim:|-\*-|coding[:=]|emacs"
    r"|language=|<<<|>>>"
    r"|%%|safety:|@(?:param|return|type|var|see|throws)\b"
)
# Each line is searched for itself: a pattern that runs on to the next from every line takes the cube of their number.
_CODE = (
    r"[;{}][^\S\n]*$"
    r"|^[^\w\n]*(?:if|elif|else if|for|while|switch|catch|with|def|class)\b.*[:{][^\S\n]*$"
    r"|^[^\w\n]*[\w.$>-]+\s*(?:[-+*/|&]?=|:=)\s*\S"
    r"|^[^\w\n]*[\w.$:]+\(.*\)[^\w\n]*$"
    r"|^[^\w\n]*(?:import|from|include|require|return|print|raise|throw|assert|await|yield|let|var|const|local|val"
    r"|echo|self\."
    r"|this\.|@)\b\s*[\w.'\"$(\[]+[^ a-z\n]*$"
)
_SYMBOLS = r"==|!=|&&|\|\||=>|->|::|</?\w+>|\w\[\w+\]|\$\w"
# Each is searched for in the whole comment, in this order.
_NO_DESCRIPTIONS = (
    (
        "to do or fix me",
        r"\b(?:TODO|FIXME|XXX+|HACK|BUG|WIP|TBD|KLUDGE)\b|@todo\b|^(?:todo|fixme|hack|note to self)\b|\?\?\?",
    ),
    ("directive", rf"(?i)^(?:{_DIRECTIVES})"),
    ("licence", r"(?i)copyright|\blicen[cs]e[ds]?\b|SPDX-|all rights reserved|\(c\) \d{4}"),
    ("section ruler", r"([^\w\s])\1{3,}|(?:[-=*#~_] ){4,}"),
    ("commented-out code", rf"(?m){_CODE}"),
    ("holds symbols of code", _SYMBOLS),
)
_PATTERNS = tuple((reason, re.compile(pattern)) for reason, pattern in _NO_DESCRIPTIONS)
_REFERENCE = re.compile(
    r"https?://|www\.|\b(?:GH|bpo|PR|issue|bug|ticket|RFC|PEP|CVE)[- ]?#?\d+|#\d{2,}", re.IGNORECASE
)
_LEAD = re.compile(
    r"^(?:(?:first|second|third|next|then|now|finally|lastly|also|otherwise|so|and|but|ok|okay|well|step|phase"
    r"|pass|case"
    r"|optimi[sz]ation|note|nb|n\.b\.)\b(?: \d+)?[,:. ]*(?:-+ )?(?:of all,? )?|\(?\d+[.):]\s*|[a-z][.)]\s+|[-*•]\s+"
    r"|[a-z]+ #?\d+[.:)]\s+)+",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"^(?:we|let's|let us|i|this (?:function|method|routine|macro)|this) (?:(?:now|first|also|then|just"
    r"|simply|only|can|must|should|will|try to|need to|want to"
    r"|have to) )*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\w+[.:;!]\s|\w+ \w+!\s|\w+ \w+n't\b|\S+(?: \S+){0,2} (?:-+|[–—]) ")
"""A sentence of one or two words, a few words before a dash, or a statement of what something is not."""
_PREDICATES = frozenset("is are was were has requires needs contains depends means returns expects happens".split())
"""Third words that make the two before them a subject: "queue validation requires …"."""
_CLAUSE_VERBS = frozenset("ensure verify check assert confirm validate make see test determine".split())
_CONDITION = re.compile(
    r"^(?:if|when|whenever|unless|once|for (?:each|every|all)|in case)\b[^,]{12,}?,\s+", re.IGNORECASE
)
_SURROUNDINGS = re.compile(
    r"\b(?:above|below|here|previous(?:ly)?|earlier|later on|the following|as follows|these are|for now|same (?:as|for"
    r"|thing)|ditto|likewise|again|too|as well|instead|anyway|yet|work ?around|this (?:is|was|will|can|may|code"
    r"|block|line"
    r"|case|function|method|test|hack|check|point|way|branch|loop|section|part))\b",
    re.IGNORECASE,
)


def comment_query(text: str) -> str:
    """Return the description that a comment opens with, without its lead-in ("First, …", "Step 2: …")."""
    stripped = _LEAD.sub("", text)
    query = query_text(stripped)
    return query[:1].upper() + query[1:] if stripped != text else query


def no_description(text: str, query: str) -> str:
    """Return why a comment does not describe the statements below it in a full sentence, or nothing."""
    found = next((reason for reason, pattern in _PATTERNS if pattern.search(text)), "")
    if found:
        return found
    if len(query.split()) < MIN_WORDS:
        return "too short"
    if _REFERENCE.search(text):
        return "refers to an issue or page"
    return _vague(query) or not_prose(query)


def _vague(query: str) -> str:
    if not describes(query):
        return "not a description"
    if _SURROUNDINGS.search(query):
        return "needs its surroundings"
    words = {word for word in re.findall(r"[a-z][a-z'_]{2,}", query.lower()) if word not in COMMENT_FILLERS}
    return "says too little" if len(words) < MIN_CONTENT_WORDS else ""


def describes(query: str) -> bool:
    """Return whether a sentence begins with an action: a verb, possibly after a condition or "we"."""
    consequence = _CONDITION.sub("", query, count=1)
    rest = _SUBJECT.sub("", consequence, count=1)
    if _HEADING.match(rest):
        return False
    words = [word.rstrip(".,;:").lower() for word in rest.split()[:3]]
    # After a condition, "it" refers to the condition's subject.
    if len(words) < 2 or (words[1] in POINTERS and consequence == query):
        return False
    verb = words[0].removeprefix("re-")
    if words[1] in AUXILIARIES | _PREDICATES or "must" in words:
        return False
    if words[-1] in _PREDICATES and verb not in _CLAUSE_VERBS:
        return False
    if verb in VERBS or _third_person(verb) in VERBS:
        return True
    return (
        verb.isalpha()
        and verb not in NO_VERBS
        and not verb.endswith(("ing", "ed", "ly", "time"))
        and words[1] in ARTICLES - {"only"}
    )


def _third_person(verb: str) -> str:
    """Return the imperative of "copies", "pushes" or "adds"."""
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes")) else verb.removesuffix("s")
