"""`grep-read`: what an agent without an index does: search for words, read the list, and open the best files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.tools.asking import FunctionTool, Question
from evaluation.tools.query_words import query_words

_MOST_FILES = 20
"""Files listed and opened."""


def make_grep_read() -> FunctionTool:
    """Return the tool."""
    return FunctionTool("grep-read", _grep_read)


def _grep_read(folder: Path, question: Question) -> list[dict[str, Any]]:
    """Return whole files, best first: most distinct words, then most matching lines; the list costs tokens too."""
    words = [word.encode() for word in query_words(question.query)]
    counts = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        lowered = data.lower()
        here = [word for word in words if word in lowered]
        if here:
            lines = sum(any(word in line for word in here) for line in lowered.split(b"\n"))
            total = data.count(b"\n") + (not data.endswith(b"\n"))
            counts[path.relative_to(folder).as_posix()] = (len(here), lines, total)
    best = sorted(counts, key=lambda name: (-counts[name][0], -counts[name][1], name))[:_MOST_FILES]
    places: list[dict[str, Any]] = [{"file": name, "start_line": 1, "end_line": counts[name][2]} for name in best]
    if places:
        # The output of `grep -c` is read before any file is.
        places[0]["header"] = "\n".join(f"{name}:{counts[name][1]}" for name in best)
    return places
