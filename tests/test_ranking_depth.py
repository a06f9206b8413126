"""How deep rankings are kept: deep enough for every budget, and no deeper than they are long."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, CorpusFile
from evaluation.experiment.ranking_depth import EVERYTHING, LEAST, kept_ranks, largest_budgets
from evaluation.measures.registry import parse_measure
from indexing.found import Found


def table(spans: list[tuple[int, int, int]]) -> ChunkTable:
    """Return chunks of (file, start, end) in which every byte is a token."""
    spans = sorted(spans)
    columns = {name: np.array([span[place] for span in spans]) for place, name in enumerate(("file", "start", "end"))}
    columns["tokens"] = columns["end"] - columns["start"]
    files = tuple(CorpusFile("r", f"{number}.py", "python") for number in range(1 + max(span[0] for span in spans)))
    return ChunkTable(files, columns, [str(row) for row in range(len(spans))], [""] * len(spans))


def kept(chunks: ChunkTable, order: list[int], budget: int) -> int:
    """Return how many ranks of one ranking are kept."""
    rows = np.arange(len(chunks))
    sizes: dict[SizeUnit, np.ndarray] = {"tokens": chunks.columns["tokens"]}
    found = Found(np.array([order], dtype=np.int64), np.ones((1, len(order))))
    (ranked,) = kept_ranks(chunks, rows, [found], budgets={"tokens": budget}, sizes=sizes)
    assert ranked == found.hits()[0][: len(ranked)]
    return len(ranked)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3000))
def test_what_is_kept_spends_the_budget(seed: int, budget: int) -> None:
    """However chunks overlap, the text of the ranks that are kept, counted once, is the budget or all there is."""
    rng = np.random.default_rng(seed)
    starts, sizes, files = rng.integers(0, 400, 250), rng.integers(1, 30, 250), rng.integers(0, 3, 250)
    chunks = table(list({(int(f), int(s), int(s + n)) for f, s, n in zip(files, starts, sizes, strict=True)}))
    order = rng.permutation(len(chunks)).tolist()
    last = kept(chunks, order, budget)
    read = set()
    for row in order[:last]:
        file, start, end = (int(chunks.columns[name][row]) for name in ("file", "start", "end"))
        read |= {(file, byte) for byte in range(start, end)}
    assert last == len(order) or len(read) >= budget
    assert last >= min(LEAST, len(order))


def test_chunks_that_do_not_overlap_are_kept_to_the_rank_that_spends_the_budget() -> None:
    """Of chunks of ten tokens 100 are kept in any case, then as many as the budget needs; touching is not overlap."""
    chunks = table([(file, 10 * place, 10 * place + 10) for file in range(2) for place in range(150)])
    order = list(range(300))
    assert [kept(chunks, order, budget) for budget in (1, 1000, 1001, 1010, 1011, 2990, 2991, 5000)] == [
        *(100, 100, 101, 101, 102, 299, 300, 300)
    ]
    assert kept(chunks, order[:40], 5000) == 40
    assert kept(chunks, [], 5000) == 0


def test_doubled_text_is_kept_twice_as_deep() -> None:
    """Where every byte is in two chunks, twice the budget is kept."""
    chunks = table([(0, 5 * place, 5 * place + 10) for place in range(500)])
    assert kept(chunks, list(range(500)), 2000) == 400


def test_text_that_is_doubled_late_in_a_file_is_kept_twice_as_deep_too() -> None:
    """Many chunks that do not overlap come before it."""
    alone = [(0, 10 * place, 10 * place + 10) for place in range(250)]
    chunks = table([*alone, (0, 2490, 2505), (1, 0, 10)])
    assert kept(chunks, list(range(len(chunks))), 600) == 120


def test_the_largest_budget_of_each_unit_counts() -> None:
    """Measures and the curve, which is in tokens; a measure that looks at every rank has all of them."""
    names = ["recall@4000tok", "recall@900nws", "naurc@500nws", "ndcg@10"]
    assert largest_budgets(map(parse_measure, names), (250, 8000)) == {"tokens": 8000, "nws": 900}
    assert largest_budgets(map(parse_measure, names), (250,)) == {"tokens": 4000, "nws": 900}
    assert largest_budgets([], ()) == {"tokens": 0}
    for name in ("mrr", f"recall@{LEAST + 1}"):
        assert largest_budgets([parse_measure(name)], (250,))["tokens"] == EVERYTHING
    assert largest_budgets([parse_measure(f"recall@{LEAST}")], (250,))["tokens"] == 250
