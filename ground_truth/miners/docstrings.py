"""Queries from documentation: the docstring asks, the definition answers, and the docstring is masked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from chunkers.sources import Repository
from chunkers.types import SourceFile
from ground_truth.miners.definitions import definitions
from ground_truth.miners.query_text import query_text, unfit
from ground_truth.miners.types import Definition, Mined
from ground_truth.source_paths import is_test_file
from ground_truth.types import Annotation, Query

MIN_BODY_LINES = 3


class _Candidate(NamedTuple):
    path: str
    definition: Definition
    query: str


def mine_docstrings(repository: Repository, *, limit: int | None = None, seed: int = 0) -> Mined:
    """Return at most ``limit`` queries of an unmasked repository, chosen by the seed alone, in file order."""
    dropped: Counter[str] = Counter()
    found = [
        candidate
        for source in repository.files()
        for candidate in _candidates(source)
        if not _note(dropped, _reason(candidate))
    ]
    texts = Counter(candidate.query.casefold() for candidate in found)
    unique = [candidate for candidate in found if texts[candidate.query.casefold()] == 1]
    chosen = sorted(unique, key=lambda candidate: _lot(candidate, repository.name, seed))[:limit]
    dropped["several definitions have this text"] += len(found) - len(unique)
    dropped["over the cap"] += len(unique) - len(chosen)
    chosen.sort(key=lambda candidate: (candidate.path, candidate.definition.start_line))
    return Mined(
        tuple(Query(_id(repository.name, one), one.query, repository.name) for one in chosen),
        tuple(
            Annotation(
                _id(repository.name, one), repository.name, one.path, one.definition.start_line, one.definition.end_line
            )
            for one in chosen
        ),
        +dropped,
    )


def _candidates(source: SourceFile) -> Iterator[_Candidate]:
    for definition in definitions(source):
        if definition.is_function:
            yield _Candidate(source.path, definition, query_text(definition.doc, definition.name))


def _reason(candidate: _Candidate) -> str:
    """Return why a documented function makes no query, or nothing."""
    if is_test_file(candidate.path):
        return "test file"
    if candidate.definition.is_overload:
        return "overload or abstract"
    if candidate.definition.body_lines < MIN_BODY_LINES:
        return "trivial body"
    return unfit(candidate.query)


def _note(dropped: Counter[str], reason: str) -> str:
    if reason:
        dropped[reason] += 1
    return reason


def _lot(candidate: _Candidate, repo: str, seed: int) -> bytes:
    """Return where a candidate stands in the draw; it depends on no other candidate."""
    key = f"{seed}\0{repo}\0{candidate.path}\0{candidate.definition.name}\0{candidate.query}"
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _id(repo: str, candidate: _Candidate) -> str:
    """Return an id without spaces, as TREC files need it, that stays when the lines around the definition move."""
    text = hashlib.sha256(candidate.query.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return "%20".join(f"{repo}:{candidate.path}#{candidate.definition.name}-{text}".split())
