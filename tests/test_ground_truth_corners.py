"""Reading several files, drawing queries, finding data files and folders: what is taken, and what is not."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from test_datasets_from_clones import git

from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.sources import read_many, walk
from chunkers.types import SourceFile
from ground_truth.datasets.annotations import Annotations
from ground_truth.datasets.mined import MinedRepository
from ground_truth.draw import draw_queries
from ground_truth.duplicates import Without, apply_duplicates
from ground_truth.git_snapshot import take_snapshot
from ground_truth.hub import local_files
from ground_truth.jsonl import read_records
from ground_truth.proposals import Proposals, question_words
from ground_truth.relevance import judge_chunker
from ground_truth.rules import parse_rule
from ground_truth.texts import Texts
from ground_truth.types import Annotation, Dataset, Query


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone of five files, one of them binary."""
    work = tmp_path_factory.mktemp("clone")
    git(work, "init", "-q", "-b", "main")
    for name in "abcd":
        (work / f"{name}.py").write_text(f"{name} = 1\n")
    (work / "e.py").write_bytes(b"\0\1")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "all")
    return work


def test_files_of_a_commit_are_read_together_as_one_by_one(clone: Path) -> None:
    """In the order asked for, one twice; what is binary or not there is nothing."""
    snapshot = take_snapshot(clone, git(clone, "rev-parse", "HEAD"), name="r", keep={"e.py"})
    wanted = ["c.py", "absent.py", "a.py", "e.py", "c.py"]
    together = list(snapshot.read_many(wanted))
    assert together == [snapshot.read(path) for path in wanted]
    assert [source and source.data for source in together] == [b"c = 1\n", None, b"a = 1\n", None, b"c = 1\n"]
    assert list(snapshot.read_many([])) == []


def test_portions_of_a_commit_are_its_files_in_order(clone: Path) -> None:
    """Each but the last of the same number, and of no fewer than asked for."""
    snapshot = take_snapshot(clone, git(clone, "rev-parse", "HEAD"), name="r", keep={"e.py"})
    for count, least, sizes in ((2, 1, [3, 2]), (9, 1, [1] * 5), (5, 4, [4, 1]), (1, 1, [5])):
        parts = snapshot.portions(count, least=least)
        assert [len(part.blobs) for part in parts] == sizes
        assert [blob for part in parts for blob in part.blobs] == list(snapshot.blobs)
    assert [source.path for source in snapshot.portions(5, least=1)[1].files()] == ["b.py"]


def test_removed_copies_are_not_read() -> None:
    """Alone or together, and the files beside them are."""
    rest = Without(Texts("r", {"a.py": "x\n", "b.py": "x\n", "c.py": "y\n"}), frozenset({"b.py"}))
    found = list(read_many(rest, ["c.py", "b.py", "a.py", "absent.py"]))
    assert [source and source.path for source in found] == ["c.py", None, "a.py", None]
    assert [rest.read(path) for path in ("c.py", "b.py", "a.py", "absent.py")] == found
    assert [source.path for source in rest.files()] == ["a.py", "c.py"]


def test_duplicates_are_reported_with_examples(tmp_path: Path) -> None:
    """Groups and files are counted; of each of the first five groups three paths are shown."""
    for group in range(6):
        for number in range(4):
            (tmp_path / f"g{group}_{number}.py").write_text(f"x = {group}\n")
    dataset = Dataset("d", (walk(tmp_path, name="r"),), (), ())
    told = apply_duplicates(dataset, "keep").details["duplicates"]
    assert (told["identical_groups"], told["identical_files"], told["near_identical_groups"]) == (6, 24, 0)
    assert told["examples"] == [[f"g{group}_{number}.py" for number in range(3)] for group in range(5)]


QUERIES = tuple(Query(str(number), f"question {number}", "r") for number in range(6))


def test_queries_are_drawn_by_their_ids_alone() -> None:
    """As many as asked for, in their order, with their annotations; all where there are no more."""
    notes = tuple(Annotation(query.id, "r", "a.py", 1, 1) for query in QUERIES)
    dataset = Dataset("d", (), QUERIES, notes, details={"x": 1})
    for limit in (None, 6, 7):
        assert draw_queries(dataset, limit, seed=3) is dataset
    drawn = draw_queries(dataset, 4, seed=3)
    lots = sorted(QUERIES, key=lambda query: hashlib.sha256(f"3\0{query.id}".encode()).digest())
    assert drawn.queries == tuple(query for query in QUERIES if query in lots[:4])
    assert [note.query_id for note in drawn.annotations] == [query.id for query in drawn.queries]
    assert drawn.details == {"x": 1, "queries_drawn": {"of": 6, "limit": 4, "seed": 3}}
    assert set(draw_queries(dataset, 3, seed=3).queries) < set(drawn.queries)
    assert draw_queries(dataset, 0, seed=3).queries == ()


def test_data_files_of_a_folder_are_found_at_any_depth(tmp_path: Path) -> None:
    """Those that can be read, in order; other files and folders of such a name are none."""
    for name in ("b.jsonl", "deep/a.json", "c.parquet", "d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "e.json").mkdir()
    found = local_files(str(tmp_path))
    assert [str(file.relative_to(tmp_path)) for file in found] == ["b.jsonl", "c.parquet", "deep/a.json"]
    assert local_files(str(tmp_path / "d.txt")) == [tmp_path / "d.txt"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"has no \.jsonl"):
        local_files(str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="does not exist"):
        local_files(str(tmp_path / "absent"))
    for name in ("hub:owner/name", "hub:owner/name@abc", f"hub:owner/name@{'a' * 41}"):
        with pytest.raises(UsageError, match="40 hexadecimal digits"):
            local_files(name)


def test_rows_that_are_no_json_are_named(tmp_path: Path) -> None:
    """By file and line, with what is wrong; blank lines are passed over and counted."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n\n{"a": }\n')
    with pytest.raises(UsageError, match=r"a\.jsonl:3: not JSON \(Expecting value\)"):
        list(read_records(file))
    file.write_text('{"a": 1}\n[2]\n')
    with pytest.raises(UsageError, match=r"a\.jsonl:2"):
        list(read_records(file))
    file.write_bytes(b'{"a": "\xff"}\n')
    with pytest.raises(UsageError, match="is not UTF-8"):
        list(read_records(file))


def test_answers_are_looked_for_where_a_query_searches() -> None:
    """In its own repository, or in all of them, by the scope of the dataset."""
    one, two = Texts("one", {"a.py": "the red fox\n"}), Texts("two", {"b.py": "the red fox\nthe blue cat\n"})
    query = Query("q", "?", "one", expected="the red fox")
    dataset = Dataset("d", (one, two), (query,), ())
    chunker, rule = FixedLines(lines=1), parse_rule("token_f1(1)")
    found = judge_chunker(rule, dataset, chunker)
    assert len(found.qrels["q"]) == 1
    everywhere = judge_chunker(rule, replace(dataset, scope="all"), chunker)
    assert len(everywhere.qrels["q"]) == 2
    assert found.qrels["q"].keys() < everywhere.qrels["q"].keys()


@pytest.mark.parametrize(("outer", "inner", "line"), [(True, False, 1), (False, True, 2), (True, True, 1)])
def test_of_two_folders_of_one_name_the_one_with_the_files_is_meant(
    tmp_path: Path, *, outer: bool, inner: bool, line: int
) -> None:
    """Many repositories have a package of their own name; where both hold the files it is the repository."""
    root = tmp_path / "tool"
    (root / "tool").mkdir(parents=True)
    (root / "other.py").write_text("z = 1\n")
    if outer:
        (root / "a.py").write_text("x = 1\n")
    if inner:
        (root / "tool" / "a.py").write_text("\nx = 1\n")
    rows = tmp_path / "rows.jsonl"
    row = '{"query_id": "1", "query": "q", "repo": "tool", "file": "a.py", "start_line": %d, "end_line": %d}\n'
    rows.write_text(row % (line, line))
    dataset = Annotations(path=str(rows), root=str(root)).load()
    paths = [source.path for source in dataset.repositories[0].files()]
    assert ("other.py" in paths) is outer


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("caching cache cached caches", "cach"),
        ("retries retried retry", "retry"),
        ("reads read reading", "read"),
        ("passes pass", "pass"),
        ("tries", "tri"),
        ("hurriedly", "hurri"),
        ("bed ring used us", "bed ring us"),
        ("queue que cd", "queu que cd"),
    ],
)
def test_words_of_a_question_are_looked_up_without_their_endings(question: str, stems: str) -> None:
    """Each once; three letters stay at least; a word in backticks or written as code counts twice."""
    assert [asked.stem for asked in question_words(question)] == stems.split()
    assert {asked.weight for asked in question_words(question)} == {1.0}
    assert {asked.weight for asked in question_words(f"`{question}`")} == {2.0}


def test_a_long_definition_is_proposed_in_parts() -> None:
    """Two hundred lines each, and what is left; blank lines around it are none of it."""
    body = "".join(f"    alpha = {number}\n" for number in range(449))
    source = SourceFile("a.py", f"\n\nx = 1\n\n\ndef long():\n{body}\n\n".encode(), "python")
    found = Proposals([source]).best("alpha", count=9)
    assert sorted((place.first, place.last) for place in found) == [(6, 205), (206, 405), (406, 455)]


def test_scores_of_proposals_have_three_digits() -> None:
    """More of them would say more than words can."""
    files = Texts(
        "r", {f"{name}.py": f"def {name}():\n    return beta * {name}\n" for name in ("alpha", "gamma", "delta")}
    )
    scores = [place.score for place in Proposals.of(files).best("alpha beta gamma", count=9)]
    assert scores == [round(score, 3) for score in scores]
    assert [round(score, 2) for score in scores] != scores


@pytest.mark.parametrize(("count", "names"), [(2, ["c0", "c1"]), (3, ["c0", "c1", "c2"])])
def test_a_folder_of_two_clones_or_more_is_all_of_them(tmp_path: Path, count: int, names: list[str]) -> None:
    """Each is a repository of its own, and other folders between them are none."""
    source = 'def sort_values(values):\n    """Return all values in ascending order."""\n    ordered = sorted(values)\n'
    for number in range(count):
        folder = tmp_path / f"c{number}"
        folder.mkdir()
        (folder / "a.py").write_text(f"{source}    ordered += [{number}]\n    ordered.sort()\n    return ordered\n")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "all")
    (tmp_path / "between").mkdir()
    dataset = MinedRepository(root=str(tmp_path), kind="docstrings").load()
    assert [repository.name.partition("@")[0] for repository in dataset.repositories] == names
