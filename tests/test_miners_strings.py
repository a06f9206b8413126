"""Docstrings of Python, Elixir and Haskell, and text that is hidden, case by case; in these tables ¶ ends a line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth.hidden import HiddenText, blanked, hidden_lines, inside, visible_text
from ground_truth.miners.elixir_docs import elixir_definitions
from ground_truth.miners.haskell_docs import haskell_definitions
from ground_truth.miners.python_docstrings import python_definitions
from ground_truth.miners.types import Definition
from ground_truth.texts import Texts
from ground_truth.types import HiddenSpan

PYTHON = [
    ("def f():¶    '''Reads.'''¶    x = 1¶    y = 2¶", [("f 1-4", "Reads.", 2, "function marked")]),
    ('def f():¶    # c¶    "Reads."¶    x = 1¶', [("f 1-4", "Reads.", 1, "function marked")]),
    ("def f():¶    'Reads ' 'rows.'¶    x = 1¶", [("f 1-3", "Reads rows.", 1, "function marked")]),
    ("def f():¶    f'Reads.'¶    x = 1¶", []),
    ("def f():¶    b'Reads.'¶", []),
    ("def f():¶    r'Reads.'¶", [("f 1-2", "Reads.", 0, "function marked")]),
    ("def f():¶    x = 1¶    'Reads.'¶", []),
    ("def f():¶    ''¶    x = 1¶", [("f 1-3", "", 1, "function marked")]),
    ("@a¶@b¶def f():¶    '''Reads.'''¶¶    x = 1¶", [("f 1-6", "Reads.", 1, "function marked")]),
    ("@overload¶def f():¶    '''Reads.'''¶", [("f 1-3", "Reads.", 0, "function overload marked")]),
    (
        (
            "class A:¶    '''Holds.'''¶¶    @abstractmethod¶    def f(self):¶        '''Reads.¶¶"
            "        Every row.¶          Twice.¶        '''¶        return 1¶"
        ),
        [("A 1-11", "Holds.", 7, "marked"), ("f 4-11", "Reads.¶¶Every row.¶  Twice.", 1, "function overload marked")],
    ),
    ("def f():¶    '''Reads.¶", []),
    ("async def f():¶    '''Reads.'''¶    await x¶", [("f 1-3", "Reads.", 1, "function marked")]),
    ("def f(): 'Reads.'¶", [("f 1-1", "Reads.", 0, "function marked")]),
]
ELIXIR = [
    ('defmodule A do¶  @doc "Reads."¶  def f(x) do¶    x¶  end¶end¶', [("f 3-5", "Reads.", 1, "function marked")]),
    (
        (
            'defmodule A do¶  @doc """¶  Reads.¶  All.¶  """¶  @spec f(x) :: y¶  def f(1), do: 1¶'
            "  def f(x) do¶    x¶  end¶  def g(x), do: x¶end¶"
        ),
        [("f 6-10", "Reads.¶All.", 2, "function marked")],
    ),
    ("defmodule A do¶  @doc false¶  def f(x), do: x¶end¶", []),
    (
        'defmodule A do¶  @moduledoc "Holds."¶  @doc "Reads."¶  # c¶  defp f?(x), do: x¶end¶',
        [(" 2-2", "Holds.", 0, "overload marked"), ("f? 5-5", "Reads.", 0, "function marked")],
    ),
    (
        'defmodule A do¶  @doc "Calls."¶  @callback f(x) :: y¶  def g(x), do: x¶end¶',
        [(" 2-2", "Calls.", 0, "overload marked")],
    ),
    (
        'defmodule A do¶  defmodule B do¶    @doc "Reads."¶    defmacro f(x) do¶      x¶    end¶  end¶end¶',
        [("f 4-6", "Reads.", 1, "function marked")],
    ),
    ('defmodule A do¶  @doc "Reads."¶  @x 1¶  y¶end¶', [(" 2-2", "Reads.", 0, "overload marked")]),
    ('defmodule A do¶  @typedoc "Type."¶  @type t :: x¶end¶', [(" 2-2", "Type.", 0, "overload marked")]),
]
HASKELL = [
    (
        "module A where¶¶-- | Reads rows.¶f :: Int -> Int¶f 0 = 1¶f x = x¶¶g y = y¶",
        [("f 4-6", "Reads rows.", 2, "function marked")],
    ),
    ("module A where¶¶-- Reads rows.¶f x = x¶", [("f 4-4", "Reads rows.", 1, "function")]),
    ("module A where¶¶-- | Holds rows.¶data A = A Int¶", [("A 4-4", "Holds rows.", 0, "overload marked")]),
    ("module A where¶¶-- | Reads.¶-- All.¶f :: Int¶¶h = 1¶", [("f 5-5", "Reads.¶All.", 0, "function overload marked")]),
    ("module A where¶¶{- | Reads 'rows' of @x@. -}¶f x = x¶", [("f 4-4", "Reads rows of x.", 1, "function marked")]),
    ("module A where¶¶-- | /O(n)/. Reads rows.¶f x = x¶", [("f 4-4", "Reads rows.", 1, "function marked")]),
    ("module A where¶¶-- | @f x@ returns rows.¶f x = x¶", [("f 4-4", "returns rows.", 1, "function marked")]),
    ("module A where¶¶-- | Class.¶class C a where¶  m :: a¶", [("C 4-5", "Class.", 0, "overload marked")]),
]

CASES = [
    *((python_definitions, *case) for case in PYTHON),
    *((elixir_definitions, *case) for case in ELIXIR),
    *((haskell_definitions, *case) for case in HASKELL),
]
"""Text, and of each documented definition its name and lines, documentation, lines of its body, and kind."""


@pytest.mark.parametrize(("find", "text", "expected"), CASES)
def test_what_each_definition_is_documented_by(
    find: Callable[[bytes], list[Definition]], text: str, expected: list[tuple[str, str, int, str]]
) -> None:
    """Strings that open a body or stand in an attribute, and Haddock comments; what is no prose documents nothing."""
    data = text.replace("¶", "\n").encode()
    told = []
    for each in find(data):
        kinds = {"function": each.is_function, "overload": each.is_overload, "marked": each.is_marked}
        place = f"{each.name} {each.start_line}-{each.end_line}"
        words = " ".join(kind for kind, so in kinds.items() if so)
        told.append((place, each.doc.replace("\n", "¶"), each.body_lines, words))
        (whole,) = each.comment_spans
        assert all(whole[0] <= first < last <= whole[1] for first, last in each.doc_spans)
    assert told == expected


SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: tuple(sorted(pair))), max_size=6)
DATA = b"ab\ncd\r\nefgh\nijklmno\n"


@given(SPANS, st.integers(0, 20), st.integers(0, 20))
def test_hidden_bytes_are_those_that_any_span_holds(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Ranges are joined and sorted; what is visible, blanked and inside agrees with going byte by byte."""
    start, end = sorted((start, end))
    hidden = {at for low, high in spans for at in range(low, high)}
    text = HiddenText([HiddenSpan("r", "a.py", low, high) for low, high in spans])
    ranges = text.ranges("r", "a.py")
    assert {at for low, high in ranges.tolist() for at in range(low, high)} == hidden
    assert all(one < other for one, other in zip(ranges.ravel(), ranges.ravel()[1:], strict=False))
    assert inside(ranges, np.arange(21)).tolist() == [at in hidden for at in range(21)]
    assert visible_text(DATA, ranges, start, end) == bytes(DATA[at] for at in range(start, end) if at not in hidden)
    blank = bytes(32 if at in hidden and byte not in b"\r\n" else byte for at, byte in enumerate(DATA))
    assert blanked(DATA, ranges) == blank
    within = text.within("r", "a.py", start, end)
    assert {at for low, high in within for at in range(low, high)} == hidden & set(range(start, end))
    assert len(text.ranges("r", "b.py")) == len(text.ranges("s", "a.py")) == 0
    assert bool(text) is bool(spans)


def test_lines_are_hidden_with_their_ends() -> None:
    """By their numbers, the last one without a line feed; what is not there is nothing."""
    files = Texts("r", {"a.py": "ab\ncd\nef", "b.py": "x\n"})
    found = hidden_lines(files, {"b.py": [1, 2], "a.py": [2, 3, 4], "c.py": [1]})
    assert [tuple(span)[1:] for span in found] == [("a.py", 3, 6), ("a.py", 6, 8), ("b.py", 0, 2)]
