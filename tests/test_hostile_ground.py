"""What strangers put into a folder, an archive, a table or a shared cache: none of it runs or fills memory."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import resource
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.peers.environment import Environment, Worker
from chunkers.programs import find_program
from chunkers.sources import walk
from evaluation.tools.asking import Question, ToolError
from evaluation.tools.process import CommandTool
from ground_truth.annotations import read_rows
from ground_truth.archives import unpacked
from ground_truth.datasets.annotations import Annotations
from ground_truth.datasets.crosscodeeval import CrossCodeEval
from ground_truth.datasets.repobench import RepoBench
from ground_truth.datasets.semble import Semble
from ground_truth.jsonl import read_records
from ground_truth.types import Dataset

ROOT = Path(__file__).parents[1]
THEIRS = ("click", "numpy", "torch", "pyarrow", "json", "typing", "pathlib", "collections", "logging", "re", "tomllib")
OURS = ("scripts", "chunkers", "evaluation", "indexing", "ground_truth", "conftest", "sitecustomize", "usercustomize")
NAMES = (*THEIRS, *OURS)


@pytest.fixture
def trapped(tmp_path: Path) -> tuple[Path, Path]:
    """Return a clone with modules of well-known names, and the file that exists when one of them has run."""
    sprung = tmp_path / "sprung"
    clone = tmp_path / "clone"
    clone.mkdir()
    trap = f"open({str(sprung)!r}, 'a').write(__name__ + '\\n')\nraise SystemExit('sprung')\n"
    for name in NAMES:
        (clone / f"{name}.py").write_text(trap)
    (clone / "evil.pth").write_text(f"import os; open({str(sprung)!r}, 'a')\n")
    (clone / "rg").write_text(f"#!/bin/sh\ntouch {sprung}\n")
    (clone / "rg").chmod(0o755)
    (clone / "git").symlink_to(clone / "rg")
    (clone / "words.py").write_text('def spell():\n    """Return the words of a number."""\n    return 1\n')
    return clone, sprung


@pytest.mark.parametrize("start", [["-c", "from chunkbench import main; main()"], ["-m", "chunkbench"]])
@pytest.mark.parametrize("verb", [["chunk", "words.py"], ["compare", ".", "--retriever", "bm25", "--quiet"]])
def test_nothing_of_the_current_folder_is_imported_or_run(
    trapped: tuple[Path, Path], tmp_path: Path, start: list[str], verb: list[str]
) -> None:
    """Neither by the command nor by `python -m`, and no program of it where the search path has the current folder."""
    clone, sprung = trapped
    if start[0] == "-m":
        for name in ("collections", "re", "typing"):  # with -m, Python itself imports these before any of our code
            (clone / f"{name}.py").unlink()
    # The command as it is installed has no current folder on its path; -P says so for the form that stands for it.
    safe = ["-P"] if start[0] == "-c" else []
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PATH": f".:{os.environ['PATH']}:",
        "CHUNKBENCH_CACHE": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, *safe, *start, *verb], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    assert not sprung.exists(), sprung.read_text()
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2), done.stderr


def test_programs_are_not_taken_from_the_current_folder(
    trapped: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever relative folders the search path has."""
    monkeypatch.chdir(trapped[0])
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}::")
    for name in ("git", "rg"):
        assert Path(find_program(name) or "/").is_absolute()
        assert find_program(name) != str(trapped[0] / name)


@pytest.mark.parametrize("form", ["-m json.tool", "-c 'import json; print([])'"])
def test_a_tool_by_module_does_not_import_the_corpus(trapped: tuple[Path, Path], form: str) -> None:
    """A tool is started among the files that it searches; Python would import them before its own library."""
    clone, sprung = trapped
    tool = CommandTool("x", f"{sys.executable} {form}", timeout=1.0)
    with contextlib.suppress(ToolError), tool.open(clone) as ask:
        for _ in range(2):
            ask(Question("q", "where", "r"))
    assert not sprung.exists()


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_the_head_of_a_member_does_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes
) -> None:
    """Fifty kilobytes that say they are a name of three gigabytes, and are one."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    head = tarfile.TarInfo("x")
    head.type, head.size = kind, 3_000_000_000
    with lzma.open(tmp_path / "a.tar.xz", "wb", preset=0) as file:
        file.write(head.tobuf())
        for _ in range(300):
            file.write(b"a" * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UsageError, match=r"a\.tar\.xz: .*3,000,000,000 bytes: do not trust it"):
        unpacked(tmp_path / "a.tar.xz")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000


@pytest.mark.parametrize("form", [("0", "1"), ("1", "0")])
def test_a_sparse_member_is_refused_before_its_parts_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, str]
) -> None:
    """Two hundred bytes that stand for two gigabytes of zeros, in both forms that attributes can give."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    parts = "0,1,2147483646,1" if form == ("0", "1") else ""
    attributes = {"GNU.sparse.major": form[0], "GNU.sparse.minor": form[1], "GNU.sparse.name": "a.py"}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("GNUSparseFile.1/a.py")
        sizes = {"GNU.sparse.realsize": "2147483647", "GNU.sparse.size": "2147483647"}
        member.pax_headers = {**attributes, **sizes, **({"GNU.sparse.map": parts} if parts else {})}
        body = b"2\n0\n1\n2147483646\n1\n".ljust(512, b"\0") + b"xy"
        member.size = len(body)
        tar.addfile(member, io.BytesIO(body))
    with pytest.raises(UsageError, match=r"a\.py' is sparse, as no source file is"):
        unpacked(tmp_path / "a.tar.gz")


def test_an_archive_with_long_names_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is far above any real path."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    name = "/".join(["folder" * 10] * 5) + "/a.py"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(tmp_path / f"{form}.tar.gz", "w:gz", format=form) as tar:
            member = tarfile.TarInfo(name)
            member.size = 2
            tar.addfile(member, io.BytesIO(b"a\n"))
        assert (unpacked(tmp_path / f"{form}.tar.gz") / name).read_bytes() == b"a\n"


def test_a_table_of_many_equal_rows_is_read_a_part_at_a_time(tmp_path: Path) -> None:
    """Under a kilobyte of Parquet was four gigabytes of rows at once."""
    row = pa.DictionaryArray.from_arrays(pa.array([0] * 40_000, type=pa.int32()), pa.array(["x" * 20_000]))
    pq.write_table(pa.table({"query": row}), tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 5_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sum(1 for _ in read_records(tmp_path / "a.parquet")) == 40_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_a_name_that_occurs_twice_in_one_object_is_an_error(tmp_path: Path) -> None:
    """Which of two values counts is not for us to guess: one was taken, silently."""
    (tmp_path / "rows.jsonl").write_text(
        '{"query_id": "q", "query": "a", "repo": "r", "file": "a.py", "start_line": 1, "start_line": 7, "end_line": 9}'
    )
    with pytest.raises(UsageError, match=r"rows.jsonl:1.*'start_line' occurs twice"):
        read_rows(tmp_path / "rows.jsonl")
    assert parse_json('{"a": {"b": 1}, "c": [{"b": 2}]}') == {"a": {"b": 1}, "c": [{"b": 2}]}


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o777), lambda path: os.chown(path, 12345, -1)])
@pytest.mark.parametrize("which", ["", "bin", "bin/python"])
def test_an_interpreter_that_others_can_change_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None], which: str
) -> None:
    """The environments of peers lie in the cache, which may be shared; what is in them runs."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path))
    made = Environment("other", (), "worker.py")
    made.python.parent.mkdir(parents=True)
    made.python.write_text("#!/bin/sh\n")
    made.python.chmod(0o755)
    Worker(made)
    try:
        spoil(made.folder / which)
    except PermissionError:
        pytest.skip("only root can give a file away")
    with pytest.raises(UsageError, match="belongs to somebody else, or others can write to it"):
        Worker(made)


def test_json_is_read_as_before() -> None:
    """Anything that Python writes is read back, whatever its depth of a hundred."""
    value: object = 1
    for level in range(100):
        value = {"a": value, str(level): [value] if level < 8 else None}
    assert parse_json(json.dumps(value)) == value


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a folder beside the data that no data file may lead to."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.py").write_text("def key():\n    return 'hunter2'\n")
    (tmp_path / "data").mkdir()
    return tmp_path / "secret"


def _contents(dataset: Dataset) -> bytes:
    return b"".join(source.data for repository in dataset.repositories for source in repository.files())


@pytest.mark.parametrize("climb", ["../secret", "/secret", "x/../../secret"])
def test_no_name_in_a_data_file_leads_out_of_its_folder(tmp_path: Path, secret: Path, climb: str) -> None:
    """CrossCodeEval and semble walked the folder that a row named, wherever it was."""
    data = tmp_path / "data"
    (data / "x").mkdir()
    name = str(secret) if climb.startswith("/") else climb
    meta = {"task_id": "p/1", "repository": name, "file": "key.py", "context_start_lineno": 0}
    meta |= {"groundtruth_start_lineno": 1, "right_context_start_lineno": 2}
    row = {"prompt": "def key():\n", "groundtruth": "    return 'hunter2'", "right_context": "\n", "metadata": meta}
    (data / "rows.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UsageError, match="no folder of the repository"):
        CrossCodeEval(path=str(data / "rows.jsonl"), root=str(data)).load()
    question = {"query": "key", "category": "symbol", "relevant": [{"path": "key.py", "start_line": 1, "end_line": 2}]}
    (data / "queries.jsonl").write_text(json.dumps({**question, "repo": name, "id": "1"}) + "\n")
    with pytest.raises(UsageError) as caught:
        Semble(path=str(data), repos=str(data)).load()
    assert "hunter2" not in str(caught.value)
    code = {"repo_name": name, "context": ["def key():\n    return 'hunter2'\n"], "gold_snippet_index": 0}
    code |= {"import_statement": "x", "code": "key", "next_line": "key()"}
    (data / "rb.jsonl").write_text(json.dumps(code) + "\n")
    with pytest.raises(UsageError, match="no folder of the repository"):
        RepoBench(path=str(data / "rb.jsonl"), root=str(data)).load()


@pytest.mark.parametrize("file", ["link.py", "folder/key.py", "../secret/key.py"])
def test_a_link_is_not_followed_because_an_annotation_names_it(tmp_path: Path, secret: Path, file: str) -> None:
    """What was annotated was read whatever it led to: a stranger's rows and links named any file of the machine."""
    clone = tmp_path / "data" / "clone"
    clone.mkdir()
    (clone / "a.py").write_text("def a():\n    return 1\n")
    (clone / "link.py").symlink_to(secret / "key.py")
    (clone / "folder").symlink_to(secret)
    rows = [
        {"query_id": name, "query": name, "repo": "clone", "file": name, "start_line": 1, "end_line": 2, "relevance": 1}
        for name in ("a.py", file)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    loader = Annotations(path=str(tmp_path / "rows.jsonl"), root=str(clone))
    with pytest.raises(UsageError, match=r"rows\.jsonl:2"):
        loader.load()
    skipping = Annotations(path=str(tmp_path / "rows.jsonl"), root=str(clone), problems="skip")
    try:
        dataset = skipping.load()
    except UsageError:
        return  # a path that climbs is malformed, not a row to be skipped
    assert b"hunter2" not in _contents(dataset)


def test_loops_pipes_devices_and_holes_are_left_out_with_a_reason(tmp_path: Path) -> None:
    """Links to themselves, to folders above, pipes, and a terabyte that takes no disk."""
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    with (tmp_path / "hole.py").open("wb") as file:
        file.truncate(2**40)
    os.mkfifo(tmp_path / ".gitignore")
    walked = walk(tmp_path, keep={"pipe.py", "hole.py", "loop.py", "up"})
    assert walked.paths == ("a.py",)
    assert dict(walked.skipped) == {
        "hole.py": "over 268435 kB",
        "loop.py": "symbolic link",
        "pipe.py": "not a file",
        ".gitignore": "not a file",
        "up": "symbolic link",
    }


def _tar(**files: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return made.getvalue()


def test_no_damage_of_an_archive_costs_files_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flipped bit, a lost end and a negative size are one line, wherever tarfile would take them for the end."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    noise = random.Random(1).randbytes(300_000)
    sound = _tar(one=noise, two=noise[:600], three=b"last")
    two = sound.index(b"two\0")
    turned = bytearray(sound)
    turned[two + 100] ^= 1
    zeros = bytearray(sound)
    zeros[two : two + 512] = bytes(512)
    negative = bytearray(sound)
    negative[two + 124 : two + 136] = b"\xff" * 10 + b"\xfe\0"
    negative[two + 148 : two + 156] = b" " * 8
    negative[two + 148 : two + 156] = b"%06o\0 " % sum(negative[two : two + 512])
    packed, squeezed = bytearray(gzip.compress(sound)), bytearray(bz2.compress(sound))
    packed[100_000] ^= 1
    squeezed[100_000] ^= 1
    damaged: dict[str, bytes | bytearray] = {
        "head.tar": turned, "zeros.tar": zeros, "negative.tar": negative, "cut.tar": sound[:two],
        "a.tar.gz": packed, "a.tar.bz2": squeezed,
    }  # fmt: skip
    for name, data in damaged.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UsageError, match=rf"{name} is damaged or truncated"):
            unpacked(tmp_path / name)
    (tmp_path / "sound.tar").write_bytes(sound)
    assert {path.name for path in unpacked(tmp_path / "sound.tar").iterdir()} == {"one", "two", "three"}


def test_what_was_unpacked_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that was changed, added, removed or replaced by a link in the cache is not searched."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.tar").write_bytes(_tar(one=b"1", two=b"2"))
    folder = unpacked(tmp_path / "a.tar")

    def removed() -> None:
        (folder / "two").unlink()

    def linked() -> None:
        (folder / "two").unlink()
        (folder / "two").symlink_to("/etc/passwd")

    def moved() -> None:
        folder.rename(tmp_path / "mine")
        folder.symlink_to(tmp_path / "mine")

    changes = (lambda: (folder / "one").write_bytes(b"?"),
               lambda: (folder / "four").write_bytes(b""), removed, linked, moved)  # fmt: skip
    for change in changes:
        change()
        assert unpacked(tmp_path / "a.tar") == folder
        assert (folder / "one").read_bytes() + (folder / "two").read_bytes() == b"12"
        assert not folder.is_symlink()
        assert not (folder / "four").exists()
    assert (tmp_path / "mine" / "one").read_bytes() == b"1"
    assert len(caplog.messages) == len(changes)
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name, f"{folder.name}.sha256"]
