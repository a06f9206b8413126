"""The README keeps its word: its example runs, its files exist."""

from __future__ import annotations

import re
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import filelock
import pytest

import chunkbench as cb
from chunkers.splitting import chunk_file
from chunkers.types import Chunker, SourceFile
from scripts.cli import _VERBS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_example_chunker_is_a_chunker() -> None:
    """The class of "Your own chunker" cuts this test's own source into pieces that join back to it."""
    code = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "class Paragraphs" in block)
    module = types.ModuleType("my_chunkers")
    sys.modules["my_chunkers"] = module
    try:
        exec(compile(code, "README.md", "exec"), module.__dict__)  # noqa: S102 - our own README
        chunker: Chunker = module.Paragraphs(least=100)
    finally:
        del sys.modules["my_chunkers"]
    data = Path(__file__).read_bytes()
    chunks = chunk_file(chunker, SourceFile("test_readme.py", data, "python"))
    assert len(chunks) > 3
    assert b"".join(chunk.text.encode() for chunk in chunks) == data
    assert len(code.strip().splitlines()) <= 26


def test_the_example_in_python_runs_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a project where it says, ~ included; chunking and recommending take ~ too."""
    code = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "cb.compare(" in block)
    project = tmp_path / "src" / "project"
    shutil.copytree(Path(filelock.__file__).parent, project, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(project / "_api.py", tmp_path / "src" / "app.py")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own README
    assert "may be best" in capsys.readouterr().out
    assert names["results"].save("~/out") == tmp_path / "out"
    assert cb.chunk("~/src/app.py", "cast:size=1000") == cb.chunk("src/app.py", "cast:size=1000")
    found = cb.recommend("~/src/project", candidates=["cast:size=500", "cast:size=900"], limit=10)
    assert found.recommended.startswith("cast:size=")


def test_files_that_it_names_exist() -> None:
    """Every link into the repository and every script it tells people to run is there."""
    named = set(re.findall(r"\]\(([^)#:]+)\)", README)) | set(re.findall(r"\bscripts/[a-z_]+\.(?:py|sh)\b", README))
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_verb_is_in_its_table() -> None:
    """A reader finds each command."""
    assert {verb for verb in _VERBS if f"`{verb}`" not in README} == set()
