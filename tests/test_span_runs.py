"""Span runs: what any code search returned is scored as the pipeline's own rankings are."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command

import evaluation.spans
from chunkers.sizes import ruler
from chunkers.sources import walk
from evaluation.experiment.loaded_dataset import load_dataset
from evaluation.experiment.span_places import Place, SpanRun
from evaluation.experiment.span_scoring import score_spans
from evaluation.measures.registry import parse_measure
from evaluation.spans.rows import json_schema
from ground_truth.datasets.in_memory import InMemory
from ground_truth.hidden import HiddenText, inside
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

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
    "no rows": ([], "has no rows for"),
    "views": ([{"query_id": "apple0", "views": [{"file": "apple.py"}]}], "1: start_line is missing"),
    "views of nothing": ([{"query_id": "apple0", "views": 3}], "1: views is 3: write a list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_by_file_and_row(
    chunkbench: Command, repository: Path, tmp_path: Path, case: str
) -> None:
    """One line with the row and the remedy, and exit code 2."""
    rows, said = WRONG[case]
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    done = chunkbench("score", "--spans", write(tmp_path / "run.jsonl", rows), "--dataset", gold)
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
    views = [{"file": "bolt.py", "start_line": 1, "end_line": 9}, {"file": "apple.py", "start_line": 3, "end_line": 8}]
    trajectory = write(tmp_path / "agent.jsonl", [{"query_id": "apple0", "views": views}])
    ranked = write(tmp_path / "ranked.jsonl", [place(rank=n, **view) for n, view in enumerate(views, start=1)])
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    for option in ("--views", "--spans"):
        one = chunkbench("score", "--json", "--dataset", gold, option, trajectory)
        other = chunkbench("score", "--json", "--dataset", gold, "--spans", ranked)
        assert one.json["per_query"] == other.json["per_query"]
        assert 0 < one.json["per_query"]["apple0"]["recall@4000tok"] < 1


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


def brute_force(
    units: list[list[int]],
    hidden: list[np.ndarray],
    places: list[tuple[int, int, int, int]],
    gold: list[tuple[int, int, int]],
) -> tuple[list[tuple[int, bool]], int]:
    """Return every unit that is read for the first time, in order, as (cost before it, gold), and the gold units."""
    golden = {
        (file, k)
        for file, start, end in gold
        for k, at in enumerate(units[file])
        if start <= at < end and not hidden[file][k]
    }
    seen: set[tuple[int, int]] = set()
    read: list[tuple[int, bool]] = []
    spent = 0
    for file, start, end, header in places:
        spent += header
        for k, at in enumerate(units[file]):
            if start <= at < end and not hidden[file][k] and (file, k) not in seen:
                seen.add((file, k))
                read.append((spent, (file, k) in golden))
                spent += 1
    return read, len(golden)


def test_text_measures_of_random_runs_equal_brute_force(tmp_path: Path) -> None:
    """Over 2,000 worlds with overlaps, repeats, headers, hidden text and several files the difference is 0."""
    random_ = random.Random(5)
    budget = 40
    names = [f"recall@{budget}tok", f"precision@{budget}tok", f"iou@{budget}tok", f"naurc@{budget}tok"]
    names += ["tokens_to_recall(0.5)", "file_rr", "file_recall@2"]
    measures = [parse_measure(name) for name in names]
    worlds = 0
    for block in range(100):
        root = tmp_path / f"world{block}"
        root.mkdir()
        sizes = []
        for file in range(3):
            words = ["größe", "x", "return", "\r\n", "\n", " ", "漢字", "(", ")", "value_of"]
            text = "".join(random_.choice(words) for _ in range(random_.randint(15, 60))).encode()
            (root / f"f{file}.py").write_bytes(text or b"x")
            sizes.append(len(text))
        hidden_spans = []
        for file in range(3):
            if random_.random() < 0.5:
                start = random_.randrange(sizes[file])
                hidden_spans.append(HiddenSpan("r", f"f{file}.py", start, random_.randint(start, sizes[file])))
        queries = tuple(Query(f"q{n}", "x", "r") for n in range(20))
        notes = []
        for query in queries:
            for _ in range(random_.randint(1, 3)):
                file = random_.randrange(3)
                lines = (root / f"f{file}.py").read_bytes()
                count = lines.count(b"\n") + (not lines.endswith(b"\n"))
                first = random_.randint(1, count)
                notes.append(Annotation(query.id, "r", f"f{file}.py", first, random_.randint(first, count)))
        dataset = Dataset("world", (walk(root, name="r"),), queries, tuple(notes), hidden=tuple(hidden_spans))
        loaded = load_dataset("world", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
        places: dict[str, list[tuple[int, int, int, int]]] = {}
        for query in queries:
            found = []
            for _ in range(random_.randint(0, 8)):
                file = random_.randrange(3)
                start = random_.randrange(sizes[file])
                found.append((file, start, random_.randint(start, sizes[file]), random_.choice([0, 0, 3])))
            places[query.id] = found + found[: random_.randint(0, 2)]
        keys = [_file_key(dataset, f"f{file}.py") for file in range(3)]
        run = SpanRun(
            "r",
            {
                query: [Place(keys[file], start, end, header_tokens=header) for file, start, end, header in found]
                for query, found in places.items()
            },
        )
        scored = score_spans(measures, loaded, run, budgets=[budget])
        data = [(root / f"f{file}.py").read_bytes() for file in range(3)]
        units = [ruler(each, "tokens").starts.tolist() for each in data]
        hidden = [
            inside(HiddenText(hidden_spans).ranges("r", f"f{n}.py"), np.array(each, dtype=np.int64))
            for n, each in enumerate(units)
        ]
        for number, query in enumerate(queries):
            gold = [_gold_bytes(data, note) for note in notes if note.query_id == query.id]
            expected = _expected(places[query.id], gold, brute_force(units, hidden, places[query.id], gold), budget)
            for name, value in zip(names, expected, strict=True):
                got = scored.scores[parse_measure(name).name][number]
                assert (np.isnan(got) and value is None) or got == (None if value is None else float(value)), name
            worlds += 1
    assert worlds == 2000


def _file_key(dataset: Dataset, path: str) -> Any:
    from evaluation.experiment.chunk_table import CorpusFile

    source = dataset.repositories[0].read(path)
    assert source is not None
    return CorpusFile("r", path, source.language)


def _gold_bytes(data: list[bytes], note: Annotation) -> tuple[int, int, int]:
    file = int(note.path[1])
    ends = [place + 1 for place, byte in enumerate(data[file]) if byte == 10]
    starts = [0, *ends]
    return file, starts[note.start_line - 1], (starts[note.end_line] if note.end_line <= len(ends) else len(data[file]))


def _expected(
    places: list[tuple[int, int, int, int]],
    gold: list[tuple[int, int, int]],
    read: tuple[list[tuple[int, bool]], int],
    budget: int,
) -> list[Fraction | None]:
    """Return the values of the measures by their definitions, as exact fractions."""
    order, total = read
    within = [(at, golden) for at, golden in order if at < budget]
    found = sum(golden for _, golden in within)
    spent = min(budget, _spent(places, order))
    area = sum(Fraction(budget - at) - Fraction(1, 2) for at, golden in within if golden)
    ideal = Fraction(min(total, budget) ** 2, 2) + Fraction(max(0, budget - total) * total)
    reach = None
    so_far = 0
    for at, golden in order:
        so_far += golden
        if total and golden and 2 * so_far >= total:
            reach = Fraction(at + 1)
            break
    files = list(dict.fromkeys(file for file, *_ in places))
    golden_files = {file for file, *_ in gold}
    first = next((Fraction(1, rank) for rank, file in enumerate(files, start=1) if file in golden_files), Fraction(0))
    return [
        Fraction(found, total) if total else Fraction(0),
        Fraction(found, spent) if spent else Fraction(0),
        Fraction(found, spent + total - found) if spent + total - found else Fraction(0),
        area / ideal if ideal else Fraction(0),
        reach,
        first,
        Fraction(len(golden_files.intersection(files[:2])), len(golden_files)),
    ]


def _spent(places: list[tuple[int, int, int, int]], order: list[tuple[int, bool]]) -> int:
    return len(order) + sum(header for *_, header in places)
