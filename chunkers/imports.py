"""The names that a file imports, for the headers of its chunks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chunkers.definition_nodes import DEFINITION_NODES
from chunkers.outline import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_QUOTED = re.compile(r"""["<']([^"'<>\n]+)[">']""")
_PYTHON_FROM = re.compile(r"^from\s+\S+\s+import\b")
_SCRIPT_FROM = re.compile(r"\bfrom\s+[\"'].*$", re.DOTALL)
_KEYWORD = re.compile(r"^(?:import|use|using|from|pub|#include)\b|\b(?:static|type|function|const|unsafe|global)\s+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")


def imported_names(root: Node, language: str) -> list[str]:
    """Return the distinct names in the order of the file's import statements."""
    kinds = DEFINITION_NODES[language].imports
    statements = [text_of(child) for child in root.children if child.type in kinds]
    return list(dict.fromkeys(name for statement in statements for name in _names(statement)))


def _names(statement: str) -> list[str]:
    text = _PYTHON_FROM.sub("", statement.strip().rstrip(";"))
    shortened = _SCRIPT_FROM.sub("", text)
    if shortened == text and (quoted := _QUOTED.findall(text)):
        return [path.rsplit("/", 1)[-1] for path in quoted]
    parts = re.split(r"[{},()\n]", _KEYWORD.sub("", shortened.strip()))
    last = [re.split(r"\s+as\s+|=|[.\\/]|::", part.strip())[-1].strip() for part in parts]
    return [name for name in last if _NAME.match(name) and name != "self"]
