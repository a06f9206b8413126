"""Vectors from a file: which text finds which row, and which files are refused."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing.encoders import precomputed
from indexing.encoders.precomputed import Precomputed, text_key


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
    for text in ("b", "b ", "x", "", " "):
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
