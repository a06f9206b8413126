"""From documentation to a query: its first sentence or two, without markup, and the reasons why a text is no query."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable

from ground_truth.miners.english import ARTICLES, FILLERS, VERBS

MIN_WORDS, MAX_WORDS = 4, 60
LONGEST_TEXT = 2_000
"""Characters of a documentation that are read: its first sentence is among them, and some of the patterns below take
the square of a text's length."""
MIN_CONTENT_WORDS = 3
_ENOUGH_WORDS = 6
_SHORT_LINE = 55
_NEW_SENTENCE = re.compile(r"\s*(?:(?:[A-Z][a-z]+|An?|I[fts]|[Tt]his) [a-z]|[A-Z][a-z]+: )")
_LINE_ENDS = ("`", ")", '"', "'")
_TRAILING = ":;,- "
_LABEL = re.compile(r"^\w+: ")
_DIRECTIVE = re.compile(
    r"^[ \t]*(?:rubocop:|shellcheck (?:disable|source|shell)|eslint-|prettier-|nolint|go:\w|swiftlint:|ktlint|luacheck:"
    r"|phpcs:|@?ts-|@?phpstan-|@?psalm-|pylint:|noqa\b|clang-format|istanbul |hlint|:no(?:doc|cov):|NOLINT).*$",
    re.MULTILINE,
)
_COMPLEXITY = re.compile(
    r"\A(?:amorti[sz]ed |expected |worst[- ]case )?[/*$]?O ?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[/*$]?[.,;:]?\s+"
)

_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL | re.IGNORECASE)
# Tags that wrap prose: the tag is removed, the prose remains.
_LEADING_TAG = re.compile(
    r"\A\s*(?:[@\\](?:brief|short|summary|description|desc|details?|internal|private|public|method|function|fn"
    r"|remarks)\b"
    r":?[ \t]*"
    r"|(?:Public|Internal|Private|Protected|Summary|Description|Synopsis|Usage|Purpose)\s*:[ \t]*\n?)+",
    re.IGNORECASE,
)
# Where prose ends: an empty line, a tag, a list of parameters, an example, a table, a heading, code.
_SECTION = re.compile(
    r"\n\s*\n|\n\s*[a-z_]\w*:\s|\n\s*(?:[Cc]allers?|[Aa]sserts?|[Nn]ote|[Tt]hread[- ]safe|[Oo]therwise|[Tt]his is)\b"
    r"|(?:^|\n)\s*(?:[:@](?![a-z:]+:`)(?!see\b|link\b)\w+|\\(?!c |a |p |e |ref |b )\w+"
    r"|(?:Args?|Arguments|Params?|Parameters?|Attributes|Keyword Args|Returns?|Yields?|Raises|Throws|Examples?"
    r"|Usage|Notes?"
    r"|Warnings?|See Also|References|Since|Globals|Outputs?|Inputs?)(?::(?=\s|$)|\s*(?:\n|$))"
    r"|(?:usage|args?|arguments|params?|parameters|returns|examples?|globals|outputs?|inputs?):(?=\s|$)"
    r"|\w+\s+-\s+[A-Z]"
    r"|>>>|iex>|\$ |-{3,}|={3,}|~{3,}|```|\.\. |[#*+-] |\d+[.):] |\$[\d@*]|\[[^\]]+\]:\s)"
    r"|\s[@\\](?:params?|returns?|throws|exception|since|author|see|type|example|deprecated|tparam|sa|note|retval)\b"
    r"|<(?:p|pre|ul|ol|li|blockquote|table|param|typeparam|exception|seealso|permission)\b[^>]*>|<br ?/?>\s*<br",
)
_ROLE = re.compile(r":(?:[a-z]+:){0,2}[a-z]+:`[~!]?\.?([^`<]*?)(?:\s*<[^`]*>)?`")
_TAGGED_LINK = re.compile(r"\{@(?:link|linkplain|see)\s+(?:[^\s}|]+[\s|]+)?([^}]*)\}")
_TAGGED_NAME = re.compile(r"\{@(?:link|linkplain|code|literal|value|see)\s+#?([^}\s|]+)\}")
_INLINE_TAG = re.compile(r"\{@\w+\s+([^}]*)\}|[\\@](?:c|a|p|e|b|ref|link|em)\s+(?=\S)")
_INHERITED = re.compile(r"\{@inheritDoc\}|<inheritdoc\b[^>]*>", re.IGNORECASE)
_XML_REFERENCE = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/>")
_HTML_TAG = re.compile(
    r"</?(?:p|br|b|i|u|em|strong|code|tt|kbd|var|a|ul|ol|li|dl|dt|dd|div|span|sub|sup|small|h[1-6]|font|c|para"
    r"|see|summary"
    r"|remarks|value|returns|example|list|item|term|description|pre|blockquote|table|tr|td|th)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_AUTOLINK = re.compile(
    r"<(?:https?|mailto):[^>\s]*>"
    r"|(?:\b(?:see|at|(?:adapted )?from|based on|implementation|source|ref(?:erence)?|link|docs?)\b:?\s+)?"
    r"(?<![\w/<\"'(])https?://\S+",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\]\[]+)\](?:\([^)]*\)|\[[^\]]*\])")
_SHORTCUT = re.compile(r"(?<![\w)\]])\[\[?(`[^`\]]+`|[A-Za-z_][\w.:#]*(?:\(\))?)(?:\s[^\]]*)?\]\]?(?![\w(\[])")
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{1,2}|`([^`]+)`_{1,2}")
_HADDOCK = re.compile(r"(?<![\w'])'([A-Za-z_][\w.']*)'(?!\w)|(?<![\w@])@([^@\n]+)@(?!\w)")
_PAIRED = re.compile(r"(?<![\w+])\+([\w/.:#!?=]+)\+(?![\w+])|(?<!\w)\|(\w+)\|(?!\w)")
_CODE_SPAN = re.compile(r"`+([^`]*)`+")
# Stars around words; a single star is what the text is about.
_STARS = re.compile(r"\*+(?=\w)|(?<=[\w.!?)])\*+")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?<!cf\.)(?<!resp\.)\s+(?=[A-Z\"'(`])")
_AFTER_NAME = re.compile(r"^(?:\([^)]*\))?\s*(?:\([\d,]+\)\s*)?(?:[:=–—]+|--?)?\s+")

_ADJECTIVES = (
    "thin simple small special specialized convenience convenient backwards?[- ]compatible internal private public"
    " common little"
)
_EMPTY = re.compile(
    r"^(?:deprecated|obsolete|see\b|inherit|override[sn]?\b|overridden|same as|alias\b|similar to|like\b|as \w+, but"
    r"|(?:\w+ )?(?:version|variant) of|implements? (?:the )?[\w.:#`]+(?: interface| method| protocol)?\.?$"
    r"|implementation (?:of|for)\b"
    rf"|(?:a |an |the )?(?:(?:{_ADJECTIVES.replace(' ', '|').replace('[-|]', '[- ]')}) )*"
    r"(?:wrapper|short-?cut|short ?hand|alias|proxy|stub|placeholder|hook|callback|api|interface|entry ?point"
    r"|convenience"
    r"|helpers? (?:functions?|methods?|for|to|class)|overload|version|equivalent|accessor|getter|setter"
    r"|constructor|test|mixin"
    r"|(?:default )?implementation|a?sync\w* version)\b"
    r"|(?:please )?use \S+ instead\b"
    r"|exported for\b|exposed (?:for|to)\b|visible for\b|code (?:for|in|within)\b"
    r"|(?:an? )?copy of\b|(?:\w+ )?counterpart (?:of|to|for)\b"
    r"|not implemented|do not use|don't use|(?:for )?internal use|for testing|used (?:by|in|for|to|when|internally)\b"
    r"|(?:gets? |is )?(?:called|invoked|executed|triggered)\b|runs? (?:in|on|from|as)\b|this (?:is|was"
    r"|function is|method is|test|class|should)\b"
    r"|these are\b"
    r"|it is\b|todo\b|fixme\b|note\b|warning\b|please\b|example\b|tests? (?:that|for|if|whether|the)\b|:|@|\.\."
    r"|>>>|\W*$)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:for|unlike|because|since|but|and|so|also|however|in|on|at|as|with|without|from|by|due|until|only|not"
    r"|no|we|i|you"
    r"|there|here|is|are|was|were|has|have|had|can|could|may|might|must|should|shall|will|would|it|they|its"
    r"|what|why|how"
    r"|which|who|if you|if we|that|these|those|otherwise|but|or|non-public|say|yes|ok|ugly|hack|hacky"
    r"|workaround|assumes?|assert(?:s|ion)?|callers?|thread[- ]?safe|the following|expects?|requires?"
    r"|takes ownership|owned|consumes)\b"
    r"|^\w+ (?:is|are|was|were|must|should|shall|cannot|can't|may only|needs? to|requires?)\b|^always returns\b"
    r"|^(?:an?|the|your|our|these|each|every|all) (?:(?!(?:that|which|who|whose|where|when|if|to|for)\b)[\w-]+ ){1,5}"
    r"(?:is|are|was|were|has|have|means?|requires?|needs?|must|should|can|cannot|may)\b"
    r"|^your\b|^when (?:you|we|overriding|using|calling)\b"
    r"|^returns? (?:null|nil|none|undefined|nullptr|an? error|error|the error) (?:if|when|unless|on|for|in case)\b"
    r"|^this (?!(?:function|method|routine|procedure|macro|utility|command|operator|filter|decorator"
    r"|property)\b|\w+s\b)"
    r"|\bsee (?:also )?(?:above|below|the comment)|\b(?:described|documented|defined) (?:above|below|elsewhere)\b",
    re.IGNORECASE,
)
_TO_DO = re.compile(r"\b(?:TODO|FIXME|XXX+|HACK|BUG)\b")
_LICENCE = re.compile(r"copyright|\blicen[cs]ed\b|SPDX-|all rights reserved|\(c\) \d{4}|public domain", re.IGNORECASE)
_CONSTRUCTOR = re.compile(
    r"^(?:initiali[sz](?:e[sd]?|ing|er|ation)\b|inits?\b|construct(?:s|or|ing)?\b|instantiat\w*"
    r"|(?:creates?|builds?|makes?|returns?|allocates?) (?:a |an |the )?(?:new |empty |fresh |default )*(?:\w+ )?"
    r"(?:instance|object)\b"
    r"|sets? up (?:the|a|an|this) (?:instance|object|class)\b|(?:default|copy|move|primary|main) constructor"
    r"|new instance)",
    re.IGNORECASE,
)
_CONSTRUCTORS = frozenset(
    "__init__ __new__ __post_init__ __init_subclass__ constructor initialize init __construct".split()
)
_SYMBOLS = re.compile(
    r"==|!=|[<>]=|=>|->|<-|::=|\s[=<>|&]\s|\w\[\w*\]|\]\[|&&|\|\||[{}]|\)\(|^\W*\w+\(.*\)\.?$|\\[a-z]+\{|\$\w|\s%\w\b"
)
_CUT_OFF = re.compile(
    r"\b(?:that|if|the|an?|and|or|which|when|whose|where|because|unless|than|is|are|be|does|using|following|such as"
    r"|as follows|(?:defined|given) by)$"
)
_PARAMETERS = re.compile(
    r"^(?:params?|args?|arguments?|parameters?|returns?|inputs?|outputs?|usage|keys?|options?|type)\s*[:–-]"
    r"|^\w+\s*[:–]\s+\S",
    re.IGNORECASE,
)


def query_text(doc: str, name: str = "") -> str:
    """Return the first sentence, and the second if the first is short; empty if there is no prose.

    A text that begins with the definition's own name, as in Go, loses it: the name is in the code.
    """
    doc = _DIRECTIVE.sub("", doc)
    summary = _SUMMARY.search(doc)
    text = _LEADING_TAG.sub("", _INHERITED.sub("", (summary[1] if summary else doc).strip())).strip()
    text = _prose(_with_full_stops(_SECTION.split(_COMPLEXITY.sub("", text), maxsplit=1)[0]))
    sentences = _SENTENCE_END.split(text)
    taken = sentences[0]
    if len(taken.split()) < _ENOUGH_WORDS and len(sentences) > 1:
        second = sentences[1].rstrip(_TRAILING)
        if not (_LABEL.match(second) or _CUT_OFF.search(second)):
            taken = f"{taken} {second}"
    return _without_name(taken, name).rstrip(_TRAILING)


def _with_full_stops(text: str) -> str:
    """Return a text with a full stop after each short line that is followed by a new sentence."""
    lines = text.split("\n")
    for number, (line, following) in enumerate(itertools.pairwise(lines)):
        *_, last = line.split() or [""]
        ends = last[-1:].isalnum() or last.endswith(_LINE_ENDS)
        is_short = len(line.strip()) < _SHORT_LINE and ends and last.lower() not in FILLERS
        if is_short and _NEW_SENTENCE.match(following):
            lines[number] = line.rstrip() + "."
    return "\n".join(lines)


def _prose(text: str) -> str:
    """Return a text without the markup of Sphinx, Markdown, Javadoc, XML comments, Doxygen and Haddock."""
    for pattern in (_TAGGED_NAME, _TAGGED_LINK, _ROLE, _XML_REFERENCE):
        text = pattern.sub(r"\1", text)
    text = _INLINE_TAG.sub(lambda match: match[1] or "", text)
    text = _RST_LINK.sub(lambda match: match[1] or match[2], text)
    text = _AUTOLINK.sub("", _LINK.sub(r"\1", text))
    text = _HADDOCK.sub(lambda match: match[1] or match[2], _SHORTCUT.sub(r"\1", text))
    text = _PAIRED.sub(lambda match: match[1] or match[2], text)
    text = html.unescape(_HTML_TAG.sub(" ", text)).replace("\N{NO-BREAK SPACE}", " ")
    return " ".join(_STARS.sub("", _CODE_SPAN.sub(r"\1", text)).split())


def _without_name(text: str, name: str) -> str:
    """Return a text without the definition's name at its head: "Foo does x", "T.Foo() does x", "foo - does x"."""
    if not name:
        return text
    head, _, rest = text.partition(" ")
    bare = re.split(r"[.:#]+", re.sub(r"\(.*$", "", head.rstrip(":-–,")))[-1]
    if bare != name or not rest or (head == bare and _is_command(name, rest.split()[0])):
        return text
    rest = _AFTER_NAME.sub("", f" {rest}" if not rest.startswith(("-", "–", ":", "=")) else rest).strip()
    return re.sub(r"^(?:function|method) (?=\w+s )", "", rest)


def _is_command(name: str, following: str) -> bool:
    """Return whether the name at the start of a text is its imperative: "Find the target", "Push several at once"."""
    if following in ARTICLES:
        return True
    return name.lower() in VERBS and following[:1].isalpha() and not following.endswith("s") and following != "will"


def unfit(text: str, name: str = "") -> str:
    """Return why the text of a definition's documentation is no good query, or nothing."""
    words = len(text.split())
    if words < MIN_WORDS:
        return "too short"
    if words > MAX_WORDS:
        return "too long"
    if name in _CONSTRUCTORS:
        return "constructor phrase"
    return next((reason for reason, is_so in _RULES if is_so(text)), "")


def not_prose(text: str) -> str:
    """Return why a text is not an English sentence, or nothing."""
    if len(text.split()) > MAX_WORDS:
        return "too long"
    return next((reason for reason, is_so in _PROSE_RULES if is_so(text)), "")


def is_aside(text: str) -> bool:
    """Return whether documentation opens with a remark rather than with what the definition does or is."""
    return bool(_ASIDE.search(text))


def _is_foreign(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    english = sum(character.isascii() for character in letters)
    return english < 0.95 * len(letters) or len(letters) < 0.6 * len(text)


def _is_vague(text: str) -> bool:
    words = {word for word in re.findall(r"[a-z][a-z'_]+", text.lower()) if word not in FILLERS}
    return len(words) < MIN_CONTENT_WORDS


_PROSE_RULES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("says nothing about the code", _EMPTY.search),
    ("list of parameters", _PARAMETERS.search),
    ("cut off", _CUT_OFF.search),
    ("not English prose", _SYMBOLS.search),
    ("not English prose", _is_foreign),
)
_RULES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("to do or fix me", _TO_DO.search),
    ("licence", _LICENCE.search),
    ("constructor phrase", _CONSTRUCTOR.search),
    *_PROSE_RULES,
    ("says too little", _is_vague),
)
