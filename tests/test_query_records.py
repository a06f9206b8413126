"""What the results say of a query: its language is the annotation's, else the one that holds most of the gold."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Command

from evaluation.results.folder import read_results


def test_the_language_of_a_query(chunkbench: Command, tmp_path: Path) -> None:
    """One line of Python and three of Go are a Go answer, unless the rows say otherwise."""
    root = tmp_path / "code"
    root.mkdir()
    (root / "a.py").write_text("alpha = 1\nbeta = 2\n")
    (root / "b.go").write_text("package b\n\nfunc Beta() int {\n\treturn 2\n}\n")
    row = {"query": "beta two", "repo": "code", "relevance": 1}
    places = [("a.py", 2, 2), ("b.go", 3, 5)]
    rows = [
        {**row, "query_id": query, "file": file, "start_line": first, "end_line": last, **said}
        for query, said in (("plain", {}), ("said", {"language": "python"}))
        for file, first, last in places
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(each) + "\n" for each in rows))
    options = ["--chunker", "fixed-lines:lines=2", "--retriever", "bm25", "--out", tmp_path / "out"]
    assert chunkbench("compare", root, "--annotations", gold, *options).code == 0
    found = {query.id: query.language for query in read_results(tmp_path / "out").queries}
    assert found == {"plain": "go", "said": "python"}


def test_a_question_with_half_of_a_character_is_written(chunkbench: Command, tmp_path: Path) -> None:
    """Published files have such texts, as JSON allows: no table and no page can, so it shows as a replacement."""
    home = tmp_path / "beir"
    (home / "qrels").mkdir(parents=True)
    (home / "corpus.jsonl").write_text('{"_id": "d1", "text": "alpha beta"}\n{"_id": "d2", "text": "gamma"}\n')
    (home / "queries.jsonl").write_text('{"_id": "q1", "text": "alpha \\ud83d \\udcff"}\n')
    (home / "qrels" / "test.tsv").write_text("q1\td1\t1\n")
    out = tmp_path / "out"
    done = chunkbench("compare", "--dataset", f"beir:path={home}", "--retriever", "bm25", "--out", out)
    assert done.code == 0, done.err
    (query,) = read_results(out).queries
    assert query.text == "alpha \ufffd \ufffd"
    assert chunkbench("report", out).code == 0
