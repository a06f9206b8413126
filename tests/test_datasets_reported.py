"""Every published format, from its own file to the report: what a loader says of its data, the report can show."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

import chunkbench as cb
from chunkers.errors import UsageError
from ground_truth.types import Dataset
from scripts.check.fuzz_datasets import formats
from scripts.check.fuzz_inputs import targets


def test_every_format_ends_in_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Table, verdict, page, LaTeX and CSV are made of each dataset; its details are in results.json."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    reported: list[str] = []
    for target in (*targets(tmp_path), *formats(tmp_path)):
        dataset: object = None
        with contextlib.suppress(UsageError):
            dataset = target.read(tmp_path, target.good)
        if isinstance(dataset, Dataset) and dataset.name not in reported:
            results = cb.compare(dataset, chunkers=["cast:size=100", "fixed-lines:lines=3"], retrievers=["bm25"])
            folder = tmp_path / "out" / str(len(reported))
            results.save(folder)
            assert "Traceback" not in str(results)
            assert (folder / "report.html").stat().st_size > 10_000, target.name
            assert json.loads((folder / "results.json").read_text("utf-8"))["datasets"]
            reported.append(dataset.name)
    assert len(reported) > 8, reported
