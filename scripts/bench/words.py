"""`python -m scripts.bench.words`: the word index against bare bm25s, on the same texts and the same words."""

from __future__ import annotations

import itertools
import json
import math
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from chunkers.fixed_lines import FixedLines
from chunkers.sources import walk
from chunkers.splitting import chunk_file
from indexing.code_words import code_words
from indexing.encoders.texts import readable
from indexing.frequencies import frequencies_of
from indexing.postings import build_postings, posting_shard
from indexing.word_counts import WordCounts, counts_of

K1, B = 1.2, 0.75
ROUNDS = 3
"""The shortest counts."""


@click.command()
@click.option("--root", type=click.Path(path_type=Path), help="Folder of source files [this environment's packages].")
@click.option("--texts", default=20_000, show_default=True, help="Chunks that are indexed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, root: Path | None, texts: int, as_json: bool) -> None:
    """Index chunks of 20 lines by words, and have bm25s index the same words."""
    folder = walk(root or Path(sysconfig.get_path("purelib")))
    chunks = (chunk.text for source in folder.files() for chunk in chunk_file(FixedLines(lines=20), source))
    found = measure(list(itertools.islice(chunks, texts)))
    click.echo(json.dumps(found, indent=1) if as_json else written(found))


def measure(texts: list[str]) -> dict[str, Any]:
    """Return the processor seconds of each way, and their ratios."""
    vocabulary: dict[str, int] = {}

    def split() -> list[list[int]]:
        return [[vocabulary.setdefault(word, len(vocabulary)) for word in code_words(readable(text))] for text in texts]

    ids = split()
    flat, lengths = np.concatenate([np.array(each, dtype=np.int32) for each in ids]), np.array(list(map(len, ids)))
    ways: dict[str, Callable[[], object]] = {
        "splitting": split,
        "bm25s": lambda: _bare(ids, vocabulary),
        "from_words": lambda: _index(counts_of(list(vocabulary), flat, lengths)),
        "from_texts": lambda: build_postings(texts, k1=K1, b=B),
    }
    seconds = dict.fromkeys(ways, math.inf)
    for _, (name, way) in itertools.product(range(ROUNDS), ways.items()):
        began = time.process_time()
        way()
        seconds[name] = min(seconds[name], time.process_time() - began)
    return {
        "texts": len(texts),
        "words": sum(map(len, ids)),
        "seconds": seconds,
        "ratio_from_texts": seconds["from_texts"] / (seconds["splitting"] + seconds["bm25s"]),
        "ratio_from_words": seconds["from_words"] / seconds["bm25s"],
    }


def _bare(ids: list[list[int]], vocabulary: dict[str, int]) -> None:
    import bm25s
    from bm25s.tokenization import Tokenized

    index = bm25s.BM25(method="lucene", k1=K1, b=B, csc_backend="scipy")
    index.index(Tokenized(ids=ids, vocab=vocabulary), show_progress=False, create_empty_token=False)


def _index(counts: WordCounts) -> None:
    frequencies = frequencies_of(counts)
    posting_shard(counts).weigh(frequencies.weights(), mean=frequencies.mean, k1=K1, b=B)


def written(found: dict[str, Any]) -> str:
    """Return the figures as text."""
    seconds = found["seconds"]
    both, ratios = seconds["splitting"] + seconds["bm25s"], (found["ratio_from_words"], found["ratio_from_texts"])
    words = f"bm25s {seconds['bm25s']:.2f}, here {seconds['from_words']:.2f}: {ratios[0]:.2f} times bm25s"
    texts = f"splitting and bm25s {both:.2f}, here {seconds['from_texts']:.2f}: {ratios[1]:.2f} times both"
    head = f"{found['texts']:,} texts, {found['words']:,} words. Seconds of the processor:"
    return f"{head}\nfrom words, {words};\nfrom texts, {texts}."


if __name__ == "__main__":
    command()
