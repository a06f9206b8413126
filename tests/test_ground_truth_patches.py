"""Unified diffs: old-side lines, hunks that stand elsewhere, and what is broken."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from ground_truth.lines import LineRange
from ground_truth.patches import fit, merged, parse_patch

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "-- x", "++ y", "\\"]), max_size=12)


def diff(old: list[str], new: list[str], context: int = 3) -> str:
    """Return the unified diff of two files of lines."""
    return "\n".join(difflib.unified_diff(old, new, "a/f.py", "b/f.py", lineterm="", n=context)) + "\n"


@given(LINES, LINES, st.integers(0, 3))
def test_removed_and_context_lines_are_those_of_the_old_file(old: list[str], new: list[str], context: int) -> None:
    """Whatever the change, each line that the patch says is old stands there, and changed lines are in the file."""
    for patch in parse_patch(diff(old, new, context), where="x"):
        assert patch.old_path == "f.py"
        for number, text in patch.old_lines:
            assert old[number - 1] == text
        for first, last in patch.changed:
            assert 1 <= first <= last
            assert first <= len(old)


def test_a_replacement_takes_its_lines_and_an_insertion_its_neighbours() -> None:
    """Removed lines are gold; a pure insertion takes the line above and the line below."""
    old = [str(number) for number in range(1, 21)]
    new = [*old[:4], "five", *old[5:12], "new", *old[12:]]
    (patch,) = parse_patch(diff(old, new), where="x")
    assert patch.changed == [LineRange(5, 5), LineRange(12, 13)]


def test_insertions_at_both_ends_of_a_file() -> None:
    """At the first line only the line below is there, at the end only the one above."""
    old = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
    (patch,) = parse_patch(diff(old, ["0", *old, "10"]), where="x")
    assert patch.changed == [LineRange(1, 1), LineRange(9, 9)]


def test_new_deleted_and_quoted_files() -> None:
    """A new file has no old path and no old lines; a name in quotes is read; no newline at the end is no line."""
    text = (
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+a\n"
        '--- "a/\\303\\274.py"\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n'
    )
    new, gone = parse_patch(text, where="x")
    assert (new.old_path, new.changed) == (None, [])
    assert (gone.old_path, gone.new_path, gone.changed) == ("ü.py", None, [LineRange(1, 2)])


def test_a_hunk_is_moved_to_where_its_lines_stand() -> None:
    """As `patch` does: two lines lower in the file than the patch says; nowhere is None."""
    old = [f"line {number}" for number in range(30)]
    (patch,) = parse_patch(diff(old, [*old[:10], "x", *old[11:]]), where="x")
    moved = fit(patch, "\n".join(["new", "new", *old]).encode())
    assert moved is not None
    assert moved.changed == [LineRange(13, 13)]
    assert fit(patch, "\n".join(old).encode()) == patch
    assert fit(patch, b"something else\n") is None


@given(LINES, LINES, st.integers(0, 3), st.integers(0, 2))
def test_a_patch_fits_its_own_file_wherever_that_begins(
    old: list[str], new: list[str], context: int, above: int
) -> None:
    """Up to the last line of a file without a newline; lines put above it move every hunk that names old ones."""
    for patch in parse_patch(diff(old, new, context), where="x"):
        assert fit(patch, "\n".join(old).encode()) == patch
        lower = ["above"] * above + old
        moved = fit(patch, "\n".join(lower).encode())
        assert moved is not None
        assert all(lower[number - 1] == text for number, text in moved.old_lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@@ -1 +1 @@\n-a\n+b\n", "before any file name"),
        ("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n", "row 5|truncated"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n!b\n", "is no line of a hunk"),
    ],
)
def test_a_broken_patch_is_named(text: str, words: str) -> None:
    """A hunk without a file, a cut hunk and a strange line are usage errors that say where."""
    with pytest.raises(UsageError, match=words) as caught:
        parse_patch(text.rstrip("\n"), where="file.jsonl:3")
    assert str(caught.value).startswith("file.jsonl:3")


def test_ranges_are_merged_when_they_touch() -> None:
    """Adjacent and overlapping ranges become one."""
    assert list(merged([LineRange(5, 6), LineRange(1, 2), LineRange(3, 4), LineRange(9, 9)])) == [(1, 6), (9, 9)]
