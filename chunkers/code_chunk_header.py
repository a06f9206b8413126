"""The header that code-chunk puts above each chunk: where it is, what it defines, what is around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chunkers.outline import Definition, name_of, signature_of

_PATH_PARTS, _IMPORTS, _SIBLINGS = 3, 10, 3


@dataclass(frozen=True, slots=True)
class FileContext:
    """What the headers of one file's chunks have in common."""

    path: str
    data: bytes
    definitions: Sequence[Definition]
    """In document order; none for a language whose definitions are not known."""
    imports: Sequence[str]
    overlap: int
    """How many lines of the chunk before are shown."""


def header(context: FileContext, start: int, end: int, *, scope: Sequence[str], before: int) -> str:
    """Return the header of the chunk from start to end; ``before`` is where the chunk before it begins."""
    lines = [f"# {'/'.join(context.path.split('/')[-_PATH_PARTS:])}"]
    lines += [f"# {name}: {text}" for name, text in _facts(context, start, end, scope) if text]
    overlap = context.data[before:start].decode("utf-8", "replace").splitlines()[-context.overlap :]
    if context.overlap and overlap:
        lines += ["# ...", *overlap, "# ---"]
    return "\n".join(lines)


def _facts(context: FileContext, start: int, end: int, scope: Sequence[str]) -> Iterator[tuple[str, str]]:
    inside = [d for d in context.definitions if start <= d.node.start_byte < end]
    yield "Scope", " > ".join(scope)
    yield "Defines", ", ".join(signature_of(d.node) for d in inside)
    yield "Uses", ", ".join(context.imports[:_IMPORTS])
    level = inside[0].parent if inside else _innermost(context.definitions, start)
    siblings = [d for d in context.definitions if d.parent == level]
    yield "After", ", ".join([name_of(d.node) for d in siblings if d.end <= start][-_SIBLINGS:])
    yield "Before", ", ".join([name_of(d.node) for d in siblings if d.node.start_byte >= end][:_SIBLINGS])


def _innermost(definitions: Sequence[Definition], offset: int) -> int | None:
    """Return the position of the innermost definition around an offset whose parts are themselves in the outline."""
    around = [i for i, d in enumerate(definitions) if d.node.start_byte < offset < d.end]
    return definitions[around[-1]].parent if around else None
