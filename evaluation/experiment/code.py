"""A hash of the code that makes a stage's output: a changed plug-in is never served from the cache."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from chunkers.plugin_code import code_hash, module_files
from chunkers.plugins import identity


def plugin_inputs(plugin: Any) -> dict[str, Any]:  # noqa: ANN401 - any plug-in
    """Return what determines a plug-in's output: its class, version, parameters and code."""
    return {**identity(plugin), "code": code_hash(type(plugin))}


# Cached for the life of the process: it describes the code that this process runs, which does not change when its files
# do.
@functools.cache
def code_of(module: str) -> str:
    """Return a hash of the module's source and of everything it imports from our packages."""
    digest = hashlib.sha256()
    for name, file in module_files(module).items():
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
