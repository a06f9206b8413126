"""JSON from outside: whatever is wrong with it, depth and digits included, is a ValueError."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 - whatever the text holds
    """Return the value; raise ValueError (mostly its kind JSONDecodeError) for everything that cannot be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
