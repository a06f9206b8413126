"""Locates a snippet in a repository: exactly, ignoring whitespace, or as the most similar lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chunkers.sources import Repository
from ground_truth.similarity import jaccard


class SnippetPlace(NamedTuple):
    """1-based inclusive lines of a file."""

    path: str
    first: int
    last: int
    exact: bool


def find_snippet(snippet: str, repository: Repository, *, path: str, similar: float) -> SnippetPlace | None:
    """Return the place of a snippet in the file of that path, or in any file if no path is known.

    Lines are compared without surrounding whitespace, and blank lines are ignored. If they are nowhere, the stretch of
    as many lines with the highest token Jaccard is taken, if it reaches ``similar``.
    """
    wanted = [line.strip() for line in snippet.split("\n") if line.strip()]
    files = list(_files(repository, path))
    for name, text in files:
        if lines := find_lines(wanted, text):
            return SnippetPlace(name, *lines, exact=True)
    best: tuple[float, SnippetPlace] | None = None
    for name, text in files if path else ():
        for share, place in _windows(wanted, name, text):
            if share >= similar and (best is None or share > best[0]):
                best = share, place
    return best[1] if best else None


def find_lines(wanted: list[str], text: str) -> tuple[int, int] | None:
    """Return the first 1-based lines of a text that match these, ignoring blank lines and surrounding whitespace."""
    kept = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for start in range(len(kept) - len(wanted) + 1) if wanted else ():
        if kept[start][1] == wanted[0] and [line for _, line in kept[start : start + len(wanted)]] == wanted:
            return kept[start][0], kept[start + len(wanted) - 1][0]
    return None


def _files(repository: Repository, path: str) -> Iterable[tuple[str, str]]:
    source = repository.read(path) if path else None
    if source is not None:
        return [(path, source.data.decode("utf-8", "replace"))]
    return [] if path else ((one.path, one.data.decode("utf-8", "replace")) for one in repository.files())


def _windows(wanted: list[str], name: str, text: str) -> Iterable[tuple[float, SnippetPlace]]:
    kept = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    joined = "\n".join(wanted)
    for start in range(max(1, len(kept) - len(wanted) + 1)) if kept else ():
        window = kept[start : start + len(wanted)]
        share = jaccard("\n".join(line for _, line in window), joined)
        yield share, SnippetPlace(name, window[0][0], window[-1][0], exact=False)
