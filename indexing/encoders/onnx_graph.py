"""The packaged model as an ONNX graph with int8 weights, built from its weights alone: no exporter, no network."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexing.encoders.bert import BertWeights, load_weights

if TYPE_CHECKING:
    from onnx import ModelProto

_OPSET = 20
_MICROSOFT = "com.microsoft"


class _Graph:
    """Collects nodes and constants; each method returns the name of its output."""

    def __init__(self, model: BertWeights) -> None:
        self.model = model
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def tensor(self, name: str, *, transposed: bool = False) -> str:
        value = self.model.tensors[name].numpy()
        return self.constant(name, value.T if transposed else value)

    def node(self, kind: str, *inputs: str, out: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401 - ONNX attributes
        from onnx import helper

        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, domain=domain, **attributes))
        return out

    def dense(self, x: str, name: str) -> str:
        product = self.node("MatMul", x, self.tensor(name + ".weight", transposed=True), out=name + ".product")
        return self.node("Add", product, self.tensor(name + ".bias"), out=name)

    def norm(self, x: str, name: str) -> str:
        scale, shift = self.tensor(name + ".weight"), self.tensor(name + ".bias")
        return self.node("LayerNormalization", x, scale, shift, out=name, axis=-1, epsilon=self.model.epsilon)

    def attention(self, x: str, name: str) -> str:
        weight = self.tensor(name + ".qkv.weight", transposed=True)
        return self.node(
            "Attention",
            x,
            weight,
            self.tensor(name + ".qkv.bias"),
            out=name,
            domain=_MICROSOFT,
            num_heads=self.model.heads,
        )


def build(model: BertWeights) -> ModelProto:
    """Return the graph: token ids of one text → its unit vector.

    One text at a time, because int8 scales are computed per batch: alone, a text always has the same vector.
    """
    from onnx import TensorProto, helper, numpy_helper

    graph = _Graph(model)
    words = graph.node("Gather", graph.tensor("embeddings.word_embeddings.weight"), "ids", out="words")
    places = (
        model.tensors["embeddings.position_embeddings.weight"]
        + model.tensors["embeddings.token_type_embeddings.weight"][0]
    )
    length = graph.node("Shape", "ids", out="length", start=1, end=2)
    zero, one = graph.constant("zero", np.array([0])), graph.constant("one", np.array([1]))
    place = graph.node("Slice", graph.constant("places", places.numpy()), zero, length, zero, out="place")
    x = graph.norm(graph.node("Add", words, place, out="embedded"), "embeddings.LayerNorm")
    for layer in range(model.layers):
        name = f"encoder.layer.{layer}."
        heads = graph.attention(x, name + "attention.self")
        attended = graph.dense(heads, name + "attention.output.dense")
        x = graph.norm(graph.node("Add", attended, x, out=name + "first"), name + "attention.output.LayerNorm")
        inner = graph.node("Gelu", graph.dense(x, name + "intermediate.dense"), out=name + "gelu")
        outer = graph.dense(inner, name + "output.dense")
        x = graph.norm(graph.node("Add", outer, x, out=name + "second"), name + "output.LayerNorm")
    mean = graph.node("ReduceMean", x, one, out="mean", keepdims=0)
    graph.node("LpNormalization", mean, out="vector", axis=-1, p=2)
    body = helper.make_graph(
        graph.nodes,
        "sentence",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, model.width])],
        [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    model_file = helper.make_model(body, opset_imports=opsets, ir_version=10)
    # The quantiser recommends pre-processing unless the file says that it was done; this graph needs none.
    helper.set_model_props(model_file, {"onnx.quant.pre_process": "onnxruntime.quant"})
    return model_file


def write_int8(weights: Path, target: Path) -> None:
    """Write the quantised model of the packaged weights to the target, atomically."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "int8.onnx"
        onnx.save(build(load_weights(weights)), exact)
        quantize_dynamic(
            exact,
            small,
            op_types_to_quantize=["MatMul", "Attention"],
            per_channel=True,
            # Seven bits: older processors overflow when adding two products of eight bits.
            reduce_range=True,
            weight_type=QuantType.QInt8,
            # The quantiser cannot infer the type through the fused attention.
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )
        with small.open("rb") as file:
            os.fsync(file.fileno())
        small.replace(target)
