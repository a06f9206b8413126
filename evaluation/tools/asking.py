"""What a tool is: something that is opened in a folder of files and then answers queries, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class ToolError(Exception):
    """Why a tool has no ranking, in one line: the cell fails with it, and the others finish."""


class Question(NamedTuple):
    """One query, as a tool is asked it."""

    query_id: str
    query: str
    repo: str


class Tool(Protocol):
    """A contestant that ranks places in files."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    def open(self, folder: Path) -> AbstractContextManager[Callable[[Question], Sequence[Any]]]:
        """Start it in a folder that holds the files to search; inside, it is asked query after query."""


@dataclass(frozen=True)
class FunctionTool:
    """A Python function that is called with the folder and the question, and returns places."""

    name: str
    function: Callable[[Path, Question], Sequence[Any]]

    def open(self, folder: Path) -> AbstractContextManager[Callable[[Question], Sequence[Any]]]:
        """Return the function, asked in this folder."""
        return nullcontext(lambda question: self.function(folder, question))
