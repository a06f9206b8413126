"""`python -m scripts.bench.measures`: the cost of the measures, relative to bare pytrec_eval in the same run."""

from __future__ import annotations

import gc
import json
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np

# Run as a file, Python would look for modules in this folder only, not in the one above it.
from chunkers.sizes import Ruler
from evaluation.measures import Measure, evaluate, parse_measure
from evaluation.types import Case, TextCase, TextSpan

SIX = "ndcg@10 precision@10 recall@10 mrr@10 map@10 hit@10".split()
UNCUT = "ndcg recall mrr map hit".split()
TREC = {"ndcg_cut_10", "P_10", "recall_10", "recip_rank", "map_cut_10", "success_10"}
RANX = "ndcg@10 precision@10 recall@10 mrr@10 map@10 hit_rate@10".split()
RANKED = [*SIX, *"ndcg_exp@10 ndcg_retrieved@10 precision_returned@10 ap_capped@10 kendall_tau_grades".split()]
BUDGETS = (1000, 2000, 4000, 8000)
AT_BUDGET = "recall precision iou naurc ndcg_text region_success redundancy".split()
TEXT = [f"{name}@{budget}tok" for name in AT_BUDGET for budget in BUDGETS] + [
    "tokens_to_recall(0.5)",
    "file_recall@10",
    "file_rr",
    "tokens_behind@10",
]
FILES, FILE_BYTES, FILE_TOKENS, CHUNKS_PER_FILE = 200, 12_000, 3_000, 30


def make_cases(queries: int, depth: int, seed: int) -> Iterator[Case]:
    """Yield random cases over 200 files and 6,000 chunks, one in three of which overlaps its neighbour."""
    rng = np.random.default_rng(seed)
    rulers = [Ruler(np.sort(rng.choice(FILE_BYTES, FILE_TOKENS, replace=False))) for _ in range(FILES)]
    step = FILE_BYTES // CHUNKS_PER_FILE
    spans = [
        TextSpan(file, part * step, (part + 1) * step + (step // 2 if part % 3 == 0 else 0))
        for file in range(FILES)
        for part in range(CHUNKS_PER_FILE)
    ]
    ids = [f"{value:020x}" for value in rng.integers(0, 2**62, len(spans))]
    by_unit = {"tokens": rulers}
    for query in range(queries):
        picks = rng.choice(len(spans), depth, replace=False).tolist()
        relevant = [*rng.choice(picks, 4, replace=False).tolist(), *rng.integers(0, len(spans), 4).tolist()]
        gold = [TextSpan(spans[c].file, spans[c].start + 40, spans[c].start + 360) for c in relevant]
        yield Case(
            f"q{query}",
            [ids[c] for c in picks],
            {ids[c]: 1 + c % 3 for c in relevant},
            TextCase([spans[c] for c in picks], gold, by_unit),  # type: ignore[arg-type]  # a dict of literals
        )


def fastest(repeats: int, functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the seconds of each function's fastest call; calls are interleaved, so that all see the same load."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            gc.collect()
            begin = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - begin)
    return {name: min(values) for name, values in times.items()}


def compare_engines(queries: int, depth: int, repeats: int) -> dict[str, float]:
    """Return the seconds of bare pytrec_eval, of ranx after its compilation, and of the measures here."""
    import pytrec_eval
    from ranx import Qrels, Run
    from ranx import evaluate as ranx_evaluate

    cases = list(make_cases(queries, depth, seed=1))
    qrels = {case.query_id: dict(case.grades or {}) for case in cases}
    run = {case.query_id: {c: float(depth - i) for i, c in enumerate(case.ranking)} for case in cases}

    def bare() -> None:
        pytrec_eval.RelevanceEvaluator(qrels, TREC).evaluate(run)

    def with_ranx() -> None:
        ranx_evaluate(Qrels(qrels), Run(run), RANX, return_mean=False)

    with_ranx()
    return fastest(
        repeats,
        {
            "bare pytrec_eval, six measures": bare,
            "ranx, the same six, compiled": with_ranx,
            "here, the same six": lambda: evaluate(_parsed(SIX), cases),
            "here, five without a cutoff": lambda: evaluate(_parsed(UNCUT), cases),
            "here, all eleven ranked measures": lambda: evaluate(_parsed(RANKED), cases),
            "here, all text measures at four budgets": lambda: evaluate(_parsed(TEXT), cases),
        },
    )


def growth(sizes: list[int], depth: int) -> list[dict[str, float]]:
    """Return, for growing numbers of queries read from a stream, milliseconds per thousand queries and peak memory."""
    measures = _parsed([*SIX, "recall@4000tok", "naurc@4000tok"])
    rows = []
    for queries in sizes:
        clock = _Stopwatch(make_cases(queries, depth, seed=2))
        begin = time.perf_counter()
        evaluate(measures, clock)
        seconds = time.perf_counter() - begin - clock.inside
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append({"queries": queries, "ms per 1000": seconds / queries * 1e6, "peak MB of the process": peak})
    return rows


class _Stopwatch:
    """Passes cases on and records the time of generating them."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self.cases = cases
        self.inside = 0.0

    def __iter__(self) -> Iterator[Case]:
        return self

    def __next__(self) -> Case:
        begin = time.perf_counter()
        try:
            return next(self.cases)
        finally:
            self.inside += time.perf_counter() - begin


def _parsed(names: list[str]) -> list[Measure]:
    return [parse_measure(name) for name in names]


@click.command()
@click.option("--queries", default=1000, show_default=True)
@click.option("--depth", default=100, show_default=True, help="Results per query.")
@click.option("--repeats", default=7, show_default=True, help="The fastest of so many counts.")
@click.option(
    "--growth-to", default=100_000, show_default=True, help="Most queries of the growth run; 0 leaves it out."
)
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
def command(*, queries: int, depth: int, repeats: int, growth_to: int, as_json: bool) -> None:
    """Time the measures against bare pytrec_eval and ranx, and how they grow with the number of queries."""
    seconds = compare_engines(queries, depth, repeats)
    bare = seconds["bare pytrec_eval, six measures"]
    sizes = [size for size in (1_000, 10_000, 100_000) if size <= growth_to]
    rows = growth(sizes, depth)
    if as_json:
        print(json.dumps({"seconds": seconds, "ratio": {k: v / bare for k, v in seconds.items()}, "growth": rows}))
        return
    for name, value in seconds.items():
        print(f"{name:42} {value * 1000:9.1f} ms {value / bare:7.2f} ×")
    for row in rows:
        print("  ".join(f"{key} {value:,.0f}" for key, value in row.items()))


if __name__ == "__main__":
    command()
