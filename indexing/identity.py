"""What decides an embedder's vectors: what it says of itself and, where it is not ours, its code."""

from __future__ import annotations

from typing import Any

from chunkers.plugin_code import code_hash
from indexing.types import Encoder


def vectors_identity(encoder: Encoder) -> dict[str, Any]:
    """Return the key of the encoder's vectors.

    Ours change their version with their vectors; of a plug-in, nobody knows whether its author thinks of that.
    """
    cls = type(encoder)
    ours = cls.__module__.partition(".")[0] == "indexing"
    return {**encoder.identity(), **({} if ours else {"code": code_hash(cls)})}
