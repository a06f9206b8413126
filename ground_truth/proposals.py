"""Places of a repository that may answer a question, by the words they share with it; no model is involved.

So gold marked from these proposals was not selected by an embedder of the kind it will judge. The score is BM25 over
definitions, with extra weight for words of names and paths, and most for words that the question spells as code.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkers.definitions import Definitions
from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.source_paths import is_test_file

_K1, _B = 1.2, 0.75
_NAMES = 3
"""Weight of a word in the path or in the first line, where a definition's name is."""
_SPELLED = 2.0
"""Extra weight of a word that the question writes as code: in backticks, with_underscores, in camelCase."""
_TESTS = 0.7
"""A test shares the words of what it tests, and rarely answers."""
_LONGEST = 200
"""Maximum lines of a place; a longer definition is proposed in parts."""
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_CODE = re.compile(r"`([^`]+)`|\b(\w+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+(?:\.\w+)+)")
_COMMON = frozenset(
    "a an and are as at be by can do does each for from get has have how if in into is it its not of on or that the "
    "their then there this to use used uses using what when where which who why will with".split()
)


class Place(NamedTuple):
    """Lines of a file, and why they are proposed."""

    path: str
    first: int
    last: int
    score: float
    evidence: tuple[str, ...]
    """The words shared with the question, most distinctive first."""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    first: int
    last: int
    words: Counter[str]
    size: int
    weight: float


class Proposals:
    """The definitions of a repository, indexed by their words."""

    def __init__(self, files: Iterable[SourceFile]) -> None:
        self._entries = [entry for source in files for entry in _entries(source)]
        self._holding: dict[str, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for word in entry.words:
                self._holding.setdefault(word, []).append(number)
        total = sum(entry.size for entry in self._entries)
        self._mean = total / len(self._entries) if self._entries else 1.0

    @classmethod
    def of(cls, repository: Repository) -> Proposals:
        """Return the proposals of a repository's files."""
        return cls(repository.files())

    def best(self, question: str, *, count: int) -> list[Place]:
        """Return the places with most evidence, best first; fewer if fewer share a word with the question."""
        scores: defaultdict[int, float] = defaultdict(float)
        evidence: dict[int, list[tuple[float, str]]] = {}
        for asked in question_words(question):
            holding = self._holding.get(asked.stem, ())
            rarity = math.log(1 + (len(self._entries) - len(holding) + 0.5) / (len(holding) + 0.5))
            for number in holding:
                entry = self._entries[number]
                times = entry.words[asked.stem]
                share = times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * entry.size / self._mean))
                scores[number] += asked.weight * rarity * share * entry.weight
                evidence.setdefault(number, []).append((asked.weight * rarity, asked.word))
        ranked = sorted(scores, key=lambda number: (-scores[number], self._entries[number].path, number))
        return [self._place(number, scores[number], evidence[number]) for number in ranked[:count]]

    def _place(self, number: int, score: float, evidence: Sequence[tuple[float, str]]) -> Place:
        entry = self._entries[number]
        words = tuple(word for _, word in sorted(evidence, key=lambda one: (-one[0], one[1])))
        return Place(entry.path, entry.first, entry.last, round(score, 3), words)


class Asked(NamedTuple):
    """A word of a question as written, as looked up, and its weight."""

    word: str
    stem: str
    weight: float


def question_words(question: str) -> list[Asked]:
    """Return the distinct distinctive words of a question; words of every sentence are left out."""
    spelled = {word for match in _CODE.finditer(question) for word in _parts(match[1] or match[2])}
    found: dict[str, Asked] = {}
    for word in _parts(question):
        if word in spelled or (word not in _COMMON and len(word) > 1):
            weight = _SPELLED if word in spelled else 1.0
            found.setdefault(_stem(word), Asked(word, _stem(word), weight))
    return list(found.values())


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _parts(text)]


def _parts(text: str) -> list[str]:
    """Return identifiers whole and split, in lower case."""
    words = []
    for word in _WORD.findall(text):
        parts = _PART.findall(word)
        words += [word.lower()] if len(parts) > 1 else []
        words += [part.lower() for part in parts]
    return words


def _stem(word: str) -> str:
    """Return a word without endings in which question and name differ: caching is cache, retried is retry."""
    if word.endswith(("ied", "ies")) and len(word) > 5:
        return word[:-3] + "y"
    for ending in ("ingly", "edly", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _entries(source: SourceFile) -> list[_Entry]:
    data = source.data
    path_words = Counter(_words(source.path.rsplit(".", 1)[0]))
    weight = _TESTS if is_test_file(source.path) else 1.0
    found = []
    for piece in Definitions().split(source):
        first = data.count(b"\n", 0, piece.start) + 1
        lines = data[piece.start : piece.end].decode("utf-8", "replace").split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
            first += 1
        for start in range(0, len(lines), _LONGEST):
            part = lines[start : start + _LONGEST]
            words = Counter(_words("\n".join(part)))
            for word in (*path_words, *_words(_head(part))):
                words[word] += _NAMES
            size = sum(words.values())
            found.append(_Entry(source.path, first + start, first + start + len(part) - 1, words, size, weight))
    return found


def _head(lines: Sequence[str]) -> str:
    """Return the line most likely to name the definition: the first that is neither comment nor decorator."""
    plain = (line for line in lines if line.strip() and not line.lstrip().startswith(("#", "//", "/*", "*", "@", "--")))
    return next(plain, "")
