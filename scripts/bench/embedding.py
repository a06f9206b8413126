"""Speed of embedding and search, as ratios within one run, so that a busy machine affects them little.

Run: python -m scripts.bench.embedding [--chunks 2000] [--json]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from chunkers.registry import CHUNKERS
from chunkers.sources import walk
from chunkers.splitting import chunk_file
from indexing.dense import Dense
from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.batches import cores
from indexing.encoders.bert import load_weights
from indexing.encoders.minilm import WINDOW, MiniLM, packaged_model
from indexing.encoders.wordpieces import token_ids, windows
from indexing.registry import ENCODERS
from indexing.types import QueryBatch, SearchSpace

T = TypeVar("T")

PACKAGES = ("click", "requests", "jinja2", "rich", "packaging", "tqdm", "pydantic")
SWEEP = (500, 1000, 1500, 2000, 4000)
ROUNDS = 4
SEARCHES, DEPTH = 9, 100


@click.command()
@click.option("--chunks", default=2000, show_default=True, type=click.IntRange(min=ROUNDS))
@click.option("--vectors", default=100_000, show_default=True, type=click.IntRange(min=1000), help="For the search.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, chunks: int, vectors: int, as_json: bool) -> None:
    """Measure the default embedder, int8, the cache and FAISS, each beside what it is compared with."""
    texts = sample(chunk_texts("cast:size=600"), chunks)
    report = {
        "processors": cores(),
        "search": search(vectors),
        "embedding": embedding(texts),
        # Again: the models leave threads and half a million objects behind, which the garbage collector visits.
        "search_beside_models": search(vectors),
        "cache": cached(texts[: max(chunks // 10, 1)]),
        "sweep": sweep(),
    }
    if as_json:
        print(json.dumps(report, indent=1))
        return
    for part, rows in report.items():
        print(
            part,
            *([f"  {name}: {value}" for name, value in rows.items()] if isinstance(rows, dict) else [rows]),
            sep="\n",
        )


def chunk_texts(spec: str) -> list[str]:
    """Return the chunks of packages that are installed anyway."""
    chunker = CHUNKERS.create(spec)
    texts: list[str] = []
    for package in PACKAGES:
        found = find_spec(package)
        for place in (found.submodule_search_locations or []) if found else []:
            for source in walk(Path(place), name=package).files():
                texts.extend(chunk.indexed_text for chunk in chunk_file(chunker, source))
    return texts


def sample(texts: Sequence[str], count: int) -> list[str]:
    """Return distinct texts, evenly sampled."""
    distinct = list(dict.fromkeys(texts))
    return [distinct[at] for at in np.linspace(0, len(distinct) - 1, min(count, len(distinct))).astype(int)]


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that a call takes, and its value."""
    began = time.perf_counter()
    value = call()
    return time.perf_counter() - began, value


def embedding(texts: list[str]) -> dict[str, Any]:
    """Time three ways to embed the beginnings of the same chunks, and the default on the whole texts, interleaved."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(packaged_model()), device="cpu")
    exact, whole, small = MiniLM(long="truncate"), MiniLM(), ENCODERS.create("onnx")
    ways: dict[str, Callable[[list[str]], np.ndarray]] = {
        "sentence_transformers": lambda part: np.asarray(model.encode(part, show_progress_bar=False)),
        "minilm": lambda part: exact.encode(part, kind="document"),
        "onnx": lambda part: small.encode(part, kind="document"),
        "whole_texts": lambda part: whole.encode(part, kind="document"),
    }
    for way in ways.values():
        way(texts[:8])
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    difference, cosines = 0.0, []
    for number in range(ROUNDS):
        part = texts[number::ROUNDS]
        rows = {}
        for name, way in ways.items():
            spent, rows[name] = timed(lambda way=way, part=part: way(part))  # type: ignore[misc] # lambda's defaults
            seconds[name].append(spent)
        difference = max(difference, float(np.abs(rows["minilm"] - rows["sentence_transformers"]).max()))
        cosines.append((rows["onnx"] * rows["minilm"]).sum(axis=1))
    counts = np.minimum(exact.count_tokens(texts), WINDOW)
    total = {name: sum(spent) for name, spent in seconds.items()}
    cosine = np.concatenate(cosines)
    ceiling = ceiling_seconds(counts)
    pieces = windows(token_ids(packaged_model() / "tokenizer.json", texts), size=WINDOW, long="mean")
    whole_ceiling = ceiling_seconds(np.array([len(piece) for piece in pieces.ids]))
    return {
        "chunks": len(texts),
        "mean_tokens": round(float(counts.mean()), 1),
        "chunks_per_second": {name: round(len(texts) / spent, 1) for name, spent in total.items()},
        "minilm_ratio": round(total["sentence_transformers"] / total["minilm"], 2),
        "minilm_ratio_by_round": _ratios(seconds, "minilm"),
        "minilm_difference": difference,
        "onnx_ratio": round(total["sentence_transformers"] / total["onnx"], 2),
        "onnx_ratio_by_round": _ratios(seconds, "onnx"),
        "onnx_cosine_mean": round(float(cosine.mean()), 4),
        "onnx_cosine_min": round(float(cosine.min()), 4),
        "ceiling_chunks_per_second": round(len(texts) / ceiling, 1),
        "minilm_share_of_ceiling": round(ceiling / total["minilm"], 2),
        "whole_texts_windows": len(pieces.ids),
        "whole_texts_share_of_ceiling": round(whole_ceiling / total["whole_texts"], 2),
    }


def _ratios(seconds: dict[str, list[float]], name: str) -> list[float]:
    return [round(one / other, 2) for one, other in zip(seconds["sentence_transformers"], seconds[name], strict=True)]


def ceiling_seconds(tokens: np.ndarray) -> float:
    """Return the time of the model's multiplications alone, at the best rate measured on this machine."""
    import torch

    model = load_weights(packaged_model())
    width, wide = model.width, 4 * model.width
    per_token = model.layers * 2 * (4 * width * width + 2 * width * wide)
    work = float((tokens * per_token + model.layers * 4 * width * tokens.astype(np.float64) ** 2).sum())
    best = 0.0
    for rows in (1024, 2048, 4096):
        left, right = torch.ones(rows, width), torch.ones(width, wide)
        for _ in range(10):
            spent, _ = timed(lambda left=left, right=right: left @ right)  # type: ignore[misc] # as above
            best = max(best, 2 * rows * width * wide / spent)
    return work / best


def cached(texts: list[str]) -> dict[str, Any]:
    """Embed twice through a new cache; the second time nothing reaches the model."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = EmbeddingCache(Path(folder)), EmbeddingCache(Path(folder))
        cold, one = timed(lambda: first.embed(MiniLM(), texts, kind="document"))
        warm, two = timed(lambda: second.embed(MiniLM(), texts, kind="document"))
    return {
        "first_run_embeds": first.statistics.embedded,
        "second_run_embeds": second.statistics.embedded,
        "same_vectors": bool(np.array_equal(one, two)),
        "times_faster": round(cold / warm, 1),
    }


def sweep() -> dict[str, Any]:
    """Count what a sweep of one chunker over five sizes embeds, with hashed words instead of a model."""
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(Path(folder))
        every: set[str] = set()
        for size in SWEEP:
            texts = chunk_texts(f"cast:size={size}")
            every.update(texts)
            cache.embed(ENCODERS.create("hashing"), texts, kind="document")
        return {
            "sizes": list(SWEEP),
            "chunks": cache.statistics.texts,
            "distinct": len(every),
            "embedded": cache.statistics.embedded,
        }


def search(count: int) -> dict[str, Any]:
    """Time dense search against bare FAISS: building and searching an index, and its search without an index."""
    import faiss

    random = np.random.default_rng(0)
    rows = random.normal(size=(count + 1000, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chunks, asked = rows[:count], rows[count:]
    space, queries = SearchSpace([""] * count, chunks), QueryBatch([""] * len(asked), asked)

    def with_index() -> None:
        index = faiss.IndexFlatIP(384)
        index.add(chunks)
        index.search(asked, DEPTH)

    ways: dict[str, Callable[[], object]] = {
        "here": lambda: Dense().search(space, queries, depth=DEPTH),
        "faiss_index": with_index,
        "faiss_knn": lambda: faiss.knn(asked, chunks, DEPTH, metric=faiss.METRIC_INNER_PRODUCT),
    }
    faiss.omp_set_num_threads(cores())
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(SEARCHES):
        for name, way in ways.items():
            seconds[name].append(timed(way)[0])
    best = {name: min(spent) for name, spent in seconds.items()}
    return {
        "vectors": count,
        "queries": len(asked),
        "depth": DEPTH,
        "seconds": {name: round(spent, 3) for name, spent in best.items()},
        "ratio_to_faiss_index": round(best["here"] / best["faiss_index"], 3),
        "ratio_to_faiss_knn": round(best["here"] / best["faiss_knn"], 3),
    }


if __name__ == "__main__":
    command()
