"""Classes by location: ``module:Class`` is imported, ``path/to/file.py:Class`` is executed from the file itself."""

from __future__ import annotations

import copyreg
import dataclasses
import hashlib
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from chunkers.errors import UsageError
from chunkers.input_files import read_input

_LARGEST_SOURCE = 16 * 2**20
_PREFIX = "chunkbench_file_"
"""Modules from plug-in files; the rest of their names identifies the file and its contents."""


def load_target(target: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return what the target names; a changed file is read again."""
    where, _, attribute = target.rpartition(":")
    module = load_file(Path(where)) if where.endswith(".py") else _import(where)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{where} has no {attribute}.{_classes(module)}")
        found = getattr(found, part)
    if file_of(module.__name__) and isinstance(found, type):
        copyreg.pickle(found, _reduce)
    return found


def load_file(path: Path) -> ModuleType:
    """Return the file as a module; the same bytes at the same path are executed once."""
    path = path.expanduser().resolve()
    try:
        source = read_input(path, largest=_LARGEST_SOURCE)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    digest = hashlib.sha256(source).hexdigest()[:16]
    place = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    name = f"{_PREFIX}{re.sub(r'[^A-Za-z0-9_]', '_', path.stem)}_{place}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look up their module there
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the user named this file to be run
    except BaseException:
        del sys.modules[name]
        raise
    return module


def file_of(module: str) -> Path | None:
    """Return the plug-in file that the module came from, or None for an imported module."""
    return Path(str(sys.modules[module].__file__)) if module.startswith(_PREFIX) else None


def file_digest(module: str) -> str:
    """Return the hash of the bytes that were executed, whatever the file contains by now."""
    return module.rpartition("_")[2]


def target_of(cls: type) -> str:
    """Return the location of the class, as `load_target` reads it."""
    file = file_of(cls.__module__)
    return f"{file or cls.__module__}:{cls.__qualname__}"


def _import(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        here = str(Path.cwd())
        if error.name not in _parents(module) or here in sys.path or "" in sys.path:
            raise
        # An installed command does not search the current folder. Appended last, so that it hides nothing of ours.
        sys.path.append(here)
        importlib.invalidate_caches()
        return importlib.import_module(module)


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _classes(module: ModuleType) -> str:
    own = [
        name for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return f" It has: {', '.join(own)}." if own else ""


def _reduce(plugin: Any) -> tuple[Any, ...]:  # noqa: ANN401 - an instance of a class from a file
    """Let another process create the plug-in from the file: it has no module of this name."""
    values = {field.name: getattr(plugin, field.name) for field in dataclasses.fields(plugin) if field.init}
    return _rebuild, (target_of(type(plugin)), values)


def _rebuild(target: str, values: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance of a class from a file
    return load_target(target)(**values)
