"""The code behind a plug-in, as a hash: a changed plug-in is never served from a cache."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from chunkers.targets import file_digest, file_of

_MADE = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__dataclass_fields__", "__dataclass_params__"}
_MADE |= {"__annotations__", "__annotate_func__", "__annotations_cache__", "__static_attributes__", "_abc_impl"}
"""Attributes of a class that Python derives from the others, or whose text differs between processes."""

_PLAIN = (str, bytes, int, float, type(None))
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields that contain statements, directly or nested."""
_OURS = frozenset({"chunkers", "indexing", "ground_truth", "evaluation"})


def code_hash(cls: type) -> str:
    """Return a hash of the code that determines the behaviour of the class.

    A plug-in file is hashed alone, any other module together with what it imports from its own package or from ours. A
    class without a file (a notebook's), or one made inside a function, is hashed with everything it reaches.
    """
    if file_of(cls.__module__):
        return file_digest(cls.__module__)
    files = _own_files(cls.__module__)
    alone = "<locals>" not in cls.__qualname__ and cls.__module__ in files
    return _hash(files, () if alone else _reached(cls, home=cls.__module__, seen={}))


def function_hash(function: Callable[..., object]) -> str:
    """Return a hash of what determines a function's results: its code, and what it closes over or is bound to.

    The code is hashed as that of a class is. A partial, a method or a callable object is hashed with what it holds.
    """
    home = _home_of(function)
    reached = _reached(function, home=home, seen={})
    return _hash(_own_files(home), (file_digest(home), *reached) if file_of(home) else reached)


def _home_of(function: Any) -> str:  # noqa: ANN401 - anything that can be called
    """Return the module with the function's code; that of a callable object is in its class."""
    while isinstance(function, (functools.partial, MethodType)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    return str(getattr(function, "__module__", None))


def _own_files(module: str) -> dict[str, Path]:
    """Return the files of a module and of what it imports; none if it was written in a session."""
    # A session's __main__ may have the spec of the program that started it, which does not contain its code.
    has_file = getattr(sys.modules.get(module), "__file__", None) is not None
    return module_files(module) if has_file else {}


def _hash(files: Mapping[str, Path], parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:16]


def module_files(module: str) -> dict[str, Path]:
    """Return module → file for this module and all that it imports from its own top-level package or from ours."""
    followed = _OURS | {module.partition(".")[0]}
    found: dict[str, Path] = {}
    left = [module]
    while left:
        name = left.pop()
        if name in found or name.partition(".")[0] not in followed:
            continue
        file = _source(name)
        if file is not None:
            found[name] = file
            left += _imports(name, file)
    return dict(sorted(found.items()))


def _source(module: str) -> Path | None:
    """Return a module's file, or None if there is no such module or it has no source."""
    if module == "__main__":  # a script, which has no spec; or a notebook, which has no file
        script = getattr(sys.modules[module], "__file__", None)
        return Path(script) if script and script.endswith(".py") else None
    return _found(module)


@functools.cache
def _found(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@functools.cache
def _imports(module: str, file: Path) -> tuple[str, ...]:
    """Return the imports of a module, anywhere in it; names that are not modules are dropped later."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(dict.fromkeys(_imported(ast.parse(file.read_bytes()), package)))


def _imported(tree: ast.Module, package: str) -> Iterator[str]:
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            home = ".".join([*base, *([node.module] if node.module else [])])
            yield home
            yield from (f"{home}.{alias.name}" for alias in node.names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement; expressions contain none, and most nodes are expressions."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for field in _BLOCKS:
            left += getattr(node, field, ())


def _reached(value: Any, *, home: str, seen: dict[int, int]) -> Iterator[str]:  # noqa: ANN401 - any object of a namespace
    """Yield what the value consists of, without line numbers, and what it refers to in its own module.

    An object whose repr contains its address hashes differently in every process: a miss too often rather than a wrong
    hit.
    """
    if isinstance(value, _PLAIN):  # whether equal ones are the same object may differ between processes
        yield _text(value)
        return
    if id(value) in seen:
        yield f"as {seen[id(value)]}"
        return
    seen[id(value)] = len(seen)
    reach = functools.partial(_reached, home=home, seen=seen)
    if isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, (type, FunctionType)) and value.__module__ != home:
        yield f"{value.__module__}:{value.__qualname__}"
    elif isinstance(value, type):
        yield f"class {value.__qualname__}"
        for part in (*value.__bases__, *(vars(value)[name] for name in sorted(vars(value).keys() - _MADE))):
            yield from reach(part)
    elif isinstance(value, FunctionType):
        yield from _code(value.__code__)
        yield repr((value.__name__, value.__defaults__, value.__kwdefaults__))
        for part in (cell.cell_contents for cell in value.__closure__ or ()):
            yield from reach(part)
        for name in sorted(_names(value.__code__) & value.__globals__.keys()):
            yield name
            yield from reach(value.__globals__[name])
    elif isinstance(value, (classmethod, staticmethod)):
        yield from reach(value.__func__)
    elif isinstance(value, property):
        yield from reach(value.fget)
    elif isinstance(value, functools.partial):
        for part in (value.func, *value.args, *itertools.chain.from_iterable(sorted(value.keywords.items()))):
            yield from reach(part)
    elif isinstance(value, MethodType):
        yield from reach(value.__func__)
        yield from reach(value.__self__)
    elif type(value).__module__ == home and hasattr(value, "__dict__"):
        for part in (type(value), *itertools.chain.from_iterable(sorted(vars(value).items()))):
            yield from reach(part)
    else:
        yield _text(value)


def _text(value: object) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, (set, frozenset)) else repr(value)


def _code(code: CodeType) -> Iterator[str]:
    yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield _text(constant)


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))
