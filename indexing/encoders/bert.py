"""A BERT sentence encoder in plain torch, exact in float32.

It computes the same as sentence-transformers (mean of the token vectors, then length 1), about one and a half times as
fast on a CPU: small batches of one width, one thread each. It loads in a second, since it needs neither transformers
nor sentence-transformers.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexing.encoders.batches import Batch, run_in_threads, token_batches
from indexing.types import Vectors

if TYPE_CHECKING:
    from torch import Tensor

_LAYER = "encoder.layer.{}."
_EMBEDDINGS = "embeddings."


@dataclass(frozen=True)
class BertWeights:
    """The tensors of one model, by their names in its file, and the numbers of its configuration."""

    tensors: dict[str, Any]
    layers: int
    heads: int
    epsilon: float

    @property
    def width(self) -> int:
        """The number of dimensions."""
        return int(self.tensors["embeddings.word_embeddings.weight"].shape[1])

    def linear(self, x: Tensor, name: str) -> Tensor:
        """Apply the named dense layer."""
        from torch.nn import functional

        return functional.linear(x, self.tensors[name + ".weight"], self.tensors[name + ".bias"])

    def norm(self, x: Tensor, name: str) -> Tensor:
        """Apply the named layer normalisation."""
        from torch.nn import functional

        weight, bias = self.tensors[name + ".weight"], self.tensors[name + ".bias"]
        return functional.layer_norm(x, (self.width,), weight, bias, self.epsilon)


@functools.cache
def load_weights(folder: Path) -> BertWeights:
    """Return the model in the folder, with query, key and value of each layer merged into one dense layer."""
    import torch
    from safetensors.torch import load_file

    config = json.loads((folder / "config.json").read_text("utf-8"))
    tensors = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    for layer in range(config["num_hidden_layers"]):
        own = _LAYER.format(layer) + "attention.self."
        for part in ("weight", "bias"):
            tensors[f"{own}qkv.{part}"] = torch.cat(
                [tensors.pop(f"{own}{n}.{part}") for n in ("query", "key", "value")]
            )
    return BertWeights(
        tensors, config["num_hidden_layers"], config["num_attention_heads"], float(config["layer_norm_eps"])
    )


def sentence_vectors(model: BertWeights, ids: Tensor, seen: Tensor) -> Tensor:
    """Return one unit row per row of token ids; ``seen`` is false for padding."""
    from torch.nn import functional

    count, length = ids.shape
    table = model.tensors
    x = table[_EMBEDDINGS + "word_embeddings.weight"][ids] + table[_EMBEDDINGS + "position_embeddings.weight"][:length]
    x = model.norm(x + table[_EMBEDDINGS + "token_type_embeddings.weight"][0], _EMBEDDINGS + "LayerNorm")
    # A mask even without padding: without it another kernel would run, with different rounding.
    mask = seen[:, None, None, :]
    for layer in range(model.layers):
        name = _LAYER.format(layer)
        qkv = model.linear(x, name + "attention.self.qkv").view(count, length, 3, model.heads, -1)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        attended = model.linear(heads.transpose(1, 2).reshape(count, length, -1), name + "attention.output.dense")
        x = model.norm(attended + x, name + "attention.output.LayerNorm")
        inner = functional.gelu(model.linear(x, name + "intermediate.dense"))
        x = model.norm(model.linear(inner, name + "output.dense") + x, name + "output.LayerNorm")
    weight = seen.unsqueeze(-1).float()
    return functional.normalize((x * weight).sum(1) / weight.sum(1), dim=1)


def embed_ids(model: BertWeights, ids: Sequence[Sequence[int]], *, budget: int, threads: int) -> Vectors:
    """Return one unit row per sequence of token ids, bit-identical for any budget and number of threads."""
    import torch

    out = np.empty((len(ids), model.width), dtype=np.float32)

    def work(batch: Batch) -> None:
        padded = np.zeros((len(batch.rows), batch.width), dtype=np.int64)
        seen = np.zeros(padded.shape, dtype=np.bool_)
        for at, row in enumerate(batch.rows):
            padded[at, : len(ids[row])] = ids[row]
            seen[at, : len(ids[row])] = True
        with torch.inference_mode():
            out[batch.rows] = sentence_vectors(model, torch.from_numpy(padded), torch.from_numpy(seen)).numpy()

    with _one_thread_each():
        run_in_threads(work, token_batches([len(row) for row in ids], budget=budget), threads=threads)
    return out


@contextmanager
def _one_thread_each() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
