"""Marked lines that were edited or moved: the most similar stretch by counting, and the edges of every rule."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ground_truth.anchors import Followed, Follower, Marked, anchor_text, anchor_within, fates
from ground_truth.texts import Texts

TOKENS = st.sampled_from("if x y z ( ) return + call".split())
LINES = st.lists(TOKENS, max_size=6).map(" ".join)


def alike(left: str, right: str) -> float:
    """Return twice the shared tokens over all tokens."""
    one, other = (Counter(re.findall(r"\w+|[^\w\s]", text)) for text in (left, right))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def follow(marked: Marked, files: dict[str, str]) -> Followed:
    """Return where the lines are in these files."""
    return Follower(Texts("r", files)).follow(marked)


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=12), st.lists(LINES, min_size=1, max_size=4), st.integers(1, 14))
@example(["x", "x y z z"], ["x y"], 1)
@example(["x y z z", "x"], ["x y"], 2)
def test_the_most_similar_stretch_is_found_by_counting_tokens(file: list[str], wanted: list[str], first: int) -> None:
    """Of all stretches of as many lines the one that shares most, of equal ones the nearest, then the first."""
    if set(wanted) & set(file):
        return  # then lines correspond, and the edges may lie elsewhere
    marked = Marked("a.py", first, first + len(wanted) - 1, "\n".join(wanted))
    found = follow(marked, {"a.py": "\n".join(file) + "\n"})
    width = min(len(wanted), len(file))
    places = range(1, len(file) - width + 2)
    shares = {place: alike("\n".join(file[place - 1 : place - 1 + width]), "\n".join(wanted)) for place in places}
    best = max(places, key=lambda place: (shares[place], -abs(place - first)))
    if not shares[best]:
        assert found == ("gone", "a.py", first, marked.last, 0.0)
        return
    last = min(best + len(wanted) - 1, len(file))
    assert found[1:4] == ("a.py", best, last)
    assert found.similarity == pytest.approx(alike("\n".join(file[best - 1 : last]), "\n".join(wanted)))
    assert found.fate == ("edited" if found.similarity >= 0.6 else "gone")


def five(changed: int, *, words: str = "alpha beta gamma delta epsilon") -> str:
    """Return five words with so many of them changed."""
    return " ".join([*(f"new{n}" for n in range(changed)), *words.split()[changed:]])


@pytest.mark.parametrize(("changed", "fate"), [(1, "edited"), (2, "edited"), (3, "gone")])
def test_three_of_five_tokens_are_the_same_place(changed: int, fate: str) -> None:
    """Exactly 0.6 in the file where the lines were is enough; whoever has less is named with its likeness."""
    found = follow(Marked("a.py", 1, 1, five(0)), {"a.py": f"other = 1\n{five(changed)}\n"})
    assert found[:4] == (fate, "a.py", 2, 2)
    assert found.similarity == pytest.approx(1 - changed / 5)


LONG = "first_word second_word third_word fourth_word"


@pytest.mark.parametrize(("changed", "fate"), [(1, "edited"), (2, "gone")])
def test_three_of_four_tokens_are_the_same_in_another_file(changed: int, fate: str) -> None:
    """Exactly 0.75 elsewhere is enough, and 0.6 is not."""
    found = follow(Marked("a.py", 1, 1, LONG), {"b.py": f"\n{five(changed, words=LONG)}\n"})
    if fate == "edited":
        assert found == ("edited", "b.py", 2, 2, 0.75)
    else:
        assert (found.fate, found.similarity) == ("gone", 0.0)  # half of the words make no candidate
    most = LONG + " fifth_word"
    found = follow(Marked("a.py", 1, 1, most), {"b.py": f"\n{five(2, words=most)}\n"})
    assert found[:4] == ("gone", "b.py", 2, 2)
    assert found.similarity == pytest.approx(0.6)


def test_forty_characters_say_something_elsewhere_and_fewer_do_not() -> None:
    """White space does not count; the same text is moved, and a changed one edited, from forty on."""
    for text, moved in (("a" * 20 + " " + "b" * 20, True), ("a" * 20 + "     " + "b" * 19, False)):
        assert follow(Marked("a.py", 1, 1, text), {"b.py": f"{text}\n"}).fate == ("moved" if moved else "gone")
    text = "one_word another_word third_word number_four"
    assert len(text.replace(" ", "")) == 41
    for marked, fate in ((text, "edited"), (text.replace("number_", "no_"), "gone")):
        changed = marked.replace("one_word", "own_word")
        assert follow(Marked("a.py", 1, 1, marked), {"b.py": f"{changed}\n"}).fate == fate


def test_a_more_similar_file_wins_and_names_come_first() -> None:
    """Below the likeness of the same place the best of all files counts; five candidates are looked at."""
    text = " ".join(f"word_number_{n}" for n in range(10))

    def changed(count: int) -> str:
        return " ".join([*(f"other_{n}" for n in range(count)), *text.split()[count:]]) + "\n"

    marked = Marked("a.py", 1, 1, text)
    files = {"a.py": changed(5), "b.py": changed(2), "c.py": changed(1)}
    assert follow(marked, files)[:2] == ("edited", "c.py")
    assert follow(marked, {**files, "a.py": changed(4)})[:2] == ("edited", "a.py")
    # With less than 0.6 of the words no file is looked at.
    assert follow(marked, {"a.py": changed(5), "b.py": changed(5)})[:2] == ("gone", "a.py")
    # Six files that have as many words: the one of the same name is among the five, whatever its path.
    same = "x = 1\n" * 3 + " ".join(reversed(text.split())).replace(" ", "\n") + "\n"
    others = {f"{letter}.py": same for letter in "bcdefg"}
    assert follow(marked, {**others, "z/a.py": changed(1)})[:2] == ("edited", "z/a.py")


def test_of_several_copies_elsewhere_only_a_name_decides() -> None:
    """One copy is it; of two the one with the file's name; two with the name, or none of them, are not known."""
    text = "return the_answer_to_everything(question, deep_thought)"
    marked = Marked("old/a.py", 3, 3, text)
    assert follow(marked, {"b.py": f"\n{text}\n"}) == ("moved", "b.py", 2, 2, 1.0)
    assert follow(marked, {"b.py": f"{text}\n", "new/a.py": f"\n\n{text}\n"}) == ("moved", "new/a.py", 3, 3, 1.0)
    assert follow(marked, {"b.py": f"{text}\n", "c.py": f"{text}\n"}).fate == "gone"
    assert follow(marked, {"b.py": f"{text}\n{text}\n"}).fate == "gone"
    assert follow(marked, {"x/a.py": f"{text}\n", "y/a.py": f"{text}\n"}).fate == "gone"


def test_edges_follow_the_lines_that_correspond() -> None:
    """Lines put before, between and after; a first or last line that changed is found by its likeness or its place."""
    old = [f"    one_{n} two_{n} three_{n} four_{n}" for n in range(6)]
    marked = Marked("a.py", 1, 6, "\n".join(old))

    def edges(new: list[str]) -> tuple[int, int]:
        found = follow(marked, {"a.py": "\n".join(["", "", *new, "", "", ""]) + "\n"})
        assert found.fate == "edited", found
        return found.first - 2, found.last - 2

    assert edges([*old[:3], "    fresh = 1", *old[3:]]) == (1, 7)
    assert edges([*old[:2], *old[3:]]) == (1, 5)
    assert edges([f"{old[0]} five_0", *old[1:]]) == (1, 6)
    assert edges([*old[:5], f"{old[5]} five_5"]) == (1, 6)
    assert edges([f"{old[0]} five_0", "    more = 2", *old[1:]]) == (1, 7)
    assert edges([*old[:5], "    more = 2", f"{old[5]} five_5"]) == (1, 7)
    assert edges(["    nothing like it", *old[1:]]) == (1, 6)
    assert edges([*old[:5], "    nothing like it"]) == (1, 6)
    # The same lines, indented more, correspond as they are.
    assert edges([f"    {line}" for line in old]) == (1, 6)


def test_what_is_cut_off_at_the_end_of_the_file_ends_there() -> None:
    """A file that is shorter than what was marked, and one that ends with the first half of it."""
    old = [f"step_{n} = prepare(thing_{n}, other_{n})" for n in range(4)]
    marked = Marked("a.py", 1, 4, "\n".join(old))
    assert follow(marked, {"a.py": "\n".join(old[:3]) + "\n"})[:4] == ("edited", "a.py", 1, 3)
    found = follow(marked, {"a.py": "x = 1\n" * 9 + "\n".join(old[:3]) + "\n"})
    assert found[:4] == ("edited", "a.py", 10, 12)


@pytest.mark.parametrize(
    ("text", "line", "within"),
    [
        ("top = 1\n", 1, ""),
        ("class A:\n    x = 1\n", 2, "class A:"),
        ("class A:\n    x = 1\n", 1, ""),
        ("class A:\n\n    x = 1\n", 2, "class A:"),
        ("class A:\n    def f(\n        self,\n    ):\n        x = 1\n", 5, "class A: def f( self, ):"),
        ("a = 1\n\ndef  f(x,\n       y):\n    return x\n", 5, "def f(x,"),
        ("a = 1\ndef f():\n\n    y = 2\n\n    return 3\n", 6, "a = 1 def f():"),
        ("    x = 1\n", 1, ""),
        ("x = 1\n\n\n", 2, ""),
        ("class A:\n    x = 1\n", 9, ""),
        ("\n".join(f"l{n}" for n in range(12)) + "\n  x\n", 13, "l3 l4 l5 l6 l7 l8 l9 l10 l11"),
        ("if a:\n\tx = 1\n\t\ty = 2\n", 3, "if a: x = 1"),
    ],
)
def test_what_encloses_a_line(text: str, line: int, within: str) -> None:
    """The nearest line that is indented less and those right above it, eight at most; at the top there is nothing."""
    assert anchor_within(text.encode(), line) == within


def test_an_anchor_is_the_text_of_its_lines() -> None:
    """Only a line feed ends a line, and the last one need not have it."""
    for data in (b"a\nb\r\nc\x0cd\n", b"a\nb\r\nc\x0cd"):
        assert [anchor_text(data, n, n) for n in (1, 2, 3)] == ["a", "b\r", "c\x0cd"]
        assert anchor_text(data, 2, 3) == "b\r\nc\x0cd"
    assert anchor_text(b"", 1, 1) == ""
    assert anchor_text(b"\n\n", 1, 2) == "\n"


def test_fates_are_counted_and_none_is_left_out() -> None:
    """In a fixed order, with zeros."""
    found = [Followed(fate, "a", 1, 1, 1.0) for fate in ("gone", "moved", "gone")]
    assert fates(found) == {"unchanged": 0, "moved": 1, "edited": 0, "gone": 2}
    assert list(fates([])) == ["unchanged", "moved", "edited", "gone"]
