"""From candidates to queries: equal answers, too many of them, and seats for languages, by hand and by counting."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground_truth.miners.comment_text import comment_query, describes, no_description
from ground_truth.miners.query_text import is_aside, not_prose, query_text, unfit
from ground_truth.miners.selection import (
    Candidate,
    Harvest,
    NearIdentical,
    Question,
    distinct_lines,
    draw,
    normalised,
)


def candidate(
    path: str, lines: range, body: str, *, query: str = "Read all rows", language: str = "python"
) -> Candidate:
    """Return a candidate whose body has a line for each word."""
    name, held = path.partition(".")[0], frozenset(body.split())
    return Candidate(path, language, name, query, lines.start, lines.stop - 1, held)


@pytest.mark.parametrize(
    ("own", "other", "near"),
    [
        ("a b c d", "a b c d", True),
        ("a b c d", "a b c d e", True),
        ("a b c d", "a b c x", False),
        ("a b c d e f g h i", "a b c d e f g h j", True),
        ("a b c d e f g h", "a b c d e f g j", False),
        ("a b c", "a b c", False),
    ],
)
def test_bodies_that_share_eight_of_ten_lines_answer_the_same(own: str, other: str, near: bool) -> None:  # noqa: FBT001 - a parameter
    """Exactly 0.8 of the lines that either has is enough, from four lines on."""
    one, two = candidate("a.py", range(1, 9), own), candidate("b.py", range(1, 9), other)
    assert NearIdentical([one, two]).of(one) == ([two] if near else [])


def test_what_overlaps_is_no_other_place() -> None:
    """Lines of the same file that touch are the same place; the next line is another one."""
    body = "a b c d e"
    one = candidate("a.py", range(10, 20), body)
    for lines, other in ((range(20, 30), True), (range(19, 30), False), (range(1, 10), True), (range(1, 11), False)):
        two = candidate("a.py", lines, body)
        assert NearIdentical([one, two]).of(one) == ([two] if other else [])
    elsewhere = candidate("b.py", range(10, 20), body)
    assert NearIdentical([one, elsewhere]).of(one) == [elsewhere]


@pytest.mark.parametrize(("count", "found"), [(49, 49), (50, 0)])
def test_lines_of_more_than_fifty_bodies_find_nothing(count: int, found: int) -> None:
    """With the one that asks, fifty bodies are few enough and fifty-one are not."""
    one = candidate("a.py", range(1, 9), "a b c d")
    others = [candidate(f"b{n}.py", range(1, 9), "a b c d") for n in range(count)]
    assert len(NearIdentical([one, *others]).of(one)) == found


def test_questions_join_and_those_of_many_places_are_dropped() -> None:
    """The same words ask once; three places may answer, four are too many; what is not asked may still answer."""
    harvest = Harvest("r", "docstrings")
    harvest.take(candidate("a.py", range(1, 9), "a b c d", query="Read the rows."), file_reason="", reason="")
    harvest.take(candidate("b.py", range(1, 9), "e f g h", query="read ROWS"), file_reason="", reason="")
    harvest.take(candidate("c.py", range(1, 9), "a b c d e", query="x"), file_reason="", reason="too short")
    harvest.take(candidate("d.py", range(1, 9), "a b c d", query="y"), file_reason="test file", reason="too short")
    for number in range(4):
        place = candidate(f"m{number}.py", range(1, 9), f"{number} 5 6 7", query="Ask many")
        harvest.take(place, file_reason="", reason="")
    (question,) = harvest.questions
    assert question.asked.path == "a.py"
    assert [place.path for place in question.others] == ["b.py", "c.py"]
    assert harvest.dropped == {
        "too short": 1,
        "test file": 1,
        "asked of many places": 4,
        "same question as another, now its alternative": 1,
    }
    harvest.code["python"] = 10
    mined = harvest.mined(limit=5, seed=0)
    assert [(note.path, note.alternative) for note in mined.annotations] == [
        ("a.py", "1"),
        ("b.py", "2"),
        ("c.py", "3"),
    ]
    assert mined.queries[0].id == mined.annotations[2].query_id
    assert mined.languages["python"] == (10, 1, 1)
    assert mined.dropped["over the cap"] == 0
    assert harvest.mined(limit=0, seed=0).dropped["over the cap"] == 1


def test_one_place_has_no_alternatives_and_ids_have_no_spaces() -> None:
    """The id names repository, path and definition, with spaces written out."""
    harvest = Harvest("my repo", "comments")
    harvest.take(Candidate("a b.py", "python", "", "Read it", 3, 5, frozenset()), file_reason="", reason="")
    (note,) = harvest.mined(limit=None, seed=1).annotations
    assert (note.alternative, note.start_line, note.end_line) == ("", 3, 5)
    assert note.query_id.startswith("my%20repo:a%20b.py#comment-")
    assert len(note.query_id.rpartition("-")[2]) == 8


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["c", "go", "python"]), st.tuples(st.integers(1, 500), st.integers(1, 9)), min_size=1
    ),
    st.integers(0, 30),
    st.integers(0, 5),
)
def test_languages_have_seats_by_their_code(world: dict[str, tuple[int, int]], limit: int, seed: int) -> None:
    """Seat after seat to the language with the largest code over 2n+1; a smaller draw is part of a larger one."""
    code = Counter({name: size for name, (size, _) in world.items()})
    questions = [
        Question(candidate(f"{name}{n}.py", range(n, n + 2), "a", query=f"{name} {n}", language=name), ())
        for name, (_, count) in world.items()
        for n in range(count)
    ]
    chosen = draw(questions, code, repo="r", limit=limit, seed=seed)
    seats: Counter[str] = Counter()
    for _ in range(min(limit, len(questions))):
        open_ones = [name for name, (_, count) in world.items() if seats[name] < count]
        seats[max(open_ones, key=lambda name: (code[name] / (2 * seats[name] + 1), name))] += 1
    assert Counter(question.asked.language for question in chosen) == +seats
    assert chosen == sorted(chosen, key=lambda question: (question.asked.path, question.asked.start_line))
    larger = draw(questions, code, repo="r", limit=limit + 1, seed=seed)
    assert set(chosen) <= set(larger)
    assert len(draw(questions, code, repo="r", limit=None, seed=seed)) == len(questions)
    again = draw(questions[::-1], code, repo="r", limit=limit, seed=seed)
    assert again == chosen


def test_words_and_lines_that_say_the_same() -> None:
    """Case, punctuation and fillers of a question; indentation, blanks and brackets of a line."""
    assert normalised("Read the Rows_of a table!") == normalised("read rows table") == "read rows table"
    assert distinct_lines([b"  x = 1", b"x  =  1", b"}", b"});", b"", b"y"]) == {"x = 1", "y"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Read all rows", "too short"),
        ("Read all sorted rows", ""),
        ("Parse numbers " + "word " * 58, ""),
        ("Parse numbers " + "word " * 59, "too long"),
        ("Read the of it to", "says too little"),
        ("Parse rows of it", "says too little"),
        ("Parse rows of tables", ""),
        ("Parse " + "é" * 2 + "a" * 33 + " rows of tables", ""),
        ("Parse " + "é" * 3 + "a" * 32 + " rows of tables", "not English prose"),
        ("Parse rows of tables 1234567", ""),
        ("Parse rows of tables 12345678", "not English prose"),
    ],
)
def test_a_query_has_enough_words_of_english(text: str, reason: str) -> None:
    """Four to sixty words, three that say something, 95 % of the letters English, 60 % of the signs letters."""
    assert unfit(text) == reason
    if reason == "too long":
        assert not_prose(text) == reason


def test_constructors_ask_nothing() -> None:
    """By their name or by what they say."""
    assert unfit("Read all sorted rows", "__init__") == "constructor phrase"
    assert unfit("Initialize the reader of sorted rows") == "constructor phrase"


@pytest.mark.parametrize(
    ("doc", "query"),
    [
        ("Read rows. Then sort every one of them.", "Read rows. Then sort every one of them."),
        ("Read rows from the sorted table. Then sort.", "Read rows from the sorted table."),
        ("Read rows from the table. Then sort.", "Read rows from the table. Then sort."),
        ("Read rows.", "Read rows."),
        ("Read rows. Note: they are sorted already.", "Read rows."),
        ("Read rows\nThis is sorted", "Read rows"),
        ("Read rows\nEvery one is sorted", "Read rows. Every one is sorted"),
        ("Read rows of the\nTable now and then", "Read rows of the Table now and then"),
        ("x" * 54 + "\nEvery one is sorted", "x" * 54 + ". Every one is sorted"),
        ("x" * 55 + "\nEvery one is sorted", "x" * 55 + " Every one is sorted"),
        ("O(n log n) Read rows of tables", "Read rows of tables"),
    ],
)
def test_the_first_sentence_is_asked_and_the_second_where_that_is_short(doc: str, query: str) -> None:
    """Fewer than six words are short; a line of fewer than 55 signs ends where a new sentence begins."""
    assert query_text(doc) == query


@pytest.mark.parametrize(
    ("doc", "name", "query"),
    [
        ("Foo reads all rows", "Foo", "reads all rows"),
        ("T.Foo() reads all rows", "Foo", "reads all rows"),
        ("foo - reads all rows", "foo", "reads all rows"),
        ("Foo", "Foo", "Foo"),
        ("Find the target", "Find", "Find the target"),
        ("Push several at once", "Push", "Push several at once"),
        ("Read reads all rows", "Read", "reads all rows"),
        ("Read will sort all rows", "Read", "will sort all rows"),
        ("Bar reads all rows", "Foo", "Bar reads all rows"),
    ],
)
def test_a_text_goes_without_the_name_it_begins_with(doc: str, name: str, query: str) -> None:
    """Unless the name is the command itself."""
    assert query_text(doc, name) == query


def test_asides_are_told_from_descriptions() -> None:
    """Remarks about the code rather than what it does."""
    assert is_aside("For backwards compatibility with old readers")
    assert is_aside("This must not be called twice")
    assert not is_aside("This function reads all rows")
    assert not is_aside("Reads all rows of a table")


@pytest.mark.parametrize(
    ("comment", "is_one"),
    [
        ("Read all rows", True),
        ("Reads all rows", True),
        ("Copies all rows", True),
        ("Pushes all rows", True),
        ("Re-read all rows", True),
        ("Read", False),
        ("Read it again", False),
        ("If the file is longer than that, read it again", True),
        ("We read all rows", True),
        ("Rows are read", False),
        ("Frobnicate the rows", True),
        ("Frobnicate rows quickly", False),
        ("Frobnicating the rows", False),
        ("Queue validation requires engines", False),
        ("Ensure types are equal", True),
        ("Read must come first", False),
    ],
)
def test_a_description_begins_with_what_is_done(comment: str, is_one: bool) -> None:  # noqa: FBT001 - a parameter
    """A known verb in any person, or an unknown one before an article."""
    assert describes(comment) is is_one


def test_a_comment_of_five_words_with_four_that_say_something() -> None:
    """Fewer of either are too few."""
    for text, reason in (
        ("Read sorted rows", "too short"),
        ("Read sorted rows quickly", "too short"),
        ("Read sorted rows from tables", ""),
        ("Read the rows of it all", "says too little"),
    ):
        assert no_description(text, comment_query(text)) == reason


@pytest.mark.parametrize(("limit", "seats"), [(1, (1, 0)), (2, (1, 1)), (3, (2, 1)), (5, (4, 1)), (6, (4, 2))])
def test_a_language_with_two_fifths_of_the_code_has_the_second_seat(limit: int, seats: tuple[int, int]) -> None:
    """Seats go by 100, 40, 33.3, 20, 14.3 and 13.3."""
    questions = [
        Question(candidate(f"{name}{n}.py", range(n, n + 2), "a", query=f"{name} {n}", language=name), ())
        for name in ("c", "go")
        for n in range(4)
    ]
    chosen = draw(questions, Counter({"c": 100, "go": 40}), repo="r", limit=limit, seed=0)
    found = Counter(question.asked.language for question in chosen)
    assert (found["c"], found["go"]) == seats
