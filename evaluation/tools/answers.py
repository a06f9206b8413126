"""Parses a tool's answers as places: objects, or lists of file, first line and last line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from chunkers.bounded_json import parse_json
from evaluation.spans.rows import PlaceRow, explain
from evaluation.tools.asking import ToolError

_KNOWN = frozenset(PlaceRow.model_fields)
_SHAPE = 'write one line: {"places": [{"file": "a.py", "start_line": 1, "end_line": 9}]}'


def read_answer(line: bytes, query_id: str) -> Sequence[Any]:
    """Return the places of one line of output, as written; raise if it is not an answer."""
    try:
        answer = parse_json(line)
    except ValueError:
        shown = line[:60].decode("utf-8", "replace").strip()
        raise ToolError(f"query {query_id!r}: the answer is not JSON ({shown!r}): {_SHAPE}") from None
    if isinstance(answer, dict) and answer.get("error"):
        raise ToolError(f"query {query_id!r}: the tool says {str(answer['error'])[:200]!r}")
    if isinstance(answer, dict) and answer.get("query_id", query_id) != query_id:
        raise ToolError(f"query {query_id!r} was answered as {str(answer['query_id'])[:60]!r}: answer in order")
    places = answer.get("places") if isinstance(answer, dict) else answer
    if not isinstance(places, list):
        raise ToolError(f"query {query_id!r}: the answer has no list of places: {_SHAPE}")
    return places


def read_place(value: object, *, rank: int) -> PlaceRow:
    """Return one place; raise, naming its rank, if it is not one. Unknown keys are ignored."""
    if isinstance(value, PlaceRow):
        return value
    try:
        return PlaceRow.model_validate(_fields(value))
    except ValidationError as error:
        what, remedy = explain(dict(error.errors(include_url=False)[0]), PlaceRow)
        raise ToolError(f"place {rank}: {what}: {remedy}") from None


def check_order(value: object, higher: float, *, rank: int) -> float:
    """Return a place's score, if it has one; raise if the previous place has a lower one."""
    score = value.get("score") if isinstance(value, Mapping) else getattr(value, "score", None)
    if not isinstance(score, (int, float)):
        return higher
    if not score <= higher:
        raise ToolError(f"place {rank}: its score {score} is not below {higher}, that of a place before: best first")
    return float(score)


def _fields(value: object) -> object:
    if isinstance(value, Mapping):
        found = {key: each for key, each in value.items() if key in _KNOWN}
    elif isinstance(value, (list, tuple)) and len(value) == 3:
        found = dict(zip(("file", "start_line", "end_line"), value, strict=True))
    else:
        found = {name: getattr(value, name) for name in _KNOWN if hasattr(value, name)}
        if "file" not in found:
            return value
    return {name: _plain(each) for name, each in found.items()}


def _plain(value: object) -> object:
    """Return a path as text, and the whole numbers of other libraries as Python's."""
    if isinstance(value, PurePath):
        return value.as_posix()
    return value if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
