"""How a plug-in is written on the command line: ``cast:size=1500``, or ``my_chunker.py:Paragraphs,blank=2``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chunkers.errors import UsageError
from chunkers.writable import is_writable

# A comma inside a value is part of it unless a new key follows: paths and lists need no quoting.
_NEXT_KEY = re.compile(r",(?=[A-Za-z_][A-Za-z0-9_-]*=)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
# name:key=… is tried first: a value may well contain ".py:".
_WITH_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*:[A-Za-z_][A-Za-z0-9_-]*=")
_TARGET = re.compile(
    r"(?P<where>.+?\.py|[A-Za-z_][A-Za-z0-9_.]*):(?P<attribute>[A-Za-z_][A-Za-z0-9_.]*)(?:,(?P<rest>.*))?\Z", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Spec:
    """A plug-in and its explicit parameters.

    The name is a registered one, or a target: ``module:Class`` or ``path/to/file.py:Class``.
    """

    name: str
    params: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse ``name``, ``name:key=value,…`` or ``file.py:Class,key=value,…``."""
        if not is_writable(text):
            raise UsageError(f"{text!r} is not UTF-8, so no result could name it: rename the file or folder")
        text = text.strip()
        target = None if _WITH_KEY.match(text) else _TARGET.match(text)
        if target:
            return cls(f"{target['where']}:{target['attribute']}", _params(target["rest"] or "", text))
        name, _, rest = text.partition(":")
        if name.endswith(".py"):
            raise UsageError(f"{text!r} names no class: write {name}:Class or {name}:Class,key=value")
        if not _NAME.match(name):
            raise UsageError(f"{text!r} is not a spec: write name, name:key=value,… or file.py:Class,key=value,…")
        return cls(name, _params(rest, text))

    @property
    def is_target(self) -> bool:
        """Whether the name is the location of a class rather than a registered name."""
        return ":" in self.name

    def __str__(self) -> str:
        """Return the spec as `parse` reads it."""
        written = ",".join(f"{key}={value}" for key, value in self.params)
        return self.name + ("," if self.is_target else ":") + written if written else self.name


def _params(rest: str, text: str) -> tuple[tuple[str, str], ...]:
    params: dict[str, str] = {}
    for item in _NEXT_KEY.split(rest) if rest else []:
        key, equals, value = item.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise UsageError(f"{item!r} in {text!r} is not key=value")
        if key in params:
            raise UsageError(f"{key!r} is given twice in {text!r}")
        params[key] = value.strip()
    return tuple(params.items())
