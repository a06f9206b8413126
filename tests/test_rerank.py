"""The cross-encoder that reads the best hits again, with a tiny model made here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Command

from chunkers.errors import UsageError
from indexing.bm25 import BM25
from indexing.contract import check_retriever
from indexing.encoders.minilm import packaged_model
from indexing.registry import RETRIEVERS
from indexing.rerank import Rerank
from indexing.types import QueryBatch, SearchSpace

TEXTS = ["def read(path): return path", "class Server: read", "read " * 200, "nothing here", "def write(path): read"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a small cross-encoder: random weights, a real tokenizer, a window of 64 tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    target = tmp_path_factory.mktemp("cross")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(packaged_model() / name, target)
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=30522, max_position_embeddings=64, num_labels=1, initializer_range=0.8, **shape)
    BertForSequenceClassification(config).save_pretrained(target)
    return target


def test_the_pool_is_ordered_by_the_model(folder: Path) -> None:
    """The first hits are those of the library's scores, the rest stays in the order in which it was found."""
    from sentence_transformers import CrossEncoder

    space, queries = SearchSpace(TEXTS), QueryBatch(["read the path"])
    found = [hit.position for hit in BM25().search(space, queries, depth=5)[0]]
    model = CrossEncoder(str(folder), device="cpu", max_length=64)
    scores = model.predict([("read the path", TEXTS[row]) for row in found[:3]], show_progress_bar=False)
    expected = [row for _, row in sorted(zip(scores, found[:3], strict=True), reverse=True)] + found[3:]
    retriever = RETRIEVERS.create(f"rerank:model={folder},pool=3")
    assert [hit.position for hit in retriever.search(space, queries, depth=5)[0]] == expected
    assert [hit.position for hit in retriever.search(space, queries, depth=2)[0]] == expected[:2]
    assert isinstance(retriever, Rerank)
    seen = retriever.diagnostics(space, queries, depth=5)
    assert (seen["rerank_pairs"], seen["rerank_window"]) == (3, 64)
    assert 0 < seen["rerank_cut_off"] < 1


def test_what_is_no_text_is_read_as_other_models_read_it(folder: Path) -> None:
    """Bytes that are not UTF-8, and halves of characters in a query."""
    retriever = RETRIEVERS.create(f"rerank:model={folder}")
    space = SearchSpace(["read \udcff", "read \ufffd", "write"])
    (found,) = retriever.search(space, QueryBatch(["read \ud800"]), depth=3)
    assert [hit.position for hit in found] == [0, 1]


@pytest.mark.parametrize("first", ["bm25", "dense", "hybrid"])
def test_it_keeps_the_contract_of_retrievers(folder: Path, first: str) -> None:
    """Whatever finds the hits, the contract of retrievers holds."""
    retriever = RETRIEVERS.create(f"rerank:model={folder},first={first}")
    assert [finding for finding in check_retriever(retriever) if finding.problem] == []


def test_a_model_that_changed_is_another_retriever(folder: Path, tmp_path: Path) -> None:
    """The version follows the files of the model, not its folder."""
    other = tmp_path / "copy"
    shutil.copytree(folder, other)
    same = RETRIEVERS.create(f"rerank:model={other}").version
    assert same == RETRIEVERS.create(f"rerank:model={folder}").version
    changed = tmp_path / "changed"
    shutil.copytree(folder, changed)
    (changed / "vocab.txt").write_text("other")
    assert RETRIEVERS.create(f"rerank:model={changed}").version != same


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    """No folder, or a folder without a model: one line each."""
    space, queries = SearchSpace(TEXTS), QueryBatch(["read"])
    for spec in ("rerank", "rerank:model=no-such-folder"):
        with pytest.raises(UsageError, match="rerank needs the folder of a cross-encoder"):
            RETRIEVERS.create(spec).search(space, queries, depth=5)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"cannot load this cross-encoder: .*model_type"):
        RETRIEVERS.create(f"rerank:model={tmp_path / 'empty'}").search(space, queries, depth=5)
    for spec in ("rerank:pool=0", "rerank:window=3"):
        with pytest.raises(UsageError, match="must be"):
            RETRIEVERS.create(spec)


def test_what_reading_again_costs_is_counted(folder: Path) -> None:
    """Pairs of the pool, their tokens up to the window, and the share of pairs that are longer than it."""
    from transformers import AutoTokenizer

    space, queries = SearchSpace(TEXTS), QueryBatch(["read the path", "nowhere", "server"])
    found = BM25().search(space, queries, depth=9)
    pairs = [(query, TEXTS[hit.position]) for query, run in zip(queries.texts, found, strict=True) for hit in run[:3]]
    lengths = [len(AutoTokenizer.from_pretrained(folder)(*pair)["input_ids"]) for pair in pairs]
    exact = sorted(lengths)[1]
    for window, seen in ((None, 64), (exact, exact), (exact - 1, exact - 1), (500, 64)):
        retriever = RETRIEVERS.create(f"rerank:model={folder},pool=3" + (f",window={window}" if window else ""))
        assert isinstance(retriever, Rerank)
        assert retriever.diagnostics(space, queries, depth=1) == {
            "rerank_pairs": len(pairs),
            "rerank_tokens": sum(min(length, seen) for length in lengths),
            "rerank_window": seen,
            "rerank_cut_off": pytest.approx(sum(length > seen for length in lengths) / len(lengths)),
        }
    plain = RETRIEVERS.create(f"rerank:model={folder}")
    assert isinstance(plain, Rerank)
    nothing = plain.diagnostics(space, QueryBatch(["nowhere"]), depth=1)
    assert (nothing["rerank_pairs"], nothing["rerank_tokens"], nothing["rerank_cut_off"]) == (0, 0, 0)


def test_scores_are_reciprocal_ranks(folder: Path) -> None:
    """Of the whole ranking, also beyond the pool; depth 0 has none, and a window of eight tokens is the least."""
    retriever = RETRIEVERS.create(f"rerank:model={folder},pool=2,window=8")
    runs = retriever.search(SearchSpace(TEXTS), QueryBatch(["read", "nowhere"]), depth=5)
    assert [hit.score for hit in runs[0]] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert runs[1] == []
    assert retriever.search(SearchSpace(TEXTS), QueryBatch(["read", "x"]), depth=0) == [[], []]
    with pytest.raises(UsageError, match="at least 8 tokens, not 7"):
        RETRIEVERS.create("rerank:window=7")


def test_equal_texts_tie_whatever_their_batch(folder: Path) -> None:
    """The lower position comes first; batches of any size give one order."""
    texts = ["def read(path)", "class read", "def read(path)", "read it " * 9, "class read"]
    runs = [
        RETRIEVERS.create(f"rerank:model={folder},batch={batch}").search(
            SearchSpace(texts), QueryBatch(["read"]), depth=5
        )
        for batch in (1, 2, 32)
    ]
    assert runs[0] == runs[1] == runs[2]
    order = [hit.position for hit in runs[0][0]]
    assert order.index(2) == order.index(0) + 1
    assert order.index(4) == order.index(1) + 1


def test_a_model_of_two_numbers_is_no_cross_encoder(folder: Path, tmp_path: Path) -> None:
    """One finite number for a pair is needed; without a model the version is that of the code."""
    import torch
    from safetensors.torch import load_file, save_file

    assert RETRIEVERS.create("rerank").version == "1"
    space, queries = SearchSpace(TEXTS), QueryBatch(["read"])
    for kind in ("two", "nan"):
        place = tmp_path / kind
        shutil.copytree(folder, place)
        tensors = load_file(place / "model.safetensors")
        if kind == "nan":
            tensors["classifier.bias"] = torch.full((1,), float("nan"))
        else:
            config = json.loads((place / "config.json").read_text())
            labels = {"id2label": {"0": "a", "1": "b"}, "label2id": {"a": 0, "b": 1}}
            (place / "config.json").write_text(json.dumps({**config, **labels}))
            tensors |= {name: torch.cat([tensors[name]] * 2) for name in ("classifier.weight", "classifier.bias")}
        save_file(tensors, place / "model.safetensors", {"format": "pt"})
        with pytest.raises(UsageError, match="gives one finite number for a pair of texts"):
            RETRIEVERS.create(f"rerank:model={place}").search(space, queries, depth=5)


def test_it_is_compared_as_any_retriever(chunkbench: Command, repository: Path, tmp_path: Path, folder: Path) -> None:
    """A comparison with it has its cost beside the scores."""
    done = chunkbench(
        *("compare", repository, "--annotations", tmp_path / "gold.jsonl", "--chunker", "fixed-lines:lines=6"),
        *("--retriever", f"rerank:model={folder},pool=5", "--retriever", "bm25", "--embedder", "hashing"),
        *("--engine", "serial", "--json", "--out", tmp_path / "out", "--measure", "recall@400tok"),
    )
    assert done.code == 0, done.err
    assert done.json["cells"][0]["chunks"]["rerank_pairs"] == 16 * 5
