"""A pipe, a device or a socket in place of a file: one line and code 2, never a wait and never all of the memory."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command

from chunkers.errors import UsageError
from chunkers.input_files import read_input, read_text_input

QRELS, RUN = "q1 0 d1 1\n", "q1 Q0 d1 1 1.0 t\n"
COMMANDS = {
    "experiment": "compare {x}.toml",
    "annotations": "compare {code} --annotations {x}.jsonl",
    "annotations of a dataset": "qrels --dataset annotations:path={x}.jsonl,root={code} --chunker whole-file",
    "spans": "compare {code} --annotations {gold} --spans t={x}.jsonl",
    "chunker": "chunk {code} --chunker {x}.py:Mine",
    "vectors": "compare {code} --annotations {gold} --chunker whole-file --embedder precomputed:path={x}.npz",
    "plan": "plan {x}.toml",
    "plan with annotations": "plan {code} --annotations {x}.jsonl",
    "nightly": "nightly {x}.toml",
    "history": "history list --history {x}.toml",
    "qrels of a score": "score --qrels {x}.txt --run {run}",
    "run of a score": "score --qrels {qrels} --run {x}.txt.gz",
    "reference of a score": "score --qrels {qrels} --run {run} --reference {x}.txt -m rbo",
    "spans of a score": "score --spans {x}.jsonl --dataset annotations:path={gold},root={code}",
    "views of a score": "score --views {x}.jsonl --dataset annotations:path={gold},root={code}",
    "questions": "annotate {x}.txt {code} --json",
    "rows that are checked": "annotate --check {x}.jsonl {code}",
    "candidates": "recommend {code} --candidates {x}.txt",
    "annotations of recommend": "recommend {code} --annotations {x}.jsonl --candidates whole-file",
    "code": "chunk {x}.py",
    "mined code": "mine {x}.py",
    "code that is compared": "compare {x}.py",
    "results": "report {x}.json",
    "plug-in": "check-plugin chunker {x}.py:Mine",
    "JSON set": "compare --dataset simple-json:path={x}.json",
    "table": "compare --dataset repobench:path={x}.parquet",
    "rows": "compare --dataset crosscodeeval:path={x}.jsonl",
}


@pytest.fixture(params=["pipe", "device", "socket"])
def strange(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Return a path that, with any extension, leads to something without an end."""
    pipe, bound = tmp_path / "fifo", tmp_path / "bound"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(bound))
        target = {"pipe": pipe, "device": Path("/dev/zero"), "socket": bound}[request.param]
        for extension in ("toml", "jsonl", "json", "py", "npz", "txt", "txt.gz", "parquet"):
            (tmp_path / f"strange.{extension}").symlink_to(target)
        yield tmp_path / "strange"


def test_every_input_is_a_file(strange: Path, repository: Path, chunkbench: Command, tmp_path: Path) -> None:
    """Each path of each command, one after another."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    places = {"code": repository, "gold": tmp_path / "gold.jsonl", "qrels": tmp_path / "qrels", "run": tmp_path / "run"}
    for name, written in COMMANDS.items():
        done = chunkbench(*written.format(x=strange, **places).split(), *_short(written))
        assert done.code == 2, (name, done)
        assert len(done.err.splitlines()) == 1, (name, done.err)
        assert "strange" in done.err, (name, done.err)


def _short(written: str) -> list[str]:
    """Return options with which a comparison needs no model."""
    wanted = written.startswith("compare") and ".toml" not in written and "--embedder" not in written
    return ["--retriever", "bm25", "--chunker", "whole-file", "--engine", "serial", "--quiet"] if wanted else []


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """One of exactly so many bytes is read, one of a byte more, a hole included, is not; a folder is no file."""
    file = tmp_path / "a"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    assert read_input(file, largest=9) == file.read_bytes()
    assert read_text_input(file) == "a\nb\n"
    for read in (read_input, read_text_input):
        with pytest.raises(UsageError, match="has over 8 bytes"):
            read(file, largest=8)
        with pytest.raises(IsADirectoryError):
            read(tmp_path)
    os.truncate(file, 2**40)
    with pytest.raises(UsageError, match="is it the right file"):
        read_input(file)


def test_a_pipe_among_the_files_of_a_run_is_a_damaged_file(
    repository: Path, chunkbench: Command, tmp_path: Path
) -> None:
    """In a results folder it is one line and code 2; in a history, the run is damaged as by any other edit."""
    config, history = tmp_path / "x.toml", tmp_path / "history"
    config.write_text(
        f'datasets = ["annotations:path={tmp_path}/gold.jsonl,root={repository}"]\n'
        'chunkers = ["fixed-lines", "whole-file"]\nretrievers = ["bm25"]\nmeasures = ["hit@5"]\nheadline = "hit@5"\n'
        '[run]\nengine = "serial"\n[nightly]\nhistory = "history"\n'
    )
    assert chunkbench("nightly", config, "--quiet").code == 0
    assert chunkbench("history", "accept", "1", "--why", "good", "--history", history).code == 0
    run = history / "runs" / "00001"
    for file in (run / "results.json", run / "scores.parquet", history / "accepted.jsonl", run / "run.json"):
        kept = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        if file.suffix in (".json", ".parquet") and file.name != "run.json":
            assert chunkbench("report", run, "--out", tmp_path / "out").code == 2
        done = chunkbench("history", "verify", "--history", history)
        assert (done.code, "Traceback" in done.err) in {(1, False), (2, False)}, file
        assert file.name in done.err + done.out
        file.unlink()
        file.write_bytes(kept)
    assert chunkbench("history", "verify", "--history", history).code == 0
