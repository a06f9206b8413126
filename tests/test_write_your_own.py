"""The pages for authors of plug-ins: each example keeps its contract, and every worked example holds."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Command

ROOT = Path(__file__).parent.parent
PAGES = {
    "chunker": ("chunkers", "my_chunker.py", "Paragraphs,blank=2"),
    "embedder": ("indexing", "my_embedder.py", "Trigrams,dimensions=256"),
    "retriever": ("indexing", "my_retriever.py", "SharedWords"),
    "dataset": ("ground_truth", "my_dataset.py", "Headlines,root=code"),
    "measure": ("evaluation", "my_measure.py", "Wasted,cutoff=10"),
}


def _example(package: str, file: str) -> str:
    page = (ROOT / package / "README.md").read_text("utf-8")
    blocks: list[str] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return next(block for block in blocks if block.startswith(f"# {file}\n"))


@pytest.fixture
def _examples(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert repository.name == "code"
    for package, file, _ in PAGES.values():
        (tmp_path / file).write_text(_example(package, file))


@pytest.mark.usefixtures("_examples")
@pytest.mark.parametrize("kind", PAGES)
def test_each_example_keeps_its_contract(chunkbench: Command, kind: str) -> None:
    """As its author would check it."""
    _, file, rest = PAGES[kind]
    done = chunkbench("check-plugin", kind, f"{file}:{rest}")
    assert done.code == 0, done.out + done.err


@pytest.mark.usefixtures("_examples")
def test_the_examples_work_together(chunkbench: Command) -> None:
    """One comparison with a plug-in of every kind, each from its file."""
    specs = {kind: f"{file}:{rest}" for kind, (_, file, rest) in PAGES.items()}
    options = [part for kind, spec in specs.items() for part in (f"--{kind}", spec)]
    done = chunkbench("compare", *options, "--chunker", "cast", "--engine", "serial", "--json", "--out", "out")
    assert done.code == 0, done.err
    assert [cell["status"] for cell in done.json["cells"]] == ["ok", "ok"]
    assert "wasted@10" in done.json["cells"][0]["measures"]
    command = [sys.executable, "-m", "chunkbench", "report", "out", "--out", "again"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    Path("my_measure.py").write_text("raise RuntimeError('a report runs no plug-in')\n")
    again = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert again.returncode == 0, again.stderr
    assert "wasted@10" in Path("again/summary.md").read_text("utf-8")


def test_every_worked_example_holds() -> None:
    """The examples of the page on measures, run as doctests."""
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    found = doctest.testfile(str(ROOT / "evaluation" / "README.md"), module_relative=False, optionflags=options)
    assert (found.failed, found.attempted > 15) == (0, True)
