"""A plug-in's parameters: the fields of its dataclass, parsed from and written to a spec."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.nearest import nearest
from chunkers.spec import Spec

_LARGEST = 10**12
"""No parameter may be a larger number; arithmetic with it may use 64 bits."""
_TRUE, _FALSE = {"true", "yes", "1", "on"}, {"false", "no", "0", "off"}


class Parameter(NamedTuple):
    """One parameter as displayed by `chunkbench list`."""

    name: str
    type: str
    default: str | None
    """As written in a spec; None if the parameter is required."""

    def __str__(self) -> str:
        """Return it as a spec would have it: size=1500, or path=… if there is no default."""
        return f"{self.name}={'…' if self.default is None else self.default}"


def parameters_of(cls: type) -> list[Parameter]:
    """Return the parameters of a plug-in's class, in the order of its fields."""
    hints = typing.get_type_hints(cls)
    return [Parameter(field.name, _type_text(hints[field.name]), _default(field)) for field in _fields(cls)]


def read_parameters(cls: type, spec: Spec, *, kind: str) -> dict[str, Any]:
    """Return the spec's values in the types of the class's fields; raise for unknown, invalid or missing ones."""
    fields = {field.name: field for field in _fields(cls)}
    hints = typing.get_type_hints(cls)
    values = {}
    for key, text in spec.params:
        if key not in fields:
            hint = nearest(key, fields) or f" It takes: {', '.join(fields) or 'nothing'}."
            raise UsageError(f"{kind} {spec.name!r} has no parameter {key!r}.{hint}")
        values[key] = _convert(text, hints[key], where=f"{key} in {str(spec)!r}")
    missing = next((name for name, field in fields.items() if _default(field) is None and name not in values), None)
    if missing is not None:
        needed = Spec(spec.name, ((missing, "…"),))
        raise UsageError(f"{kind} {spec.name!r} needs {missing}: write {needed}")
    return values


def write_parameters(plugin: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 - any dataclass
    """Return the values that differ from their defaults, as written in a spec."""
    values = ((field, getattr(plugin, field.name)) for field in _fields(type(plugin)))
    return tuple((field.name, written(value)) for field, value in values if written(value) != _default(field))


def written(value: object) -> str:
    """Return the value as written in a spec."""
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def values_of(plugin: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any dataclass
    """Return every parameter's value."""
    return {field.name: getattr(plugin, field.name) for field in _fields(type(plugin))}


def _fields(cls: Any) -> Iterable[dataclasses.Field[Any]]:  # noqa: ANN401 - any dataclass
    return (field for field in dataclasses.fields(cls) if field.init)


def _default(field: dataclasses.Field[Any]) -> str | None:
    if field.default is not dataclasses.MISSING:
        return written(field.default)
    return None if field.default_factory is dataclasses.MISSING else written(field.default_factory())


def _type_text(hint: Any) -> str:  # noqa: ANN401 - any type hint
    kind = _kind(hint)
    if typing.get_origin(kind) is typing.Literal:
        return " | ".join(map(str, typing.get_args(kind)))
    return str(getattr(kind, "__name__", kind))


def _kind(hint: Any) -> Any:  # noqa: ANN401 - any type hint
    """Return the type without its None."""
    options = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    return next(option for option in options if option is not type(None))


def _convert(text: str, hint: Any, *, where: str) -> Any:  # noqa: ANN401 - the field's own type
    if type(None) in typing.get_args(hint) and text.lower() == "none":
        return None
    kind = _kind(hint)
    if typing.get_origin(kind) is typing.Literal:
        allowed = typing.get_args(kind)
        if text in allowed:
            return text
        raise UsageError(f"{where} is {text!r}; it must be one of {', '.join(map(str, allowed))}")
    try:
        value = _flag(text) if kind is bool else kind(text)
    except (TypeError, ValueError):
        article = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        name = getattr(kind, "__name__", str(kind))
        raise UsageError(f"{where} is {text!r}; it must be {article.get(name, name)}") from None
    if kind is int and abs(value) > _LARGEST:
        raise UsageError(f"{where} is {text!r}; it must be at most {_LARGEST:,}")
    if kind is float and not math.isfinite(value):
        raise UsageError(f"{where} is {text!r}; it must be a finite number")
    return value


def _flag(text: str) -> bool:
    if text.lower() not in _TRUE | _FALSE:
        raise ValueError(text)
    return text.lower() in _TRUE
