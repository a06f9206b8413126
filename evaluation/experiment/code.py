"""What code makes a stage's output, as a hash: a changed plug-in is never answered from the cache."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from chunkers.plugin_code import code_hash, module_files
from chunkers.plugins import identity


def plugin_inputs(plugin: Any) -> dict[str, Any]:  # noqa: ANN401 - any plug-in
    """Return what decides a plug-in's output: its class, version, parameters and code."""
    return {**identity(plugin), "code": code_hash(type(plugin))}


# Kept as long as the process: it is about the code that this process runs, which does not change when its files do.
@functools.cache
def code_of(module: str) -> str:
    """Return a hash of the module's source and of all that it imports from our packages."""
    digest = hashlib.sha256()
    for name, file in module_files(module).items():
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
