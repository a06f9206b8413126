"""Every input format, as a valid example and its reader: on corrupted input, it may only raise UsageError."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from chunkers.errors import UsageError


class Target(NamedTuple):
    """A format: a valid example, and its reader. ``read`` gets a folder with the corrupted bytes in place."""

    name: str
    good: bytes
    read: Callable[[Path, bytes], object]


ROW = {"query_id": "q1", "query": "where is a", "repo": "r", "file": "a.py", "start_line": 1, "end_line": 2,
       "relevance": 1, "commit": None, "mask": None}  # fmt: skip
CODE = b"def a():\n    return 1\n\n\ndef b():\n    return 2\n"
PATCH = b"""diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def x
 def a():
-    return 1
+    return 2
 
@@ -5,2 +5,3 @@
 def b():
     return 2
+
\\ No newline at end of file
"""  # noqa: W293 - a context line of a diff begins with a space
TOML = b"""datasets = ["mined:root=code"]
chunkers = ["cast:size=1500", "fixed-lines:lines=50,overlap=5"]
retrievers = ["bm25"]
embedders = ["hashing:dimensions=64"]
measures = ["ndcg@10", "recall@4000tok"]
headline = "ndcg@10"
seed = 3

[nightly]
history = "history"
fetch = false
measures = ["ndcg@10"]
minimum_effect = 0.01
keep = 90
"""


_ROW_PROBLEM = re.compile(r".+:\d+: |and [\d,]+ more problems|[\d,]+ rows")


def targets(home: Path) -> list[Target]:
    """Return all formats; files that a valid example needs beside it are created in the folder."""
    return [*_texts(), *_tables(), *_stored(home)]


def finding(target: Target, home: Path, data: bytes) -> str:
    """Return what is wrong with how the data was read, or nothing: a result or a one-line UsageError is right."""
    try:
        target.read(home, data)
    except UsageError as error:
        # Several problems of one file are several lines, each with its row.
        plain = "\n" not in str(error) or all(map(_ROW_PROBLEM.match, str(error).split("\n")))
        return "" if plain else "an error of several lines"
    except Exception as error:  # noqa: BLE001 - any other exception is what this looks for
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else ""
        return f"{type(error).__name__} at {where}: {str(error)[:120]!r}"
    return ""


def _texts() -> Iterator[Target]:
    from chunkers.plugins import Spec
    from chunkers.sources import walk
    from evaluation.config import load_config
    from evaluation.measures.registry import parse_measure
    from evaluation.trec import read_qrels, read_run
    from ground_truth.annotations import read_rows
    from ground_truth.datasets.codesearchnet import read_judgements
    from ground_truth.jsonl import read_records
    from ground_truth.patches import fit, parse_patch
    from indexing.encoders.openai import _rows
    from indexing.encoders.remote import _parsed

    rows = b"".join(json.dumps({**ROW, "query_id": f"q{number}"}).encode() + b"\n" for number in range(3))

    def in_file(name: str, read: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
        def reading(home: Path, data: bytes) -> object:
            (home / name).write_bytes(data)
            return read(home / name)

        return reading

    def records(path: Path) -> object:
        return [(one.text("query"), one.number("start_line")) for one in read_records(path)]

    def patch(home: Path, data: bytes) -> object:
        del home
        return [fit(one, CODE) for one in parse_patch(data.decode("utf-8", "replace"), where="x")]

    def spec(home: Path, data: bytes) -> object:
        del home
        return Spec.parse(data.decode("utf-8", "replace"))

    def reply(home: Path, data: bytes) -> object:
        del home
        try:
            return _rows(_parsed(data), 2)
        except ValueError as error:  # the exception that `post` makes of a fault
            raise UsageError("a malformed reply") from error

    def rules(home: Path, data: bytes) -> object:
        (home / "walked" / "x").mkdir(parents=True, exist_ok=True)
        (home / "walked" / "x" / "a.py").write_bytes(CODE)
        (home / "walked" / ".gitignore").write_bytes(data)
        return walk(home / "walked")

    def code(home: Path, data: bytes) -> object:
        (home / "sources").mkdir(exist_ok=True)
        (home / "sources" / "a.py").write_bytes(data)
        return list(walk(home / "sources", keep={"a.py"}).files())

    judged = (
        b"Language,Query,GitHubUrl,Relevance,Notes\nPython,q,https://github.com/o/r/blob/"
        + b"a" * 40
        + b"/m.py#L1-L2,3,\n"
    )
    reply_body = json.dumps({"data": [{"index": at, "embedding": [0.5, 0.1]} for at in range(2)]}).encode()
    yield Target("annotations", rows, in_file("rows.jsonl", read_rows))
    yield Target("records as lines", rows, in_file("records.jsonl", records))
    yield Target("records as JSON", json.dumps([ROW, ROW]).encode(), in_file("records.json", records))
    yield Target("qrels", b"q1 0 d1 1\nq1 0 d2 0.5\nq2 0 d1 2\n", in_file("a.qrels", read_qrels))
    yield Target("run", b"q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d1 1 3 t\n", in_file("a.run", read_run))
    yield Target("packed run", gzip.compress(b"q1 Q0 d1 1 0.9 t\n" * 3, mtime=0), in_file("b.run.gz", read_run))
    yield Target("experiment", TOML, in_file("x.toml", load_config))
    yield Target("patch", PATCH, patch)
    yield Target("judgements as CSV", judged, in_file("store.csv", read_judgements))
    yield Target(".gitignore", b"*.pyc\n/build/\n!keep.py\n**/x/*.py\n[a-z]*\n\\#a\n", rules)
    yield Target("source file", CODE, code)
    yield Target("spec", b"cast:size=1500,overlap=2", spec)
    yield Target("measure", b"recall@4000tok", lambda _home, data: parse_measure(data.decode("utf-8", "replace")))
    yield Target("reply", reply_body, reply)


def _tables() -> Iterator[Target]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from chunkers.tokens import cache_folder
    from ground_truth.archives import unpacked
    from ground_truth.datasets.beir import Beir
    from ground_truth.datasets.simple_json import SimpleJson
    from ground_truth.jsonl import read_records
    from indexing.encoders.precomputed import Precomputed, _read, text_key

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([ROW] * 3), buffer)

    def parquet(home: Path, data: bytes) -> object:
        (home / "rows.parquet").write_bytes(data)
        return list(read_records(home / "rows.parquet"))

    yield Target("Parquet", buffer.getvalue(), parquet)

    packed = io.BytesIO()
    np.savez(packed, keys=np.array([text_key("a"), text_key("b")]), vectors=np.eye(2, dtype=np.float32))

    def npz(home: Path, data: bytes) -> object:
        (home / "v.npz").write_bytes(data)
        _read.cache_clear()
        return Precomputed(path=str(home / "v.npz")).encode(["a", "b"], kind="document")

    yield Target("npz", packed.getvalue(), npz)

    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        entry = tarfile.TarInfo("r/a.py")
        entry.size = len(CODE)
        tar.addfile(entry, io.BytesIO(CODE))

    def archive(home: Path, data: bytes) -> object:
        (home / "a.tar.gz").write_bytes(data)
        try:
            return unpacked(home / "a.tar.gz")
        finally:
            shutil.rmtree(cache_folder() / "archives", ignore_errors=True)

    yield Target("archive", tarred.getvalue(), archive)

    lines = {
        "corpus.jsonl": b'{"_id": "d1", "title": "t", "text": "def a"}\n{"_id": "d2", "text": "def b"}\n',
        "queries.jsonl": b'{"_id": "q1", "text": "where"}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    }

    def beir(part: str) -> Callable[[Path, bytes], object]:
        def reading(home: Path, data: bytes) -> object:
            folder = home / "beir"
            (folder / "qrels").mkdir(parents=True, exist_ok=True)
            for name, good in lines.items():
                (folder / name).write_bytes(data if name == part else good)
            loaded = Beir(path=str(folder)).load()
            for each in loaded.repositories:
                list(each.files())
            return loaded

        return reading

    for part, good in lines.items():
        yield Target(f"BEIR {part}", good, beir(part))

    content = {"name": "s", "queries": [{"id": "1", "text": "where", "relevant": ["a.py:1-2", "a.py"]}]}

    def simple(home: Path, data: bytes) -> object:
        (home / "code").mkdir(exist_ok=True)
        (home / "code" / "a.py").write_bytes(CODE)
        (home / "set.json").write_bytes(data)
        return SimpleJson(path=str(home / "set.json"), root=str(home / "code")).load()

    yield Target("simple JSON", json.dumps(content).encode(), simple)


def _stored(home: Path) -> Iterator[Target]:
    yield from _cache(home)
    yield from _runs(home)


def _cache(home: Path) -> Iterator[Target]:
    from evaluation.experiment.store import StageKey, Store
    from evaluation.history.accepted import acceptances
    from evaluation.history.folder import History
    from indexing import cache_upkeep
    from indexing.embedding_cache import EmbeddingCache
    from indexing.encoders.hashing import Hashing

    key = StageKey("chunk", {"corpus": "abc", "chunker": {"size": 3}})
    Store(home / "stages").put(key, lambda folder: _write(folder / "value.json", b'{"a": 1}'))
    entry = Store(home / "stages").folder(key)
    good = {file.name: file.read_bytes() for file in entry.iterdir()}

    def store(name: str) -> Callable[[Path, bytes], object]:
        def reading(home: Path, data: bytes) -> object:
            entry.mkdir(parents=True, exist_ok=True)
            for other, content in good.items():
                (entry / other).write_bytes(data if other == name else content)
            held = Store(home / "stages")
            list(held.entries("chunk"))
            held.has(key)
            held.damaged()
            found = held.get(key, lambda folder: (folder / "value.json").read_bytes())
            if found not in (None, b'{"a": 1}'):
                raise AssertionError("a changed entry is believed")
            return found

        return reading

    for name, content in good.items():
        yield Target(f"store {name}", content, store(name))

    texts = [f"text number {number}" for number in range(6)]
    right = EmbeddingCache(home / "vectors").embed(Hashing(dimensions=16), texts, kind="document")
    group = EmbeddingCache(home / "vectors").group(Hashing(dimensions=16), kind="document")
    held = {file.name: file.read_bytes() for file in group.iterdir() if file.name != ".lock"}

    def vectors(name: str) -> Callable[[Path, bytes], object]:
        def reading(home: Path, data: bytes) -> object:
            for other, content in held.items():
                (group / other).write_bytes(data if other == name else content)
            cache_upkeep.groups(home / "vectors")
            cache_upkeep.verify(home / "vectors", repair=False)
            cache = EmbeddingCache(home / "vectors")
            cache.rate(Hashing(dimensions=16))
            with mock.patch("warnings.warn"):
                found = cache.embed(Hashing(dimensions=16), texts, kind="document")
            if not np.array_equal(found, right):
                raise AssertionError("other vectors")
            return found

        return reading

    for name, content in held.items():
        yield Target(f"vectors {name}", content, vectors(name))

    def accepted(home: Path, data: bytes) -> object:
        (home / "history").mkdir(exist_ok=True)
        (home / "history" / "accepted.jsonl").write_bytes(data)
        return acceptances(History(home / "history"))

    line = {"run": 1, "who": "a", "why": "b", "time": "2026-01-01T00:00:00+00:00"}
    yield Target("acceptances", json.dumps(line).encode() + b"\n", accepted)


def _runs(home: Path) -> Iterator[Target]:
    """Yield the files of a results folder and of a history, as the commands write them."""
    from evaluation.history.baseline import find_baseline
    from evaluation.history.folder import History
    from evaluation.results.folder import read_results

    code = home / "run" / "code"
    code.mkdir(parents=True)
    for word in ("apple", "bolt", "candle"):
        (code / f"{word}.py").write_text(
            f"def make_{word}(size):\n    return size\n\n\nclass {word.title()}:\n    pass\n"
        )
    rows = [{**ROW, "query_id": word, "repo": "code", "file": f"{word}.py"} for word in ("apple", "bolt", "candle")]
    (home / "run" / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = home / "run" / "x.toml"
    config.write_text(
        f'datasets = ["annotations:path={home}/run/gold.jsonl,root={code}"]\n'
        'chunkers = ["fixed-lines:lines=3", "whole-file"]\n'
        'retrievers = ["bm25"]\nembedders = ["hashing"]\nmeasures = ["hit@5"]\nheadline = "hit@5"\nflips = 100\n'
        '[run]\nengine = "serial"\n[nightly]\nhistory = "history"\n'
    )
    for arguments in (("compare", str(config), "--out", str(home / "run" / "out")), ("nightly", str(config))):
        subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "scripts", *arguments],
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
        )

    def file_of(folder: Path, name: str, read: Callable[[], object]) -> Target:
        good = (folder / name).read_bytes()

        def reading(_home: Path, data: bytes) -> object:
            (folder / name).write_bytes(data)
            try:
                return read()
            finally:
                (folder / name).write_bytes(good)

        return Target(f"{folder.name} {name}", good, reading)

    out = home / "run" / "out"
    for name in ("results.json", *(f"{table}.parquet" for table in ("queries", "scores", "curves", "hits", "texts"))):
        yield file_of(out, name, lambda: read_results(out, rankings=True))
    history = History(home / "run" / "history")

    def whole_history() -> object:
        found = history.records()
        return [(find_baseline(history), history.means(record), history.results(record)) for record in found.runs]

    for name in ("run.json", "results.json", "scores.parquet"):
        yield file_of(history.folder(1), name, whole_history)


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings about damaged entries, which are intended here."""
    import logging

    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
