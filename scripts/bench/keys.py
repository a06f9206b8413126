"""`python -m scripts.bench.keys`: how long the embedding cache takes to find which of some texts it holds."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import click
import numpy as np

from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.hashing import Hashing
from indexing.shards import KEY_BYTES, KEYS, MAX_SHARD_BYTES, packed

_BLOCK = 512
_DIMENSIONS = 8
"""Fewer than a model's, so that ten million keys fit on a small disk; shards then hold more keys, which is harder."""


@click.command()
@click.option("--keys", default=10_000_000, show_default=True, help="Vectors in the cache.")
@click.option("--asked", default=10_000, show_default=True, help="Keys of a look-up; half of them are there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, keys: int, asked: int, as_json: bool) -> None:
    """Fill a cache, then look keys up: the first look-up builds the key index, the second one uses it."""
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(Path(folder))
        group = cache.group(Hashing(), kind="document")
        group.mkdir(parents=True)
        names = draw.bytes(keys * KEY_BYTES)
        _fill(group, names, keys)
        chosen = [names[at * KEY_BYTES : (at + 1) * KEY_BYTES] for at in draw.permutation(keys)[: asked // 2].tolist()]
        wanted = [*chosen, *(draw.bytes(KEY_BYTES) for _ in range(asked - len(chosen)))]
        seconds = []
        for _ in range(3):
            began = time.process_time()
            missing = EmbeddingCache(Path(folder)).missing(Hashing(), wanted, kind="document")
            seconds.append(time.process_time() - began)
    told = {"keys": keys, "asked": asked, "missing": missing, "first_seconds": seconds[0], "seconds": min(seconds[1:])}
    if as_json:
        click.echo(json.dumps(told, indent=1))
    else:
        click.echo(
            f"{asked:,} of {keys:,} keys: {told['seconds']:.2f} s of the processor, {missing:,} are missing; "
            f"the first time, with the keys put in order, {seconds[0]:.1f} s"
        )


def _fill(group: Path, names: bytes, keys: int) -> None:
    """Write full shards, as many runs would have left them."""
    vectors = np.zeros((_BLOCK, _DIMENSIONS), dtype=np.float32)
    table = np.frombuffer(names, dtype=f"S{KEY_BYTES}")
    rows = range(0, keys, MAX_SHARD_BYTES // (KEYS.itemsize + 4 * _DIMENSIONS + 1))
    for number, first in enumerate(rows, start=1):
        with (group / f"{number:06d}.shard").open("wb") as file:
            for start in range(first, min(first + rows.step, keys), _BLOCK):
                part = table[start : min(start + _BLOCK, first + rows.step, keys)]
                file.write(packed(part, np.zeros(len(part)), vectors[: len(part)], folder=group.name))


if __name__ == "__main__":
    command()
