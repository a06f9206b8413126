"""Gold that follows the code: marked lines found again in another state of a repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Command
from hypothesis import given, settings
from hypothesis import strategies as st
from test_datasets_from_clones import git

from chunkers.errors import UsageError
from ground_truth.anchors import Followed, Follower, Marked, anchor_text, anchor_within
from ground_truth.datasets.annotations import Annotations
from ground_truth.texts import Texts

OLD = """import os


class Store:
    def read(self, path):
        with open(path) as file:
            return file.read()

    def write(self, path, text):
        with open(path, "w") as file:
            file.write(text)


class Cache:
    def read(self, path):
        with open(path) as file:
            return file.read()
"""
READ = (5, 7)


def mark(first: int, last: int, *, text: str = OLD, path: str = "store.py") -> Marked:
    """Return lines of a file as an annotation keeps them."""
    data = text.encode()
    return Marked(path, first, last, anchor_text(data, first, last), anchor_within(data, first))


def follow(marked: Marked, **files: str) -> Followed:
    """Return where the lines are in these files; in their names __ is a slash and _py a suffix."""
    texts = {name.replace("__", "/").replace("_py", ".py"): text for name, text in files.items()}
    return Follower(Texts("r", texts)).follow(marked)


def test_lines_that_stay_are_unchanged_though_others_have_the_same_text() -> None:
    """Store.read and Cache.read are equal; each stays where it was."""
    for first, last in ((5, 7), (15, 17)):
        assert follow(mark(first, last), store_py=OLD) == ("unchanged", "store.py", first, last, 1.0)


def test_lines_that_moved_are_found_by_what_encloses_them() -> None:
    """The nearest equal text is that of the other class; the enclosing head decides."""
    head, store, cache = OLD.split("class ")
    swapped = f"{head}class {cache}\n\n\nclass {store}"
    found = follow(mark(*READ), store_py=swapped)
    assert (found.fate, found.first, found.last) == ("moved", 12, 14)
    assert swapped.split("\n")[found.first - 2] == "class Store:"


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 40))
def test_of_equal_lines_in_equal_surroundings_the_nearest_is_taken(copies: list[bool], first: int) -> None:
    """At the top of a file nothing encloses a line: only the distance is left, and the earlier of two equal ones."""
    text = "".join("close(everything)\n" if copy else "pass\n" for copy in copies)
    places = [line for line, copy in enumerate(copies, 1) if copy]
    found = follow(Marked("store.py", first, first, "close(everything)", ""), store_py=text)
    if places:
        assert found.first == min(places, key=lambda line: (abs(line - first), line))
        assert found.fate == ("unchanged" if first in places else "moved")


def test_lines_that_moved_to_another_file_are_found_where_that_says_something() -> None:
    """A text of its own is found anywhere; a short one, or one in several files, is not taken for the same."""
    write = mark(9, 11)
    assert follow(write, store_py="x = 1\n", lib__io_py=f"# new\n{OLD}")[:4] == ("moved", "lib/io.py", 10, 12)
    twice = follow(write, store_py="x = 1\n", a_py=OLD, b_py=OLD)
    assert twice.fate != "moved"
    renamed = follow(write, lib__store_py=OLD, b_py=OLD)
    assert renamed[:2] == ("moved", "lib/store.py")
    short = mark(1, 1)
    assert follow(short, store_py="x = 1\n", a_py="import os\n").fate == "gone"


def test_edited_lines_are_recognised_with_their_edges() -> None:
    """A line inserted, a head changed, a line removed: the lines from the first to the last that correspond."""
    new = OLD.replace("    def write(self, path, text):", "    def write(self, path, text, *, mode='w'):").replace(
        '        with open(path, "w") as file:', '        check(path)\n        with open(path, "w") as file:'
    )
    found = follow(mark(9, 11), store_py=f"# one more line\n{new}")
    assert found[:4] == ("edited", "store.py", 10, 13)
    assert 0.6 <= found.similarity < 1
    head, *body = (f"    step_{number}(path, text)" for number in range(8))
    old = "\n".join(["def write_all(self, path, text):", "    # as it was", head, *body]) + "\n"
    renamed = old.replace("    # as it was\n", "").replace(
        "write_all(self, path, text)", "write_all(self, path, text, mode)"
    )
    found = follow(mark(1, 10, text=old), store_py=f"import sys\nimport json\nimport re\n{renamed}")
    assert found[:4] == ("edited", "store.py", 4, 12)


def test_lines_that_are_gone_name_the_most_similar() -> None:
    """Other code is not taken for them; an empty repository has nothing alike."""
    gone = follow(mark(9, 11), store_py="def area(x):\n    return x * x\n\n\ndef write(text):\n    print(text)\n")
    assert (gone.fate, gone.path) == ("gone", "store.py")
    assert 0 < gone.similarity < 0.6
    assert follow(mark(9, 11)) == ("gone", "store.py", 9, 11, 0.0)


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.text(alphabet="abcxyz ()=.", min_size=3, max_size=20), min_size=1, max_size=30, unique=True),
    above=st.lists(st.text(alphabet="uvw", min_size=3, max_size=9), max_size=10),
    data=st.data(),
)
def test_lines_that_stand_once_are_found_wherever_they_go(
    lines: list[str], above: list[str], data: st.DataObject
) -> None:
    """Whatever is put above: exactly these lines, as unchanged or moved."""
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    old, new = "\n".join(lines) + "\n", "\n".join([*above, *lines]) + "\n"
    wanted = [line.rstrip() for line in lines[first - 1 : last]]
    if not any(line.strip() for line in wanted) or len({line.rstrip() for line in lines}) < len(lines):
        return
    found = follow(mark(first, last, text=old, path="a.py"), a_py=new)
    assert found[:4] == ("moved" if above else "unchanged", "a.py", first + len(above), last + len(above))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone in which `read` moved down, `write` was edited and `helper` was removed."""
    work = tmp_path / "r"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "store.py").write_text(f"{OLD}\n\ndef helper(number):\n    return number ** 2 + 7\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "old")
    new = OLD.replace("file.write(text)", "file.write(text.strip())").replace("import os", "import os\nimport sys")
    (work / "store.py").write_text(new)
    git(work, "commit", "-qam", "new")
    return work


def rows(path: Path, *spans: tuple[int, int], anchored: str = "", **fields: object) -> str:
    """Write annotation rows of store.py, with anchors where the old text is given."""
    found = []
    for number, (first, last) in enumerate(spans, 1):
        row = {"query_id": f"q{number}", "query": "q", "file": "store.py", "start_line": first, "end_line": last}
        data = anchored.encode()
        anchor = {"anchor": anchor_text(data, first, last), "within": anchor_within(data, first)} if anchored else {}
        found.append(json.dumps({**row, **anchor, **fields}) + "\n")
    path.write_text("".join(found))
    return str(path)


def test_annotations_with_anchors_are_followed_into_the_folder(tmp_path: Path, clone: Path) -> None:
    """Each fate is counted; what is edited or gone is shown; gone rows are refused, or skipped and counted."""
    old = git(clone, "show", "HEAD~1:store.py") + "\n"
    path = rows(tmp_path / "a.jsonl", READ, (9, 11), (20, 21), anchored=old)
    with pytest.raises(UsageError, match=r"a\.jsonl:3: what was at store\.py:20-21 is gone"):
        Annotations(path=path, root=str(clone)).load()
    dataset = Annotations(path=path, root=str(clone), problems="skip").load()
    assert [(note.start_line, note.end_line) for note in dataset.annotations] == [(6, 8), (10, 12)]
    assert [query.id for query in dataset.queries] == ["q1", "q2"]
    assert dataset.details["followed"] == {"unchanged": 0, "moved": 1, "edited": 1, "gone": 1}
    assert (dataset.details["skipped"], dataset.details["rows"]) == ({"gone": 1}, 3)
    assert [line.split(":")[0] for line in dataset.details["to_check"]] == ["row 2 (q2) edited", "row 3 (q3) gone"]


def test_rows_of_a_commit_are_followed_to_a_ref_without_anchors(tmp_path: Path, clone: Path) -> None:
    """What they pointed at is read from their own commit; without ``ref`` that commit itself is searched."""
    commit = git(clone, "rev-parse", "HEAD~1")
    path = rows(tmp_path / "a.jsonl", READ, (9, 11), commit=commit)
    then = Annotations(path=path, root=str(clone)).load()
    assert [(note.start_line, note.end_line) for note in then.annotations] == [READ, (9, 11)]
    assert "followed" not in then.details
    now = Annotations(path=path, root=str(clone), ref="main").load()
    assert [(note.start_line, note.end_line) for note in now.annotations] == [(6, 8), (10, 12)]
    assert now.details["followed"] == {"unchanged": 0, "moved": 1, "edited": 1, "gone": 0}
    assert git(clone, "rev-parse", "HEAD")[:12] in now.repositories[0].name
    with pytest.raises(UsageError, match="is not a git clone"):
        Annotations(
            path=rows(tmp_path / "b.jsonl", READ), root=str(tmp_path / "r" / ".git" / "refs"), ref="main"
        ).load()


def test_problems_of_annotation_files_are_skipped_and_counted(tmp_path: Path, clone: Path) -> None:
    """A file that is gone, lines outside the file, a row that is there twice."""
    path = Path(rows(tmp_path / "a.jsonl", READ, (1, 99), READ))
    text = path.read_text().replace('"q3"', '"q1"')
    path.write_text(text + text.split("\n")[0].replace("store.py", "gone.py").replace("q1", "q4") + "\n")
    with pytest.raises(UsageError, match="the same query and lines as row 1"):
        Annotations(path=str(path), root=str(clone)).load()
    dataset = Annotations(path=str(path), root=str(clone), problems="skip").load()
    assert [query.id for query in dataset.queries] == ["q1"]
    assert dataset.details["skipped"] == {
        "duplicate row": 1,
        "lines outside the file": 1,
        "file not in the repository": 1,
    }


def test_two_answers_may_share_lines(tmp_path: Path, clone: Path) -> None:
    """A row of one answer is no repetition of a row of another; within an answer it is."""
    path = Path(rows(tmp_path / "a.jsonl", READ))
    row = json.loads(path.read_text().split("\n")[0])
    both = [{**row, "alternative": name} for name in ("a", "b")]
    path.write_text("".join(json.dumps(each) + "\n" for each in both))
    assert [note.alternative for note in Annotations(path=str(path), root=str(clone)).load().annotations] == ["a", "b"]
    path.write_text("".join(json.dumps(each) + "\n" for each in (*both, both[1])))
    with pytest.raises(UsageError, match=r"a\.jsonl:3: the same query and lines as row 2"):
        Annotations(path=str(path), root=str(clone)).load()


def test_alternatives_and_categories_are_read_from_annotation_files(tmp_path: Path, clone: Path) -> None:
    """Both are optional keys of a row."""
    path = rows(tmp_path / "a.jsonl", READ, alternative="one", category="symbol")
    dataset = Annotations(path=path, root=str(clone)).load()
    assert dataset.annotations[0].alternative == "one"
    assert dataset.queries[0].category == "symbol"


def test_the_report_says_what_became_of_annotated_lines(tmp_path: Path, clone: Path, chunkbench: Command) -> None:
    """Counts of each fate, the rows that need a look and those left out stand in report.html, after a real run."""
    old = git(clone, "show", "HEAD~1:store.py") + "\n"
    path = rows(tmp_path / "a.jsonl", READ, (9, 11), (20, 21), anchored=old)
    spec = f"annotations:path={path},root={clone},problems=skip"
    options = ["--chunker", "fixed-lines:lines=5", "--retriever", "bm25", "--measure", "mrr", "--measure", "hit@5"]
    result = chunkbench("compare", "--dataset", spec, *options, "--out", str(tmp_path / "out"))
    assert result.code == 0, result.err
    page = (tmp_path / "out" / "report.html").read_text()
    assert "rows left out: gone (1)" in page
    assert "annotated lines: 1 moved, 1 edited, 1 gone (check row 2 (q2) edited: store.py:9-11 is now" in page
