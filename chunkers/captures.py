"""What a query finds in a syntax tree, within the time that the tree's file may take to parse."""

from __future__ import annotations

import logging
import time
import warnings
from typing import TYPE_CHECKING

from chunkers.languages import parsing_seconds

if TYPE_CHECKING:
    from tree_sitter import Node, Query

log = logging.getLogger(__name__)


def captures(query: Query, root: Node, *, seconds: float | None = None) -> dict[str, list[Node]]:
    """Return the nodes that a query finds, by its names for them; none if the search takes too long.

    It takes a square of the longest row of siblings without a name, such as the brackets of ``[[[[``.
    """
    from tree_sitter import QueryCursor

    allowed = parsing_seconds(root.end_byte) if seconds is None else seconds
    until = time.thread_time() + allowed
    while (left := until - time.thread_time()) > 0:
        cursor = QueryCursor(query)
        with warnings.catch_warnings():
            # As for the parser: a callback takes the place of the limit, but crashes in this version of the library.
            warnings.simplefilter("ignore", DeprecationWarning)
            cursor.timeout_micros = max(int(left * 1e6), 1)  # type: ignore[misc] # the stub forgets the setter
        began = time.perf_counter()
        found = cursor.captures(root)
        # The limit is in wall time: if the machine was busy, the search is done again.
        if time.perf_counter() - began < left:
            return found
    log.warning("a tree of %s bytes takes over %.0f s to search: it is read without", root.end_byte, allowed)
    return {}
