"""BM25 over the words of code, with identifiers whole and split."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.code_words import code_words
from indexing.encoders.texts import readable
from indexing.ties import best_of_all
from indexing.types import Hit, Index, QueryBatch, SearchSpace


@dataclass(frozen=True, kw_only=True)
class BM25:
    """Lucene's BM25; a chunk that shares no word with the query is no hit."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = False

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        positive(self, "k1")
        if not 0 <= self.b <= 1:
            raise UsageError(f"b must be between 0 and 1, not {self.b}")

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the depth chunks of highest score per query; equal scores in the order of position."""
        return self.prepare(space).search(queries, depth=depth)

    def prepare(self, space: SearchSpace) -> Index:
        """Return the postings of the space, ready to be asked."""
        vocabulary, index = self._index(space.texts)
        postings = sum(part.nbytes for part in index.scores.values() if hasattr(part, "nbytes")) if index else 0
        words = sum(len(word.encode()) for word in vocabulary)
        return Index(postings + words, functools.partial(_search, vocabulary, index))

    def _index(self, texts: Sequence[str]) -> tuple[Mapping[str, int], Any]:
        """Return word → number, in order of first use, and the index of the texts; None where there are no words."""
        import bm25s
        from bm25s.tokenization import Tokenized

        vocabulary: dict[str, int] = {}
        # Four bytes per word: of a large corpus this is most of what is held.
        ids = [
            array("i", [vocabulary.setdefault(word, len(vocabulary)) for word in code_words(readable(text))])
            for text in texts
        ]
        if not vocabulary:
            return vocabulary, None
        # Its own way to make the sparse matrix holds twice as much while it does so, for the same matrix.
        index = bm25s.BM25(method="lucene", k1=self.k1, b=self.b, csc_backend="scipy")
        index.index(Tokenized(ids=ids, vocab=vocabulary), show_progress=False, create_empty_token=False)
        return vocabulary, index


def _search(vocabulary: Mapping[str, int], index: Any, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:  # noqa: ANN401 - bm25s has no types
    runs: list[list[Hit]] = []
    for text in queries.texts:
        words = [vocabulary[word] for word in code_words(readable(text)) if word in vocabulary]
        if not words or depth <= 0:
            runs.append([])
            continue
        runs.append(best_of_all(index.get_scores_from_ids(words), depth=depth, above=0.0))
    return runs
