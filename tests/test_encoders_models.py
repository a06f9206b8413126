"""Models from folders, and hashed words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkers.errors import MissingExtraError, UsageError
from indexing.encoders.hashing import Hashing
from indexing.encoders.minilm import packaged_model
from indexing.encoders.st import SentenceTransformerEncoder
from indexing.model_folder import ModelFolder, content_hash
from indexing.registry import ENCODERS

ROOT = Path(__file__).resolve().parent.parent
TEXTS = ["def read(path): return path", "", "\udc80", "class Server: pass", "word " * 100]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a small sentence-transformers model with prompts of its own: random weights, a real tokenizer."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel

    raw = tmp_path_factory.mktemp("raw")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(packaged_model() / name, raw)
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=30522, max_position_embeddings=64, **shape)).save_pretrained(raw)
    transformer = Transformer(str(raw), max_seq_length=32)
    model = SentenceTransformer(modules=[transformer, Pooling(16)], prompts={"query": "ask: ", "passage": "text: "})
    target = tmp_path_factory.mktemp("models") / "small"
    model.save(str(target))
    return target


@pytest.fixture(scope="module")
def library(folder: Path) -> Any:
    """Load the same model with the library that it is made for."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def test_folder_model_with_its_prompts(folder: Path) -> None:
    """Vectors are those of the library, unit rows, with the prompt of their kind from the model's configuration."""
    from sentence_transformers import SentenceTransformer

    encoder = ENCODERS.create(f"st:model={folder}")
    model = SentenceTransformer(str(folder), device="cpu")
    clean = [text.replace("\udc80", "\ufffd") for text in TEXTS]
    for kind, prompt in (("query", "ask: "), ("document", "text: ")):
        expected = model.encode([prompt + text for text in clean], normalize_embeddings=True, show_progress_bar=False)
        assert encoder.encode(TEXTS, kind=kind) == pytest.approx(expected, abs=1e-6)
    assert encoder.max_tokens == 32
    assert encoder.encode([], kind="query").shape == (0, 16)
    assert list(encoder.count_tokens(TEXTS))[1::3] == [2, 102]


def test_a_model_that_is_trained_again_is_another_one(folder: Path, tmp_path: Path) -> None:
    """In the same process, in the same folder: new weights are new vectors under a new identity."""
    from safetensors.torch import load_file, save_file

    place = tmp_path / "model"
    shutil.copytree(folder, place)
    encoder = SentenceTransformerEncoder(model=str(place))
    before, known = encoder.encode(TEXTS, kind="query"), encoder.identity()
    assert known == SentenceTransformerEncoder(model=str(place)).identity()
    weights = load_file(place / "model.safetensors")
    save_file({name: tensor * 1.5 for name, tensor in weights.items()}, place / "model.safetensors", {"format": "pt"})
    assert encoder.identity() != known
    assert not np.allclose(encoder.encode(TEXTS, kind="query"), before, atol=1e-4)


def test_prompts_can_be_given(folder: Path) -> None:
    """A prompt in the spec stands for the model's own, an empty one too, and belongs to the identity."""
    own = SentenceTransformerEncoder(model=str(folder))
    bare = SentenceTransformerEncoder(model=str(folder), query_prompt="", document_prompt="")
    assert np.array_equal(bare.encode(TEXTS, kind="query"), bare.encode(TEXTS, kind="document"))
    assert not np.allclose(own.encode(TEXTS, kind="query"), bare.encode(TEXTS, kind="query"), atol=1e-4)
    assert own.identity() != bare.identity()


def test_company_changes_no_vector(folder: Path) -> None:
    """Other texts in the call and other batch sizes leave a vector as it is, to 1e-6."""
    whole = SentenceTransformerEncoder(model=str(folder)).encode(TEXTS, kind="document")
    for row, text in zip(whole, TEXTS, strict=True):
        alone = SentenceTransformerEncoder(model=str(folder), batch=1).encode([text], kind="document")[0]
        assert alone == pytest.approx(row, abs=1e-6)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_long_texts_of_a_folder_model(folder: Path, how: str) -> None:
    """Pooling sees beyond the window, and leaves short texts as they are."""
    encoder = ENCODERS.create(f"st:model={folder},long={how}")
    plain = SentenceTransformerEncoder(model=str(folder))
    assert encoder.max_tokens is None
    texts = [TEXTS[0], "word " * 40 + "other thing " * 40]
    pooled, cut = encoder.encode(texts, kind="document"), plain.encode(texts, kind="document")
    assert pooled[0] == pytest.approx(cut[0], abs=1e-6)
    assert np.abs(pooled[1] - cut[1]).max() > 1e-4


def unit(row: np.ndarray) -> np.ndarray:
    """Return the row with length 1."""
    return np.asarray(row / np.linalg.norm(row))


@pytest.mark.parametrize("prompt", ["", "text: "])
@pytest.mark.parametrize("words", [1, 10, 11, 25])
def test_windows_of_a_folder_model_are_pooled_by_their_tokens(
    folder: Path, library: Any, words: int, prompt: str
) -> None:
    """As many tokens as the window has beside the prompt and the special ones; the last weighs what it holds."""
    own = len(library.tokenizer(prompt)["input_ids"])
    names = ["read file class word path".split()[number % 5] for number in range(words)]
    step = 10
    parts = [" ".join(names[start : start + step]) for start in range(0, words, step)]
    rows = [unit(library.encode(prompt + part, show_progress_bar=False)) for part in parts]
    weights = [len(part.split()) for part in parts]
    shared: dict[str, Any] = {"model": str(folder), "document_prompt": prompt, "window": step + own}
    mean = SentenceTransformerEncoder(long="mean", **shared).encode([" ".join(names), ""], kind="document")
    assert mean[0] == pytest.approx(unit(np.average(rows, axis=0, weights=weights)), abs=1e-5)
    assert mean[1] == pytest.approx(unit(library.encode(prompt, show_progress_bar=False)), abs=1e-5)
    high = SentenceTransformerEncoder(long="max", **shared).encode([" ".join(names)], kind="document")
    assert high[0] == pytest.approx(unit(np.max(rows, axis=0)), abs=1e-5)


@pytest.mark.parametrize("window", [3, 8, 20])
def test_a_text_is_cut_at_the_window_that_is_given(folder: Path, library: Any, window: int) -> None:
    """The vector is that of the tokens before it, two special ones included."""
    names = ["read file class word path".split()[number % 5] for number in range(30)]
    encoder = SentenceTransformerEncoder(model=str(folder), window=window, document_prompt="")
    cut = encoder.encode([" ".join(names)], kind="document")[0]
    head = library.encode(" ".join(names[: window - 2]), show_progress_bar=False)
    assert cut == pytest.approx(unit(head), abs=1e-5)


def test_a_window_is_that_of_its_own_encoder(tmp_path: Path) -> None:
    """Two encoders share a loaded model: one that names no window reads as far as the model does by itself."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import T5Config, T5EncoderModel

    raw, place = tmp_path / "raw", tmp_path / "endless"
    raw.mkdir()
    shutil.copy(packaged_model() / "tokenizer.json", raw)
    (raw / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}')
    shape = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    T5EncoderModel(T5Config(vocab_size=30522, **shape)).save_pretrained(raw)
    SentenceTransformer(modules=[Transformer(str(raw)), Pooling(16)], device="cpu").save(str(place))
    whole = SentenceTransformerEncoder(model=str(place))
    assert whole.max_tokens is None
    before = whole.encode(TEXTS, kind="document")
    cut = SentenceTransformerEncoder(model=str(place), window=8).encode(TEXTS, kind="document")
    assert not np.allclose(cut, before, atol=1e-4)
    assert np.array_equal(whole.encode(TEXTS, kind="document"), before)


def test_a_model_without_a_window_takes_none(tmp_path: Path) -> None:
    """Static embeddings read all of a text."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    place = tmp_path / "static"
    tokenizer = Tokenizer.from_file(str(packaged_model() / "tokenizer.json"))
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu").save(str(place))
    assert ENCODERS.create(f"st:model={place}").encode(TEXTS, kind="query").shape == (len(TEXTS), 8)
    with pytest.raises(UsageError, match="leave window= out"):
        ENCODERS.create(f"st:model={place},window=8").encode(TEXTS, kind="query")


def test_a_model_that_brings_its_own_code_needs_leave(tmp_path: Path) -> None:
    """The line says how to give it; where it was given, or another thing is wrong, it says what is wrong alone."""
    (tmp_path / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}')
    (tmp_path / "own.py").write_text("raise OSError('the code of the model\\nran')\n")
    for trust in (False, True):
        with pytest.raises(UsageError) as caught:
            SentenceTransformerEncoder(model=str(tmp_path), trust_remote_code=trust).encode(["a"], kind="query")
        said = str(caught.value)
        assert said.startswith(f"{tmp_path}: sentence-transformers cannot load this model: ")
        assert said.endswith(" Allow it with trust_remote_code=true.") == (not trust)
        assert "\n" not in said
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError) as caught:
        SentenceTransformerEncoder(model=str(tmp_path)).encode(["a"], kind="query")
    assert "Allow it" not in str(caught.value)


def test_a_prompt_that_leaves_no_room_is_refused(folder: Path) -> None:
    """One token beside it is enough."""
    own = 2 + len("text text".split())
    for window in (own, own + 1):
        encoder = SentenceTransformerEncoder(model=str(folder), document_prompt="text text", window=window, long="mean")
        if window == own:
            with pytest.raises(UsageError, match=f"its prompt fills the window of {window} tokens"):
                encoder.encode(["a b"], kind="document")
        else:
            assert encoder.encode(["a b"], kind="document").shape == (1, 16)


@pytest.mark.parametrize(
    ("own", "tokenizer", "positions", "window"),
    [
        (7, 5, 3, 7),
        (None, 512, 64, 64),
        (None, 64, 512, 64),
        (None, 1, 512, 1),
        (None, 1e30, 64, 64),
        (None, 10**9, None, None),
        (None, 10**9 - 1, None, 10**9 - 1),
        (None, 0, 64, 64),
        (None, -1, None, None),
        (None, "many", 64, 64),
        (None, None, None, None),
    ],
)
def test_the_window_is_read_from_the_files(
    tmp_path: Path, own: int | None, tokenizer: object, positions: int | None, window: int | None
) -> None:
    """The model's own, or else the least of what its tokenizer and its positions allow; absurd numbers are no limit."""
    for name, field, value in (
        ("sentence_bert_config", "max_seq_length", own),
        ("tokenizer_config", "model_max_length", tokenizer),
        ("config", "max_position_embeddings", positions),
    ):
        if value is not None:
            (tmp_path / f"{name}.json").write_text(json.dumps({field: value}))
    assert SentenceTransformerEncoder(model=str(tmp_path)).max_tokens == window
    assert SentenceTransformerEncoder(model=str(tmp_path), long="mean").max_tokens is None
    (tmp_path / "config.json").write_text("[1]")
    assert SentenceTransformerEncoder(model=str(tmp_path), window=9).max_tokens == 9


def test_what_is_remembered_of_a_folder_changes_with_its_files(tmp_path: Path) -> None:
    """Names, sizes and contents count, in folders below too; what is written about the model does not."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.json").write_text("1")
    (tmp_path / "sub" / "b.json").write_text("2")
    first = ModelFolder.at(tmp_path)
    known = content_hash(first)
    assert [name for name, *_ in first.files] == ["a.json", "sub/b.json"]
    (tmp_path / "README.md").write_text("words")
    assert ModelFolder.at(tmp_path) == first
    (tmp_path / "a.json").write_text("3")
    os.utime(tmp_path / "a.json", ns=(1, 1))
    second = ModelFolder.at(tmp_path)
    assert second != first
    assert content_hash(second) != known
    (tmp_path / "a.json").rename(tmp_path / "c.json")
    assert content_hash(ModelFolder.at(tmp_path)) != content_hash(second)


def test_identity_is_the_contents(folder: Path, tmp_path: Path) -> None:
    """A copy elsewhere is the same encoder, a changed file another one; the window in the spec counts too."""
    copy = tmp_path / "small"
    shutil.copytree(folder, copy)
    first = SentenceTransformerEncoder(model=str(folder))
    assert SentenceTransformerEncoder(model=str(copy)).identity() == first.identity()
    other = tmp_path / "changed" / "small"
    shutil.copytree(folder, other)
    (other / "extra.json").write_text("{}")
    assert SentenceTransformerEncoder(model=str(other)).identity() != first.identity()
    narrow = SentenceTransformerEncoder(model=str(folder), window=8)
    assert (narrow.max_tokens, narrow.identity() == first.identity()) == (8, False)


def test_not_a_model(tmp_path: Path) -> None:
    """A folder without a model, and an id that no hub has, are one-line errors."""
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"cannot load this model: .*model_type"):
        SentenceTransformerEncoder(model=str(tmp_path)).encode(["a"], kind="query")
    code = """
from chunkers.errors import UsageError
from indexing.registry import ENCODERS
try:
    ENCODERS.create("st:model=nobody/no-such-model").encode(["a"], kind="query")
except UsageError as error:
    print(error)
"""
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("'nobody/no-such-model' is no folder here, and the hub does not give it")
    assert done.stdout.count("\n") == 1


def test_hashed_words_ignore_order_and_know_parts() -> None:
    """Equal words give equal vectors; an identifier is near its parts; a text without words is a zero row."""
    rows = Hashing().encode(["read file", "file read", "readFile", "socket", ""], kind="document")
    assert np.array_equal(rows[0], rows[1])
    assert rows[0] @ rows[2] > 0.7 > rows[0] @ rows[3]
    assert not rows[4].any()


def test_labels_say_what_is_not_a_model() -> None:
    """The list of embedders tells that hashing is for smoke runs only, and which extra int8 needs."""
    assert "smoke runs only" in ENCODERS.builtin["hashing"].summary
    assert ENCODERS.builtin["onnx"].extra == "onnx"


def test_missing_extra_is_named() -> None:
    """Without onnxruntime the embedder says which extra brings it, and ends with exit code 4."""
    code = """
import sys
sys.modules["onnxruntime"] = None
from chunkers.errors import MissingExtraError
from indexing.registry import ENCODERS
try:
    ENCODERS.create("onnx").encode(["a"], kind="query")
except MissingExtraError as error:
    print(error, error.exit_code)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == (
        "embedder 'onnx' needs onnxruntime, which is not installed: pip install 'chunkbench[onnx]' "
        f"{MissingExtraError.exit_code}\n"
    )
