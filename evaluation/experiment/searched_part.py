"""Search results of some files of a corpus, before they are joined with those of the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indexing.found import Found

_ARRAYS = ("queries", "rows", "keys", "characters")


class Asked(NamedTuple):
    """The queries of one search space, as a slice of the result table."""

    space: str
    start: int
    stop: int


@dataclass
class PartCost:
    """What searching a part took; sums over parts are those of the whole."""

    embed_seconds: float = 0.0
    retrieve_seconds: float = 0.0
    index_seconds: float | None = 0.0
    """None if the retriever builds no index."""
    index_bytes: int = 0
    """Of vectors and of whole indexes; words are counted once for all parts."""
    query_seconds: dict[int, float] = field(default_factory=dict)
    """Query → seconds of searching this part for it alone."""
    texts_read: int = 0
    """For a model with a window: texts read, texts beyond it, their tokens and the tokens beyond it."""
    texts_beyond: int = 0
    tokens_read: int = 0
    tokens_beyond: int = 0
    diagnostics: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchedPart:
    """The results of each search of a retriever in some files."""

    asked: Sequence[Asked]
    queries: np.ndarray
    """Index of the query in the dataset, one per result row."""
    found: Sequence[Found]
    """One per search; positions are rows of the chunk table."""
    rows: np.ndarray
    """Rows of the chunk table that were embedded, ascending; the key and the number of characters of each text."""
    keys: np.ndarray
    characters: np.ndarray
    cost: PartCost

    def of(self, space: str) -> list[Found] | None:
        """Return the results of each search in a space; None if the files are not part of it."""
        for each in self.asked:
            if each.space == space:
                return [found.at(slice(each.start, each.stop)) for found in self.found]
        return None


def save_part(part: SearchedPart, folder: Path) -> None:
    """Write the part as arrays, with its cost beside them."""
    arrays: Mapping[str, np.ndarray] = {name: getattr(part, name) for name in _ARRAYS}
    for number, found in enumerate(part.found):
        arrays = {**arrays, f"positions{number}": found.positions.astype(np.int32), f"scores{number}": found.scores}
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)
    told = {"asked": part.asked, "searches": len(part.found), "cost": asdict(part.cost)}
    (folder / "part.json").write_text(json.dumps(told), "utf-8")


def load_part(folder: Path) -> SearchedPart:
    """Read a part written by `save_part`; arrays stay on disk until accessed."""
    told: Any = json.loads((folder / "part.json").read_text("utf-8"))
    seconds = {int(place): value for place, value in told["cost"].pop("query_seconds").items()}
    found = [
        Found(_mapped(folder, f"positions{number}"), _mapped(folder, f"scores{number}"))
        for number in range(told["searches"])
    ]
    return SearchedPart(
        asked=[Asked(*each) for each in told["asked"]],
        found=found,
        cost=PartCost(**told["cost"], query_seconds=seconds),
        **{name: _mapped(folder, name) for name in _ARRAYS},
    )


def _mapped(folder: Path, name: str) -> np.ndarray:
    file = folder / f"{name}.npy"
    try:
        found: np.ndarray = np.load(file, mmap_mode="r", allow_pickle=False)
    except ValueError:  # an empty array cannot be mapped
        found = np.load(file, allow_pickle=False)
    return found
