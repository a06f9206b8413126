"""Texts on their way into a model, and vectors out of it: windows, batches, threads, pooling and unit rows."""

from __future__ import annotations

import math
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing.encoders.batches import Batch, cores, padded_width, run_in_threads, token_batches
from indexing.encoders.hashing import Hashing
from indexing.encoders.texts import pool_windows, readable, unit_rows
from indexing.encoders.wordpieces import windows
from indexing.vector_checks import LARGEST_VALUE, unreadable, unusable


def test_mean_weighs_windows_by_their_tokens() -> None:
    """Two windows of 3 and 1 tokens pool to the direction of 3a + b."""
    rows = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    pooled = pool_windows(rows, [0, 0, 1], [3, 1, 5], how="mean")
    assert pooled == pytest.approx(unit_rows(np.array([[3.0, 1.0], [0.0, 1.0]])))


def test_max_takes_the_largest_of_each_dimension() -> None:
    """Whatever the windows weigh; a text of one window keeps its bits, and so do texts that all have one."""
    rows = np.array([[0.5, 0.25], [0.6, 0.8], [0.8, -0.6], [3.0, 4.0]], dtype=np.float32)
    pooled = pool_windows(rows, [0, 1, 1, 2], [1, 9, 1, 1], how="max")
    assert pooled == pytest.approx(np.array([[0.5, 0.25], [2**-0.5, 2**-0.5], [3.0, 4.0]]), abs=1e-6)
    for how in ("mean", "max"):
        single = pool_windows(rows, [0, 1, 2, 3], [7, 1, 1, 1], how=how)
        assert np.array_equal(single, rows)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(3, 12))
def test_windows_hold_every_token(inner: list[int], size: int) -> None:
    """Windows are in order, full up to the last, between the special tokens, and leave nothing out unless cutting."""
    ids = [[101, *range(1000, 1000 + count), 102] for count in inner]
    pieces = windows(ids, size=size, long="mean")
    assert all(len(piece) <= size and (piece[0], piece[-1]) == (101, 102) for piece in pieces.ids)
    assert pieces.weights == [len(piece) - 2 for piece in pieces.ids]
    for owner, row in enumerate(ids):
        own = [piece[1:-1] for piece, of in zip(pieces.ids, pieces.owners, strict=True) if of == owner]
        assert [token for piece in own for token in piece] == row[1:-1]
        assert len(own) == max(-(-(len(row) - 2) // (size - 2)), 1)
    cut = windows(ids, size=size, long="truncate")
    assert cut.ids == [[101, *row[1:-1][: size - 2], 102] for row in ids]
    assert cut.owners == list(range(len(ids)))


@given(st.integers(0, 10_000))
def test_widths_are_the_next_multiple_of_eight(tokens: int) -> None:
    """A text is padded by fewer than eight tokens."""
    assert padded_width(tokens) % 8 == 0
    assert 0 <= padded_width(tokens) - tokens < 8


@given(st.lists(st.integers(2, 300), max_size=60), st.integers(1, 2000))
def test_batches_cover_each_text_once(lengths: list[int], budget: int) -> None:
    """Every text is in one batch of its own width; batches are longest first, and as full as the budget allows."""
    batches = list(token_batches(lengths, budget=budget))
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))
    order = [lengths[row] for batch in batches for row in batch.rows]
    assert order == sorted(lengths, reverse=True)
    for batch in batches:
        assert {padded_width(lengths[row]) for row in batch.rows} == {batch.width}
        assert len(batch.rows) == 1 or len(batch.rows) * batch.width <= budget
    for one, two in pairwise(batches):
        assert one.width > two.width or (len(one.rows) + 1) * one.width > budget


def test_every_batch_is_worked_on_once() -> None:
    """With one thread in order; with more, in any."""
    batches = [Batch([number], 8) for number in range(20)]
    for threads in (1, 3):
        seen: list[Batch] = []
        run_in_threads(seen.append, iter(batches), threads=threads)
        assert sorted(seen) == batches


def test_an_error_in_a_worker_is_raised() -> None:
    """What fails in a thread fails in the call, and no batch is begun after it."""
    seen: list[int] = []

    def work(batch: Batch) -> None:
        seen.append(batch.width)
        if batch.width == 16:
            raise UsageError(f"no {batch.width}")

    with pytest.raises(UsageError, match="no 16"):
        run_in_threads(work, iter([Batch([0], width) for width in (8, 16, 24, 32)]), threads=1)
    assert seen == [8, 16]
    with pytest.raises(UsageError, match="no 16"):
        run_in_threads(work, iter([Batch([0], 16)] * 5), threads=2)


@pytest.mark.parametrize(
    ("bound", "used"), [("1", 1), ("2", 2), ("3", 3), ("99", 3), ("0", 3), ("", 3), ("x", 3), ("-1", 3), (None, 3)]
)
def test_threads_are_bound_by_the_environment(bound: str | None, used: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more than the processors of this process; nonsense and 0 are no bound."""
    monkeypatch.setattr(os, "sched_getaffinity", {0: {0, 1, 5}}.__getitem__, raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if bound is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", bound)
    assert cores() == used


def test_where_a_process_cannot_be_bound_all_processors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS; where even their number is unknown, one."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_unit_rows_are_normalised_each_by_itself() -> None:
    """A zero row stays zero, no rows stay none, and what is no number is refused."""
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0], [LARGEST_VALUE, 0.0]]))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, -1], [1, 0]]))
    assert rows.dtype == np.float32
    assert unit_rows(np.zeros((0, 5))).shape == (0, 5)
    for bad in (np.nan, np.inf, -np.inf, 1.01 * LARGEST_VALUE, -1.01 * LARGEST_VALUE):
        with pytest.raises(UsageError, match="not finite, or too large"):
            unit_rows(np.array([[1.0, 0.0], [bad, 1.0]]))


@given(st.text(st.characters(codec=None), max_size=20))
def test_readable_text_can_be_encoded(text: str) -> None:
    """Only lone surrogates change, each to one sign."""
    assert readable(text).encode("utf-8").decode() == "".join(
        "\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([0.6, 0.8], ""),
        ([1.0009, 0], ""),
        ([0.9991, 0], ""),
        ([1.0011, 0], "row 1 has length 1, not 1"),
        ([0.9989, 0], "row 1 has length 0.999, not 1"),
        ([0, 0], "row 1 is all zeros"),
        ([np.nan, 0], "row 1 holds a number that is not finite"),
        ([1, -np.inf], "row 1 holds a number that is not finite"),
        ([-3e38, 0], "row 1 holds 3e+38"),
    ],
)
def test_the_first_row_that_is_no_unit_vector_is_named(row: list[float], reason: str) -> None:
    """A thousandth of rounding is allowed, and a row of zeros only to whoever declares it."""
    rows = np.array([[1, 0], row, row], dtype=np.float32)
    assert unusable(rows, zeros=False) == reason
    assert unusable(rows, zeros=True) == ("" if "zeros" in reason else reason)


def test_rows_of_any_length_are_read_up_to_the_largest_number() -> None:
    """The largest is one, a little more is none; arrays of another shape or kind are no rows, no rows are."""
    for sign in (1, -1):
        assert unreadable(np.array([[5.0, sign * LARGEST_VALUE]]), zeros=False) == ""
        assert unreadable(np.array([[5.0, 0], [sign * 1.01e30, 1]]), zeros=False) == "row 1 holds 1.01e+30"
    assert unreadable(np.zeros((0, 3)), zeros=False) == unusable(np.zeros((0, 3)), zeros=False) == ""
    assert unusable(np.ones(1), zeros=True) == "an array of 1 dimensions of float64, not rows of numbers"
    assert unusable(np.ones((1, 1), dtype=int), zeros=True) == "an array of 2 dimensions of int64, not rows of numbers"


def test_hashed_words_are_the_vectors_of_their_version() -> None:
    """They are stored under version 1: a change of any number needs another one."""
    rows = Hashing(dimensions=8).encode(["get get get path set http", "get"], kind="document")
    three = 1 + math.log(3)
    golden = np.array([[-three, -1, 0, 0, 0, 0, -1, 1], [-1, 0, 0, 0, 0, 0, 0, 0]])
    assert rows == pytest.approx(unit_rows(golden), abs=1e-6)
    assert Hashing().count_tokens(["get getPath", ""]) == [4, 0]
