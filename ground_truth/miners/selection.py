"""From candidates to queries: equal answers are grouped, and languages are drawn in proportion to their code."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from chunkers.file_facts import FileFacts
from ground_truth.miners.finds import Finds
from ground_truth.miners.places import near_identical
from ground_truth.miners.types import LanguageShare, Mined
from ground_truth.types import Annotation, HiddenSpan, Query

MAX_PLACES = 3
"""A question with more answers than this is too general."""


class Candidate(NamedTuple):
    """A text that may become a query, and the lines that answer it."""

    path: str
    language: str
    name: str
    """What the lines define; empty for a block of statements."""
    query: str
    start_line: int
    end_line: int


class Question(NamedTuple):
    """A query text, and every place that answers it."""

    asked: Candidate
    others: tuple[Candidate, ...]
    """Places that answer it equally well, in file order."""


class Harvest:
    """The possible queries of one kind in the files of a repository."""

    def __init__(self, repo: str, kind: str, files: Sequence[FileFacts], finds: Finds, code: Counter[str]) -> None:
        """``code`` is the bytes of each language that could be asked about: neither tests nor generated files."""
        self.repo, self.kind, self.code = repo, kind, code
        self._files, self._finds = files, finds

    @functools.cached_property
    def hidden(self) -> tuple[HiddenSpan, ...]:
        """The hidden text, by path and place."""
        values, counts = self._finds.hidden
        files = np.repeat(np.arange(len(counts)), counts // 2).tolist()
        paths = [file.path for file in self._files]
        spans = zip(files, values[::2].tolist(), values[1::2].tolist(), strict=True)
        return tuple(sorted(HiddenSpan(self.repo, paths[file], start, end) for file, start, end in spans))

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every possible question."""
        return self._asked[0]

    @property
    def dropped(self) -> Counter[str]:
        """The number of texts that are not queries, by reason."""
        return self._finds.dropped + self._asked[1]

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
            hidden=self.hidden,
            languages={
                language: LanguageShare(size, candidates[language], queries[language])
                for language, size in sorted(self.code.items(), key=lambda item: (-item[1], item[0]))
            },
        )

    @functools.cached_property
    def _asked(self) -> tuple[tuple[Question, ...], Counter[str]]:
        """Each question once, with its places, and the number dropped for having too many places."""
        same: dict[int, list[int]] = {}
        for place, question in zip(
            np.flatnonzero(self._finds.places.asks).tolist(), self._finds.questions, strict=True
        ):
            same.setdefault(question, []).append(place)
        near = near_identical(self._finds.places)
        dropped: Counter[str] = Counter()
        questions = []
        for asked in same.values():
            others = self._others(asked, near)
            if len(others) >= MAX_PLACES:
                dropped["asked of many places"] += len(asked)
                continue
            dropped["same question as another, now its alternative"] += len(asked) - 1
            questions.append(Question(self._candidate(asked[0]), others))
        return tuple(questions), dropped

    def _others(self, asked: Sequence[int], near: Mapping[int, Sequence[int]]) -> tuple[Candidate, ...]:
        """Return the places that answer equally well as the first that asks, in file order, each once."""
        places = {place for one in asked for place in (one, *near.get(one, ()))}
        if len(places) == 1:
            return ()
        lines = self._finds.places.lines
        first, *others = ((self._candidate(place), lines(place).tobytes()) for place in (asked[0], *sorted(places)))
        distinct = dict.fromkeys(each for each in others if each != first)
        return tuple(sorted((candidate for candidate, _ in distinct), key=_in_file_order))

    def _candidate(self, place: int) -> Candidate:
        number, start_line, end_line = self._rows[place]
        file, (name, query) = self._files[number], self._finds.texts.of(place)
        return Candidate(file.path, file.language or "", name, query, start_line, end_line)

    @functools.cached_property
    def _rows(self) -> list[tuple[int, int, int]]:
        places = self._finds.places
        return list(zip(*(each.tolist() for each in (places.file, places.start_line, places.end_line)), strict=True))

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
        """Return an id without spaces, as TREC files need it, that is stable when the lines around the answer move."""
        text = hashlib.sha256(candidate.query.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        name = candidate.name or self.kind.removesuffix("s")
        return "%20".join(f"{self.repo}:{candidate.path}#{name}-{text}".split())


def draw(
    questions: Sequence[Question], code: Counter[str], *, repo: str, limit: int | None, seed: int
) -> list[Question]:
    """Return at most ``limit`` questions in file order, languages in proportion to their code as far as supply allows.

    Seats are allocated by the method of Sainte-Laguë, so that a draw is part of every larger one; within a language the
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


def _in_file_order(candidate: Candidate) -> tuple[str, int, int, str]:
    return candidate.path, candidate.start_line, candidate.end_line, candidate.query


def _lot(candidate: Candidate, repo: str, seed: int) -> bytes:
    key = f"{seed}\0{repo}\0{candidate.path}\0{candidate.name}\0{candidate.query}"
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
