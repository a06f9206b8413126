"""What determines an embedder's vectors: its identity and, for a plug-in, its code."""

from __future__ import annotations

from typing import Any

from chunkers.plugin_code import code_hash
from indexing.types import Encoder


def vectors_identity(encoder: Encoder) -> dict[str, Any]:
    """Return the key of the encoder's vectors.

    Built-in encoders change their version whenever their vectors change; for a plug-in, that cannot be relied on.
    """
    cls = type(encoder)
    ours = cls.__module__.partition(".")[0] == "indexing"
    return {**encoder.identity(), **({} if ours else {"code": code_hash(cls)})}
