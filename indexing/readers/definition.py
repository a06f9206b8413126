"""`definition`: the function, method or class around each hit, whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkers.definition_nodes import CUT_NODES
from chunkers.outline import has_outline, outline
from chunkers.syntax import parse
from chunkers.types import SourceFile
from indexing.readers.types import Corpus, Stretch


@dataclass(frozen=True, kw_only=True)
class DefinitionReader:
    """Reads the smallest definition that holds the hit; where none does, the hit as it is."""

    version: ClassVar[str] = "1"

    def read(self, hits: Sequence[Stretch], corpus: Corpus) -> list[Stretch]:
        """Return the definitions around the hits."""
        known: dict[int, list[tuple[int, int]]] = {}
        found = []
        for hit in hits:
            if hit.file not in known:
                known[hit.file] = definition_spans(corpus.source(hit.file))
            text = corpus.source(hit.file).data
            # Whitespace at the ends of a chunk belongs to no definition.
            start = hit.start + len(text[hit.start : hit.end]) - len(text[hit.start : hit.end].lstrip())
            end = hit.end - (len(text[hit.start : hit.end]) - len(text[hit.start : hit.end].rstrip()))
            around = [span for span in known[hit.file] if span[0] <= start and end <= span[1]]
            smallest = min(around, key=lambda span: span[1] - span[0], default=(hit.start, hit.end))
            found.append(hit._replace(start=min(hit.start, smallest[0]), end=max(hit.end, smallest[1])))
        return found


def definition_spans(source: SourceFile) -> list[tuple[int, int]]:
    """Return the byte spans of every definition of a file; none without a tree or an outline of its language."""
    if source.language is None or not has_outline(source.language) or not source.data:
        return []
    root = parse(source)
    return [(each.start, each.end) for each in outline(root, CUT_NODES[source.language])] if root else []
