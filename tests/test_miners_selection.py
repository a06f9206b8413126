"""From candidates to queries: equal answers, too many of them, and seats for languages, by hand and by counting."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.file_facts import FileFacts
from ground_truth.miners.comment_text import comment_query, describes, no_description
from ground_truth.miners.equal_texts import distinct_lines, normalised
from ground_truth.miners.finds import FileFinds, Found, join_finds, leave_out, pack_finds
from ground_truth.miners.query_text import is_aside, not_prose, query_text, unfit
from ground_truth.miners.selection import Candidate, Harvest, Question, draw


def candidate(path: str, lines: range, *, query: str = "Read all rows", language: str = "python") -> Candidate:
    """Return a candidate that is named after its file."""
    return Candidate(path, language, path.partition(".")[0], query, lines.start, lines.stop - 1)


def harvest_of(repo: str, kind: str, *files: tuple[str, list[Found], str], code: int = 0) -> Harvest:
    """Return the harvest of files of Python, each with its finds and why it may not be asked about."""
    records = [pack_finds([FileFinds([], found)], left_out=reason) for _, found, reason in files]
    _, (finds,) = join_finds(records, 1)
    facts = [FileFacts(path, "python", 10, b"", b"") for path, _, _ in files]
    return Harvest(repo, kind, facts, finds, Counter(python=code))


def found(body: str, query: str, reason: str = "") -> Found:
    """Return a find whose body has a line for each word."""
    return Found("name", query, 1, 8, frozenset(body.split()), reason)


def test_questions_join_and_those_of_many_places_are_dropped() -> None:
    """The same words ask once; three places may answer, four are too many; what is not asked may still answer."""
    harvest = harvest_of(
        "r",
        "docstrings",
        ("a.py", [found("a b c d", "Read the rows.")], ""),
        ("b.py", [found("e f g h", "read ROWS")], ""),
        ("c.py", [found("a b c d e", "x", "too short")], ""),
        ("d.py", [found("a b c d", "y", "too short")], "test file"),
        *((f"m{number}.py", [found(f"{number} 5 6 7", "Ask many")], "") for number in range(4)),
        code=10,
    )
    (question,) = harvest.questions
    assert question.asked.path == "a.py"
    assert [place.path for place in question.others] == ["b.py", "c.py"]
    assert harvest.dropped == {
        "too short": 1,
        "test file": 1,
        "asked of many places": 4,
        "same question as another, now its alternative": 1,
    }
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
    """The id names repository, path and definition, with spaces written out; a place found twice is one."""
    once = Found("", "Read it", 3, 5, frozenset(), "")
    for finds in ([once], [once, once]):
        (note,) = harvest_of("my repo", "comments", ("a b.py", finds, "")).mined(limit=None, seed=1).annotations
        assert (note.alternative, note.start_line, note.end_line) == ("", 3, 5)
        assert note.query_id.startswith("my%20repo:a%20b.py#comment-")
        assert len(note.query_id.rpartition("-")[2]) == 8


def test_a_file_that_is_left_out_late_counts_as_if_it_had_been_left_out_at_once() -> None:
    """Its finds are counted under the reason, its hidden text stays; one that was left out before keeps its reason."""
    finds = FileFinds([(3, 9)], [found("a b c d", "Read the rows"), found("a", "x", "too short")])
    for record in (pack_finds([finds, finds]), pack_finds([finds, finds], left_out="generated file")):
        late = leave_out(record, 2, "generated file")
        assert late == pack_finds([finds, finds], left_out="generated file")
    test_file = pack_finds([finds], left_out="test file")
    assert leave_out(test_file, 1, "generated file") == test_file
    may_ask, (joined,) = join_finds([test_file, pack_finds([finds])], 1)
    assert may_ask.tolist() == [False, True]
    assert joined.hidden.values.tolist() == [3, 9, 3, 9]
    assert joined.dropped == {"test file": 2, "too short": 1}


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.text())))
def test_texts_of_places_are_kept_as_they_are(texts: list[tuple[str, str]]) -> None:
    """Whatever their characters, empty ones too."""
    finds = [Found(name, query, 1, 2, frozenset(), "") for name, query in texts]
    _, (joined,) = join_finds([pack_finds([FileFinds([], finds)])], 1)
    assert [joined.texts.of(place) for place in range(len(texts))] == texts


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
        Question(candidate(f"{name}{n}.py", range(n, n + 2), query=f"{name} {n}", language=name), ())
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
        Question(candidate(f"{name}{n}.py", range(n, n + 2), query=f"{name} {n}", language=name), ())
        for name in ("c", "go")
        for n in range(4)
    ]
    chosen = draw(questions, Counter({"c": 100, "go": 40}), repo="r", limit=limit, seed=0)
    found = Counter(question.asked.language for question in chosen)
    assert (found["c"], found["go"]) == seats
