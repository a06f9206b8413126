"""The process that divides a run opens no file of the corpus where workers can do it: seen by an audit hook in it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DRIVER = """
import os, sys
root, opened = sys.argv[1], []

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.fsdecode(arguments[0])
        if path.startswith(root + "/"):
            opened.append(path)

if __name__ == "__main__":  # workers import this file too
    sys.addaudithook(note)
    sys.argv = ["chunkbench", *sys.argv[2:]]
    from chunkbench import main
    try:
        main()
    finally:
        print("opened", len(opened), *opened[:5], file=sys.stderr)
"""


@pytest.mark.parametrize("engine", ["processes", "ray"])
def test_a_run_from_nothing_lists_names_and_opens_no_file_of_the_corpus(tmp_path: Path, engine: str) -> None:
    """From the walk to the texts that the results show; where everything is known, two processes are not started."""
    if engine == "ray" and not importlib.util.find_spec("ray"):
        pytest.skip("the extra `ray` is not installed")
    code = tmp_path / "code"
    code.mkdir()
    for number, path in enumerate(sorted((ROOT / "ground_truth").rglob("*.py")) * 3):
        (code / f"{number}_{path.name}").write_bytes(path.read_bytes() + f"\nNUMBER = {number}\n".encode())
    assert len(list(code.iterdir())) > 200
    script = tmp_path / "driver.py"
    script.write_text(DRIVER, "utf-8")
    how = ("--retriever", "bm25", "--limit", "10", "--chunker", "cast", "--jobs", "2", "--engine", engine)
    environment = {
        **os.environ,
        "CHUNKBENCH_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    counts = []
    for out in ("first", "second"):
        command = [sys.executable, str(script), str(code), "compare", str(code), *how, "--out", str(tmp_path / out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        counts.append(done.stderr.rpartition("opened ")[2].split()[0])
    assert counts[0] == "0"
    assert (counts[1] == "0") is (engine == "ray")
    assert (tmp_path / "first" / "texts.parquet").read_bytes() == (tmp_path / "second" / "texts.parquet").read_bytes()
