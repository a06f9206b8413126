"""Vectors from a file: which text finds which row, and which files are refused."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing.dense import Dense
from indexing.embedding_cache import EmbeddingCache
from indexing.encoders import precomputed
from indexing.encoders.precomputed import Precomputed, text_key
from indexing.registry import ENCODERS
from indexing.types import QueryBatch, SearchSpace

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("CHUNKBENCH_DATA") or ROOT.parent / "shared" / "data")
REAL = DATA / "repoeval" / "text-embedding-3-small_1500nws.npz"
TEXTS = ["def read(path): return path", "", "\udc80", "class Server: pass", "word " * 100]


def rows_of(count: int) -> np.ndarray:
    """Return rows of which each has its own direction, and none has length 1."""
    return np.eye(count, count + 1, dtype=np.float32) * 3


def saved(path: Path, texts: list[str], *, keys: Any = None) -> str:
    """Write the vectors of these texts."""
    found = np.array([text_key(text) for text in texts]) if keys is None else keys
    np.savez(path, keys=found, vectors=rows_of(len(texts)))
    return str(path)


def places(encoder: Precomputed, texts: list[str]) -> list[int]:
    """Return which row each text has found."""
    return [int(np.argmax(row)) for row in encoder.encode(texts, kind="document")]


def test_a_text_is_found_by_the_head_of_its_hash(tmp_path: Path) -> None:
    """Of its bytes as they were in the file; keys may be text or bytes; rows have length 1, and no token is known."""
    assert text_key("a\udc80") == hashlib.sha256(b"a\x80").hexdigest()[:16]
    texts = ["a", "b", "\udc80"]
    for keys in (None, np.array([text_key(text).encode() for text in texts])):
        encoder = Precomputed(path=saved(tmp_path / "v.npz", texts, keys=keys))
        assert places(encoder, ["b", "\udc80", "a", "b"]) == [1, 2, 0, 1]
        assert np.linalg.norm(encoder.encode(texts, kind="query"), axis=1) == pytest.approx(np.ones(3))
    assert encoder.encode(texts, kind="query").dtype == np.float32
    assert encoder.count_tokens(texts) == [0, 0, 0]
    assert encoder.missing(["a", "c", "d", "b"]) == 2
    assert encoder.missing([]) == 0


def test_white_space_at_the_ends_may_be_optional(tmp_path: Path) -> None:
    """The longest form that is stored, first with all that is at its start, then with none; `exact` wants the text."""
    stored = ["  a", "a", "b  ", "c\n", "c", "d"]
    path = saved(tmp_path / "v.npz", stored)
    loose, exact = Precomputed(path=path, edges="optional"), Precomputed(path=path)
    for text, row in (
        ("  a", 0), ("  a \n", 0), ("a", 1), (" a", 1), ("   a", 1), ("b  ", 2), ("b   ", 2), (" b  ", 2),
        ("c\n\n", 3), ("c\n", 3), ("c", 4), ("c ", 4), ("d", 5), (" \td\n", 5),
    ):  # fmt: skip
        assert places(loose, [text]) == [row]
        assert exact.missing([text]) == (text not in stored)
    for text in ("b", "b ", "x", "", " ", "dd", "ax", "ax ", "xa"):
        assert loose.missing([text]) == 1
    assert loose.identity() != exact.identity()


def test_missing_texts_are_counted_and_the_first_is_shown(tmp_path: Path) -> None:
    """By its beginning."""
    encoder = Precomputed(path=saved(tmp_path / "v.npz", ["a", "b"]))
    with pytest.raises(UsageError) as caught:
        encoder.encode(["a", "x" * 70, "y"], kind="query")
    said = str(caught.value)
    assert "2 of 3 query texts have no vector in it (it holds 2)" in said
    assert repr("x" * 60) in said


def test_the_identity_is_that_of_the_bytes(tmp_path: Path) -> None:
    """Wherever the file lies; a file that was changed is read again."""
    one = Precomputed(path=saved(tmp_path / "v.npz", ["a"]))
    (tmp_path / "w.npz").write_bytes((tmp_path / "v.npz").read_bytes())
    assert Precomputed(path=str(tmp_path / "w.npz")).identity() == one.identity()
    before = one.identity()
    saved(tmp_path / "v.npz", ["a", "b"])
    assert one.identity() != before
    assert places(one, ["b"]) == [1]


KEYS = np.array([text_key("a"), text_key("b")])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"keys": KEYS, "vectors": np.ones((3, 2))}, "do not fit"),
        ({"keys": KEYS, "vectors": np.ones(2)}, "do not fit"),
        ({"keys": KEYS, "vectors": np.ones((2, 2), dtype=int)}, "do not fit"),
        ({"keys": KEYS.reshape(2, 1), "vectors": np.ones((2, 2))}, "do not fit"),
        (
            {"keys": KEYS, "vectors": np.array([[1, 0], [np.inf, 0]])},
            "its vectors cannot be used: row 1 holds a number",
        ),
        ({"keys": KEYS, "vectors": np.array([[1, 0], [0, 2e30]])}, "its vectors cannot be used: row 1 holds 2e"),
        ({"keys": KEYS[[0, 1, 0]], "vectors": np.ones((3, 2))}, f"the key '{KEYS[0]}' occurs twice"),
        ({"keys": KEYS}, "it must hold 'keys' and 'vectors'"),
        ({"vectors": np.ones((2, 2))}, "it must hold 'keys' and 'vectors'"),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    """Each with what is wrong."""
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(UsageError) as caught:
        Precomputed(path=str(tmp_path / "v.npz")).encode(["a"], kind="query")
    assert words in str(caught.value)


def test_a_row_of_zeros_may_lie_there_but_not_be_used(tmp_path: Path) -> None:
    """A text whose vector says nothing is an error when it is asked for."""
    np.savez(tmp_path / "v.npz", keys=KEYS, vectors=np.array([[0.0, 0.0], [0.0, 2.0]]), more=np.ones(1))
    encoder = Precomputed(path=str(tmp_path / "v.npz"))
    assert encoder.encode(["b"], kind="query").tolist() == [[0.0, 1.0]]
    with pytest.raises(UsageError, match="the vectors of query texts cannot be used: row 1 is all zeros"):
        encoder.encode(["b", "a"], kind="query")


def test_a_file_that_unpacks_to_far_more_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where it is both large and packed beyond what numbers can be."""
    path = tmp_path / "v.npz"
    np.savez_compressed(path, keys=KEYS, vectors=np.ones((2, 50_000)))
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    packed = path.stat().st_size
    assert size > 100 * packed
    for plain, most, refused in (
        (size, 20, False),
        (size - 1, 20, True),
        (size - 1, size / packed, False),
        (size - 1, size / packed * 0.999, True),
        (10 * size, 20, False),
    ):
        precomputed._read.cache_clear()
        monkeypatch.setattr(precomputed, "_PLAIN", plain)
        monkeypatch.setattr(precomputed, "_MOST_PACKED", most)
        if refused:
            with pytest.raises(UsageError, match=f"it unpacks to {size:,} bytes"):
                Precomputed(path=str(path)).missing(["a"])
        else:
            assert Precomputed(path=str(path)).missing(["a", "c"]) == 1


def _file(path: Path, texts: list[str], *, dimensions: int = 3) -> Path:
    vectors = np.random.default_rng(0).normal(size=(len(texts), dimensions)).astype(np.float32)
    np.savez(path, keys=np.array([text_key(text) for text in texts]), vectors=vectors)
    return path


def test_precomputed_vectors(tmp_path: Path) -> None:
    """Each text gets its own row with length 1, and the cache stores none of it again."""
    path = _file(tmp_path / "v.npz", TEXTS)
    encoder = ENCODERS.create(f"precomputed:path={path}")
    cache = EmbeddingCache(tmp_path / "cache")
    rows = cache.embed(encoder, TEXTS[::-1], kind="document")
    with np.load(path) as archive:
        expected = archive["vectors"][::-1]
    assert rows == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)
    assert not (tmp_path / "cache").exists()
    assert encoder.max_tokens is None


def test_missing_keys_are_counted(tmp_path: Path) -> None:
    """The error says how many texts have no vector, of how many, and shows one."""
    path = _file(tmp_path / "v.npz", TEXTS[:3])
    with pytest.raises(UsageError, match=r"2 of 5 document texts have no vector.*holds 3.*'class Server: pass'"):
        Precomputed(path=str(path)).encode(TEXTS, kind="document")


def test_bad_files_of_vectors(tmp_path: Path) -> None:
    """No file, no archive, no keys, pickles, shapes that do not fit, and NaN are each one clear error."""
    bad = tmp_path / "bad.npz"
    with pytest.raises(UsageError, match="no such file"):
        Precomputed(path=str(bad)).encode(["a"], kind="query")
    bad.write_bytes(b"not a zip")
    with pytest.raises(UsageError, match="is not an"):
        Precomputed(path=str(bad)).encode(["a"], kind="query")
    key = np.array([text_key("a")])
    cases = [
        ({"vectors": np.ones((1, 3))}, "it must hold 'keys' and 'vectors'"),
        ({"keys": np.array([object()]), "vectors": np.ones((1, 3))}, "is not an .npz"),
        ({"keys": key, "vectors": np.ones((2, 3))}, "do not fit"),
        ({"keys": key, "vectors": np.full((1, 3), np.nan)}, "not finite"),
    ]
    for number, (arrays, says) in enumerate(cases):
        path = tmp_path / f"{number}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type] # the stub takes its keyword allow_pickle for any keyword
        with pytest.raises(UsageError, match=says):
            Precomputed(path=str(path)).encode(["a"], kind="query")


@pytest.mark.skipif(not REAL.exists(), reason="the RepoEval vectors are not beside the checkout")
def test_real_vectors_end_to_end(tmp_path: Path) -> None:
    """Real embeddings of RepoEval's prompts are found by text and each finds itself; those left out are counted."""
    source = DATA / "repoeval" / "function_level_completion_2k_context_codex.test.jsonl"
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    embedded = [row for row in rows if not row["metadata"]["fpath_tuple"][0].endswith(("trlx", "betty"))]
    encoder = ENCODERS.create(f"precomputed:path={REAL}")
    with pytest.raises(UsageError, match="82 of 455 query texts have no vector"):
        encoder.encode([row["prompt"] for row in rows], kind="query")
    prompts = [row["prompt"] for row in embedded]
    vectors = EmbeddingCache(tmp_path).embed(encoder, prompts, kind="query")
    assert vectors.shape == (373, 1536)
    runs = Dense().search(SearchSpace(prompts, vectors), QueryBatch(prompts, vectors), depth=5)
    assert all(run[0].score == pytest.approx(1, abs=1e-5) for run in runs)
    assert np.mean([run[0].position == at for at, run in enumerate(runs)]) > 0.99


@pytest.mark.filterwarnings("error")
def test_very_small_and_half_precision_numbers(tmp_path: Path) -> None:
    """A row whose length rounding would lose is refused; half precision is read without a warning."""
    file = tmp_path / "v.npz"
    for rows in (np.full((1, 4), 1e-320), np.full((1, 4), 1e-161)):
        np.savez(file, keys=[text_key("a")], vectors=rows)
        with pytest.raises(UsageError, match="row 0 is all zeros, or almost"):
            Precomputed(path=str(file)).encode(["a"], kind="query")
        file.unlink()
    file = tmp_path / "half.npz"
    np.savez(file, keys=[text_key("a")], vectors=np.full((1, 4), 1e-4, np.float16))
    assert Precomputed(path=str(file)).encode(["a"], kind="query").tolist() == [[0.5] * 4]


def test_a_header_with_open_brackets_is_one_line(tmp_path: Path) -> None:
    """NumPy tokenises headers as Python, which has an exception of its own for this."""
    file = tmp_path / "v.npz"
    head = b"{'descr': [(" * 20
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("keys", "vectors"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(UsageError, match=r"is not an \.npz of keys and vectors"):
        Precomputed(path=str(file)).encode(["a"], kind="query")
