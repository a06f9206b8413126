"""Plug-ins of every kind: found by name or by the location of their class, loaded on use, configured by a spec."""

from __future__ import annotations

import math
import typing
from dataclasses import dataclass, is_dataclass
from importlib.metadata import entry_points
from typing import Any, Generic, NamedTuple, TypeVar

from chunkers.errors import MissingExtraError, UsageError, reason_of
from chunkers.nearest import nearest
from chunkers.parameters import Parameter, parameters_of, read_parameters, values_of, write_parameters
from chunkers.spec import Spec
from chunkers.targets import file_of, load_target, target_of

__all__ = [
    "Entry",
    "Listed",
    "Parameter",
    "Registry",
    "Spec",
    "Spelled",
    "identity",
    "nearest",
    "not_negative",
    "positive",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered plug-in: the location of its class, a one-line description, and the extra it needs."""

    target: str
    summary: str
    extra: str | None = None


class Listed(NamedTuple):
    """A registered plug-in as displayed by `chunkbench list`."""

    name: str
    summary: str
    extra: str | None
    parameters: tuple[Parameter, ...]
    broken: str
    """Why it cannot be loaded; empty if it can."""


class Spelled(NamedTuple):
    """A plug-in object and the spec that identifies it in tables and keys."""

    spec: str
    plugin: Any
    only_here: str
    """Why no other process can create this plug-in from its spec; empty if any can."""


@dataclass(frozen=True)
class Registry(Generic[T]):
    """The plug-ins of one kind: built-in ones, those of other distributions, and any class that a spec names."""

    kind: str
    builtin: dict[str, Entry]
    group: str
    """The entry-point group for third parties."""
    members: tuple[str, ...] = ()
    """Attributes that every plug-in of this kind has."""

    def entries(self) -> dict[str, Entry]:
        """Return all registered plug-ins; a built-in name cannot be overridden."""
        found = {
            point.name: Entry(point.value, f"from {point.dist.name if point.dist else 'an entry point'}")
            for point in entry_points(group=self.group)
        }
        return {**found, **self.builtin}

    def listed(self) -> list[Listed]:
        """Return all registered plug-ins with their parameters; one that cannot be loaded has a reason."""
        return [self._listed(name, entry) for name, entry in self.entries().items()]

    def load(self, name: str) -> Any:  # noqa: ANN401 - a class of the third party's choice
        """Return the class of that name, or at that target; raise unless it is a plug-in of this kind."""
        entry = self._entry(name)
        try:
            cls = load_target(entry.target)
        except (Exception, SystemExit) as error:  # whatever third-party code raises
            if entry.extra and isinstance(error, ImportError):
                raise MissingExtraError(f"{self.kind} {name!r} needs {error.name}, which", extra=entry.extra) from error
            raise UsageError(f"{self.kind} {name!r} cannot be loaded: {reason_of(error)}") from error
        _check_class(cls, f"{self.kind} {name!r}")
        return cls

    def create(self, spec: str | Spec) -> T:
        """Return the configured plug-in that the spec describes."""
        spec = Spec.parse(spec) if isinstance(spec, str) else spec
        cls = self.load(spec.name)
        values = read_parameters(cls, spec, kind=self.kind)
        try:
            plugin = cls(**values)
        except MissingExtraError:
            raise
        except (UsageError, ValueError, TypeError) as error:
            raise UsageError(f"{spec}: {error}") from None
        except (Exception, SystemExit) as error:
            if spec.name in self.builtin:
                raise
            raise UsageError(f"{self.kind} {spec} cannot be made: {reason_of(error)}") from error
        if spec.name not in self.builtin:
            self._check_members(plugin, spec.name)
        return typing.cast("T", plugin)

    def spell(self, plugin: T) -> Spelled:
        """Return the object with its spec, under its registered name if it has one."""
        self.check_object(plugin)
        cls: Any = type(plugin)
        _check_class(cls, f"{self.kind} {cls.__qualname__}")
        self._check_members(plugin, cls.__qualname__)
        target = target_of(cls)
        named = next((name for name, entry in self.builtin.items() if entry.target == target), target)
        spec = Spec(named, write_parameters(plugin))
        return Spelled(str(spec), plugin, self._only_in_process(plugin, spec))

    def fits(self, plugin: object) -> bool:
        """Return whether an object has what every plug-in of this kind has."""
        return all(hasattr(plugin, member) for member in self.members)

    def check_object(self, plugin: object) -> None:
        """Raise for a class where an instance of it is expected."""
        if isinstance(plugin, type):
            name = plugin.__qualname__
            raise UsageError(f"{self.kind} {name} is a class: give an object of it, {name}()")

    def _only_in_process(self, plugin: Any, spec: Spec) -> str:  # noqa: ANN401 - a plug-in of this kind
        cls = type(plugin)
        if "<locals>" in cls.__qualname__:
            return f"{cls.__qualname__} is defined inside a function: move it to the top of a module"
        if cls.__module__ in {"__main__", "__mp_main__"}:
            return f"{cls.__qualname__} is defined in this session: move it to a module or a .py file"
        try:
            same = identity(self.create(Spec.parse(str(spec)))) == identity(plugin)
        except UsageError as error:
            return str(error)
        return "" if same else f"a parameter of {cls.__qualname__} cannot be written in a spec ({spec})"

    def _check_members(self, plugin: object, name: str) -> None:
        missing = [member for member in self.members if not hasattr(plugin, member)]
        if missing:
            all_of = ", ".join(self.members)
            raise UsageError(f"{self.kind} {name!r} has no {', '.join(missing)}: a {self.kind} needs {all_of}")

    def _listed(self, name: str, entry: Entry) -> Listed:
        try:
            return Listed(name, entry.summary, entry.extra, tuple(parameters_of(self.load(name))), "")
        except UsageError as error:
            return Listed(name, entry.summary, entry.extra, (), str(error))

    def _entry(self, name: str) -> Entry:
        # Reading the entry points of every distribution takes a while: a built-in name needs none.
        if name in self.builtin:
            return self.builtin[name]
        known, colon, rest = name.partition(":")
        if colon:
            if known in self.builtin:
                raise UsageError(f"{rest!r} in {name!r} is not key=value")
            return Entry(name, "")
        entries = self.entries()
        if name not in entries:
            hint = nearest(name, entries) or f" Known: {', '.join(sorted(entries))}."
            raise UsageError(f"unknown {self.kind} {name!r}.{hint}")
        return entries[name]


def _check_class(cls: object, what: str) -> None:
    if not isinstance(cls, type) or not is_dataclass(cls):
        raise UsageError(f"{what} is not a dataclass: write @dataclass(frozen=True, kw_only=True) above its class")


def positive(plugin: object, *names: str) -> None:
    """Raise unless the named fields are above zero; for ``__post_init__``."""
    for name in names:
        value = getattr(plugin, name)
        if not 0 < value < math.inf:
            raise UsageError(f"{name} must be above 0, not {value}")


def not_negative(plugin: object, *names: str) -> None:
    """Raise if a named field is below zero; for ``__post_init__``."""
    for name in names:
        value = getattr(plugin, name)
        if not 0 <= value < math.inf:
            raise UsageError(f"{name} must be 0 or above, not {value}")


def identity(plugin: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return everything that determines the plug-in's behaviour, as plain values: its class, version and parameters."""
    cls = type(plugin)
    file = file_of(cls.__module__)
    return {
        # A plug-in file is identified by its name, wherever it is: its code is hashed separately.
        "class": f"{file.name if file else cls.__module__}:{cls.__qualname__}",
        "version": getattr(plugin, "version", "0"),
        **values_of(plugin),
    }
