"""`python -m scripts.setup_peers [NAME …]`: creates the environments of libraries that conflict with the others."""

from __future__ import annotations

import sys

import click

from chunkers.errors import UsageError
from chunkers.peers.environment import ENVIRONMENTS, set_up


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([environment.name for environment in ENVIRONMENTS]))
def command(names: tuple[str, ...]) -> None:
    """Recreate the environment of each named library, or of all; the other adapters need only the extra `peers`.

    \b
    python -m scripts.setup_peers
    python -m scripts.setup_peers chunkhound
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    for environment in ENVIRONMENTS:
        if not names or environment.name in names:
            click.echo(f"{environment.name}: {' '.join(environment.packages)} in {environment.folder}", err=True)
            set_up(environment)


if __name__ == "__main__":
    try:
        command()
    except UsageError as error:
        click.echo(f"chunkbench: {error}", err=True)
        sys.exit(error.exit_code)
