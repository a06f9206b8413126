"""Blocks of a corpus: consecutive, of about equal sums, and as many as the division says."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.experiment.blocks import Division, even_blocks


@pytest.mark.parametrize(
    ("sizes", "division", "expected"),
    [
        ([], Division(4, 1, 100), []),
        ([7], Division(4, 1, 100), [1]),
        ([0], Division(4, 1, 100), [1]),
        ([0, 0, 0], Division(4, 1, 100), [3]),
        ([5] * 8, Division(4, 1, 100), [2, 2, 2, 2]),
        ([5] * 8, Division(4, 11, 100), [2, 2, 2, 2]),
        ([5] * 8, Division(4, 15, 100), [3, 3, 2]),
        ([5] * 8, Division(1, 1, 9), [1] * 8),
        ([5] * 8, Division(1, 1, 10), [2, 2, 2, 2]),
        ([5] * 8, Division(1, 1, 40), [8]),
        ([1, 100, 1, 1], Division(1, 1, 10), [1, 1, 2]),
        ([100, 100], Division(1, 1, 10), [1, 1]),
        ([0, 100, 0, 100], Division(1, 1, 10), [2, 2]),
        ([10, 0, 0, 1], Division(1, 1, 10), [3, 1]),
    ],
)
def test_a_block_is_closed_where_the_next_file_would_be_too_much(
    sizes: list[int], division: Division, expected: list[int]
) -> None:
    """The sum over the blocks, but at least the smallest and at most the largest; a large file is a block by itself."""
    assert [len(block) for block in even_blocks(sizes, division)] == expected


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 9), st.integers(1, 60), st.integers(0, 200))
def test_blocks_are_whole_and_none_could_have_taken_more(sizes: list[int], blocks: int, low: int, more: int) -> None:
    """In order, none empty; the first file of a block would not have fitted into the block before it."""
    division = Division(blocks, low, low + more)
    bound = min(max(sum(sizes) // blocks, low), low + more)
    made = even_blocks(sizes, division)
    assert [place for block in made for place in block] == list(range(len(sizes)))
    assert all(len(block) for block in made)
    for block, after in itertools.pairwise(made):
        held = sum(sizes[place] for place in block)
        assert held + sizes[after.start] > bound
        assert held <= bound or sum(sizes[place] > 0 for place in block) == 1


def test_files_are_divided_by_bytes_of_source() -> None:
    """Unless said otherwise: small corpora are one block, and no block is above four million bytes."""
    assert even_blocks([60_000, 60_000, 8_000]) == [range(3)]
    assert even_blocks([60_000, 60_000, 8_001]) == [range(2), range(2, 3)]
    assert len(even_blocks([1_000_000] * 640)) == 160
