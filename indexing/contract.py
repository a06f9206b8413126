"""The contracts of embedders and retrievers, for `chunkbench check-plugin` and for our own tests."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from chunkers.errors import UsageError
from chunkers.findings import Check, Finding, examine
from indexing.types import Encoder, Hit, Index, QueryBatch, Retriever, SearchSpace, Vectors

TEXTS = (
    "def read(path):\n    return open(path).read()",
    "",
    "   \n\t",
    "class Server: pass",
    "\udc80 bytes that are not UTF-8",
    "é😀 naïve = 'ü'",
    "word " * 3000,
    "class Server: pass",
)
"""Texts that an embedder will meet sooner or later; one of them occurs twice."""
_CLOSE = 1e-4
"""Two vectors of one text may differ by this much: more than a rounding error, less than a neighbour's influence."""


def check_embedder(encoder: Encoder) -> list[Finding]:
    """Return each rule with its violations; an encoder of stored vectors is not asked for vectors."""
    rules = {**_DECLARED, **({} if getattr(encoder, "stored", False) else _VECTORS)}
    return examine(encoder, rules)


def _is_described(encoder: Encoder) -> Iterator[str]:
    try:
        written = json.dumps(dict(encoder.identity()), sort_keys=True)
    except TypeError as error:
        yield f"identity() holds what JSON cannot: {error}"
        return
    if written != json.dumps(dict(encoder.identity()), sort_keys=True):
        yield "identity() differs from call to call"
    if encoder.max_tokens is not None and encoder.max_tokens < 1:
        yield f"max_tokens is {encoder.max_tokens}: it is None or above 0"


def _shape(encoder: Encoder) -> Iterator[str]:
    for kind in ("document", "query"):
        vectors = encoder.encode(list(TEXTS), kind=kind)
        if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or len(vectors) != len(TEXTS):
            yield f"{len(TEXTS)} texts gave {getattr(vectors, 'shape', type(vectors).__name__)}, not one row each"
        elif vectors.dtype != np.float32:
            yield f"the vectors are {vectors.dtype}, not float32"


def _nothing(encoder: Encoder) -> Iterator[str]:
    width = encoder.encode(["a"], kind="document").shape[1]
    none = encoder.encode([], kind="document")
    if none.shape != (0, width):
        yield f"no texts gave {none.shape}, not (0, {width})"


def _unit(encoder: Encoder) -> Iterator[str]:
    vectors = encoder.encode(list(TEXTS), kind="document")
    for text, row in zip(TEXTS, vectors, strict=True):
        length = float(np.linalg.norm(row.astype(float)))
        if not math.isfinite(length):
            yield f"the vector of {_short(text)} is not finite"
        elif length and abs(length - 1) > 1e-3:
            yield f"the vector of {_short(text)} has length {length:.4g}, not 1 (or 0, for a text of nothing)"


def _same_again(encoder: Encoder) -> Iterator[str]:
    for kind in ("document", "query"):
        first, second = (encoder.encode(list(TEXTS), kind=kind) for _ in range(2))
        yield from _differences(first, second, "the second time")


def _alone(encoder: Encoder) -> Iterator[str]:
    together = encoder.encode(list(TEXTS), kind="document")
    alone = np.concatenate([encoder.encode([text], kind="document") for text in TEXTS])
    yield from _differences(together, alone, "when it comes alone")
    backwards = encoder.encode(list(reversed(TEXTS)), kind="document")[::-1]
    yield from _differences(together, backwards, "in another order")


def _counts(encoder: Encoder) -> Iterator[str]:
    counts = list(encoder.count_tokens(list(TEXTS)))
    if len(counts) != len(TEXTS) or any(int(count) != count or count < 0 for count in counts):
        yield f"count_tokens gave {counts[:9]} for {len(TEXTS)} texts: one whole number each"
    elif counts[6] <= counts[0]:
        yield f"3,000 words have {counts[6]} tokens and a small function {counts[0]}: count before truncation"


_DECLARED: dict[str, Check[Encoder]] = {"identity and max_tokens say what they should": _is_described}
_VECTORS: dict[str, Check[Encoder]] = {
    "one float32 row for each text, of both kinds": _shape,
    "no texts give no rows, of the same width": _nothing,
    "every vector is finite and of length 1": _unit,
    "the same text has the same vector again": _same_again,
    "a vector does not depend on the texts beside it": _alone,
    "count_tokens counts every text": _counts,
}


def _differences(one: Vectors, two: Vectors, when: str) -> Iterator[str]:
    for text, left, right in zip(TEXTS, one, two, strict=True):
        gap = float(np.abs(left - right).max(initial=0))
        if not gap <= _CLOSE:
            yield f"the vector of {_short(text)} differs by {gap:.2g} {when}"


def _short(text: str) -> str:
    return repr(text[:24] + ("…" if len(text) > 24 else ""))


_WORDS = "get set parse http server request token path file read write cache".split()


def check_retriever(retriever: Retriever) -> list[Finding]:
    """Return each rule with its violations."""
    return examine(retriever, _RETRIEVER)


def search_problems(
    retriever: Retriever, space: SearchSpace, queries: QueryBatch, *, depth: int, alone: Callable[[int], QueryBatch]
) -> Iterator[str]:
    """Yield everything that is wrong with this search; ``alone`` searches a single query."""
    runs = retriever.search(space, queries, depth=depth)
    if len(runs) != len(queries.texts):
        yield f"{len(queries.texts)} queries gave {len(runs)} rankings"
        return
    for number, run in enumerate(runs):
        yield from _run_problems(run, len(space.texts), depth)
        single = retriever.search(space, alone(number), depth=depth)[0]
        if [hit.position for hit in single] != [hit.position for hit in run]:
            yield f"the ranking of {queries.texts[number]!r} changes when it is asked alone"
        elif not np.allclose([hit.score for hit in single], [hit.score for hit in run], rtol=0, atol=1e-6):
            yield f"the scores of {queries.texts[number]!r} change when it is asked alone"


def _run_problems(run: Sequence[Hit], size: int, depth: int) -> Iterator[str]:
    positions = [hit.position for hit in run]
    if len(run) > min(depth, size):
        yield f"{len(run)} hits for depth {depth} among {size} passages"
    if len(set(positions)) < len(positions):
        yield "a passage is ranked twice"
    if not all(0 <= position < size for position in positions):
        yield f"a position outside the {size} passages"
    for one, two in itertools.pairwise(run):
        if not one.score >= two.score:
            yield f"the score {two.score} comes after {one.score}"
        elif one.score == two.score and one.position > two.position:
            yield f"equal scores in the order {one.position}, {two.position}: the lower position comes first"


def _searches(retriever: Retriever) -> Iterator[str]:
    for seed, size, depth in ((1, 30, 10), (2, 30, 100), (3, 1, 1), (4, 400, 7)):
        random = np.random.default_rng(seed)
        texts = [" ".join(random.choice(_WORDS, size=random.integers(0, 6))) for _ in range(size)]
        texts += texts[:3]  # equal passages tie
        asked = [" ".join(random.choice(_WORDS, size=3)) for _ in range(4)]
        space = SearchSpace(texts, _vectors(texts))
        queries = QueryBatch(asked, _vectors(asked))

        def alone(number: int, asked: Sequence[str] = asked) -> QueryBatch:
            return QueryBatch([asked[number]], _vectors([asked[number]]))

        yield from search_problems(retriever, space, queries, depth=depth, alone=alone)


def _repeats(retriever: Retriever) -> Iterator[str]:
    texts = [f"{one} {two}" for one in _WORDS for two in _WORDS]
    space, queries = SearchSpace(texts, _vectors(texts)), QueryBatch(_WORDS, _vectors(_WORDS))
    if retriever.search(space, queries, depth=9) != retriever.search(space, queries, depth=9):
        yield "the second search found something else"


def _prepares(retriever: Retriever) -> Iterator[str]:
    prepare = getattr(retriever, "prepare", None)
    if prepare is None:
        return
    texts = [f"{one} {two}" for one in _WORDS for two in _WORDS]
    space, queries = SearchSpace(texts, _vectors(texts)), QueryBatch(_WORDS, _vectors(_WORDS))
    index = prepare(space)
    if not isinstance(index, Index) or type(index.bytes) is not int or index.bytes < 0:
        yield f"prepare() gave {index!r}, not an Index with its bytes"
    elif index.search(queries, depth=9) != retriever.search(space, queries, depth=9):
        yield "the prepared index finds something else than search() does"


def _finds_nothing(retriever: Retriever) -> Iterator[str]:
    some: list[str] = ["get path"]
    none: list[str] = []
    wanted: Sequence[Sequence[Hit]]
    for texts, asked, depth, wanted in ((none, some, 5, [[]]), (some, none, 5, []), (some, some, 0, [[]])):
        found = retriever.search(SearchSpace(texts, _vectors(texts)), QueryBatch(asked, _vectors(asked)), depth=depth)
        if found != wanted:
            yield f"{len(texts)} passages, {len(asked)} queries, depth {depth} gave {found}, not {wanted}"


def _needs_vectors(retriever: Retriever) -> Iterator[str]:
    try:
        retriever.search(SearchSpace(["get path"]), QueryBatch(["get"]), depth=1)
    except UsageError as error:
        if not retriever.uses_vectors:
            yield f"uses_vectors is False, but without vectors: {error}"
        return
    if retriever.uses_vectors:
        yield "uses_vectors is True, but it does not ask for vectors where there are none: raise UsageError"


def _declares_inputs(retriever: Retriever) -> Iterator[str]:
    version: Any = retriever.version
    uses_vectors: Any = retriever.uses_vectors
    if not isinstance(version, str) or not version:
        yield 'version is not a text: write version: ClassVar[str] = "1"'
    if not isinstance(uses_vectors, bool):
        yield "uses_vectors is neither True nor False"


_RETRIEVER: dict[str, Check[Retriever]] = {
    "version and uses_vectors say what they should": _declares_inputs,
    "hits are passages of the space, at most depth, best first, ties by position, each query by itself": _searches,
    "the same search has the same result": _repeats,
    "prepare(), where there is one, gives an index that finds the same": _prepares,
    "nothing to search, nothing asked or depth 0 give nothing": _finds_nothing,
    "vectors are used if and only if uses_vectors says so": _needs_vectors,
}


def _vectors(texts: Sequence[str]) -> Vectors:
    from indexing.encoders.hashing import Hashing

    return Hashing().encode(list(texts), kind="document")
