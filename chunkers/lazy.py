"""Names that a package exports and imports on first use, so that importing the package is cheap."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def exports(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the package's ``__getattr__``: module → the names it provides."""
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:  # noqa: ANN401 - whatever the name refers to
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(home[name]), name)

    return get
