"""`--quiet` and `--verbose`, on every command: what is written to stderr beside errors."""

from __future__ import annotations

import logging

import click

_QUIET, _VERBOSE = "chunkbench.quiet", "chunkbench.verbose"


def add_verbosity(command: click.Command) -> click.Command:
    """Return the command and its subcommands with both options; an existing option of its own stays."""
    named = {option for parameter in command.params for option in parameter.opts}
    for flag, said in (("--quiet", "Say nothing but errors on stderr."), ("--verbose", "Say more on stderr.")):
        if flag not in named:
            option = click.Option([flag], is_flag=True, expose_value=False, callback=_remember, help=said)
            command.params.append(option)
    if isinstance(command, click.Group):
        for name in command.commands:
            add_verbosity(command.commands[name])
    return command


def set_verbosity(*, quiet: bool, verbose: bool) -> None:
    """Apply the settings of an experiment file; an option given on the command line wins."""
    context = click.get_current_context()
    for name, wanted in ((_QUIET, quiet and not is_verbose()), (_VERBOSE, verbose and not is_quiet())):
        if wanted:
            context.meta[name] = True
    if is_verbose():
        _log()


def note(message: str) -> None:
    """Write something worth knowing that is not an error to stderr; nothing with --quiet."""
    if not is_quiet():
        click.echo(message, err=True)


def is_quiet() -> bool:
    """Return whether the user asked for errors only."""
    return _has(_QUIET)


def is_verbose() -> bool:
    """Return whether the user asked for details."""
    return _has(_VERBOSE)


def _has(key: str) -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(key))


def _remember(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if not value:
        return
    context.meta[_QUIET if parameter.name == "quiet" else _VERBOSE] = True
    if is_quiet() and is_verbose():
        raise click.UsageError("--quiet and --verbose exclude each other")
    if parameter.name == "verbose":
        _log()


def _log() -> None:
    logging.basicConfig(format="%(name)s: %(message)s")
    for name in ("chunkers", "indexing", "ground_truth", "evaluation"):
        logging.getLogger(name).setLevel(logging.DEBUG)
