"""Span runs: what any code search returned is scored as the pipeline's own rankings are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import evaluation.spans
from evaluation.measures.registry import parse_measure
from evaluation.spans.rows import json_schema

TEXT_MEASURES = (
    "naurc@400tok",
    "recall@60tok",
    "recall@400tok",
    "recall@900nws",
    "recall@30lines",
    "precision@400tok",
    "iou@400tok",
    "ndcg_text@400tok",
    "tokens_to_recall(0.5)",
    "region_success@400tok",
    "redundancy@5",
    "tokens_behind@5",
    "chroma_recall@5",
    "file_recall@3",
    "file_rr",
)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def odd_code(tmp_path: Path) -> Path:
    """Return code with CRLF, characters of several bytes, no final newline, an empty and a one-line file."""
    root = tmp_path / "odd"
    root.mkdir()
    body = "def {name}(größe):\n    # «{name}» – naïve 漢字 😀\n    wert = größe + {n}\n    return wert\n\n\n"
    parts = "".join(body.format(name=f"mache_{n}", n=n) for n in range(12))
    (root / "crlf.py").write_bytes(parts.replace("\n", "\r\n").encode())
    (root / "open_end.py").write_bytes(parts.rstrip("\n").encode())
    (root / "plain.py").write_bytes(parts.encode())
    (root / "one.py").write_bytes(b"x = 1")
    (root / "mixed.py").write_bytes(b"a = 1\r\nb = 2\rc = 3\n\n\xff\xfe = 4\nd = 5")
    rows = [
        {"query_id": f"q{n}", "query": f"mache {n} wert größe", "file": file, "start_line": 6 * n + 1, "end_line": end}
        for n, (file, end) in enumerate(
            [("crlf.py", 4), ("crlf.py", 10), ("open_end.py", 16), ("open_end.py", 70), ("plain.py", 28)]
        )
    ]
    write(tmp_path / "odd.jsonl", [*rows, {**rows[0], "query_id": "q9", "file": "mixed.py", "end_line": 5}])
    return root


CHUNKERS = (
    "cast:size=120",
    "cast:size=200,header=path",
    "fixed-lines:lines=5",
    "fixed-nws:size=90",
    "recursive:size=150",
    "sliding-window:window=8,step=5",
    "fixed-tokens:tokens=40",
    "whole-file",
    "definitions",
    "declarations",
    "functions",
    "code-chunk:size=150",
)


def test_what_compare_ranked_scores_the_same_from_its_file(chunkbench: Command, odd_code: Path, tmp_path: Path) -> None:
    """Every chunker and retriever, every text and file measure, every query: equal to the last digit, also by lines."""
    dataset = f"annotations:path={tmp_path / 'odd.jsonl'},root={odd_code}"
    measures = [part for name in TEXT_MEASURES for part in ("--measure", name)]
    done = chunkbench(
        *("compare", "--dataset", dataset, "--embedder", "hashing", "--engine", "serial", "--json", "--quiet"),
        *(part for chunker in CHUNKERS for part in ("--chunker", chunker)),
        *(part for name in ("bm25", "dense", "hybrid") for part in ("--retriever", name)),
        *(*measures, "--headline", "naurc@400tok", "--measure", "ndcg@5"),
        *("--write-spans", tmp_path / "spans.jsonl", "--out", tmp_path / "out", "--tool", "grep-read"),
        *("--baseline", "whole-file"),
    )
    assert done.code == 0, done.err
    again = chunkbench("score", "--spans", tmp_path / "spans.jsonl", "--dataset", dataset, "--json", *measures)
    assert again.code == 0, again.err
    import pyarrow.parquet as pq

    rows = pq.read_table(tmp_path / "out" / "scores.parquet").to_pylist()
    runs, compared = again.json["runs"], 0
    for row in rows:
        if row["measure"] in {parse_measure(name).name for name in TEXT_MEASURES}:
            own = row["chunker"] == "grep-read"
            name = row["chunker"] if own else " · ".join(row[part] for part in ("chunker", "embedder", "retriever"))
            assert runs[name]["per_query"][row["query_id"]][row["measure"]] == row["value"], (name, row)
            compared += 1
    assert compared == (len(CHUNKERS) * 3 + 1) * len(TEXT_MEASURES) * 6
    for cell in done.json["cells"]:
        own = cell["chunker"] == "grep-read"
        name = cell["chunker"] if own else " · ".join(cell[part] for part in ("chunker", "embedder", "retriever"))
        for measure, mean in runs[name]["mean"].items():
            assert mean == cell["measures"][measure]["mean"]
    assert "ndcg@5" not in next(c for c in done.json["cells"] if c["chunker"] == "grep-read")["measures"]


def test_lines_and_bytes_of_the_same_place_score_the_same(chunkbench: Command, odd_code: Path, tmp_path: Path) -> None:
    """Whole lines as lines or as bytes: the same numbers, whatever ends the lines."""
    dataset = f"annotations:path={tmp_path / 'odd.jsonl'},root={odd_code}"
    by_lines, by_bytes = [], []
    for query in ("q0", "q1", "q2", "q3", "q4", "q9"):
        for rank, name in enumerate(sorted(path.name for path in odd_code.iterdir()), start=1):
            lines = (odd_code / name).read_bytes().splitlines(keepends=True)
            parts = (odd_code / name).read_bytes().split(b"\n")
            count = len(parts) - (parts[-1] == b"")
            assert len(lines) >= count
            first, last = 1 + rank % count, count
            data = (odd_code / name).read_bytes()
            ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
            start, end = ([0, *ends][first - 1], ([*ends, len(data)])[last - 1])
            shared = {"query_id": query, "rank": rank, "repo": "odd", "file": name}
            by_lines.append({**shared, "start_line": first, "end_line": last})
            by_bytes.append({**shared, "start_byte": start, "end_byte": end})
    files = [write(tmp_path / "lines.jsonl", by_lines), write(tmp_path / "bytes.jsonl", by_bytes)]
    done = chunkbench(
        *("score", "--json", "--dataset", dataset, "--spans", files[0], "--spans", files[1]),
        *(part for name in TEXT_MEASURES for part in ("-m", name)),
    )
    assert done.code == 0, done.err
    assert done.json["runs"]["lines"]["per_query"] == done.json["runs"]["bytes"]["per_query"]
    assert done.json["comparisons"][0]["difference"] == 0
    both = write(tmp_path / "both.jsonl", [{**a, **b} for a, b in zip(by_lines, by_bytes, strict=True)])
    assert chunkbench("score", "--dataset", dataset, "--spans", both, "--json").code == 0


def place(query: str = "apple0", **more: object) -> dict[str, Any]:
    """Return a row about the small repository."""
    return {"query_id": query, "rank": 1, "repo": "code", "file": "apple.py", "start_line": 1, "end_line": 9, **more}


WRONG = {
    "unknown file": ([place(file="pear.py")], "1: 'pear.py' is not a file of 'code'"),
    "lines outside": ([place(end_line=99)], "1: apple.py has 23 lines; lines 1-99 are not in it"),
    "bytes outside": ([place(start_byte=0, end_byte=10**9)], "1: apple.py has"),
    "bytes that disagree": ([place(start_byte=0, end_byte=5)], "1: end_line is 9, but the bytes say 1"),
    "both": ([place(score=1.0)], "1: it has both rank and score"),
    "neither": ([place(rank=None)], "1: it has neither rank nor score"),
    "same rank": ([place(), place(start_line=2)], "2: rank 1 of query 'apple0' is there already, in row 1"),
    "mixed": (
        [place(), place(rank=None, score=1.0)],
        "2: query 'apple0' has results with ranks and results with scores",
    ),
    "unknown query": ([place("aple0")], "1: 'aple0' is not a query of"),
    "not finite": ([place(rank=None, score=float("nan"))], "1: score is nan: write a finite number"),
    "infinite": ([place(rank=None, score=float("inf"))], "1: score is inf: write a finite number"),
    "rank 0": ([place(rank=0)], "1: rank is 0: write a whole number counted from 1"),
    "half a place": ([place(end_line=None)], "1: end_line is missing"),
    "backwards": ([place(start_line=9, end_line=2)], "1: end_line 2 is before start_line 9"),
    "unknown key": ([place(strt_line=1)], "1: unknown key 'strt_line': Did you mean 'start_line'?"),
    "repository": ([place(repo="cod")], "1: the dataset has no repository 'cod'"),
    "dotted": ([place(file="./apple.py")], "write 'apple.py'"),
    "header twice": ([place(header="x", header_tokens=1)], "1: it has both header and header_tokens"),
    "half a character": ([place(header="\ud800")], "1: header has half of a surrogate pair: write whole characters"),
    "half a name": ([place(run="\ud800")], "1: run is '\\ud800': name it in whole characters"),
    "tokens for lines": (
        [place(header_tokens=5)],
        "1: header_tokens is a number of tokens, and a measure counts lines",
    ),
    "no rows": ([], "has no rows for"),
    "no views": ([{"query_id": "apple0", "views": []}], "views is empty in every row"),
    "views": ([{"query_id": "apple0", "views": [{"file": "apple.py"}]}], "1: start_line is missing"),
    "view": ([{"query_id": "apple0", "views": [5]}], "1: views.0 is 5: write an object with file, start_line"),
    "views of nothing": ([{"query_id": "apple0", "views": 3}], "1: views is 3: write a list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_by_file_and_row(
    chunkbench: Command, repository: Path, tmp_path: Path, case: str
) -> None:
    """One line with the row and the remedy, and exit code 2."""
    rows, said = WRONG[case]
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    measured = ("-m", "recall@400tok", "-m", "recall@20lines")
    done = chunkbench("score", "--spans", write(tmp_path / "run.jsonl", rows), "--dataset", gold, *measured)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("text", [b"{", b"[1]", b"\xff\n", b"[" * 200_000, b'{"rank": ' + b"9" * 5000 + b"}"])
def test_a_row_that_is_no_object_is_named(chunkbench: Command, repository: Path, tmp_path: Path, text: bytes) -> None:
    """Broken JSON, a list, no UTF-8, a nesting or a number beyond all measure: a line and exit code 2."""
    (tmp_path / "run.jsonl").write_bytes(text)
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    done = chunkbench("score", "--spans", tmp_path / "run.jsonl", "--dataset", gold)
    assert done.code == 2
    assert "run.jsonl:1: " in done.err


def test_the_published_schema_is_that_of_the_rows() -> None:
    """The file beside the code is what `chunkbench score --schema` prints."""
    published = Path(evaluation.spans.__file__).parent / "span.schema.json"
    assert json.loads(published.read_text()) == json_schema()


def test_measures_that_need_chunks_are_refused_by_name(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Chance, ceilings and ids need chunks, which a span run does not have."""
    run = write(tmp_path / "run.jsonl", [place()])
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    for name in ("ndcg@5", "chance(naurc@4000tok)", "split_rate", "ild@5"):
        done = chunkbench("score", "--spans", run, "--dataset", gold, "-m", name)
        assert (done.code, "which a span run does not have" in done.err) == (2, True)


def test_scores_and_ranks_give_the_same_order(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Higher scores come first; equal ones go by path and first byte; a query that is not answered scores 0."""
    places = [("bolt.py", 1.0), ("apple.py", 1.0), ("candle.py", 2.5)]
    by_score = [place(rank=None, score=score, file=file) for file, score in places]
    order = ["candle.py", "apple.py", "bolt.py"]
    by_rank = [place(rank=rank, file=file) for rank, file in enumerate(order, start=1)]
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    done = chunkbench(
        *("score", "--json", "--dataset", gold, "-m", "file_rr", "-m", "naurc@4000tok"),
        *("--spans", f"a={write(tmp_path / 'a.jsonl', by_score)}"),
        *("--spans", f"b={write(tmp_path / 'b.jsonl', by_rank)}"),
    )
    first, second = done.json["runs"]["a"], done.json["runs"]["b"]
    assert first["per_query"] == second["per_query"]
    assert first["per_query"]["apple0"]["file_rr"] == 0.5
    assert first["per_query"]["bolt0"] == {"file_rr": 0.0, "naurc@4000tok": 0.0}
    assert (first["n_missing"], first["n_total"]) == (15, 16)
    assert done.json["chance"].keys() == {"naurc@4000tok"}
    shown = chunkbench("score", "--dataset", gold, "--spans", tmp_path / "a.jsonl", "--spans", tmp_path / "b.jsonl")
    assert "All runs have the same naurc@4000tok" in shown.out
    assert "chance: a random ranking of the same files in windows of 50 lines" in shown.out


def test_measures_are_whole_at_80_columns(
    chunkbench: Command, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Budgets tell measures apart, so no name is cut; the run's own name stands above its table."""
    monkeypatch.setenv("COLUMNS", "80")
    name = "cast:size=1000,overlap=100 · minilm · bm25"
    run = write(tmp_path / "a.jsonl", [place(run=name)])
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    lines = chunkbench("score", "--dataset", gold, "--spans", run).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert {"recall@1000tok", "recall@4000tok", "recall@8000tok"} <= {line.partition(" ")[0] for line in lines}
    assert name in lines


def test_the_chance_of_a_span_run_is_that_of_windows_of_lines(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """What `compare` says of fixed windows of 50 lines is what a span run is held against, whatever it returned."""
    run = write(tmp_path / "run.jsonl", [place()])
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    measures = ("-m", "naurc@400tok", "-m", "recall@100tok")
    scored = chunkbench("score", "--json", "--dataset", gold, "--spans", run, *measures)
    compared = chunkbench(
        *("compare", "--dataset", gold, "--chunker", "fixed-lines:lines=50", "--retriever", "bm25", "--json"),
        *(
            "--measure",
            "naurc@400tok",
            "--measure",
            "recall@100tok",
            "--headline",
            "naurc@400tok",
            "--engine",
            "serial",
        ),
        *("--out", tmp_path / "out"),
    )
    assert scored.json["chance"] == compared.json["cells"][0]["chunks"]["chance"]
    assert 0 < scored.json["chance"]["recall@100tok"] < 1
    assert "chance" not in chunkbench("score", "--dataset", gold, "--spans", run, "-m", "file_rr", "--csv").out


def test_views_of_an_agent_are_a_span_run_in_the_order_read(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """A trajectory scores as the same places with ranks do."""
    views: list[dict[str, Any]] = [
        {"file": "bolt.py", "start_line": 1, "end_line": 9},
        {"file": "apple.py", "start_line": 3, "end_line": 8},
    ]
    trajectory = write(tmp_path / "agent.jsonl", [{"query_id": "apple0", "views": views}])
    ranked = write(tmp_path / "ranked.jsonl", [place(rank=n, **view) for n, view in enumerate(views, start=1)])
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    for option in ("--views", "--spans"):
        one = chunkbench("score", "--json", "--dataset", gold, option, trajectory)
        other = chunkbench("score", "--json", "--dataset", gold, "--spans", ranked)
        assert one.json["per_query"] == other.json["per_query"]
        assert 0 < one.json["per_query"]["apple0"]["recall@4000tok"] < 1


ANY_FILE = """\
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.measures.measure import Measure, Share


@dataclass(frozen=True, kw_only=True)
class AnyFile(Share, Measure):
    label: ClassVar[str] = "any_file"
    pattern: ClassVar[str] = "any_file"
    definition: ClassVar[str] = "1 where one of the files returned holds gold"
    citation: ClassVar[str] = "none"
    needs: ClassVar[frozenset] = frozenset({"text"})
    comparable: ClassVar[bool] = True
    properties: ClassVar[frozenset] = frozenset({"bounded"})
    least: int = 1

    def score(self, batch):
        shared = (len({span.file for span in text.gold} & set(files)) for text, files in zip(batch.texts, batch.files))
        return np.array([float(count >= self.least) for count in shared])
"""


def test_a_measure_of_ones_own_scores_spans_and_files(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """From its file, with parameters, in a list of measures."""
    (tmp_path / "own.py").write_text(ANY_FILE)
    gold = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text().splitlines()]
    rows = [
        {**{key: row[key] for key in ("query_id", "repo", "file", "start_line", "end_line")}, "rank": 1} for row in gold
    ]
    places = write(tmp_path / "s.jsonl", list({row["query_id"]: row for row in rows}.values()))
    dataset = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    asked = f"file_rr,{tmp_path / 'own.py'}:AnyFile,least=1,file_recall@1"
    scored = chunkbench("score", "--spans", places, "--dataset", dataset, "--json", "-m", asked)
    assert scored.code == 0, scored.err
    assert list(scored.json["mean"]) == ["file_rr", "any_file", "file_recall@1"]
    assert scored.json["mean"]["any_file"] == 1


def test_runs_are_compared_by_the_test_that_is_named(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Both by t or by flips; of TREC files there is nothing to compare."""
    gold = tmp_path / "gold.jsonl"
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file, lines in zip(files, (4, 40), strict=True):
        asked = ("compare", repository, "--annotations", gold, "--chunker", f"fixed-lines:lines={lines}", "--quiet")
        made = chunkbench(*asked, "--retriever", "bm25", "--out", tmp_path / f"{lines}", "--write-spans", file)
        assert made.code == 0, made.err
    named = [word for name, file in zip("ab", files, strict=True) for word in ("--spans", f"{name}={file}")]
    compared = (
        "score",
        *named,
        "--dataset",
        f"annotations:path={gold},root={repository}",
        "-m",
        "naurc@4000tok",
        "--json",
    )
    by_flips, by_t = chunkbench(*compared, "--test", "sign-flip").json, chunkbench(*compared, "--test", "t").json
    assert by_t == chunkbench(*compared).json
    methods = [{each["method"] for each in found["comparisons"]} for found in (by_flips, by_t)]
    assert [("flips" in str(each)) for each in methods] == [True, False], methods
    refused = chunkbench("score", "--qrels", "q", "--run", "r", "--test", "t")
    assert (refused.code, "--test is about runs that are compared" in refused.err) == (2, True)


def test_a_span_run_stands_beside_chunkers(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """One row in every setting, compared with every chunker; it may be the baseline; parts of a run merge."""
    run = write(tmp_path / "run.jsonl", [place(f"{word}0", file=f"{word}.py") for word in ("apple", "bolt", "drum")])
    shared = (
        *("compare", repository, "--annotations", tmp_path / "gold.jsonl", "--embedder", "hashing"),
        *("--chunker", "fixed-lines:lines=6", "--chunker", "cast:size=120", "--retriever", "bm25"),
        *("--retriever", "dense", "--engine", "serial", "--spans", f"mine={run}", "--measure", "ndcg@5"),
    )
    done = chunkbench(*shared, "--json", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert [cell["chunker"] for cell in done.json["cells"]].count("mine") == 1
    for retriever in ("bm25", "dense"):
        rows = [row for row in done.json["comparisons"] if row["retriever"] == retriever]
        pairs = {frozenset((row["a"], row["b"])) for row in rows if row["measure"] == "naurc@4000tok"}
        assert len(pairs) == 3
        assert not any("mine" in (row["a"], row["b"]) for row in rows if row["measure"] == "ndcg@5")
    assert not any("mine" in (row["a"], row["b"], row["chunker"]) for row in done.json["other_axes"])
    based = chunkbench(*shared, "--out", tmp_path / "based", "--baseline", "mine")
    assert based.code == 0, based.err
    assert " mine " in based.out
    assert "chunkers may be best" not in chunkbench("report", tmp_path / "out").out
    for number in (1, 2):
        assert chunkbench(*shared, "--shard", f"{number}/2", "--out", tmp_path / f"part{number}").code == 0
    merged = chunkbench("report", tmp_path / "part1", tmp_path / "part2", "--out", tmp_path / "all", "--json")
    assert merged.code == 0, merged.err
    assert merged.json["config"]["chunkers"] == done.json["config"]["chunkers"]
    means = [
        {cell["chunker"] + cell["retriever"]: cell["measures"] for cell in each["cells"]}
        for each in (done.json, merged.json)
    ]
    assert means[0] == means[1]
