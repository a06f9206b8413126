"""The header that code-chunk puts above each chunk: its place, what it defines, and its surroundings."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from chunkers.outline import Definition, name_of, signature_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PATH_PARTS, _IMPORTS, _SIBLINGS = 3, 10, 3
_BEGIN = attrgetter("node.start_byte")


class FileContext:
    """The data from which the headers of one file's chunks are built."""

    def __init__(self, path: str, data: bytes, definitions: Sequence[Definition], imports: Sequence[str]) -> None:
        self._path, self._data, self._imports = path, data, imports
        self._definitions = definitions
        self._name = functools.cache(name_of)
        self._siblings: dict[int | None, list[Definition]] = defaultdict(list)
        for definition in definitions:
            self._siblings[definition.parent].append(definition)

    def header(self, start: int, end: int, *, around: Sequence[Node], before: int, overlap: int) -> str:
        """Return the header of the chunk from start to end; ``before`` is the start of the previous chunk."""
        lines = [f"# {'/'.join(self._path.split('/')[-_PATH_PARTS:])}"]
        lines += [f"# {name}: {text}" for name, text in self._facts(start, end, around) if text]
        shown = _lines(self._data[before:start])[-overlap:] if overlap else []
        return "\n".join([*lines, "# ...", *shown, "# ---"] if shown else lines)

    def _facts(self, start: int, end: int, around: Sequence[Node]) -> Iterator[tuple[str, str]]:
        inside = _starting_within(self._definitions, start, end)
        yield "Scope", " > ".join(map(self._name, around))
        yield "Defines", ", ".join(signature_of(d.node) for d in inside)
        yield "Uses", ", ".join(self._imports[:_IMPORTS])
        siblings = self._siblings[inside[0].parent if inside else self._level(start)]
        earlier = bisect_right(siblings, start, key=attrgetter("end"))
        later = bisect_left(siblings, end, key=_BEGIN)
        yield "After", ", ".join(self._name(d.node) for d in siblings[max(earlier - _SIBLINGS, 0) : earlier])
        yield "Before", ", ".join(self._name(d.node) for d in siblings[later : later + _SIBLINGS])

    def _level(self, offset: int) -> int | None:
        """Return the parent of the definition that a chunk without definitions is part of."""
        position: int | None = bisect_left(self._definitions, offset, key=_BEGIN) - 1
        while position is not None and position >= 0:
            definition = self._definitions[position]
            if offset < definition.end:
                return definition.parent
            position = definition.parent
        return None


def _lines(text: bytes) -> list[str]:
    """Return the lines as they are counted: only a newline ends one."""
    lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def _starting_within(definitions: Sequence[Definition], start: int, end: int) -> Sequence[Definition]:
    first = bisect_left(definitions, start, key=_BEGIN)
    return definitions[first : bisect_left(definitions, end, first, key=_BEGIN)]
