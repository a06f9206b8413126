"""From candidates to queries: equal answers are found, and languages are drawn in proportion to their code."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ground_truth.miners.types import LanguageShare, Mined
from ground_truth.types import Annotation, HiddenSpan, Query

MAX_PLACES = 3
"""A question with more answers than this is too general to be asked."""
NEAR = 0.8
"""Bodies that share this much of their distinct lines (Jaccard) answer the same question equally well."""
MIN_DISTINCT_LINES = 4
"""Bodies with fewer distinct lines resemble each other by chance."""
_PUNCTUATION = re.compile(r"[\W_]+")
_FILLERS = frozenset("a an the of to is are be and or in for that this".split())
_COMMON_LINE = 50
"""A line of more bodies than this finds no near-identical ones: ``return None`` and its like."""


class Candidate(NamedTuple):
    """A text that may be asked, and the lines that answer it."""

    path: str
    language: str
    name: str
    """What the lines define; empty for a block of statements."""
    query: str
    start_line: int
    end_line: int
    body: frozenset[str]
    """The distinct lines of the answer, without indentation and documentation."""


class Question(NamedTuple):
    """A text that is asked, and every place that answers it."""

    asked: Candidate
    others: tuple[Candidate, ...]
    """Places that answer it equally well, in file order."""


class Harvest:
    """What a pass over the files of a repository has found so far."""

    def __init__(self, repo: str, kind: str) -> None:
        self.repo = repo
        self.kind = kind
        self.dropped: Counter[str] = Counter()
        self.code: Counter[str] = Counter()
        """Bytes of each language that could be asked about: neither tests nor generated files."""
        self.hidden: list[HiddenSpan] = []
        self._found: list[Candidate] = []
        self._places: list[Candidate] = []

    def take(self, candidate: Candidate, *, file_reason: str, reason: str) -> None:
        """Keep a candidate, or count the reason against asking it.

        What is not asked may still answer another question, unless its whole file is out of the question.
        """
        if not file_reason:
            self._places.append(candidate)
        if file_reason or reason:
            self.dropped[file_reason or reason] += 1
        else:
            self._found.append(candidate)

    @functools.cached_property
    def questions(self) -> tuple[Question, ...]:
        """Every question that can be asked; ask for it when all files were seen."""
        return tuple(self._questions())

    def mined(self, *, limit: int | None, seed: int) -> Mined:
        """Return at most ``limit`` queries, chosen by the seed alone, in file order."""
        questions = self.questions
        chosen = draw(questions, self.code, repo=self.repo, limit=limit, seed=seed)
        over = Counter({"over the cap": len(questions) - len(chosen)})
        candidates = Counter(question.asked.language for question in questions)
        queries = Counter(question.asked.language for question in chosen)
        return Mined(
            tuple(self._query(one.asked) for one in chosen),
            tuple(note for one in chosen for note in self._annotations(one)),
            self.dropped + over,
            hidden=tuple(sorted(self.hidden)),
            languages={
                language: LanguageShare(size, candidates[language], queries[language])
                for language, size in sorted(self.code.items(), key=lambda item: (-item[1], item[0]))
            },
        )

    def _questions(self) -> Iterator[Question]:
        """Yield each question once, with its places; one with too many places is dropped and counted."""
        asked: dict[str, list[Candidate]] = {}
        for candidate in self._found:
            asked.setdefault(normalised(candidate.query), []).append(candidate)
        near = NearIdentical(self._places)
        for same in asked.values():
            places = sorted({place for one in same for place in (one, *near.of(one))} - {same[0]}, key=_in_file_order)
            if len(places) >= MAX_PLACES:
                self.dropped["asked of many places"] += len(same)
                continue
            self.dropped["same question as another, now its alternative"] += len(same) - 1
            yield Question(same[0], tuple(places))

    def _query(self, asked: Candidate) -> Query:
        return Query(self._id(asked), asked.query, self.repo, kind=self.kind, language=asked.language)

    def _annotations(self, question: Question) -> Iterator[Annotation]:
        for number, place in enumerate((question.asked, *question.others), 1):
            yield Annotation(
                self._id(question.asked),
                self.repo,
                place.path,
                place.start_line,
                place.end_line,
                alternative=str(number) if question.others else "",
            )

    def _id(self, candidate: Candidate) -> str:
        """Return an id without spaces, as TREC files need it, that stays when the lines around the answer move."""
        text = hashlib.sha256(candidate.query.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        name = candidate.name or self.kind.removesuffix("s")
        return "%20".join(f"{self.repo}:{candidate.path}#{name}-{text}".split())


class NearIdentical:
    """Places whose bodies share most of their lines."""

    def __init__(self, places: Sequence[Candidate]) -> None:
        self._places = places
        self._by_line: dict[str, list[int]] = {}
        for number, place in enumerate(places):
            for line in place.body:
                self._by_line.setdefault(line, []).append(number)

    def of(self, candidate: Candidate) -> list[Candidate]:
        """Return the other places that are near-identical to a candidate and do not overlap it."""
        if len(candidate.body) < MIN_DISTINCT_LINES:
            return []
        places = sorted((self._by_line.get(line, []) for line in candidate.body), key=len)
        # A near-identical place lacks so few of the lines that it has one of the rarest few.
        few = sum(len(places) - missing >= NEAR * len(places) for missing in range(len(places)))
        numbers = {number for some in places[:few] if len(some) <= _COMMON_LINE for number in some}
        return [
            place
            for place in (self._places[number] for number in sorted(numbers))
            if not _overlap(place, candidate)
            and len(place.body & candidate.body) >= NEAR * len(place.body | candidate.body)
        ]


def draw(
    questions: Sequence[Question], code: Counter[str], *, repo: str, limit: int | None, seed: int
) -> list[Question]:
    """Return at most ``limit`` questions in file order, languages in proportion to their code as far as they have any.

    Seats are given by the method of Sainte-Laguë, so that a draw is part of every larger one; within a language the
    seed decides, and a question's place in the draw depends on no other question.
    """
    waiting: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lambda one: _lot(one.asked, repo, seed), reverse=True):
        waiting.setdefault(question.asked.language, []).append(question)
    seats: Counter[str] = Counter()
    chosen: list[Question] = []
    while waiting and (limit is None or len(chosen) < limit):
        language = max(waiting, key=lambda name: (code[name] / (2 * seats[name] + 1), name))
        seats[language] += 1
        chosen.append(waiting[language].pop())
        if not waiting[language]:
            del waiting[language]
    return sorted(chosen, key=lambda question: _in_file_order(question.asked))


def normalised(question: str) -> str:
    """Return the words of a question in lower case, without punctuation, articles and other fillers."""
    words = _PUNCTUATION.sub(" ", question.casefold()).split()
    return " ".join(word for word in words if word not in _FILLERS)


def distinct_lines(lines: Iterable[bytes]) -> frozenset[str]:
    """Return the lines that say something, each once, without indentation."""
    texts = (" ".join(line.decode("utf-8", "replace").split()) for line in lines)
    return frozenset(text for text in texts if text.strip("{}()[];, "))


def _overlap(one: Candidate, other: Candidate) -> bool:
    return one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line


def _in_file_order(candidate: Candidate) -> tuple[str, int, int, str]:
    return candidate.path, candidate.start_line, candidate.end_line, candidate.query


def _lot(candidate: Candidate, repo: str, seed: int) -> bytes:
    key = f"{seed}\0{repo}\0{candidate.path}\0{candidate.name}\0{candidate.query}"
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
