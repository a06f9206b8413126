"""Results with a known truth, for the tests of reports: runpy.run_path gives `simulated_results`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from evaluation.results.types import CellRecord, GoldLines, HitRecord, QueryRecord, Results
from evaluation.statistics import compare_pairs, mean_interval
from evaluation.types import CellKey

BUDGETS = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)
HEADLINE = "naurc@4000tok"
NAMES = ("cast:size=2000", "fixed-lines:lines=50", "functions", "sliding:lines=40,overlap=10")
LINES_PER_FILE = 120


def simulated_results(
    *,
    names: Sequence[str] = NAMES,
    edges: Sequence[float] = (0.12, 0.0, 0.1, -0.08),
    queries: int = 64,
    repositories: int = 8,
    files: int = 6,
    baseline: str | None = None,
    failed: Mapping[str, str] | None = None,
    embedders: Sequence[str] = ("minilm",),
    hostile: str = "",
    seed: int = 0,
) -> Results:
    """Return results in which each chunker is better than the second one by its edge."""
    rng = np.random.default_rng(seed)
    asked = tuple(_query(k, repositories, files, hostile) for k in range(queries))
    clusters = [query.cluster for query in asked]
    difficulty = rng.normal(0.5, 0.15, queries)
    cells: list[CellRecord] = []
    comparisons: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    for embedder in embedders:
        scores = np.array([np.clip(difficulty + edge + rng.normal(0, 0.08, queries), 0, 1) for edge in edges])
        for place, name in enumerate(names):
            hits = _hits(asked, place, rng, texts, hostile)
            cells.append(_cell(CellKey("simulated", name, embedder, "dense"), scores[place], clusters, hits, place))
        for row in compare_pairs(scores, clusters, names=names, family=baseline or "all", flips=2000, seed=seed):
            where = {"dataset": "simulated", "embedder": embedder, "retriever": "dense", "measure": HEADLINE}
            comparisons.append({**row.row(), **where})
        cells += [
            CellRecord(CellKey("simulated", name, embedder, "dense"), "failed", reason)
            for name, reason in (failed or {}).items()
        ]
    return Results(
        config={
            "headline": HEADLINE,
            "baseline": baseline,
            "seed": seed,
            "rule": "any",
            "measures": [HEADLINE, "ndcg@5"],
        },
        environment={"python": "3.11", "packages": {"numpy": np.__version__}},
        datasets=({"name": "simulated", "fingerprint": "0" * 12, "queries": queries, "repositories": repositories},),
        cells=tuple(cells),
        comparisons=tuple(comparisons),
        queries=asked,
        texts=texts,
        budgets=BUDGETS,
    )


def _path(repo: int, file: int, hostile: str) -> str:
    return f"src/{hostile}module_{repo}_{file}.py"


@cache
def _source(repo: int, file: int, hostile: str) -> list[str]:
    return [
        f"value_{repo}_{file}_{line} = {hostile}compute({line * 7919 % 1000})" for line in range(1, LINES_PER_FILE + 1)
    ]


def _query(k: int, repositories: int, files: int, hostile: str) -> QueryRecord:
    repo, file = k % repositories, k % files
    start = 1 + k * 13 % (LINES_PER_FILE - 10)
    gold = (GoldLines(_path(repo, file, hostile), start, start + 6),)
    text = f"{hostile}where is value number {k} computed?"
    language = "python" if repo % 2 else "go"
    return QueryRecord("simulated", f"q{k:04}", text, f"repo{repo}", f"repo{repo}", language, gold)


def _hits(
    asked: Sequence[QueryRecord], place: int, rng: np.random.Generator, texts: dict[str, str], hostile: str
) -> dict[str, tuple[HitRecord, ...]]:
    size = 8 + 9 * (place % 4)
    found: dict[str, tuple[HitRecord, ...]] = {}
    for k, query in enumerate(asked):
        repo = int(query.repo.removeprefix("repo"))
        hits = []
        for rank in range(1, 11):
            near = rank == 1 + (k + place) % 3
            path = query.gold[0].path if near else _path(repo, int(rng.integers(6)), hostile)
            first = query.gold[0].start_line if near else int(rng.integers(1, LINES_PER_FILE - size))
            first = min(first // size * size + 1, LINES_PER_FILE - size)
            file = int(path.rsplit("_", 1)[1].removesuffix(".py"))
            chunk_id = f"{repo}-{file}-{first}-{size}"
            if chunk_id not in texts:
                texts[chunk_id] = "\n".join(_source(repo, file, hostile)[first - 1 : first - 1 + size]) + "\n"
            hits.append(HitRecord(rank, chunk_id, 1 - rank / 20, path, first, first + size - 1))
        found[query.id] = tuple(hits)
    return found


def _cell(
    key: CellKey,
    values: np.ndarray,
    clusters: Sequence[str],
    hits: dict[str, tuple[HitRecord, ...]],
    place: int,
) -> CellRecord:
    growth = np.array([1 - np.exp(-budget / 2500) for budget in BUDGETS])
    curve = np.clip(values[:, None] * 1.3, 0, 1) * growth[None, :]
    scores = {
        HEADLINE: values,
        "recall@4000tok": curve[:, 5],
        "precision@4000tok": values / 4,
        "ndcg@5": np.clip(values + 0.05 * place, 0, 1),
        "recall@5": np.clip(values * 0.9, 0, 1),
    }
    measures = {}
    for name, column in scores.items():
        found = mean_interval(column, clusters)
        measures[name] = {"mean": found.mean, "low": found.low, "high": found.high, "scored": found.n, "undefined": 0}
    size = 300.0 * (place + 1)
    edges = [0, 100, 200, 400, 800, 1600, 3200]
    counts = [int(900 * np.exp(-((np.log2((low + high) / 2 + 1) - np.log2(size)) ** 2))) for low, high in _steps(edges)]
    return CellRecord(
        key=key,
        status="ok",
        chunks={
            "count": 4000 // (place + 1),
            "mean_nws": size,
            "p95_nws": size * 2.2,
            "median_nws": size * 0.9,
            "mean_tokens": size / 3,
            "uncovered_queries": place,
            "relevant_per_query": 3.0 / (place + 1),
            "sizes": {"edges": edges, "counts": counts},
            "files": 48,
            "fallbacks": {"syntax error": place} if place else {},
            "lost_nws": 0,
            "doubled_nws": 0 if place < 3 else 5120,
            "truncated": {"chunks": 0.01 * place, "tokens": 0.02 * place},
            "chance": {"ndcg@5": 0.002 * (place + 1), "recall@5": 0.001 * (place + 1)},
            "tokens_at": {"5": size / 3 * 5, "10": size / 3 * 10},
            "failed_files": {},
        },
        measures=measures,
        seconds={"chunk": 0.2, "embed": 3.5, "retrieve": 0.1, "score": 0.4},
        scores=scores,
        curve=curve,
        hits=hits,
    )


def _steps(edges: Sequence[int]) -> list[tuple[int, int]]:
    return [(low, high) for low, high in product(edges, edges) if edges.index(high) == edges.index(low) + 1]
