"""`python -m scripts.bench.keys`: how long the embedding cache takes to say which of some texts it holds."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import click
import numpy as np

from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.hashing import Hashing
from indexing.shards import KEY_BYTES, append_block

_BLOCK = 512
_DIMENSIONS = 8
"""Fewer than a model's, so that ten million keys fit on a small disk; shards then hold more keys, which is harder."""


@click.command()
@click.option("--keys", default=10_000_000, show_default=True, help="Vectors in the cache.")
@click.option("--asked", default=10_000, show_default=True, help="Keys of a look-up; half of them are there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, keys: int, asked: int, as_json: bool) -> None:
    """Fill a cache, then look keys up: the first look-up puts the keys in order, the second one finds them so."""
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(Path(folder))
        group = cache.group(Hashing(), kind="document")
        group.mkdir(parents=True)
        names = draw.bytes(keys * KEY_BYTES)
        vectors = np.zeros((_BLOCK, _DIMENSIONS), dtype=np.float32)
        for start in range(0, keys, _BLOCK):
            block = _names(names, start, keys)
            append_block(group, block, [0] * len(block), vectors[: len(block)])
        chosen = [names[at * KEY_BYTES : (at + 1) * KEY_BYTES] for at in draw.integers(0, keys, asked // 2).tolist()]
        wanted = [*chosen, *(draw.bytes(KEY_BYTES) for _ in range(asked - len(chosen)))]
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            missing = EmbeddingCache(Path(folder)).missing(Hashing(), wanted, kind="document")
            seconds.append(time.perf_counter() - began)
    told = {"keys": keys, "asked": asked, "missing": missing, "first_seconds": seconds[0], "seconds": min(seconds[1:])}
    if as_json:
        click.echo(json.dumps(told, indent=1))
    else:
        click.echo(
            f"{asked:,} of {keys:,} keys: {told['seconds']:.2f} s, {missing:,} are missing; the first time, with "
            f"the keys put in order, {seconds[0]:.1f} s"
        )


def _names(names: bytes, start: int, keys: int) -> list[bytes]:
    return [names[at * KEY_BYTES : (at + 1) * KEY_BYTES] for at in range(start, min(start + _BLOCK, keys))]


if __name__ == "__main__":
    command()
