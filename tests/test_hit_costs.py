"""The tokens of a displayed result are what reading it adds, as budgets count it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from conftest import Command

from chunkers.sizes import ruler
from evaluation.report.explorer import explorer_data
from evaluation.report.view import views
from evaluation.results.folder import read_results
from evaluation.results.types import HitRecord, Results

LINES = [f"value_{number} = compute(size, {number})" for number in range(40)]


def overlapping(chunkbench: Command, tmp_path: Path) -> Results:
    """Return a run of windows that overlap, of chunks with headers, and of what a reader shows for both."""
    root = tmp_path / "code"
    root.mkdir()
    (root / "a.py").write_text("\n".join(LINES) + "\n")
    (root / "b.py").write_text("\n".join(LINES[::-1]) + "\n")
    rows = [
        {"query_id": f"q{n}", "query": f"compute value_{n}", "repo": "code", "file": "a.py"}
        | {"start_line": n, "end_line": n}
        for n in (5, 20)
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(each) + "\n" for each in rows))
    chunkers = ["--chunker", "sliding-window:window=12,step=4", "--chunker", "fixed-lines:lines=9,header=path"]
    options = [*chunkers, "--reader", "merge", "--retriever", "bm25", "--out", tmp_path / "out"]
    assert chunkbench("compare", root, "--annotations", gold, *options).code == 0
    return read_results(tmp_path / "out")


def test_text_that_was_shown_above_is_free_and_a_header_is_not(chunkbench: Command, tmp_path: Path) -> None:
    """Chunkers and readers alike: token by token, only what no result above has shown is paid for."""
    results = overlapping(chunkbench, tmp_path)
    data = {name: (tmp_path / "code" / name).read_bytes() for name in ("a.py", "b.py")}
    checked = 0
    for cell in results.cells:
        for hits in cell.hits.values():
            seen: set[tuple[str, int]] = set()
            for hit in hits:
                shown = {(hit.path, at) for at in _tokens(data[hit.path], hit)}
                header = f"{hit.path}\n".encode() if "header" in cell.key.chunker else b""
                assert hit.tokens == len(shown - seen) + ruler(header, "tokens").count(0, len(header))
                checked += bool(shown & seen)
                seen |= shown
    assert checked, "no result repeats another"


def _tokens(data: bytes, hit: HitRecord) -> list[int]:
    """Return where the tokens of a result's lines begin."""
    ends = [0, *(np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1).tolist()]
    starts = ruler(data, "tokens").starts.tolist()
    return [at for at in starts if ends[hit.start_line - 1] <= at < ends[hit.end_line]]


def test_the_page_counts_a_chunk_by_what_it_adds_to_each_ranking(chunkbench: Command, tmp_path: Path) -> None:
    """The explorer's running total is that of the results, also where rankings share a chunk."""
    results = overlapping(chunkbench, tmp_path)
    found = views(results)
    page = explorer_data(results, found)
    for cell in page["settings"][0]["cells"]:
        record = next(each for each in results.cells if each.key.chunker == cell["chunker"])
        for numbers, query in zip(cell["hits"], results.queries, strict=True):
            assert [page["chunks"][number][4] for number in numbers] == [hit.tokens for hit in record.hits[query.id]]
