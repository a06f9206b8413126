"""The packaged model: what sentence-transformers computes, the same bits in any company, in float32 and in int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing.encoders import onnx_int8
from indexing.encoders.minilm import MiniLM, packaged_model
from indexing.encoders.onnx_int8 import OnnxInt8
from indexing.types import Vectors

LONG = Path(__file__).read_text("utf-8")
TEXTS = [
    "def read(path):\n    return path.read_text()",
    "",
    "\udc80 not utf-8 \ud800",
    "class Server:\n    def get(self): ...\n" * 3,
    LONG,
    "größe = 変数  # naïve ☃",
    " \n\t",
    *LONG.split("\n\n")[1:6],
]


CUT = MiniLM(long="truncate")


@pytest.fixture(scope="module")
def alone() -> Vectors:
    """Each text embedded by itself, its first window only, as the library does."""
    return np.concatenate([CUT.encode([text], kind="document") for text in TEXTS])


def test_same_as_sentence_transformers(alone: Vectors) -> None:
    """The vectors are those of the library for which the model was made, to 1e-6."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(packaged_model()), device="cpu")
    readable = [text.replace("\udc80", "\ufffd").replace("\ud800", "\ufffd") for text in TEXTS]
    expected = model.encode(readable, show_progress_bar=False)
    assert np.abs(alone - expected).max() <= 1e-6
    counts = [len(ids) for ids in model.tokenizer(readable)["input_ids"]]
    assert list(MiniLM().count_tokens(TEXTS)) == counts


@pytest.mark.parametrize(
    "encoder",
    [CUT, MiniLM(long="truncate", batch_tokens=64, threads=1), MiniLM(long="truncate", batch_tokens=8192, threads=3)],
)
def test_batches_and_threads_change_no_bit(encoder: MiniLM, alone: Vectors) -> None:
    """A text's vector is bit for bit the same alone and in any batch, in any order, under any number of threads."""
    together = encoder.encode(list(reversed(TEXTS)), kind="query")[::-1]
    assert np.array_equal(together, alone)
    assert encoder.identity() == CUT.identity()


def test_rows_are_unit_float32(alone: Vectors) -> None:
    """Rows have length 1, an empty text too; no texts give no rows."""
    assert alone.dtype == np.float32
    assert np.linalg.norm(alone, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)
    assert MiniLM().encode([], kind="query").shape == (0, 384)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_long_texts_are_pooled(how: str, alone: Vectors) -> None:
    """With pooling a text beyond the window has another vector, and a short one the same."""
    encoder = MiniLM(long="mean") if how == "mean" else MiniLM(long="max")
    assert encoder.max_tokens is None
    assert MiniLM() == MiniLM(long="mean")
    assert CUT.max_tokens == 256
    assert encoder.identity() != CUT.identity()
    pooled = encoder.encode(TEXTS, kind="document")
    counts = np.array(MiniLM().count_tokens(TEXTS))
    assert np.array_equal(pooled[counts <= 256], alone[counts <= 256])
    assert (np.abs(pooled - alone).max(axis=1) > 1e-3).tolist() == (counts > 256).tolist()
    assert np.linalg.norm(pooled, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_int8_is_close_and_the_same_in_any_company(
    alone: Vectors, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quantised model is built offline, near the exact one, one thread each, and a text has one vector always."""
    pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path_factory.mktemp("onnx")))
    rows = OnnxInt8().encode(TEXTS, kind="document")
    cosine = (rows * alone).sum(axis=1)
    assert cosine.mean() >= 0.98
    assert cosine.min() >= 0.95
    assert np.array_equal(OnnxInt8(threads=1).encode(TEXTS[3:5], kind="query"), rows[3:5])
    assert OnnxInt8().encode([], kind="query").shape == (0, 384)
    options = onnx_int8._session().get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert OnnxInt8().count_tokens(TEXTS) == MiniLM().count_tokens(TEXTS)


def test_bad_parameters_are_usage_errors() -> None:
    """Zero threads or tokens are refused."""
    for make in (lambda: MiniLM(threads=0), lambda: MiniLM(batch_tokens=-1), lambda: OnnxInt8(threads=0)):
        with pytest.raises(UsageError, match="must be above 0"):
            make()
