"""Queries of several kinds from one repository, in equal parts if it has enough of each."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from chunkers.sources import Repository
from ground_truth.miners.comments import comments_of
from ground_truth.miners.corpus import harvest_files
from ground_truth.miners.docstrings import docstrings_of
from ground_truth.miners.finds import Find
from ground_truth.miners.types import LanguageShare, Mined

CodeKind = Literal["docstrings", "comments"]
_FINDS: Mapping[CodeKind, Find] = {"docstrings": docstrings_of, "comments": comments_of}


def mine_code(repository: Repository, kinds: Sequence[CodeKind], *, limit: int, seed: int = 0) -> Mined:
    """Return at most ``limit`` queries; other kinds make up for a kind with too few."""
    harvests = harvest_files(repository, {kind: _FINDS[kind] for kind in kinds})
    parts = _parts({kind: len(harvests[kind].questions) for kind in kinds}, limit)
    found = [harvests[kind].mined(limit=parts[kind], seed=seed) for kind in kinds]
    return Mined(
        queries=tuple(query for mined in found for query in mined.queries),
        annotations=tuple(note for mined in found for note in mined.annotations),
        dropped=sum((Counter(mined.dropped) for mined in found), Counter[str]()),
        hidden=tuple(dict.fromkeys(sorted(itertools.chain.from_iterable(mined.hidden for mined in found)))),
        languages=_languages(found),
    )


def _parts(available: Mapping[CodeKind, int], limit: int) -> dict[CodeKind, int]:
    """Return the number of queries of each kind: equal parts, smallest supply first so that others take the rest."""
    parts: dict[CodeKind, int] = {}
    left = limit
    for number, kind in enumerate(sorted(available, key=lambda kind: (available[kind], kind))):
        parts[kind] = min(available[kind], left // (len(available) - number))
        left -= parts[kind]
    return parts


def _languages(found: Sequence[Mined]) -> dict[str, LanguageShare]:
    joined: dict[str, LanguageShare] = {}
    for mined in found:
        for language, share in mined.languages.items():
            known = joined.get(language, LanguageShare(share.code_bytes, 0, 0))
            joined[language] = LanguageShare(
                share.code_bytes, known.candidates + share.candidates, known.queries + share.queries
            )
    return joined
