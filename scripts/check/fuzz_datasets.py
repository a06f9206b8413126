"""Published datasets, span runs, tools' answers and clones as formats to corrupt, each with its surroundings."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from chunkers.errors import UsageError
from chunkers.tokens import cache_folder
from scripts.check.fuzz_inputs import CODE, Target

_PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def a():\n-    return 1\n+    return 3\n"
Read = Callable[[Path, bytes], object]


def formats(home: Path) -> Iterator[Target]:
    """Yield the formats; files that a valid example needs beside it are created in the folder."""
    head = _clone(home / "clones" / "o__r")
    yield from _plain()
    yield from _published(home, head)
    yield from _packed()
    yield from _layout()
    yield from _objects(home)


def _plain() -> Iterator[Target]:
    from evaluation.experiment.loaded_dataset import load_dataset
    from evaluation.experiment.span_runs import NamedFile, read_span_runs
    from evaluation.tools.answers import read_answer, read_place
    from evaluation.tools.asking import ToolError
    from ground_truth.datasets.in_memory import InMemory
    from ground_truth.questions import read_questions
    from ground_truth.texts import Texts
    from ground_truth.types import Annotation, Dataset, Query

    corpus = Texts("r", {"a.py": CODE.decode()})
    dataset = Dataset("d", (corpus,), (Query("q1", "where", "r"),), (Annotation("q1", "r", "a.py", 1, 2),))
    loaded = load_dataset("d", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)

    def spans(place: Path) -> object:
        return read_span_runs(NamedFile("x", place), loaded)

    def answer(_home: Path, data: bytes) -> object:
        try:
            return [read_place(each, rank=1) for each in read_answer(data, "q1")]
        except ToolError as error:  # the one-line failure of a tool's cell
            raise UsageError(str(error)) from None

    place = {"file": "a.py", "start_line": 1, "end_line": 2}
    rows = [
        {"query_id": "q1", "rank": 1, **place},
        {"query_id": "q1", "rank": 2, "file": "a.py", "start_byte": 0, "end_byte": 5},
    ]
    yield Target("span run", _lines(rows), _in_file("run.jsonl", spans))
    views = [{"query_id": "q1", "repo": "r", "views": [place, {**place, "end_line": 3, "header": "x"}]}]
    yield Target("trajectory", _lines(views), _in_file("views.jsonl", spans))
    yield Target("tool's answer", json.dumps({"query_id": "q1", "places": [place, ["a.py", 1, 2]]}).encode(), answer)
    yield Target("questions", b"# asked\nwhere is a?\nhow does b end?\n", _in_file("asked.txt", read_questions))
    asked = [{"query_id": "x", "query": "where is a?"}, {"query": "how does b end?"}]
    yield Target("questions as lines", _lines(asked), _in_file("asked.jsonl", read_questions))


def _published(home: Path, head: str) -> Iterator[Target]:
    from ground_truth.datasets.cocha import Cocha
    from ground_truth.datasets.codesearchnet import CodeSearchNet
    from ground_truth.datasets.contextbench import ContextBench
    from ground_truth.datasets.crosscodeeval import CrossCodeEval
    from ground_truth.datasets.repobench import RepoBench
    from ground_truth.datasets.repoeval import RepoEval
    from ground_truth.datasets.semble import Semble
    from ground_truth.datasets.swebench import SweBench

    clones = str(home / "clones")
    context = json.dumps([{"file": "a.py", "start_line": 1, "end_line": 2, "content": "x"}])
    issue = {"repo": "o/r", "base_commit": head, "problem_statement": "a is wrong"}
    bench = {**issue, "instance_id": "o__r-1", "gold_context": context, "patch": _PATCH, "language": "python"}
    yield _rows("ContextBench", [bench], "bench.jsonl", lambda file: ContextBench(path=file, repos=clones).load())
    yield Target("ContextBench as Parquet", _parquet([bench]), _in_file(
        "bench.parquet", lambda file: ContextBench(path=str(file), repos=clones).load()
    ))  # fmt: skip
    swe = {**issue, "instance_id": "o__r-1", "patch": _PATCH, "test_patch": ""}
    yield _rows("SWE-bench", [swe], "swe.jsonl", lambda file: SweBench(path=file, repos=clones).load())
    url = f"https://github.com/o/r/blob/{head}/a.py#L1-L2"
    judged = f"Language,Query,GitHubUrl,Relevance,Notes\nPython,where is a,{url},3,\nPython,where is a,{url},2,x\n"
    yield Target("CodeSearchNet", judged.encode(), _in_file(
        "judged.csv", lambda file: CodeSearchNet(path=str(file), repos=clones).load()
    ))  # fmt: skip
    pieces = [{"retrieved_chunk": CODE.decode(), "filename": "lib/m.py", "score": 0.3}]
    meta = {
        "task_id": "p/1",
        "repository": "o-r",
        "file": "main.py",
        "context_start_lineno": 0,
        "groundtruth_start_lineno": 3,
        "right_context_start_lineno": 4,
    }
    task = {
        "prompt": "x = 1\ny = ",
        "groundtruth": "a()",
        "right_context": "\n",
        "metadata": meta,
        "crossfile_context": {"text": "", "list": pieces},
    }
    yield _rows("CrossCodeEval", [task], "completion.jsonl", lambda file: CrossCodeEval(path=file).load())
    snippets = [
        {"identifier": "a", "path": "m.py", "snippet": CODE.decode()},
        {"identifier": "b", "path": "n.py", "snippet": "y = 1\n"},
    ]
    row = {
        "repo_name": "o/r",
        "file_path": "x.py",
        "context": snippets,
        "import_statement": "import m",
        "cropped_code": "m.a",
        "all_code": "m.a",
        "next_line": "a()",
        "gold_snippet_index": 0,
    }
    yield _rows("RepoBench", [row], "rb.jsonl", lambda file: RepoBench(path=file).load())
    passage = {"question": "where", "chunk-must-contain": "def a():\n    return 1"}
    cocha = {"corpus.jsonl": _lines([{"text": CODE.decode(), "path": "a.py"}]), "questions.jsonl": _lines([passage])}
    yield from _folder("Cocha", cocha, lambda folder: Cocha(path=folder).load())
    pinned = {"name": "o__r", "revision": head, "benchmark_root": ""}
    places = [{"path": "a.py", "start_line": 1, "end_line": 2}, "a.py"]
    asked = {"query": "where", "category": "symbol", "relevant": places, "secondary": []}
    semble = {"repos.json": json.dumps([pinned]).encode(), "annotations/o__r.json": json.dumps([asked]).encode()}
    yield from _folder("semble", semble, lambda folder: Semble(path=folder, repos=clones).load())
    meta = {"task_id": "o--r/1", "ground_truth": "    return 1\n", "fpath_tuple": ["o_r", "a.py"], "lineno": 1,
            "context_start_lineno": 0, "function_name": "a"}  # fmt: skip
    tasks = "function_level_completion_2k_context_codex.test.jsonl"
    repoeval = {tasks: _lines([{"prompt": "def a():\n", "metadata": meta}]), "o_r/a.py": CODE}
    yield from _folder("RepoEval", repoeval, lambda folder: RepoEval(path=folder, repositories="o_r").load())


def _packed() -> Iterator[Target]:
    from ground_truth.archives import unpacked

    def read(name: str) -> Read:
        def reading(home: Path, data: bytes) -> object:
            (home / name).write_bytes(data)
            try:
                return unpacked(home / name)
            finally:
                shutil.rmtree(cache_folder() / "archives", ignore_errors=True)

        return reading

    for mode in ("xz", "bz2", ""):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=f"w:{mode}", format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
            for name in ("r/a.py", "r/" + "n" * 120 + ".py"):
                member = tarfile.TarInfo(name)
                member.size = len(CODE)
                tar.addfile(member, io.BytesIO(CODE))
        yield Target(f"tar {mode or 'plain'}", buffer.getvalue(), read(f"b.tar.{mode or 'plain'}"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(zipfile.ZipInfo("r/a.py"), CODE)
    yield Target("zip", buffer.getvalue(), read("b.zip"))


def _layout() -> Iterator[Target]:
    from ground_truth.git_layout import find_ref, locate

    head = "a" * 40

    def at(name: str) -> Callable[[Path, bytes], object]:
        def reading(home: Path, data: bytes) -> object:
            clone = home / "clone"
            shutil.rmtree(clone, ignore_errors=True)
            private = clone / ".git"
            for folder in ("objects", "refs/heads"):
                (private / folder).mkdir(parents=True)
            (private / "HEAD").write_bytes(b"ref: refs/heads/main\n")
            if name == ".git":
                shutil.rmtree(private)
                private.write_bytes(data)
            else:
                (private / name).write_bytes(data)
            return [find_ref(locate(clone), ref) for ref in ("HEAD", "main", "v1")], locate(clone).sha256

        return reading

    yield Target("git HEAD", b"ref: refs/heads/main\n", at("HEAD"))
    yield Target("git ref", head.encode() + b"\n", at("refs/heads/main"))
    yield Target(
        "git packed-refs", f"# pack-refs with: peeled\n{head} refs/heads/main\n^{head}\n".encode(), at("packed-refs")
    )
    yield Target("git config", b"[extensions]\n\tobjectformat = sha256\n", at("config"))
    yield Target("git commondir", b"..\n", at("commondir"))
    yield Target("git link", b"gitdir: ../x/.git\n", at(".git"))


def _objects(home: Path) -> Iterator[Target]:
    """Yield the files of a clone that git itself reads; if git cannot read them, the error must be one line too."""
    clone = home / "objects"
    _clone(clone)
    _git(clone, "repack", "-adq")
    private = clone / ".git"
    (private / "shallow").write_text(_git(clone, "rev-parse", "HEAD") + "\n")
    pack = next((private / "objects" / "pack").glob("*.pack"))
    for file in (pack, pack.with_suffix(".idx"), private / "shallow", private / "index", private / "config"):
        file.chmod(0o644)
        yield Target(
            f"git {file.name if file.parent == private else file.suffix[1:]}", file.read_bytes(), _object(clone, file)
        )
    loose = home / "loose"
    _clone(loose)
    head = _git(loose, "rev-parse", "HEAD")
    file = loose / ".git" / "objects" / head[:2] / head[2:]
    file.chmod(0o644)
    yield Target("git loose object", file.read_bytes(), _object(loose, file))


def _object(clone: Path, file: Path) -> Read:
    from ground_truth.git import commits, list_tree, read_blobs, resolve_ref

    good = file.read_bytes()
    right = CODE

    def reading(_home: Path, data: bytes) -> object:
        file.write_bytes(data)
        try:
            head = resolve_ref(clone, "HEAD")
            found = list(read_blobs(clone, [blob.object_id for blob in list_tree(clone, head)]))
            if found != [right]:
                raise AssertionError("other content is believed")
            return list(commits(clone, [head]))
        finally:
            file.write_bytes(good)

    return reading


def _clone(place: Path) -> str:
    """Create a clone with one commit and return its hash."""
    place.mkdir(parents=True)
    (place / "a.py").write_bytes(CODE)
    _git(place, "init", "-q", "-b", "main")
    _git(place, "add", "-A")
    _git(place, "commit", "-qm", "Add a")
    return _git(place, "rev-parse", "HEAD")


def _git(place: Path, *arguments: str) -> str:
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    plain = {"PATH": os.environ["PATH"], "HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(  # noqa: S603 - git, on a repository created here
        ["git", *arguments],  # noqa: S607 - the user's own
        cwd=place,
        env={**plain, **who},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def _rows(name: str, rows: Sequence[object], file: str, load: Callable[[str], object]) -> Target:
    return Target(name, _lines(rows), _in_file(file, lambda place: load(str(place))))


def _folder(name: str, files: dict[str, bytes], load: Callable[[str], object]) -> Iterator[Target]:
    """Yield each file of a dataset folder; the other files stay intact."""

    def read(part: str) -> Read:
        def reading(home: Path, data: bytes) -> object:
            folder = home / name
            for other, good in files.items():
                (folder / other).parent.mkdir(parents=True, exist_ok=True)
                (folder / other).write_bytes(data if other == part else good)
            return load(str(folder))

        return reading

    for part, good in files.items():
        yield Target(f"{name} {part}", good, read(part))


def _in_file(name: str, read: Callable[[Path], object]) -> Read:
    def reading(home: Path, data: bytes) -> object:
        (home / name).write_bytes(data)
        return read(home / name)

    return reading


def _lines(rows: Sequence[object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()
