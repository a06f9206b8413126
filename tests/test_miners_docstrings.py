"""Mining and hiding of documentation."""

from __future__ import annotations

import ast
import pickle
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from chunkers.sources import walk
from chunkers.types import SourceFile
from evaluation.experiment.loaded_dataset import load_dataset
from ground_truth.datasets.installed import Installed
from ground_truth.miners.definitions import hidden_docstrings
from ground_truth.miners.docstrings import mine_docstrings
from ground_truth.miners.mixed import mine_code
from ground_truth.miners.query_text import is_aside, query_text, unfit
from ground_truth.texts import Texts
from ground_truth.types import Dataset

SOURCE = textwrap.dedent(
    '''\
    """Module text stays."""
    import functools


    @functools.cache
    def total(values):
        """Add up all values of a list.

        :param values: numbers
        """
        result = 0
        for value in values:
            result += value
        return result


    class Box:
        "A box that holds things."

        def size(self):
            """Return the size of the box."""
            return 1

        def fill(self, thing):
            r"""Put one thing after another \\
            into the box."""
            self.things = []
            self.things.append(thing)
            return self
    '''
)


class _Given:
    """A loader of a dataset that is in memory."""

    version: ClassVar[str] = "1"

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def load(self) -> Dataset:
        """Return it."""
        return self.dataset


def dataset_fingerprint(dataset: Dataset) -> str:
    """Return the hash of all of it."""
    return load_dataset("given", _Given(dataset), duplicates="keep", limit=None, seed=0).fingerprint


def python(text: str) -> SourceFile:
    """Return a Python file."""
    return SourceFile("m.py", text.encode(), "python", "r")


def visible(source: SourceFile) -> bytes:
    """Return the file without what is hidden."""
    data = source.data
    for span in reversed(hidden_docstrings(source)):
        data = data[: span.start_byte] + b"0" + data[span.end_byte :]
    return data


def test_every_docstring_of_a_definition_is_hidden() -> None:
    """Without the hidden bytes no definition is documented, the code is whole, and the module's text stays."""
    tree = ast.parse(visible(python(SOURCE)))
    assert ast.get_docstring(tree) == "Module text stays."
    definitions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert [node.name for node in definitions] == ["total", "Box", "size", "fill"]
    assert not any(ast.get_docstring(node) for node in definitions)


def test_python_queries_and_their_gold(tmp_path: Path) -> None:
    """The first sentence asks; the gold is the definition with its decorators; a getter is dropped and counted."""
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "test_m.py").write_text(SOURCE.replace("Add up", "Sum up"))
    mined = mine_docstrings(walk(tmp_path, name="r"))
    assert [(query.id, query.text) for query in mined.queries] == [
        ("r:m.py#total-5e47ad48", "Add up all values of a list."),
        ("r:m.py#fill-8c763348", "Put one thing after another \\ into the box."),
    ]
    assert [(note.start_line, note.end_line) for note in mined.annotations] == [(5, 14), (24, 29)]
    assert mined.dropped == {"test file": 3, "trivial body": 1}


def test_the_seed_decides_the_draw_and_nothing_else(tmp_path: Path) -> None:
    """The same seed draws the same; another draws another; a draw is part of a larger one."""
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
    body = "\n".join(
        f'def f{n}(x):\n    """Compute the {word} angle of a triangle."""\n    y = x\n    y += {n}\n    return y\n'
        for n, word in enumerate(words)
    )
    (tmp_path / "m.py").write_text(body)
    folder = walk(tmp_path, name="r")

    def draw(limit: int, seed: int) -> set[str]:
        return {query.text for query in mine_docstrings(folder, limit=limit, seed=seed).queries}

    assert draw(4, 1) == draw(4, 1)
    assert draw(4, 1) < draw(6, 1)
    assert draw(4, 1) != draw(4, 2)
    assert mine_docstrings(folder, limit=4).dropped["over the cap"] == 6


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 6, 9, 50])
def test_both_kinds_are_asked_in_equal_parts_and_counted_by_language(limit: int) -> None:
    """What one kind cannot give, the other does; each language's count is that of its queries, of both kinds."""
    words = "alpha beta gamma delta epsilon zeta eta".split()
    documented = "".join(
        f'def f{word}(x):\n    """Compute the {word} angle of a triangle."""\n    y = {word}(x)\n    y += {word}\n'
        f"    z = y - {word}\n    return z\n\n\n"
        for word in words[:5]
    )
    commented = "".join(
        f"func f{word}(x int) int {{\n\t// Normalise the {word} rows before they are merged.\n\ty := {word}(x)\n"
        f"\ty += {word}\n\treturn y\n}}\n\n// G{word} computes the {word} part of a number.\n"
        f"func G{word}(x int) int {{\n\ty := {word}.of(x)\n\ty -= {word}\n\treturn y - {word}\n}}\n\n"
        for word in words[5:]
    )
    texts = Texts("r", {"a.py": documented, "b.go": f"package b\n\n{commented}"})
    mined = mine_code(texts, ("docstrings", "comments"), limit=limit)
    kinds = Counter(query.kind for query in mined.queries)
    # Five docstrings and two doc comments against two comments.
    comments = min(2, limit // 2)
    assert (kinds["comments"], kinds["docstrings"]) == (comments, min(7, limit - comments))
    asked = Counter(note.path for note in mined.annotations)
    python, go = mined.languages["python"], mined.languages["go"]
    assert (python.queries, go.queries) == (asked["a.py"], asked["b.go"])
    assert (python.candidates, go.candidates) == (5, 4)
    assert python.code_bytes == len(documented)
    assert mined.dropped["over the cap"] == 9 - len(mined.queries)


ONE = 'def {0}(x):\n    """{1}"""\n    y = x + {2}\n    y += 1\n    y *= {2}\n    return y\n'


def test_one_question_of_several_definitions_has_alternatives(tmp_path: Path) -> None:
    """Equal but for case, punctuation and articles: one query, any of its places suffices."""
    text = "Scale the tall tree twice{}"
    (tmp_path / "m.py").write_text(ONE.format("a", text.format("."), 1) + ONE.format("b", text.format("").upper(), 2))
    mined = mine_docstrings(walk(tmp_path))
    assert [query.text for query in mined.queries] == ["Scale the tall tree twice."]
    assert [(note.start_line, note.end_line, note.alternative) for note in mined.annotations] == [
        (1, 6, "1"),
        (7, 12, "2"),
    ]
    assert mined.dropped == {"same question as another, now its alternative": 1}


def test_near_identical_definitions_are_alternatives_of_each_other(tmp_path: Path) -> None:
    """Whoever asks for the one is served as well by its copy; names and documentation aside."""
    (tmp_path / "m.py").write_text(
        ONE.format("a", "Scale the tall tree.", 1) + ONE.format("b", "Grow a small bush.", 1)
    )
    mined = mine_docstrings(walk(tmp_path))
    places = {
        query.text: [note.start_line for note in mined.annotations if note.query_id == query.id]
        for query in mined.queries
    }
    assert places == {"Scale the tall tree.": [1, 7], "Grow a small bush.": [7, 1]}


def test_a_question_of_many_places_is_not_asked(tmp_path: Path) -> None:
    """What four definitions answer says too little to tell one from the other."""
    (tmp_path / "m.py").write_text("".join(ONE.format(f"f{n}", "Scale the tall tree.", n) for n in range(4)))
    mined = mine_docstrings(walk(tmp_path))
    assert not mined.queries
    assert mined.dropped == {"asked of many places": 4}


@pytest.mark.parametrize(
    ("doc", "query"),
    [
        ("Return :class:`~a.Foo` or ``None``. More text here.", "Return a.Foo or None. More text here."),
        ("Read the whole file from disk now. Then stop.", "Read the whole file from disk now."),
        ("Gets it, e.g. The value of x.\n\n@param x the x", "Gets it, e.g. The value of x."),
        (
            "<summary>Opens the <see cref=\"File\"/> for\nreading.</summary><param name='x'/>",
            "Opens the File for reading.",
        ),
        ("@param x only a tag", ""),
        ("Public: Move the file.\n\nname - The String name.", "Move the file."),
        ("{@link Foo bar} of {@code x} and {@link #baz}. <p>More.", "bar of x and baz."),
        ("Returns the [`Option<T>`] of [a](b.md) <https://e.org>", "Returns the Option<T> of a"),
        ("\\brief Opens the \\c file.\n\\param x the x", "Opens the file."),
        ("Looks up 'Data.Map' by @key@.", "Looks up Data.Map by key."),
        ("Reads the rows\nCaller owns the memory", "Reads the rows"),
        ("Opens the door of the house\nReturns whether it was open", "Opens the door of the house."),
        ("The three colours are:", "The three colours are"),
        ("Calls the +name+ of a C++ function.", "Calls the name of a C++ function."),
        ("Declares the key used by +error!+ of a rule.", "Declares the key used by error! of a rule."),
        ("Scans `***`, `**`, or `*` and counts them.", "Scans ***, **, or * and counts them."),
        ("Returns **all** of *args at once.", "Returns all of args at once."),
        ("rubocop:disable Metrics/AbcSize\nReads the rows of a table.", "Reads the rows of a table."),
        ('<exception cref="A">When it fails.</exception>', ""),
        ("Completes the names of commands\n1: command\n2: function", "Completes the names of commands"),
        ("Gets metrics of all jobs\nminutes: the number of buckets\nhours: more", "Gets metrics of all jobs"),
        ("Reads the response of a call\nexc - Either an error or a text", "Reads the response of a call"),
        ("Prints the names of files\n$1 the folder", "Prints the names of files"),
        ("Adds the record to a zone.\nusage: root sub value", "Adds the record to a zone."),
        ("Returns the same as url.Query()[key] would.", "Returns the same as url.Query()[key] would."),
        ("O(log (n + 1)). Finds the key in a tree.", "Finds the key in a tree."),
        ("Removes dots from paths, see https://example.org/rfc#1", "Removes dots from paths"),
        ("Combines several files. Common usage would be:\n\n> f", "Combines several files."),
        ("Measures the connection time\nFormula: end - start", "Measures the connection time."),
    ],
)
def test_the_query_is_prose_without_markup(doc: str, query: str) -> None:
    """Roles, tags, and lists of parameters are gone."""
    assert query_text(doc) == query


@pytest.mark.parametrize(
    ("doc", "name", "query"),
    [
        ("Walk calls f for each node.", "Walk", "calls f for each node."),
        ("Tree.Walk() calls f for each node.", "Walk", "calls f for each node."),
        ("walk - calls f for each node.", "walk", "calls f for each node."),
        ("Find the node of a key.", "Find", "Find the node of a key."),
        ("Push several items at once.", "Push", "Push several items at once."),
        ("Push pushes several items at once.", "Push", "pushes several items at once."),
    ],
)
def test_the_name_of_the_definition_is_not_asked(doc: str, name: str, query: str) -> None:
    """A text that opens with the name goes without it, unless the name is the sentence's verb."""
    assert query_text(doc, name) == query


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Too short", "too short"),
        ("word " * 61, "too long"),
        ("Deprecated since version two point three", "says nothing about the code"),
        ("读取文件 并且 返回 所有 行", "not English prose"),
        ("Public API for reading members", "says nothing about the code"),
        ("Exported for using from other modules", "says nothing about the code"),
        ("Async counterpart of the reader", "says nothing about the code"),
        ("A copy of the reader that depends on nothing", "says nothing about the code"),
        ("A special overload of the reader for tables", "says nothing about the code"),
        ("Use Reader.open instead of this one", "says nothing about the code"),
        ("Defines a recursive pure function that", "cut off"),
        ("Multiplies the rows of a sparse matrix A", ""),
        ("Initialize the parser of tables", "constructor phrase"),
        ("x: the rows of a table", "list of parameters"),
        ("Return the value of it", "says too little"),
        ("Opens a file and reads it", ""),
    ],
)
def test_unfit_texts_have_a_reason(text: str, reason: str) -> None:
    """Length, emptiness and language are judged."""
    assert unfit(text) == reason


@pytest.mark.parametrize(
    ("text", "aside"),
    [
        ("count must be less than the number of rows", True),
        ("Returns null if there are no outputs in the layout", True),
        ("Always returns false as frames do not matter", True),
        ("Counters are cumulative values that only increase", True),
        ("A route may be used in isolation as an application", True),
        ("The global retry handler requires only the barest of data", True),
        ("When you have a large tree, its output gets out of hand", True),
        ("The number of bytes that can be read at once", False),
        ("A list of the rows", False),
        ("TLS requires exactly the number of bytes that were asked", True),
        ("Returns false if the tree has a cycle", False),
        ("Returns an error code of the last call", False),
    ],
)
def test_edge_cases_and_conditions_are_no_description(text: str, aside: bool) -> None:  # noqa: FBT001
    """What a function demands, or does when there is nothing to do, does not say what it is for."""
    assert is_aside(text) is aside


@given(st.text(alphabet="ab \"'\\\n#é", max_size=80))
def test_what_is_hidden_of_any_text_lies_inside_it(text: str) -> None:
    """Whatever the file holds, hidden spans are in order, apart, and inside."""
    source = python("def f():\n    '''" + text)
    edges = [edge for span in hidden_docstrings(source) for edge in (span.start_byte, span.end_byte)]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= len(source.data) for edge in edges)


def test_installed_packages_are_a_dataset_without_being_imported() -> None:
    """The dataset is deterministic, picklable, names versions, and hides what its queries were made from."""
    dataset = Installed(packages="click,packaging", queries=6).load()
    again = pickle.loads(pickle.dumps(dataset))  # noqa: S301 - made in the line itself
    assert dataset_fingerprint(again) == dataset_fingerprint(dataset)
    assert len(dataset.queries) == 12
    assert dataset.mined
    assert dataset.details["packages"]["click"]["version"]
    assert {query.kind for query in dataset.queries} == {"docstrings", "comments"}
    hidden = b" ".join(_hidden(dataset))
    for query in dataset.queries:
        assert re.sub(r"\W+", " ", query.text).split()[-1].encode() in hidden
    other = Installed(packages="click,packaging", queries=6, seed=1).load()
    assert dataset_fingerprint(other) != dataset_fingerprint(dataset)


def _hidden(dataset: Dataset) -> Iterator[bytes]:
    repositories = {repository.name: repository for repository in dataset.repositories}
    for span in dataset.hidden:
        source = repositories[span.repo].read(span.path)
        assert source is not None
        yield source.data[span.start_byte : span.end_byte]


def test_a_package_that_is_not_installed_is_named() -> None:
    """The error says which package, and what to do."""
    with pytest.raises(UsageError, match="'no_such_package' is not installed"):
        Installed(packages="click,no_such_package").load()


@pytest.mark.parametrize(
    "symbol", ["::=", "==", "!=", "<=", ">=", "=>", "->", "<-", "&&", "||", " = ", " | ", "{", "}", ")(", "a[i]", "$x"]
)
def test_a_sentence_with_a_symbol_of_code_is_not_prose(symbol: str) -> None:
    """A grammar rule, a comparison or an arrow makes a formula of a sentence that is a good query without it."""
    sentence = "Parse the rule {}and return every name that it defines"
    assert unfit(sentence.format("")) == ""
    assert unfit(sentence.format(f"{symbol} ")) == "not English prose"
