"""`chunkbench annotate`: proposals by words, rows that are written on a terminal, and the check of a file."""

from __future__ import annotations

import json
import math
import os
import pty
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from ground_truth.annotations import read_rows
from ground_truth.datasets.annotations import Annotations
from ground_truth.proposals import Proposals, question_words
from ground_truth.questions import read_questions
from ground_truth.texts import Texts

FILES = {
    "store.py": "class TokenStore:\n    def refresh_token(self, user):\n        return user.renew()\n\n\n"
    "def close(path):\n    path.flush()\n",
    "net/client.py": "def connect(host):\n    return retry(host, attempts=3)\n\n\n"
    "def retry(host, attempts):\n    return host\n",
    "tests/test_store.py": "def test_refresh_token():\n    assert TokenStore().refresh_token(None)\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a small repository."""
    for name, text in FILES.items():
        (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name).write_text(text)
    return tmp_path / "repo"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Return two questions in a plain file."""
    path = tmp_path / "questions.txt"
    path.write_text("# about tokens\nWhere are tokens refreshed?\n\nHow often does `connect` retry a host?\n")
    return path


@pytest.mark.parametrize(
    ("question", "place", "evidence"),
    [
        ("Where are tokens refreshed?", ("store.py", 2, 3), {"tokens", "refreshed"}),
        ("what happens in TokenStore", ("store.py", 1, 1), {"tokenstore", "token", "store"}),
        ("How is a connection retried, with how many attempts?", ("net/client.py", 5, 6), {"attempts", "retried"}),
    ],
)
def test_places_are_proposed_by_distinctive_words(
    question: str, place: tuple[str, int, int], evidence: set[str]
) -> None:
    """Endings do not matter, identifiers count whole and in parts, a test comes after what it tests."""
    best = Proposals.of(Texts("r", FILES)).best(question, count=3)
    assert best[0][:3] == place
    assert evidence <= set(best[0].evidence)
    assert [one.score for one in best] == sorted((one.score for one in best), reverse=True)


PLAIN = ("alpha", "gamma", "kilo", "zulu")
"""Words that have no ending to take off."""
PATHS = {"kilo.py": ("kilo",), "lib/other.py": ("lib", "other"), "tests/zulu.py": ("test", "zulu"), "x.py": ("x",)}
"""Paths and their words."""


@given(
    st.dictionaries(
        st.sampled_from(sorted(PATHS)), st.lists(st.sampled_from(PLAIN), min_size=1, max_size=9), min_size=1
    ),
    st.dictionaries(st.sampled_from(PLAIN), st.booleans(), min_size=1),
)
def test_places_are_ranked_as_the_formula_of_bm25_says(files: dict[str, list[str]], asked: dict[str, bool]) -> None:
    """Words of path and first line count three times more, words in backticks twice, and a test's score 0.7."""
    found = Proposals.of(Texts("r", {path: "\n".join(words) + "\n" for path, words in files.items()})).best(
        " ".join(f"`{word}`" if spelled else word for word, spelled in asked.items()), count=9
    )
    counts = {path: Counter(words) + Counter([*PATHS[path], words[0]] * 3) for path, words in files.items()}
    mean = sum(each.total() for each in counts.values()) / len(counts)
    holding = {word: sum(word in each for each in counts.values()) for word in asked}
    rarity = {word: math.log(1 + (len(counts) - held + 0.5) / (held + 0.5)) for word, held in holding.items()}
    expected = {}
    for path, each in counts.items():
        length = 1.2 * (1 - 0.75 + 0.75 * each.total() / mean)
        parts = [
            (1 + spelled) * rarity[word] * each[word] * 2.2 / (each[word] + length) for word, spelled in asked.items()
        ]
        if any(parts):
            expected[path] = sum(parts) * (0.7 if path.startswith("tests/") else 1)
    assert {place.path: place.score for place in found} == pytest.approx(expected, abs=0.00051)
    assert [place.path for place in found] == sorted(expected, key=lambda path: (-round(expected[path], 9), path))
    for place in found:
        weights = [(1 + asked[word]) * rarity[word] for word in place.evidence]
        assert weights == sorted(weights, reverse=True)
        assert set(place.evidence) == {word for word in asked if word in counts[place.path]}


def test_blank_lines_around_a_place_are_not_proposed() -> None:
    """Neither before nor after the code."""
    code = "\n\n\nlimit = 1\nretries = limit\n\n\ndef other():\n    pass\n"
    (place,) = Proposals.of(Texts("r", {"a.py": code})).best("what limits the retries", count=1)
    assert place[:3] == ("a.py", 4, 5)


def test_words_of_every_sentence_are_no_evidence() -> None:
    """They count only where the question spells them as code."""
    assert question_words("Where is it used, and how does the a do this?") == []
    assert [asked.word for asked in question_words("what does `get` use?")] == ["get"]
    assert Proposals.of(Texts("r", FILES)).best("Where is it used?", count=3) == []


def test_questions_come_one_per_line_or_as_json_lines(tmp_path: Path, questions: Path) -> None:
    """Without an id, the line number is one; an id with spaces, or for two questions, is refused."""
    assert [one.id for one in read_questions(questions)] == ["q2", "q4"]
    path = tmp_path / "q.jsonl"
    path.write_text('{"query": "one?"}\n{"query_id": "b", "query": "two?"}\n')
    assert [tuple(one) for one in read_questions(path)] == [("q1", "one?"), ("b", "two?")]
    for text, words in {
        '{"query_id": "a b", "query": "x"}\n': "without spaces",
        '{"query_id": "a", "query": "x"}\n{"query_id": "a", "query": "y"}\n': "id of two questions",
        '{"query": " "}\n': "query is empty",
        "\n": "has no questions",
    }.items():
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_questions(path)


def test_without_a_terminal_candidates_are_json_rows(
    chunkbench: Command, repo: Path, questions: Path, tmp_path: Path
) -> None:
    """Each candidate holds a row that `compare` reads as it is, with its anchor."""
    result = chunkbench("annotate", str(questions), str(repo), "--candidates", "2")
    assert result.code == 0
    found = json.loads(result.out)
    assert [one["query_id"] for one in found["questions"]] == ["q2", "q4"]
    assert all(len(one["candidates"]) == 2 for one in found["questions"])
    rows = [one["candidates"][0]["row"] for one in found["questions"]]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dataset = Annotations(path=str(tmp_path / "gold.jsonl"), root=str(repo)).load()
    assert [(note.path, note.start_line) for note in dataset.annotations] == [("store.py", 2), ("net/client.py", 1)]
    assert dataset.details["followed"]["unchanged"] == 2


def typed(answers: str, *arguments: str) -> tuple[int, str]:
    """Run annotate on a pseudo-terminal with these lines typed; return its exit code and what it showed."""
    ours, theirs = pty.openpty()
    order = [sys.executable, "-m", "scripts", "annotate", *arguments]
    environment = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(
        order, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, close_fds=True
    ) as process:
        os.close(theirs)
        os.write(ours, answers.encode() + b"\x04")  # the end of input, so that a missing answer is no endless wait
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not part:
                break
            shown += part
        code = process.wait(timeout=60)
    os.close(ours)
    return code, shown.decode("utf-8", "replace")


def test_on_a_terminal_what_is_chosen_is_written_and_continued(repo: Path, questions: Path, tmp_path: Path) -> None:
    """A wrong place is asked again; numbers and places make rows; a second run asks only what has none."""
    out = tmp_path / "gold.jsonl"
    code, shown = typed("nonsense\n1 store.py:6-7\nq\n", str(questions), str(repo), "--out", str(out))
    assert code == 0
    assert "neither the number of a candidate nor a place" in shown
    assert [(row.value.file, row.value.start_line, row.value.end_line) for row in read_rows(out)] == [
        ("store.py", 2, 3),
        ("store.py", 6, 7),
    ]
    code, shown = typed("m\nw\nnet/client.py:99\n2\n", str(questions), str(repo), "--out", str(out))
    assert code == 0
    assert "1 of 2 questions have rows" in shown
    assert "net/client.py:99-99 is not there: it has 6 lines" in shown
    rows = read_rows(out)
    assert [row.value.query_id for row in rows] == ["q2", "q2", "q4"]
    assert all(row.value.anchor for row in rows)


def gold(path: Path, *changes: dict) -> Path:
    """Write annotation rows about `refresh_token`."""
    row = {"query_id": "q", "query": "Where are tokens refreshed?", "file": "store.py", "start_line": 2, "end_line": 3}
    path.write_text("".join(json.dumps({**row, "query_id": f"q{n}", **one}) + "\n" for n, one in enumerate(changes, 1)))
    return path


def test_check_says_nothing_of_rows_that_fit(chunkbench: Command, repo: Path, tmp_path: Path) -> None:
    """Exit code 0, counts on stderr."""
    result = chunkbench("annotate", "--check", str(gold(tmp_path / "gold.jsonl", {}, {"end_line": 2})), str(repo))
    assert (result.code, result.out) == (0, "")
    assert "2 rows: 2 fits" in result.err


def test_check_prints_the_nearest_place_ready_to_paste(chunkbench: Command, repo: Path, tmp_path: Path) -> None:
    """By the anchor where there is one, else by the question's words; pasted in, the file fits."""
    anchor = "    def refresh_token(self, user):\n        return user.renew()"
    bad: list[dict[str, Any]] = [
        {"end_line": 80},
        {"file": "lost.py"},
        {"start_line": 5, "end_line": 6, "anchor": anchor},
    ]
    path = gold(tmp_path / "gold.jsonl", *bad)
    result = chunkbench("annotate", "--check", str(path), str(repo))
    assert result.code == 1
    lines = result.out.splitlines()
    assert [line.split(": ")[0].rsplit("/", 1)[-1] for line in lines[::2]] == [
        "gold.jsonl:1",
        "gold.jsonl:2",
        "gold.jsonl:3",
    ]
    path.write_text("\n".join(line.strip() for line in lines[1::2]) + "\n")
    assert [(row.value.file, row.value.start_line, row.value.end_line) for row in read_rows(path)] == [
        ("store.py", 2, 3)
    ] * 3
    assert chunkbench("annotate", "--check", str(path), str(repo)).code == 0
    as_json = json.loads(chunkbench("annotate", "--check", str(gold(path, *bad)), str(repo), "--json").out)
    assert as_json["verdicts"] == {"lines outside the file": 1, "file not in the repository": 1, "moved": 1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{questions}"], "write annotate QUESTIONS REPOSITORY"),
        (["{questions}", "{repo}", "--out", "x.jsonl"], "--out is for choosing on a terminal"),
        (["{questions}", "{repo}/absent"], "does not exist"),
        (["{repo}/absent.txt", "{repo}"], "cannot be read"),
        (["--check", "{questions}", "{repo}"], "not JSON"),
        (["--check", "{questions}", "{repo}", "{repo}"], "one repository"),
    ],
)
def test_wrong_use_is_one_line(
    chunkbench: Command, repo: Path, questions: Path, arguments: list[str], words: str
) -> None:
    """Exit code 2 and what to write instead."""
    result = chunkbench("annotate", *(one.format(repo=repo, questions=questions) for one in arguments))
    assert result.code == 2
    assert words in result.err
