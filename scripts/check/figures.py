"""`python -m scripts.check.figures [PAGE …]`: the figures of the documentation, as commands print them.

A page marks what a command prints:

    <!-- figures: NAME | COMMAND -->
    …
    <!-- end figures -->

This runs the command from the repository's root, keeps what it prints in scripts/check/figures/PAGE.json and puts it
into the page. A test says when a page and that file disagree; `--check` says it here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "chunkers/README.md", "indexing/README.md", "ground_truth/README.md", "evaluation/README.md")
_BLOCK = re.compile(
    r"<!-- figures: (?P<name>[\w-]+) \| (?P<command>[^\n]+?) -->\n(?P<body>.*?)\n?<!-- end figures -->", re.DOTALL
)


class Block(NamedTuple):
    """A part of a page that a command prints."""

    name: str
    command: str
    body: str


def blocks(page: str) -> list[Block]:
    """Return the marked parts of a page."""
    text = (ROOT / page).read_text("utf-8")
    return [Block(found["name"], found["command"], found["body"]) for found in _BLOCK.finditer(text)]


def stored(page: str) -> dict[str, dict[str, str]]:
    """Return name → command and output, as last printed."""
    file = _file(page)
    found: dict[str, dict[str, str]] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def disagreements(page: str) -> list[str]:
    """Return a line for each part of a page that differs from its command's output."""
    known, found = stored(page), {block.name: block for block in blocks(page)}
    lines = [f"{page}: {name} is stored and not on the page" for name in known.keys() - found.keys()]
    for name, block in found.items():
        if name not in known:
            lines.append(f"{page}: {name} was never printed: python -m scripts.check.figures {page}")
        elif (block.command, block.body) != (known[name]["command"], known[name]["output"]):
            lines.append(f"{page}: {name} is not what its command printed")
    return sorted(lines)


def printed(command: str) -> str:
    """Return a command's output as Markdown: tables unchanged, anything else as a code block."""
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607 - a command of our own page
    if done.returncode != 0:
        raise click.ClickException(f"{command} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    text = "\n".join(line.rstrip() for line in done.stdout.strip("\n").split("\n"))
    return text if text.startswith("|") else f"```\n{text}\n```"


@click.command()
@click.argument("pages", nargs=-1)
@click.option("--name", "names", multiple=True, help="Only these figures.")
@click.option("--check", is_flag=True, help="Run nothing; say where pages and stored figures disagree.")
def command(pages: tuple[str, ...], names: tuple[str, ...], *, check: bool) -> None:
    """Print the figures of the documentation again, and put them into their pages."""
    chosen = pages or PAGES
    if not check:
        for page in chosen:
            _refresh(page, names)
    wrong = [line for page in chosen for line in disagreements(page)]
    print("\n".join(wrong) or "every figure is what its command printed")
    sys.exit(1 if wrong else 0)


def _refresh(page: str, names: tuple[str, ...]) -> None:
    known, found = stored(page), blocks(page)
    if not (known or found):
        return
    for block in found:
        if not names or block.name in names:
            print(f"{page}: {block.command}", file=sys.stderr)
            known[block.name] = {"command": block.command, "output": printed(block.command)}
    kept = {block.name: known[block.name] for block in found if block.name in known}
    _file(page).write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    text = (ROOT / page).read_text("utf-8")
    (ROOT / page).write_text(_BLOCK.sub(lambda match: _written(match, kept), text), "utf-8")


def _written(match: re.Match[str], kept: dict[str, dict[str, str]]) -> str:
    name = match["name"]
    output = kept[name]["output"] if name in kept else match["body"]
    return f"<!-- figures: {name} | {match['command']} -->\n{output}\n<!-- end figures -->"


def _file(page: str) -> Path:
    return ROOT / "scripts" / "check" / "figures" / f"{page.removesuffix('.md').replace('/', '-')}.json"


if __name__ == "__main__":
    command()
