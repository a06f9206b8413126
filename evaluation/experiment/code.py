"""What the code that makes a stage's output is, as a hash: a changed plug-in is never answered from the cache."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from chunkers.plugin_code import code_hash, module_files
from chunkers.plugins import identity


def plugin_inputs(plugin: Any) -> dict[str, Any]:  # noqa: ANN401 - any plug-in
    """Return what decides a plug-in's output: its class, version, parameters and code."""
    return {**identity(plugin), "code": code_hash(type(plugin))}


@functools.cache
def code_of(module: str) -> str:
    """Return a hash of the Python files of the module's outermost package, or of the module alone."""
    digest = hashlib.sha256()
    for each in module_files(module):
        digest.update(each.name.encode() + b"\0" + each.read_bytes())
    return digest.hexdigest()[:16]
