"""Plug-ins of every kind: found by name, loaded when used, configured by a spec such as ``cast:size=1500``."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import re
import types
import typing
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from chunkers.errors import MissingExtraError, UsageError
from chunkers.writable import is_writable

T = TypeVar("T")

_LARGEST = 10**12
"""No parameter is a larger number; what counts with it may use 64 bits."""
# A comma inside a value is part of it unless a new key follows: paths and lists need no quoting.
_NEXT_KEY = re.compile(r",(?=[A-Za-z_][A-Za-z0-9_-]*=)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
_TRUE, _FALSE = {"true", "yes", "1", "on"}, {"false", "no", "0", "off"}


def nearest(word: str, known: typing.Iterable[str]) -> str:
    """Return " Did you mean …?" for the known word closest to this one, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


@dataclass(frozen=True, slots=True)
class Spec:
    """A plug-in's name and the parameters that were written out."""

    name: str
    params: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read ``name`` or ``name:key=value,key=value``."""
        if not is_writable(text):
            raise UsageError(f"{text!r} is not UTF-8, so no result could name it: rename the file or folder")
        name, _, rest = text.strip().partition(":")
        if not _NAME.match(name):
            raise UsageError(f"{text!r} is not a spec: write name or name:key=value,key=value")
        params: dict[str, str] = {}
        for item in _NEXT_KEY.split(rest) if rest else []:
            key, equals, value = item.partition("=")
            key = key.strip().replace("-", "_")
            if not equals or not key:
                raise UsageError(f"{item!r} in {text!r} is not key=value")
            if key in params:
                raise UsageError(f"{key!r} is given twice in {text!r}")
            params[key] = value.strip()
        return cls(name, tuple(params.items()))

    def __str__(self) -> str:
        """Write the spec so that `parse` reads it back."""
        return self.name + (":" + ",".join(f"{k}={v}" for k, v in self.params) if self.params else "")


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered plug-in: where its class is, what it is in a line, what extra it needs."""

    target: str
    summary: str
    extra: str | None = None


@dataclass(frozen=True)
class Registry(Generic[T]):
    """The plug-ins of one kind: those listed here and those that other distributions add by entry point."""

    kind: str
    builtin: dict[str, Entry]
    group: str
    """The entry-point group for third parties."""

    def entries(self) -> dict[str, Entry]:
        """Return all plug-ins; a built-in name cannot be taken over."""
        found = {
            point.name: Entry(point.value, f"from {point.dist.name if point.dist else 'an entry point'}")
            for point in entry_points(group=self.group)
        }
        return {**found, **self.builtin}

    def create(self, spec: str | Spec) -> T:
        """Return the configured plug-in that the spec describes."""
        spec = Spec.parse(spec) if isinstance(spec, str) else spec
        cls = self._load(spec.name, self._entry(spec.name))
        if not hasattr(cls, "__dataclass_fields__"):
            raise UsageError(f"{self.kind} {spec.name!r} is not a dataclass: see its author")
        fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
        hints = typing.get_type_hints(cls)
        values = {}
        for key, text in spec.params:
            if key not in fields:
                hint = nearest(key, fields) or f" It takes: {', '.join(fields) or 'nothing'}."
                raise UsageError(f"{self.kind} {spec.name!r} has no parameter {key!r}.{hint}")
            values[key] = _convert(text, hints[key], where=f"{key} in {str(spec)!r}")
        missing = [
            name
            for name, f in fields.items()
            if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING and name not in values
        ]
        if missing:
            raise UsageError(f"{self.kind} {spec.name!r} needs {missing[0]}: write {spec.name}:{missing[0]}=…")
        try:
            return typing.cast("T", cls(**values))
        except MissingExtraError:
            raise
        except (UsageError, ValueError, TypeError) as error:
            raise UsageError(f"{spec}: {error}") from None

    def _entry(self, name: str) -> Entry:
        # Reading the entry points of every distribution takes a while: a built-in name needs none of them.
        if name in self.builtin:
            return self.builtin[name]
        entries = self.entries()
        if name not in entries:
            hint = nearest(name, entries) or f" Known: {', '.join(sorted(entries))}."
            raise UsageError(f"unknown {self.kind} {name!r}.{hint}")
        return entries[name]

    def _load(self, name: str, entry: Entry) -> Any:  # noqa: ANN401 - a class of the third party's choice
        module, _, attribute = entry.target.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except AttributeError as error:
            raise UsageError(f"{self.kind} {name!r} cannot be loaded from {entry.target}: {error}") from error
        except ImportError as error:
            if entry.extra:
                raise MissingExtraError(f"{self.kind} {name!r} needs {error.name}, which", extra=entry.extra) from error
            raise UsageError(f"{self.kind} {name!r} cannot be loaded from {entry.target}: {error}") from error


def positive(plugin: object, *names: str) -> None:
    """Raise unless the named fields are above zero; for ``__post_init__``."""
    for name in names:
        value = getattr(plugin, name)
        if not value > 0:
            raise UsageError(f"{name} must be above 0, not {value}")


def not_negative(plugin: object, *names: str) -> None:
    """Raise where a named field is below zero; for ``__post_init__``."""
    for name in names:
        value = getattr(plugin, name)
        if value < 0:
            raise UsageError(f"{name} must be 0 or above, not {value}")


def identity(plugin: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return all that decides what the plug-in does, as plain values: its class, version and parameters."""
    return {
        "class": f"{type(plugin).__module__}:{type(plugin).__qualname__}",
        "version": getattr(plugin, "version", "0"),
        **{f.name: getattr(plugin, f.name) for f in dataclasses.fields(plugin) if f.init},
    }


def _convert(text: str, hint: Any, *, where: str) -> Any:  # noqa: ANN401 - the field's own type
    options = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if type(None) in options and text.lower() == "none":
        return None
    kind = next(option for option in options if option is not type(None))
    if typing.get_origin(kind) is typing.Literal:
        allowed = typing.get_args(kind)
        if text in allowed:
            return text
        raise UsageError(f"{where} is {text!r}; it must be one of {', '.join(map(str, allowed))}")
    try:
        value = _flag(text) if kind is bool else kind(text)
    except (TypeError, ValueError):
        article = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise UsageError(f"{where} is {text!r}; it must be {article.get(kind.__name__, kind.__name__)}") from None
    if kind is int and abs(value) > _LARGEST:
        raise UsageError(f"{where} is {text!r}; it must be at most {_LARGEST:,}")
    return value


def _flag(text: str) -> bool:
    if text.lower() not in _TRUE | _FALSE:
        raise ValueError(text)
    return text.lower() in _TRUE
