"""The interface of a tool: it is opened in a folder of files and then answers queries, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class ToolError(Exception):
    """Why a tool has no ranking, in one line: the cell fails with it, and the others finish."""


class Question(NamedTuple):
    """One query, as passed to a tool."""

    query_id: str
    query: str
    repo: str


class Tool(Protocol):
    """A contestant that ranks places in files."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    def open(self, folder: Path) -> AbstractContextManager[Callable[[Question], Sequence[Any]]]:
        """Start it in a folder with the files to search; inside the block it answers one query after another."""


@dataclass(frozen=True)
class FunctionTool:
    """A Python function from the folder and the question to places."""

    name: str
    function: Callable[[Path, Question], Sequence[Any]]

    def open(self, folder: Path) -> AbstractContextManager[Callable[[Question], Sequence[Any]]]:
        """Return the function, bound to this folder."""
        return nullcontext(lambda question: self.function(folder, question))
