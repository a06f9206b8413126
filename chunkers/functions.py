"""`functions`: one chunk per function or method, and separate chunks for the code between (cf. arXiv 2605.04763)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.definitions import Definitions
from chunkers.outline import Definition

if TYPE_CHECKING:
    from tree_sitter import Node

# The grammars' words for callables, including Ruby's `singleton_method`, Swift's `init_declaration` and the like.
_CALLABLE = re.compile(
    "function|method|constructor|destructor|init_declaration|static_initializer|operator|indexer|property_declaration"
    "|macro_definition"
)
_VALUES = frozenset("arrow_function function_expression generator_function function_definition".split())


@dataclass(frozen=True, kw_only=True)
class Functions(Definitions):
    """Cuts before and after every function and method; class heads, fields, types and imports are separate chunks.

    A function inside a function stays with it. ``size`` and files without known definitions are handled as in
    `definitions`.
    """

    def chosen(self, definitions: Sequence[Definition]) -> Sequence[Definition]:
        """Return the functions and methods."""
        return [definition for definition in definitions if _is_function(definition.node)]


def _is_function(node: Node) -> bool:
    """Return whether a definition is a function: by its node type, or as a name bound to one."""
    if _CALLABLE.search(node.type):
        return True
    values = [node, *node.named_children]
    return any((value := one.child_by_field_name("value")) is not None and value.type in _VALUES for one in values)
