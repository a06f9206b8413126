"""Finds marked lines again in another state of a repository, by the text they had.

The text may be where it was (unchanged), elsewhere (moved), changed but recognisable (edited), or not there (gone).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from chunkers.sources import Repository

Fate = Literal["unchanged", "moved", "edited", "gone"]
FATES: tuple[Fate, ...] = ("unchanged", "moved", "edited", "gone")

SAME_PLACE = 0.6
"""Token similarity at which changed lines in the same file count as the same lines."""
OTHER_FILE = 0.75
"""The threshold for another file, where chance matches are more frequent."""
_DISTINCT = 40
"""Non-whitespace characters below which equal text in another file proves nothing."""
_CANDIDATES = 5
_HEAD_LINES = 8
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"[^\W\d]\w{2,}")


class Marked(NamedTuple):
    """Lines as they were marked: their place and their text."""

    path: str
    first: int
    last: int
    text: str
    within: str = ""
    """What encloses them; it distinguishes lines that occur in several places."""


class Followed(NamedTuple):
    """Where marked lines are now; for lines that are gone, the most similar place, if any."""

    fate: Fate
    path: str
    first: int
    last: int
    similarity: float
    """1 for unchanged and moved lines."""


def anchor_text(data: bytes, first: int, last: int) -> str:
    """Return the text of 1-based inclusive lines, as stored in an annotation."""
    return "\n".join(_lines(data)[first - 1 : last])


def anchor_within(data: bytes, first: int) -> str:
    """Return the heads of what encloses a 1-based line: the nearest less indented line, and the lines above it."""
    return _within([line.rstrip() for line in _lines(data)], first)


@dataclass
class Follower:
    """Follows marked lines into one state of a repository; each file is read and split once."""

    repository: Repository
    _known: dict[str, _File | None] = field(default_factory=dict)
    _all: list[_File] | None = None

    def follow(self, marked: Marked) -> Followed:
        """Return where the lines are now."""
        wanted = [line.rstrip() for line in marked.text.split("\n")]
        here = self._file(marked.path)
        if here is not None and (starts := here.places(wanted)):
            first = here.nearest(starts, marked)
            fate: Fate = "unchanged" if first == marked.first else "moved"
            return Followed(fate, marked.path, first, first + len(wanted) - 1, 1.0)
        if moved := self._moved_to_another_file(marked, wanted):
            return moved
        return self._edited(marked, wanted, here)

    def _moved_to_another_file(self, marked: Marked, wanted: Sequence[str]) -> Followed | None:
        """Return the only other file that contains the text, or the one with the same name if there are several."""
        if not _has_content(wanted):
            return None
        found = [(file, start) for file in self._files() if file.path != marked.path for start in file.places(wanted)]
        if not found:
            return None
        named = [(file, start) for file, start in found if _name(file.path) == _name(marked.path)]
        file, first = (named or found)[0]
        # Among several copies, it is unknown which one was marked.
        fate: Fate = "moved" if len(found) == 1 or len(named) == 1 else "gone"
        return Followed(fate, file.path, first, first + len(wanted) - 1, 1.0)

    def _edited(self, marked: Marked, wanted: Sequence[str], here: _File | None) -> Followed:
        best = here.most_like(wanted, near=marked.first) if here is not None else None
        if best is not None and best.similarity >= SAME_PLACE:
            return best
        for file in self._candidates(marked, wanted):
            found = file.most_like(wanted, near=marked.first)
            if found is not None and (best is None or found.similarity > best.similarity):
                best = found
        if best is None:
            return Followed("gone", marked.path, marked.first, marked.last, 0.0)
        needed = SAME_PLACE if best.path == marked.path else OTHER_FILE
        return best if best.similarity >= needed else best._replace(fate="gone")

    def _candidates(self, marked: Marked, wanted: Sequence[str]) -> list[_File]:
        """Return the other files that contain most of the text's words, those with the same name first."""
        words = frozenset(_WORD.findall("\n".join(wanted)))
        if not words or not _has_content(wanted):
            return []
        shares = [
            (len(words & file.words) / len(words), _name(file.path) == _name(marked.path), file)
            for file in self._files()
            if file.path != marked.path
        ]
        fitting = sorted(
            (one for one in shares if one[0] >= SAME_PLACE), key=lambda one: (-one[1], -one[0], one[2].path)
        )
        return [file for _, _, file in fitting[:_CANDIDATES]]

    def _file(self, path: str) -> _File | None:
        if path not in self._known:
            source = self.repository.read(path)
            self._known[path] = _File(path, _lines(source.data)) if source is not None else None
        return self._known[path]

    def _files(self) -> list[_File]:
        if self._all is None:
            self._all = [_File(source.path, _lines(source.data)) for source in self.repository.files()]
        return self._all


class _File:
    """One file as lines, indexed by their text."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        self.path = path
        self.bare = [line.rstrip() for line in lines]
        self._where: dict[str, list[int]] = {}
        for number, line in enumerate(self.bare, 1):
            self._where.setdefault(line, []).append(number)
        self._words: frozenset[str] | None = None
        self._tokens: list[list[str]] | None = None

    @property
    def words(self) -> frozenset[str]:
        """The file's words of three letters or more."""
        if self._words is None:
            self._words = frozenset(_WORD.findall("\n".join(self.bare)))
        return self._words

    def places(self, wanted: Sequence[str]) -> list[int]:
        """Return every line at which exactly these lines begin."""
        rarest = min(range(len(wanted)), key=lambda index: len(self._where.get(wanted[index], ())))
        starts = (number - rarest for number in self._where.get(wanted[rarest], ()))
        return [start for start in starts if start >= 1 and self.bare[start - 1 : start - 1 + len(wanted)] == wanted]

    def nearest(self, starts: Sequence[int], marked: Marked) -> int:
        """Return the place whose enclosing code is most similar to that of the marked lines; on a tie, the nearest."""
        head = Counter(_TOKEN.findall(marked.within))

        def likeness(start: int) -> tuple[float, int]:
            found = _dice(head, Counter(_TOKEN.findall(_within(self.bare, start)))) if len(starts) > 1 else 0.0
            return round(found, 6), -abs(start - marked.first)

        return max(starts, key=likeness)

    def most_like(self, wanted: Sequence[str], *, near: int) -> Followed | None:
        """Return the stretch of lines that shares most tokens with these, with its edges at corresponding lines."""
        if self._tokens is None:
            self._tokens = [_TOKEN.findall(line) for line in self.bare]
        asked = Counter(token for line in wanted for token in _TOKEN.findall(line))
        if not asked or not self.bare:
            return None
        best = max(
            _shares(self._tokens, asked, width=min(len(wanted), len(self.bare))),
            key=lambda one: (one[0], -abs(one[1] - near)),
        )
        if not best[0]:
            return None
        first, last = self._edges(wanted, best[1])
        shown = Counter(token for line in self._tokens[first - 1 : last] for token in line)
        return Followed("edited", self.path, first, last, _dice(asked, shown))

    def _edges(self, wanted: Sequence[str], start: int) -> tuple[int, int]:
        """Return the lines that correspond to these, searched around the most similar stretch."""
        low = max(start - 1 - len(wanted) // 2, 0)
        window = self.bare[low : start - 1 + len(wanted) + max(len(wanted) // 2, 5)]
        left, right = [line.strip() for line in wanted], [line.strip() for line in window]
        blocks = [
            block
            for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
            if any(left[block.a : block.a + block.size])
        ]
        if not blocks:
            return start, min(start + len(wanted) - 1, len(self.bare))
        begin, end = blocks[0], blocks[-1]
        first = self._edge(left[0], right, range(begin.b + 1), begin.b - begin.a) if begin.a else begin.b
        after = len(left) - end.a - end.size
        last = end.b + end.size - 1
        last = self._edge(left[-1], right, range(last, len(right)), last + after) if after else last
        return low + first + 1, min(low + last + 1, len(self.bare))

    def _edge(self, line: str, lines: Sequence[str], among: range, usual: int) -> int:
        """Return which of some lines an edited first or last line is: the most similar, else by its old distance."""
        asked = Counter(_TOKEN.findall(line))
        usual = min(max(usual, 0), len(lines) - 1)
        best = max(among, key=lambda index: (_dice(asked, Counter(_TOKEN.findall(lines[index]))), -abs(index - usual)))
        return best if _dice(asked, Counter(_TOKEN.findall(lines[best]))) >= SAME_PLACE else usual


def _shares(tokens: Sequence[Sequence[str]], asked: Counter[str], *, width: int) -> Iterator[tuple[float, int]]:
    """Yield the similarity of each stretch of ``width`` lines and the line at which it begins."""
    total, common, size = sum(asked.values()), 0, 0
    held: Counter[str] = Counter()
    for index, line in enumerate(tokens):
        for token in line:
            common += held[token] < asked[token]
            held[token] += 1
        size += len(line)
        if index >= width:
            for token in tokens[index - width]:
                held[token] -= 1
                common -= held[token] < asked[token]
            size -= len(tokens[index - width])
        if index >= width - 1:
            yield 2 * common / (total + size), index - width + 2


def _within(lines: Sequence[str], first: int) -> str:
    start = next((index for index in range(first - 1, len(lines)) if lines[index]), len(lines))
    if start == len(lines) or not (depth := _indentation(lines[start])):
        return ""
    head = next(
        (index for index in range(start - 1, -1, -1) if lines[index] and _indentation(lines[index]) < depth), -1
    )
    # A head may have several lines (Rust's `where`, a long parameter list): it ends at a blank one.
    top = head
    while top > 0 and lines[top - 1] and head - top < _HEAD_LINES:
        top -= 1
    return " ".join(" ".join(lines[top : head + 1]).split())


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _has_content(lines: Iterable[str]) -> bool:
    """Return whether a text is long enough that a match in another file is no accident."""
    return sum(len("".join(line.split())) for line in lines) >= _DISTINCT


def _dice(left: Counter[str], right: Counter[str]) -> float:
    total = sum(left.values()) + sum(right.values())
    return 2 * sum((left & right).values()) / total if total else 0.0


def _lines(data: bytes) -> list[str]:
    """Return the lines as they are counted: only a line feed ends one."""
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def fates(followed: Iterable[Followed]) -> dict[str, int]:
    """Return the number of lines with each fate, in a fixed order, including zeros."""
    found = Counter(one.fate for one in followed)
    return {fate: found[fate] for fate in FATES}
