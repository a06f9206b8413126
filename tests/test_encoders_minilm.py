"""The packaged model: what sentence-transformers computes, the same bits in any company, in float32 and in int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing.encoders.batches import Batch, padded_width, run_in_threads, token_batches
from indexing.encoders.minilm import MiniLM, packaged_model
from indexing.encoders.onnx_int8 import OnnxInt8
from indexing.encoders.texts import pool_windows, unit_rows
from indexing.encoders.wordpieces import windows
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


def test_mean_weighs_windows_by_their_tokens() -> None:
    """Two windows of 3 and 1 tokens pool to the direction of 3a + b."""
    rows = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    pooled = pool_windows(rows, [0, 0, 1], [3, 1, 5], how="mean")
    assert pooled == pytest.approx(unit_rows(np.array([[3.0, 1.0], [0.0, 1.0]])))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(3, 12))
def test_windows_hold_every_token(inner: list[int], size: int) -> None:
    """Windows are in order, within the size, between the special tokens, and leave nothing out unless cutting."""
    ids = [[101, *range(1000, 1000 + count), 102] for count in inner]
    pieces = windows(ids, size=size, long="mean")
    assert all(len(piece) <= size and (piece[0], piece[-1]) == (101, 102) for piece in pieces.ids)
    for owner, row in enumerate(ids):
        own = [piece[1:-1] for piece, of in zip(pieces.ids, pieces.owners, strict=True) if of == owner]
        assert [token for piece in own for token in piece] == row[1:-1]
    cut = windows(ids, size=size, long="truncate")
    assert cut.ids == [[101, *row[1:-1][: size - 2], 102] for row in ids]


@given(st.lists(st.integers(2, 300), max_size=60), st.integers(1, 2000))
def test_batches_cover_each_text_once(lengths: list[int], budget: int) -> None:
    """Every text is in one batch of its own width, and only a text that is alone may exceed the budget."""
    batches = list(token_batches(lengths, budget=budget))
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))
    for batch in batches:
        assert {padded_width(lengths[row]) for row in batch.rows} == {batch.width}
        assert len(batch.rows) == 1 or len(batch.rows) * batch.width <= budget


def test_an_error_in_a_worker_is_raised() -> None:
    """What fails in a thread fails in the call."""

    def work(batch: Batch) -> None:
        raise UsageError(f"no {batch.width}")

    with pytest.raises(UsageError, match="no 8"):
        run_in_threads(work, iter([Batch([0], 8)] * 5), threads=2)


def test_int8_is_close_and_the_same_in_any_company(
    alone: Vectors, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quantised model is built offline, near the exact one, and gives each text one vector whatever is with it."""
    pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path_factory.mktemp("onnx")))
    rows = OnnxInt8().encode(TEXTS, kind="document")
    cosine = (rows * alone).sum(axis=1)
    assert cosine.mean() >= 0.98
    assert cosine.min() >= 0.95
    assert np.array_equal(OnnxInt8(threads=1).encode(TEXTS[3:5], kind="query"), rows[3:5])
    assert OnnxInt8().encode([], kind="query").shape == (0, 384)
    assert OnnxInt8().count_tokens(TEXTS) == MiniLM().count_tokens(TEXTS)


def test_bad_parameters_are_usage_errors() -> None:
    """Zero threads or tokens are refused."""
    for make in (lambda: MiniLM(threads=0), lambda: MiniLM(batch_tokens=-1), lambda: OnnxInt8(threads=0)):
        with pytest.raises(UsageError, match="must be above 0"):
            make()
