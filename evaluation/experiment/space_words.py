"""The document frequencies of the query words, one set for each search space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluation.experiment.loaded_dataset import LoadedDataset
from indexing.code_words import code_words
from indexing.encoders.texts import readable
from indexing.frequencies import Frequencies, total


class SpaceWords(NamedTuple):
    """Word statistics of a search space."""

    frequencies: Frequencies
    """Of the query words."""
    nbytes: int
    """Bytes of the postings of all its words."""


def query_words(loaded: LoadedDataset) -> dict[str, tuple[str, ...]]:
    """Return search space → its query words."""
    found: dict[str, dict[str, None]] = {}
    for query in loaded.dataset.queries:
        space = found.setdefault("" if loaded.dataset.scope == "all" else query.repo, {})
        space |= dict.fromkeys(code_words(readable(query.text)))
    return {space: tuple(words) for space, words in found.items()}


def join_words(
    parts: Sequence[Mapping[str, Frequencies]], words: Mapping[str, tuple[str, ...]]
) -> dict[str, SpaceWords]:
    """Return the statistics of each space from the counts of its parts."""
    made = {}
    for space, asked in words.items():
        whole = total((part[space] for part in parts if space in part), asked)
        made[space] = SpaceWords(whole._replace(vocabulary=whole.vocabulary[:0]), whole.nbytes)
    return made


def save_words(spaces: Mapping[str, SpaceWords], folder: Path) -> None:
    """Write the frequencies as JSON."""
    told = {
        space: [known.nbytes, *known.frequencies[2:5], known.frequencies.words, known.frequencies.holding.tolist()]
        for space, known in spaces.items()
    }
    (folder / "words.json").write_text(json.dumps(told), "utf-8")


def load_words(folder: Path) -> dict[str, SpaceWords]:
    """Read frequencies written by `save_words`."""
    made = {}
    for space, (nbytes, texts, length, pairs, words, holding) in json.loads(
        (folder / "words.json").read_text("utf-8")
    ).items():
        counts = np.array(holding, dtype=np.int64)
        # For words that are in no query, only the size is stored.
        made[space] = SpaceWords(Frequencies(tuple(words), counts, texts, length, pairs, np.zeros(0)), nbytes)
    return made
