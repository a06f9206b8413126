"""`ripgrep`: what people do without an index: the query's words, files by matches, windows around the hits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.errors import MissingProgramError
from chunkers.programs import find_program
from evaluation.tools.asking import FunctionTool, Question, ToolError
from evaluation.tools.query_words import query_words

_AROUND = 10
"""Lines shown above and below a hit."""
_MOST_FILES = 50
_MOST_HITS = 1_000
"""Limit on the matching lines read from one file."""


class _Hit(NamedTuple):
    line: int
    words: frozenset[str]


class _Window(NamedTuple):
    first: int
    last: int
    words: frozenset[str]
    hits: int


def make_ripgrep(timeout: float) -> FunctionTool:
    """Return the tool; raise if the program is not installed."""
    program = find_program("rg")
    if program is None:
        raise MissingProgramError("rg", remedy="apt install ripgrep, or brew install ripgrep")
    return FunctionTool("ripgrep", _Ripgrep(program, timeout))


@dataclass(frozen=True)
class _Ripgrep:
    program: str
    timeout: float

    def __call__(self, folder: Path, question: Question) -> list[dict[str, Any]]:
        """Return windows around the hits: the file with the most distinct words first, then with the most hits."""
        words = query_words(question.query)
        hits = self._hits(folder, words, question) if words else {}
        # The same order on every machine, independent of what rg finds first.
        best = sorted(hits, key=lambda path: (-len(_all_words(hits[path])), -len(hits[path]), path))[:_MOST_FILES]
        return [
            {"file": path, "start_line": window.first, "end_line": window.last}
            for path in best
            for window in _windows(hits[path], (folder / path).read_bytes())
        ]

    def _hits(self, folder: Path, words: list[str], question: Question) -> dict[str, list[_Hit]]:
        patterns = [part for word in words for part in ("-e", word)]
        flags = ["--no-config", "--no-ignore", "--hidden", "--text", "--ignore-case", "--fixed-strings"]
        limits = ["--max-count", str(_MOST_HITS), "--json"]
        command = [self.program, *flags, *limits, *patterns, "--", "."]
        try:
            done = subprocess.run(  # noqa: S603 - rg itself, with the query's words as patterns and no shell
                command, cwd=folder, capture_output=True, timeout=self.timeout, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"query {question.query_id!r}: no answer within {self.timeout:g} seconds") from None
        if done.returncode not in (0, 1):  # 1: nothing found
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ToolError(f"query {question.query_id!r}: rg ended with {done.returncode}: {(said or [''])[-1][:200]}")
        found: dict[str, list[_Hit]] = {}
        for path, hit in _matches(done.stdout, words):
            found.setdefault(path, []).append(hit)
        return found


def _matches(output: bytes, words: list[str]) -> Iterator[tuple[str, _Hit]]:
    for line in output.splitlines():
        event = json.loads(line)
        data = event["data"]
        if event["type"] == "match" and "text" in data["path"]:
            matched = {part["match"].get("text", "").lower() for part in data["submatches"]}
            # rg reports the first pattern that matches: for "parse" and "parser", the line may contain both.
            text = data["lines"].get("text", "").lower()
            here = frozenset(word for word in words if word in matched or word in text)
            yield data["path"]["text"].removeprefix("./"), _Hit(int(data["line_number"]), here)


def _all_words(hits: list[_Hit]) -> frozenset[str]:
    return frozenset().union(*(hit.words for hit in hits))


def _windows(hits: list[_Hit], data: bytes) -> list[_Window]:
    """Return the lines around the hits, with touching windows joined, the one with the most distinct words first."""
    last_line = data.count(b"\n") + (not data.endswith(b"\n"))
    windows: list[_Window] = []
    for hit in sorted(hits):
        first, last = max(1, hit.line - _AROUND), min(last_line, hit.line + _AROUND)
        if windows and first <= windows[-1].last + 1:
            held = windows[-1]
            windows[-1] = _Window(held.first, last, held.words | hit.words, held.hits + 1)
        else:
            windows.append(_Window(first, last, hit.words, 1))
    return sorted(windows, key=lambda window: (-len(window.words), -window.hits, window.first))
