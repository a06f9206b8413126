"""`declarations`: one chunk per top-level declaration, as in Wu et al. 2026 (arXiv 2605.04763)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkers.definitions import Definitions
from chunkers.outline import Definition


@dataclass(frozen=True, kw_only=True)
class Declarations(Definitions):
    """Cuts before and after every top-level function and class; what is inside a class stays with it.

    It descends into namespaces, but not into classes or modules. Imports and other code between declarations are chunks
    too. ``size`` and files without known definitions are handled as in `definitions`.
    """

    def chosen(self, definitions: Sequence[Definition]) -> Sequence[Definition]:
        """Return the definitions that no other encloses."""
        return [definition for definition in definitions if definition.parent is None]
