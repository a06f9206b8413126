"""Numbers on the command line: finite, and of a size that everything behind them can count with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

LARGEST = 10**15
"""No option is a larger number; a seed may be a date with its time."""


def bound_numbers(command: click.Command) -> click.Command:
    """Return the command with a bound for each of its numbers, those of its subcommands too.

    Click's ranges let nan, inf and numbers of any length through where no end is named.
    """
    for parameter in command.params:
        if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
            parameter.callback = _bounded(parameter.callback)
    if isinstance(command, click.Group):
        for each in command.commands.values():
            bound_numbers(each)
    return command


def _bounded(before: Callable[..., Any] | None) -> Callable[..., Any]:
    def check(context: click.Context, parameter: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - click's signature
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, int | float) and not (-LARGEST <= each <= LARGEST and math.isfinite(each)):
                raise click.BadParameter(f"it must be a finite number of at most {LARGEST:,}.", context, parameter)
        return before(context, parameter, value) if before else value

    return check
