"""The `chunkbench` command: finds the verb, imports only that, and turns errors into one line and an exit code."""

from __future__ import annotations

import gc
import importlib
import io
import re
import sys
from pathlib import Path
from typing import NoReturn

import click

from chunkers.errors import NO_MEMORY, UsageError
from chunkers.plugins import nearest
from scripts.streams import let_go, plain_streams

_VERBS = {
    "compare": "which chunker retrieves better, by how much, and is that real?",
    "recommend": "which chunker and size for this code, and what that risks",
    "chunk": "see where a chunker cuts",
    "qrels": "which chunks answer each query, by a named overlap rule",
    "annotate": "mark the lines that answer your questions; check marked lines",
    "mine": "make queries from a repository that has no labels",
    "score": "measure TREC runs against qrels",
    "report": "build the report again, or merge several runs",
    "plan": "what an experiment would do, and what changed since",
    "nightly": "run an experiment on a moving repository and report regressions",
    "history": "past nightly runs: list, show, diff, trend, accept",
    "audit": "check the properties that each measure declares",
    "list": "chunkers, embedders, retrievers, datasets, measures, rules",
    "check-plugin": "what a plug-in of your own still lacks",
    "cache": "what is stored, and how to check or empty it",
}
"""verb → its line in --help; the command is `scripts.VERB:command`, with _ for -."""
_LONG_WORD = re.compile(r"(\S{400})\S{600,}")
_LONGEST_MESSAGE = 10_000


class _Verbs(click.Group):
    """Imports a command when it is called; --help needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _VERBS:
            ctx.fail(f"no command {name!r}.{nearest(name, _VERBS)}")
        from scripts.numbers import bound_numbers
        from scripts.verbosity import add_verbosity

        command: click.Command = importlib.import_module(f"scripts.{name.replace('-', '_')}").command
        return add_verbosity(bound_numbers(command))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="chunkbench", prog_name="chunkbench")
def chunkbench() -> None:
    """Which code chunker retrieves better, for this code and this embedder, by how much, and is that real?

    \b
    chunkbench compare                         the embedded dataset, the default chunkers
    chunkbench chunk FILE --chunker cast       see where a chunker cuts
    chunkbench list chunkers                   what there is to compare
    """  # noqa: D301 - \b is click's mark for text that is not wrapped


def main() -> NoReturn:
    """Run `chunkbench`."""
    # A run holds millions of small objects to its end; searching them for cycles takes long.
    gc.set_threshold(100_000, 20, 50)
    exit_with(chunkbench, name="chunkbench")


def exit_with(command: click.Command, *, name: str | None = None) -> NoReturn:
    """Run a command and exit; a UsageError is one line on stderr with its own exit code."""
    output, messages = sys.stdout, sys.stderr
    with plain_streams():
        code = _run(command, name)
        error = let_go(output) if output is not None else None
        # A reader that has seen enough (`… | head`) is not a failure.
        if error is not None and not isinstance(error, BrokenPipeError) and not code:
            _print_line(f"the output cannot be written: {error.strerror or error}")
            code = UsageError.exit_code
    if messages is not None:
        let_go(messages)
    sys.exit(code)


def _run(command: click.Command, name: str | None) -> int:
    """Run a command and return its exit code; any exception that escapes is a bug."""
    output = sys.stdout
    if output is None:
        _print_line("stdout is closed: send it to a file, or to /dev/null")
        return UsageError.exit_code
    try:
        code = command.main(prog_name=name, standalone_mode=False)
    except UsageError as error:
        _print_line(str(error))
        code = error.exit_code
    except click.ClickException as error:
        error.show(told := io.StringIO())
        click.echo(_bounded(told.getvalue()), err=True, nl=False)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):
            raise error.__cause__ from None  # click takes it for Ctrl-D; there are no prompts here, so it is a bug
        _print_line("interrupted")
        code = 130
    except UnicodeEncodeError as error:
        _print_line(f"the output cannot be written as {error.encoding}: set PYTHONIOENCODING=utf-8")
        code = UsageError.exit_code
    except OSError as error:
        # A full disk, a missing folder, a closed output: the cause is external, and the line names it.
        if isinstance(error, FileNotFoundError) and not error.filename and _is_removed():
            _print_line("the current folder has been removed: change to another")
        else:
            _print_line(f"{error.filename or 'the output'} cannot be read or written: {error.strerror or error}")
        code = UsageError.exit_code
    except MemoryError:
        _print_line(NO_MEMORY)
        code = UsageError.exit_code
    except SystemExit as end:
        # The reader is gone (`… | head`): click wraps the output so that nothing more is flushed to it, and exits
        # with 1. Here that would mean that cells failed.
        if sys.stdout is output:
            return end.code if isinstance(end.code, int) else int(bool(end.code))
        code = 0
    return code if isinstance(code, int) else 0


def _is_removed() -> bool:
    """Return whether the current folder has been removed."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _bounded(message: str) -> str:
    """Return the message with very long names cut: they would fill the screen and hide the remedy."""
    text = _LONG_WORD.sub(r"\1…", message)
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def _print_line(message: str) -> None:
    click.echo(f"chunkbench: {_bounded(message)}", err=True)
