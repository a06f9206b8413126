"""What a row costs beside what it scores: sizes and tokens are counted, times are measured once and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from chunkers.sizes import ruler
from evaluation.report.costs import byte_words, cost_table, time_words
from evaluation.report.view import views
from evaluation.results.folder import read_results

CHUNKERS = ("--chunker", "fixed-lines:lines=5", "--chunker", "cast:size=120")
RETRIEVERS = ("--retriever", "dense", "--retriever", "bm25", "--retriever", "hybrid")
TIMES = ("embed_seconds", "index_seconds", "build_seconds", "query_seconds_p50", "query_seconds_p95")


class Lab:
    """Comparisons of one annotated repository."""

    def __init__(self, chunkbench: Command, repository: Path) -> None:
        self._run, self.repository = chunkbench, repository
        self._runs = 0

    def cells(self, *options: object) -> list[dict[str, Any]]:
        """Return the cells of a comparison."""
        gold = self.repository.parent / "gold.jsonl"
        self._runs += 1
        out = self.repository.parent / f"out-{self._runs}"
        how = ("--embedder", "hashing:dimensions=64", "--engine", "serial", "--json", "--out", out)
        ran = self._run("compare", self.repository, "--annotations", gold, *how, *CHUNKERS, *options)
        assert ran.code == 0, ran.err
        cells: list[dict[str, Any]] = ran.json["cells"]
        return cells


@pytest.fixture
def lab(chunkbench: Command, repository: Path) -> Lab:
    """Return the lab; one file has a copy, so that some texts occur twice."""
    (repository / "copy.py").write_bytes((repository / "apple.py").read_bytes())
    return Lab(chunkbench, repository)


def test_texts_tokens_and_bytes_are_those_of_the_index(lab: Lab) -> None:
    """Distinct texts of five lines and their tokens, counted here; a vector has four bytes for each dimension."""
    cells = {(cell["chunker"], cell["retriever"]): cell for cell in lab.cells(*RETRIEVERS)}
    texts: list[bytes] = []
    tokens: dict[bytes, int] = {}
    for path in sorted(lab.repository.iterdir()):
        data = path.read_bytes()
        lines = data.splitlines(keepends=True)
        for at in range(0, len(lines), 5):
            start = len(b"".join(lines[:at]))
            texts.append(b"".join(lines[at : at + 5]))
            tokens.setdefault(texts[-1], ruler(data, "tokens").count(start, start + len(texts[-1])))
    own = {kind: cells["fixed-lines:lines=5", kind]["cost"] for kind in ("dense", "bm25", "hybrid")}
    for kind in ("dense", "hybrid"):
        assert own[kind]["texts_embedded"] == len(set(texts)) < len(texts)
        assert own[kind]["tokens_embedded"] == sum(tokens.values())
    assert own["dense"]["index_bytes"] == 4 * 64 * len(texts)
    assert own["bm25"]["texts_embedded"] == own["bm25"]["tokens_embedded"] == own["bm25"]["embed_seconds"] == 0
    assert own["hybrid"]["index_bytes"] == own["dense"]["index_bytes"] + own["bm25"]["index_bytes"]
    for cell in cells.values():
        cost = cell["cost"]
        assert cost["queries_timed"] == 16
        assert cost["query_embedding_timed"] == (cell["retriever"] != "bm25")
        assert all(cost[name] >= 0 for name in TIMES)
        assert cost["query_seconds_p95"] >= cost["query_seconds_p50"] > 0
        assert cost["build_seconds"] >= cost["embed_seconds"] + cost["index_seconds"]
        assert "core" in cost["machine"]
        assert cost["price"] is None


def test_words_alone_have_no_columns_of_what_is_embedded(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """A column of noughts would look like a measurement: it is there only where something is embedded."""
    out = tmp_path / "out"
    how = ("--embedder", "hashing:dimensions=64", "--engine", "serial", "--out", out)
    gold = repository.parent / "gold.jsonl"
    ran = chunkbench("compare", repository, "--annotations", gold, *how, *CHUNKERS, *RETRIEVERS[:4])
    assert ran.code == 0, ran.err
    tables = {view.setting.retriever: cost_table(view) for view in views(read_results(out))}
    headers = {name: table.header for name, table in tables.items() if table}
    assert headers["dense"] == [*headers["bm25"], "texts", "tokens"]


def test_tokens_read_are_the_measure_within_the_largest_budget(lab: Lab) -> None:
    """Half and 80 % of the answer: the median and the share of `tokens_to_recall`, as long as budgets last."""
    measures = ("--measure", "tokens_to_recall(0.5)", "--measure", "tokens_to_recall(0.8)", "--retriever", "bm25")
    for cell in lab.cells(*measures, "--budget", "100000"):
        for key, name in (("tokens_to_50", "tokens_to_recall(0.5)"), ("tokens_to_80", "tokens_to_recall(0.8)")):
            summary, cost = cell["measures"][name], cell["cost"][key]
            assert cost["median"] == summary["median"]
            assert cost["reached"] == summary["scored"] / 16
    plain = {cell["chunker"]: cell["cost"] for cell in lab.cells("--retriever", "bm25", "--budget", "100000")}
    tight = {cell["chunker"]: cell["cost"] for cell in lab.cells("--retriever", "bm25", "--budget", "10")}
    for chunker, cost in plain.items():
        assert cost["tokens_to_50"]["median"] > 10
        assert tight[chunker]["tokens_to_50"]["median"] is None
        assert tight[chunker]["tokens_to_80"]["reached"] < cost["tokens_to_80"]["reached"] == 1


def test_a_cell_from_the_cache_keeps_its_numbers(lab: Lab) -> None:
    """A second run measures nothing again, whatever other cells it has."""
    first = {(cell["chunker"], cell["retriever"]): cell["cost"] for cell in lab.cells(*RETRIEVERS)}
    again = lab.cells(*RETRIEVERS, "--retriever", "mmr", "--reader", "lines:around=2")
    kept = {(cell["chunker"], cell["retriever"]): cell["cost"] for cell in again}
    assert {key: kept[key] for key in first} == first
    read = next(cost for (chunker, kind), cost in kept.items() if "lines" in chunker.partition(" ")[2])
    assert read["tokens_to_50"]["reached"] > 0


def test_a_price_is_of_the_embedded_tokens(lab: Lab) -> None:
    """Per million tokens, for all embedders or for one of them; what is not embedded costs nothing."""
    for price in ("2.5", "hashing:dimensions=64=2.5"):
        for cell in lab.cells(*RETRIEVERS, "--price", price):
            cost = cell["cost"]
            assert cost["price"] == pytest.approx(2.5e-6 * cost["tokens_embedded"])
            assert (cost["price"] == 0) == (cell["retriever"] == "bm25")


@pytest.mark.parametrize(
    ("price", "message"),
    [
        (["cheap"], "'cheap' is not a price: write a number such as 0.02, or EMBEDDER=0.02"),
        (["-1"], "'-1' is not a price"),
        (["nan"], "'nan' is not a price"),
        (["inf"], "'inf' is not a price"),
        (["hasing=1"], "'hasing' is no embedder of this comparison. Did you mean 'hashing'?"),
        (["1", "2"], "--price is given twice for all embedders"),
    ],
)
def test_a_wrong_price_is_one_line(chunkbench: Command, repository: Path, price: list[str], message: str) -> None:
    """Nothing is computed for it."""
    options = [option for each in price for option in ("--price", each)]
    ran = chunkbench("compare", repository, "--embedder", "hashing", *options, "--out", repository.parent / "out")
    assert (ran.code, message in ran.err) == (2, True), ran.err
    assert not (repository.parent / "out").exists()


def test_a_tool_has_its_own_times(lab: Lab) -> None:
    """A ready tool has no index; of a user's command only the answers are timed."""
    mine = "python -c \"import sys\nfor line in sys.stdin: print('[]', flush=True)\""
    cells = {cell["chunker"]: cell["cost"] for cell in lab.cells("--tool", "grep-read", "--tool", f"mine={mine}")}
    ready, own = cells["grep-read"], cells["mine"]
    assert ready["index_bytes"] == ready["build_seconds"] == ready["tokens_embedded"] == 0
    assert own["index_bytes"] is own["build_seconds"] is own["tokens_embedded"] is None
    assert own["tokens_to_50"] == {"median": None, "reached": 0.0}
    for cost in (ready, own):
        assert cost["queries_timed"] == 16
        assert cost["query_seconds_p95"] >= cost["query_seconds_p50"] > 0


def test_costs_are_shown_where_people_look(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """In the wide table, the summary and the page, with the machine; results from before there were costs show none."""
    out = tmp_path / "out"
    shared = ("--engine", "serial", "--retriever", "bm25", "--retriever", "dense", "--embedder", "hashing")
    code = (repository, "--annotations", tmp_path / "gold.jsonl", *shared)
    ran = chunkbench("compare", *code, *CHUNKERS, "--tool", "grep-read", "--price", "1000", "--out", out, "--wide")
    assert ran.code == 0, ran.err
    machine = json.loads((out / "results.json").read_text())["cells"][0]["cost"]["machine"]
    page, summary = ((out / name).read_text() for name in ("report.html", "summary.md"))
    for text in (ran.out, page, summary):
        assert "Cost beside quality" in text
        assert "Is an index worth it?" in text
        assert "price" in text
    assert machine in " ".join(ran.out.split())
    plain = chunkbench("report", out)
    assert "Cost beside quality" not in plain.out
    assert "Is an index worth it?" in plain.out
    found = json.loads((out / "results.json").read_text())
    for cell in found["cells"]:
        del cell["cost"]
    (out / "results.json").write_text(json.dumps(found))
    old = chunkbench("report", out, "--wide")
    assert old.code == 0, old.err
    assert "Cost beside quality" not in old.out
    assert "Is an index worth it?" not in old.out


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "–"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (5_120_000, "5.1 MB"), (3e12, "3,000 GB")],
)
def test_bytes_in_words(count: float | None, words: str) -> None:
    """Decimal units, three digits."""
    assert byte_words(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"),
        (0, "0"),
        (0.00042, "0.42 ms"),
        (0.012, "12 ms"),
        (3.14, "3.1 s"),
        (42, "42 s"),
        (252, "4.2 min"),
        (9000, "2.5 h"),
    ],
)
def test_times_in_words(seconds: float | None, words: str) -> None:
    """The unit in which two or three digits say it."""
    assert time_words(seconds) == words
