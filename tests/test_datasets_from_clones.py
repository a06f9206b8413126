"""Datasets whose corpora are commits of clones: SWE-bench, CodeSearchNet, ContextBench, and annotated commits."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from chunkers.errors import UsageError
from ground_truth.datasets.annotations import Annotations
from ground_truth.datasets.codesearchnet import CodeSearchNet, read_judgements
from ground_truth.datasets.contextbench import ContextBench
from ground_truth.datasets.contextbench import read_instances as read_contexts
from ground_truth.datasets.swebench import SweBench, read_instances
from ground_truth.git import find_clone
from ground_truth.git_snapshot import take_snapshot

OLD = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
PATCH = """diff --git a/m.py b/m.py
--- a/m.py
+++ b/m.py
@@ -1,5 +1,5 @@
 def add(a, b):
-    return a - b
+    return a + b
 
 
 def sub(a, b):
diff --git a/tests/test_m.py b/tests/test_m.py
--- a/tests/test_m.py
+++ b/tests/test_m.py
@@ -1 +1 @@
-x
+y
"""  # noqa: W293 - a context line of a diff begins with a space


def git(folder: Path, *arguments: str) -> str:
    """Run git without any configuration of the machine."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b.c",
        "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
    }  # fmt: skip
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """Return a folder with a clone o__r of two commits and a bare mirror of it, o/bare.git."""
    work = tmp_path / "clones" / "o__r"
    (work / "vendor").mkdir(parents=True)
    git(work, "init", "-q", "-b", "main")
    (work / "m.py").write_text(OLD)
    (work / "vendor" / "v.py").write_text("v = 1\n")
    (work / "data.csv").write_text("1,2\n")
    (work / "bin.py").write_bytes(b"\0\1")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "first")
    (work / "m.py").write_text(OLD.replace("a - b", "a + b", 1))
    git(work, "commit", "-qam", "second")
    (tmp_path / "clones" / "o").mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(work), str(tmp_path / "clones" / "o" / "bare.git"))
    return tmp_path / "clones"


@pytest.fixture
def base(clones: Path) -> str:
    """Return the first commit."""
    return git(clones / "o__r", "rev-parse", "HEAD~1")


def published(name: str) -> Path:
    """Return a file of the real data, or skip."""
    root = Path(os.environ.get("CHUNKBENCH_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not (root / name).exists():
        pytest.skip(f"{name} is not in {root}")
    return root / name


def instance(base: str, **changes: object) -> dict:
    """Return one row of SWE-bench."""
    row = {
        "instance_id": "o__r-1",
        "repo": "o/r",
        "base_commit": base,
        "problem_statement": "add subtracts",
        "patch": PATCH,
    }
    return {**row, **changes}


def write(path: Path, *rows: dict) -> str:
    """Write JSON Lines and return the path as a text."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_snapshot_is_the_commit_not_the_work_tree(clones: Path, base: str) -> None:
    """Files of the old commit are read, from a clone and from a bare mirror alike; what is left out has a reason."""
    for name in ("o/r", "o/bare"):
        clone = find_clone(clones, name)
        assert clone is not None
        snapshot = take_snapshot(clone, base[:10], name="r", keep={"vendor/v.py"})
        assert [source.path for source in snapshot.files()] == ["m.py", "vendor/v.py"]
        assert dict(snapshot.skipped) == {"bin.py": "binary", "data.csv": "data file"}
        again = pickle.loads(pickle.dumps(snapshot)).read("m.py")  # noqa: S301 - made in the line itself
        assert again is not None
        assert again.data.decode() == OLD
        assert snapshot.read("absent.py") is None


def test_no_clone_has_a_name_that_no_folder_can_have(clones: Path) -> None:
    """A row may call its repository anything: too long, climbing, absolute or empty names are no clone."""
    for name in ("x" * 5000, "owner/" + "x" * 300, "../clones", "/etc", "a\0b", "", "/"):
        assert find_clone(clones, name) is None


def test_a_commit_that_the_clone_lacks_is_named(clones: Path) -> None:
    """The error says which clone and which commit."""
    with pytest.raises(UsageError, match="has no commit 0123456789"):
        take_snapshot(clones / "o__r", "0123456789", name="r")
    with pytest.raises(UsageError, match="not a commit hash"):
        take_snapshot(clones / "o__r", "--output=x", name="r")


@pytest.mark.parametrize(("gold", "lines"), [("lines", (2, 2)), ("file", (1, 6))])
def test_swebench_gold_is_the_old_side_outside_tests(
    tmp_path: Path, clones: Path, base: str, gold: Literal["lines", "file"], lines: tuple[int, int]
) -> None:
    """Removed lines, or their whole file, at the base commit; the test of the patch is no gold."""
    path = write(tmp_path / "swe.jsonl", instance(base))
    dataset = SweBench(path=path, repos=str(clones), gold=gold).load()
    (note,) = dataset.annotations
    assert (note.path, note.start_line, note.end_line) == ("m.py", *lines)
    (query,) = dataset.queries
    assert (query.repo, query.cluster) == (f"o/r@{base[:12]}", "o/r")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repo": "o/absent"}, r"jsonl:2: no clone: o/absent"),
        ({"base_commit": "f" * 40}, "jsonl:2: commit not in the clone"),
        ({"patch": PATCH.replace("return a - b", "return b")}, "jsonl:2: the patch does not apply"),
        ({"patch": PATCH.replace("m.py", "n.py")}, "jsonl:2: file not in the commit"),
        ({"instance_id": "o__r-1"}, "jsonl:2: duplicate row"),
    ],
)
def test_swebench_instances_that_cannot_be_used(
    tmp_path: Path, clones: Path, base: str, changes: dict, words: str
) -> None:
    """One line each, or with problems=skip a count."""
    path = write(tmp_path / "swe.jsonl", instance(base), instance(base, **{"instance_id": "2", **changes}))
    with pytest.raises(UsageError, match=words):
        SweBench(path=path, repos=str(clones)).load()
    dataset = SweBench(path=path, repos=str(clones), problems="skip").load()
    assert len(dataset.queries) == 1
    assert sum(dataset.details["skipped"].values()) == 1


def _replaced(path: str, old: str, new: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def test_swebench_takes_the_source_and_not_what_is_made_from_it(tmp_path: Path, clones: Path) -> None:
    """A parser made from a grammar is not gold, the grammar is; what else was changed is counted by reason."""
    work = clones / "o__r"
    for name, text in {"p.y": "one", "p.c": "one", "gen.py": "# @generated by x\n", "README.md": "one"}.items():
        (work / name).write_text(f"{text}\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "third")
    head = git(work, "rev-parse", "HEAD")
    made = _replaced("gen.py", "# @generated by x", "# @generated by y")
    mixed = (
        _replaced("p.c", "one", "two") + _replaced("p.y", "one", "two") + _replaced("README.md", "one", "two") + made
    )
    path = write(tmp_path / "swe.jsonl", instance(head, patch=mixed), instance(head, instance_id="2", patch=made))
    with pytest.raises(UsageError, match=r"jsonl:2: the patch changes generated files only: gen.py"):
        SweBench(path=path, repos=str(clones)).load()
    dataset = SweBench(path=path, repos=str(clones), problems="skip").load()
    assert [note.path for note in dataset.annotations] == ["p.y"]
    assert dataset.details["skipped"] == {"the patch changes generated files only": 1}
    assert dataset.details["changed_files_that_are_not_gold"] == {
        "generated file": 3,
        "no source file (documentation, settings, data)": 1,
    }


def test_swebench_reads_parquet(tmp_path: Path, clones: Path, base: str) -> None:
    """The hub's own files are Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist([instance(base)]), tmp_path / "test.parquet")
    assert len(SweBench(path=str(tmp_path / "test.parquet"), repos=str(clones)).load().queries) == 1
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UsageError, match="not a Parquet file"):
        SweBench(path=str(tmp_path / "bad.parquet"), repos=str(clones)).load()


def test_the_hub_is_used_only_with_a_pinned_revision(clones: Path) -> None:
    """A name without a commit is refused before anything is downloaded."""
    with pytest.raises(UsageError, match="needs the dataset's commit"):
        SweBench(path="hub:princeton-nlp/SWE-bench_Lite", repos=str(clones)).load()


def test_all_published_patches_parse_to_old_lines() -> None:
    """323 instances, each with at least one changed source line outside tests."""
    instances = read_instances(str(published("swebench_lite.jsonl")))
    assert len(instances) == 323
    assert all(one.gold for one in instances)


def judgement(base: str, *, query: str = "add numbers", lines: str = "L1-L2", grade: int = 3, repo: str = "o/r") -> str:
    """Return one row of the annotation store."""
    return f"Python,{query},https://github.com/{repo}/blob/{base}/m.py#{lines},{grade},"


def store(tmp_path: Path, *rows: str) -> str:
    """Write an annotation store and return its path."""
    path = tmp_path / "annotationStore.csv"
    path.write_text("\n".join(["Language,Query,GitHubUrl,Relevance,Notes", *rows]) + "\n")
    return str(path)


def test_codesearchnet_means_over_annotators(tmp_path: Path, clones: Path, base: str) -> None:
    """Two annotators' 3 and 2 are 2.5; what is not there is counted, not dropped in silence."""
    gone = judgement(base, repo="o/gone")
    outside = judgement(base, lines="L5-L99", query="sub")
    path = store(tmp_path, judgement(base), judgement(base, grade=2), gone, outside)
    dataset = CodeSearchNet(path=path, repos=str(clones)).load()
    (note,) = dataset.annotations
    assert (note.query_id, note.grade, note.end_line) == ("add-numbers", 2.5, 2)
    assert dataset.scope == "all"
    assert dataset.details["skipped"] == {"no clone": 1, "lines outside the file": 1}
    with pytest.raises(UsageError, match="o/gone"):
        CodeSearchNet(path=path, repos=str(clones), problems="error").load()


@pytest.mark.parametrize(
    ("row", "words"),
    [("Python,q,https://github.com/o/r/m.py,1,", "no address of lines"), ("Python,q,x,9,", "Relevance is '9'")],
)
def test_codesearchnet_broken_rows_are_named(tmp_path: Path, row: str, words: str) -> None:
    """A broken address and a grade out of range name file and row."""
    with pytest.raises(UsageError, match=words) as caught:
        read_judgements(Path(store(tmp_path, row)))
    assert ".csv:2:" in str(caught.value)


def test_all_published_judgements_parse() -> None:
    """4,006 rows of 99 queries."""
    judged = read_judgements(published("codesearchnet_annotationStore.csv"))
    assert sum(one.annotators for one in judged) == 4006
    assert len({one.query for one in judged}) == 99
    assert all(0 <= one.grade <= 3 for one in judged)


def marked(*spans: tuple[str, int, int]) -> str:
    """Return a gold context as the verified file has it."""
    return json.dumps([{"file": file, "start_line": a, "end_line": b, "content": "…"} for file, a, b in spans])


def context_rows(base: str, *golds: str) -> list[dict]:
    """Return rows of ContextBench, one for each gold context."""
    return [instance(base, instance_id=str(n), gold_context=gold) for n, gold in enumerate(golds, 1)]


def test_contextbench_reads_its_gold_context(tmp_path: Path, clones: Path, base: str) -> None:
    """JSON in a text; lines outside the file are an error or a count."""
    rows = context_rows(base, marked(("m.py", 1, 2)), marked(("m.py", 1, 70)))
    path = write(tmp_path / "cb.jsonl", *rows)
    with pytest.raises(UsageError, match=r"jsonl:2: lines outside the file: m\.py has 6 lines, not 1-70"):
        ContextBench(path=path, repos=str(clones)).load()
    dataset = ContextBench(path=path, repos=str(clones), problems="skip").load()
    assert [(note.path, note.start_line, note.end_line) for note in dataset.annotations] == [("m.py", 1, 2)]
    assert dataset.details["skipped"] == {"lines outside the file": 1}


def test_contextbench_names_the_true_reason_of_each_row_left_out(tmp_path: Path, clones: Path, base: str) -> None:
    """A file that the commit lacks is not "lines outside the file"; every reason is counted under its own name."""
    rows = context_rows(base, *[marked(("m.py", 1, 2))] * 3, marked(("gone.py", 1, 2)), marked(("/scratch/x.py", 1, 2)))
    rows[1]["repo"], rows[2]["base_commit"] = "o/absent", "f" * 40
    rows.append({**rows[0]})
    dataset = ContextBench(path=write(tmp_path / "cb.jsonl", *rows), repos=str(clones), problems="skip").load()
    assert [query.id for query in dataset.queries] == ["1"]
    assert dataset.details["skipped"] == {
        "no clone": 1,
        "commit not in the clone": 1,
        "file not in the commit": 1,
        "no gold in the repository": 1,
        "duplicate row": 1,
    }
    assert dataset.details["spans"] == {"used": 1, "file outside the repository": 1}


def test_contextbench_verified_rows_as_they_are(tmp_path: Path, clones: Path, base: str) -> None:
    """Short repository names, container paths, spans that end one line past the file, and duplicates."""
    inside = "/workspace/o__r__0.1/m.py"
    (row,) = context_rows(base, marked((inside, 1, 7), (inside, 2, 3), (inside, 2, 3), ("/workspace/new.py", 1, 9)))
    row |= {"repo": "r", "original_inst_id": "o__r-12"}
    path = write(tmp_path / "cb.jsonl", row)
    with pytest.raises(UsageError, match=r"jsonl:1: file outside the repository: /workspace/new\.py"):
        ContextBench(path=path, repos=str(clones)).load()
    dataset = ContextBench(path=path, repos=str(clones), problems="skip").load()
    assert [(note.path, note.start_line, note.end_line) for note in dataset.annotations] == [
        ("m.py", 1, 6),
        ("m.py", 2, 3),
    ]
    assert dataset.queries[0].cluster == "o/r"
    assert dataset.details["spans"] == {
        "ended one line past the file, shortened": 1,
        "used": 2,
        "duplicate in its row": 1,
        "file outside the repository": 1,
    }


def test_contextbench_text_form_is_read_like_json(tmp_path: Path, clones: Path, base: str) -> None:
    """``contextN:`` blocks, whose heading ends in a full-width colon, hold file, lines and text."""
    first = "context0\uff1a\nfile: m.py\nstart_line: 1\nend_line: 2\ncode\n\n"
    text = first + "context1:\nfile: m.py\nstart_line: 5\nend_line: 6"
    path = write(tmp_path / "cb.jsonl", *context_rows(base, text))
    dataset = ContextBench(path=path, repos=str(clones)).load()
    assert [(note.start_line, note.end_line) for note in dataset.annotations] == [(1, 2), (5, 6)]


@pytest.mark.parametrize(
    ("gold", "words"),
    [
        ("see the patch", "gold_context begins 'see the patch': a JSON list, or blocks"),
        ("[]", "a list of files and lines was expected"),
        ('[{"file": "m.py"}]', "file, start_line and end_line were expected"),
    ],
)
def test_contextbench_refuses_other_forms_whatever_the_policy(
    tmp_path: Path, clones: Path, base: str, gold: str, words: str
) -> None:
    """A form that is not known is refused with what was expected and found, not skipped row by row."""
    path = write(tmp_path / "cb.jsonl", *context_rows(base, gold))
    with pytest.raises(UsageError, match=words):
        ContextBench(path=path, repos=str(clones), problems="skip").load()
    (tmp_path / "other.jsonl").write_text('{"inst_id": "1", "pred_files": []}\n')
    with pytest.raises(UsageError, match=r"jsonl:1: no instance_id.*rows have instance_id.*found inst_id, pred_files"):
        ContextBench(path=str(tmp_path / "other.jsonl"), repos=str(clones), problems="skip").load()


def test_contextbench_rows_are_chosen_by_repository_and_number(tmp_path: Path, clones: Path, base: str) -> None:
    """``limit`` counts per repository; a name that the file lacks is refused with those it has."""
    path = write(tmp_path / "cb.jsonl", *context_rows(base, *[marked(("m.py", 1, 2))] * 3))
    assert len(ContextBench(path=path, repos=str(clones), limit=2, repositories="o/r").load().queries) == 2
    with pytest.raises(UsageError, match=r"no row of 'o/x'.*It has: o/r"):
        ContextBench(path=path, repos=str(clones), repositories="o/x").load()


def test_published_contextbench_files_parse_alike() -> None:
    """The JSON and the text form of the same 50 rows mark the same 391 spans."""
    as_json = read_contexts(str(published("contextbench/contextbench_verified_test.parquet")))
    as_text = read_contexts(str(published("contextbench/test.parquet")))
    spans = [[marked[:3] for marked in row.marked] for row in as_json]
    assert spans == [[marked[:3] for marked in row.marked] for row in as_text]
    assert sum(map(len, spans)) == 391
    assert all("/" in row.repo for row in as_json)


def test_objects_that_a_partial_clone_lacks_are_skipped_and_counted(tmp_path: Path, clones: Path, base: str) -> None:
    """A blob that is missing drops the rows that need it, and elsewhere only its file, with a reason."""
    work = clones / "o__r"
    lacking = git(work, "rev-parse", f"{base}:m.py")
    (work / ".git" / "objects" / lacking[:2] / lacking[2:]).unlink()
    head = git(work, "rev-parse", "HEAD")
    rows = context_rows(base, marked(("m.py", 1, 2)), marked(("vendor/v.py", 1, 1)), marked(("m.py", 1, 2)))
    rows[2]["base_commit"] = head
    path = write(tmp_path / "cb.jsonl", *rows)
    with pytest.raises(UsageError, match="jsonl:1: object not in the clone"):
        ContextBench(path=path, repos=str(clones)).load()
    dataset = ContextBench(path=path, repos=str(clones), problems="skip").load()
    assert [query.id for query in dataset.queries] == ["2", "3"]
    assert dataset.details["skipped"] == {"object not in the clone": 1}
    old = next(repository for repository in dataset.repositories if base[:12] in repository.name)
    assert [source.path for source in old.files()] == ["vendor/v.py"]
    assert dict(old.skipped)["m.py"] == "object not in the clone"


def test_annotated_commits_are_snapshots_of_one_cluster(tmp_path: Path, clones: Path, base: str) -> None:
    """Rows with different commits search different snapshots and count as one repository in the statistics."""
    head = git(clones / "o__r", "rev-parse", "HEAD")
    row = {"query": "add", "repo": "o/r", "file": "m.py", "start_line": 1, "end_line": 2}
    rows = [{**row, "query_id": "1", "commit": base}, {**row, "query_id": "2", "commit": head}]
    dataset = Annotations(path=write(tmp_path / "a.jsonl", *rows), root=str(clones)).load()
    assert {query.cluster for query in dataset.queries} == {"o/r"}
    texts = [
        source.data for repository in dataset.repositories for source in repository.files() if source.path == "m.py"
    ]
    assert len(set(texts)) == 2
