"""A stage's key is a hash of the code that can change its output, and of no other code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("chunkers", "indexing", "ground_truth", "evaluation")
STAGES = {"chunk": "chunk_table", "retrieve": "searching", "score": "scoring"}
PRINT = f"""
import json, sys
from pathlib import Path
from chunkers.plugin_code import code_hash
from chunkers.cast import Cast
from evaluation.experiment.code import code_of
from evaluation.measures.precision import Precision

def hashes():
    stages = {STAGES!r}
    found = {{stage: code_of.__wrapped__(f"evaluation.experiment.{{name}}") for stage, name in stages.items()}}
    return found | {{"cast": code_hash(Cast), "precision": code_hash(Precision)}}

before, changed = hashes(), {{}}
for name in sys.argv[1:]:
    file = Path(name)
    text = file.read_bytes()
    file.write_bytes(text + b"# a word\\n")
    now = hashes()
    file.write_bytes(text)
    changed[name] = sorted(stage for stage, digest in now.items() if digest != before[stage])
assert hashes() == before
print(json.dumps(changed))
"""
WORDS = {
    "evaluation/report/verdict.py": [],
    "evaluation/report/tables.py": [],
    "evaluation/history/gate.py": [],
    "evaluation/statistics/compare.py": [],
    "evaluation/results/folder.py": [],
    "evaluation/experiment/run.py": [],
    "chunkers/fixed_lines.py": [],
    "indexing/bm25.py": [],
    "evaluation/measures/precision.py": ["precision"],
    "chunkers/cast.py": ["cast"],
    "evaluation/experiment/scoring.py": ["score"],
    "ground_truth/overlap.py": ["score"],
    "evaluation/experiment/searching.py": ["retrieve"],
    "evaluation/experiment/chunk_table.py": ["chunk", "retrieve", "score"],
}
"""File → whose hash a changed word in it changes; a plug-in's own code is in the key beside the stage's."""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Change one file after the other in a copy of the packages, and say whose hash is another then."""
    copy = tmp_path_factory.mktemp("copy")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", PRINT, *WORDS],
        cwd=copy,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", WORDS)
def test_a_changed_word_is_known_to_those_it_can_change(changed: dict[str, list[str]], name: str) -> None:
    """A word in the report throws nothing away; one in a measure, a chunker or a stage is not answered from a cache."""
    assert changed[name] == WORDS[name]
