"""Tools by name: the built-in ones, and the user's commands."""

from __future__ import annotations

import re

from chunkers.errors import UsageError
from chunkers.plugins import nearest
from evaluation.tools.asking import Tool
from evaluation.tools.grep_read import make_grep_read
from evaluation.tools.process import CommandTool
from evaluation.tools.ripgrep import make_ripgrep

READY = {
    "ripgrep": "the query's words; files by matches, windows of lines around the hits",
    "grep-read": "the query's words; the best files opened from the top, every token counted",
}
_NAME = re.compile(r"[^=\s]+\Z")


def make_tool(text: str, *, timeout: float) -> Tool:
    """Return a built-in tool, or the command of NAME=COMMAND."""
    name, mark, command = text.partition("=")
    if not mark:
        if text == "ripgrep":
            return make_ripgrep(timeout)
        if text == "grep-read":
            return make_grep_read()
        raise UsageError(
            f"no ready tool {text!r}.{nearest(text, READY)} Ready: {', '.join(READY)}; your own: 'NAME=COMMAND'"
        )
    if not _NAME.match(name):
        raise UsageError(f"{text!r} is not NAME=COMMAND: write --tool 'mine=python tool.py'")
    return CommandTool(name, command, timeout)
