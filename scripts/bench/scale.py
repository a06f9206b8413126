"""`python -m scripts.bench.scale`: time and memory of each stage as the corpus grows, and two workers."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import multiprocessing
import os
import re
import resource
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

# Run as a file, Python would look for modules in this folder only, not in the one above it.
from chunkers.sources import Folder, walk
from evaluation.config import make_config
from evaluation.experiment import stages
from evaluation.experiment.executors import Executor, Processes
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.progress import Progress
from evaluation.experiment.ray_engine import Ray
from evaluation.experiment.run import make_chunks, make_parts
from evaluation.experiment.session import Session
from evaluation.experiment.sharing import sharing
from evaluation.experiment.spread_work import spread_work
from evaluation.experiment.store import Store
from evaluation.types import CellKey
from ground_truth.miners.mixed import mine_code
from ground_truth.types import Annotation, Dataset, Query
from scripts.bench.random_vectors import RandomVectors

FACTORS = (1, 2, 4)
NAME = "site-packages"
EMBEDDER = "random"
"""With the default model's dimensions; hashed words would tie by the thousand, which a model's vectors do not."""
PARTS = 16
"""Files of a first round, four times."""
_MOST_MB = 2000
"""Memory limit of a process."""
ROUNDS = 3
"""The shortest counts, since others may use the machine."""
_DEFINITION = re.compile(rb"^ *(?:async )?def ([a-z]+_[a-z_]+[a-z])\(", re.MULTILINE)


class Corpus(NamedTuple):
    """Some files of a folder, and the number of queries."""

    root: Path
    paths: tuple[str, ...]
    queries: int
    chunker: str

    def cell(self, retriever: str) -> CellKey:
        """Return the cell that searches it."""
        return CellKey(NAME, self.chunker, EMBEDDER, retriever)


@click.command()
@click.option("--root", type=click.Path(path_type=Path), help="Folder of source files [this environment's packages].")
@click.option("--limit", type=click.FloatRange(min=0, min_open=True), help="Megabytes of source at 4× [all of it].")
@click.option("--chunker", default="cast:size=1500", show_default=True)
@click.option("--queries", default=200, show_default=True)
@click.option("--share", default=1.0, show_default=True, help="Part of the 1× corpus for one and two workers; 0: none.")
@click.option("--ray", "on_ray", is_flag=True, help="The two workers are nodes of a Ray cluster on this machine.")
@click.option("--sizes/--no-sizes", default=True, show_default=True, help="Measure 1×, 2× and 4×.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *,
    root: Path | None,
    limit: float | None,
    chunker: str,
    queries: int,
    share: float,
    on_ray: bool,
    sizes: bool,
    as_json: bool,
) -> None:
    """Chunk, index and search a tree of source files by random vectors and by BM25 at 1×, 2× and 4× the size."""
    root = root or Path(sysconfig.get_path("purelib"))
    began = time.perf_counter()
    chosen = sample(walk(root), None if limit is None else limit * 1e6)
    walked = time.perf_counter() - began
    rows = []
    for factor in FACTORS if sizes else ():
        corpus = Corpus(root, chosen[: len(chosen) * factor // FACTORS[-1]], queries, chunker)
        # A separate process: its peak memory is that of this size.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
            rows.append({"size": f"{factor}×", **alone.submit(measure, corpus).result()})
    some = chosen[: int(len(chosen) // FACTORS[-1] * share)]
    gains = {}
    if some:
        with _workers(on_ray=on_ray) as executors:
            gains = {name: gain(work, Corpus(root, some, queries, chunker), executors) for name, work in _WORK.items()}
    found = {"walk_seconds": walked, "load": os.getloadavg()[0], "sizes": rows, "two_workers": gains}
    click.echo(json.dumps(found, indent=1) if as_json else written(found))


def sample(folder: Folder, limit: float | None) -> tuple[str, ...]:
    """Return the files in a random order, so that any prefix is a fair sample, up to the limit."""
    paths = sorted(folder.paths, key=lambda path: hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest())
    if limit is None:
        return tuple(paths)
    chosen = []
    for path in paths:
        limit -= (folder.root / path).stat().st_size
        if limit < 0:
            break
        chosen.append(path)
    return tuple(chosen)


def loaded_dataset(corpus: Corpus) -> LoadedDataset:
    """Return the files as one repository, with the names of some functions as queries for their first lines."""
    folder = Folder(NAME, corpus.root, tuple(sorted(corpus.paths)))
    asked: list[Query] = []
    notes: list[Annotation] = []
    for path in corpus.paths:
        if path.endswith(".py") and (found := _DEFINITION.search(data := (corpus.root / path).read_bytes())):
            line = data.count(b"\n", 0, found.start()) + 1
            asked.append(Query(f"q{len(asked)}", found[1].decode().replace("_", " "), folder.name))
            notes.append(Annotation(asked[-1].id, folder.name, path, line, line))
        if len(asked) == corpus.queries:
            break
    dataset = Dataset(NAME, (folder,), tuple(asked), tuple(notes))
    return LoadedDataset(NAME, dataset, corpus="0", queries="0", annotations="0")


def measure(corpus: Corpus) -> dict[str, Any]:
    """Return the time of each stage, from an empty cache, and the peak memory."""
    seconds: dict[str, float] = {}
    peaks: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - the stage's value
        began = time.process_time(), time.perf_counter()
        value = work()
        seconds[name] = time.process_time() - began[0]
        seconds["wall"] = seconds.get("wall", 0.0) + time.perf_counter() - began[1]
        peaks[name] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return value

    with tempfile.TemporaryDirectory() as cache:
        session = _session(corpus, Path(cache))
        chunks = timed("chunk", lambda: stages.chunk(session, NAME, corpus.chunker))
        timed("embed", lambda: _embed(session, corpus))
        timed("dense", lambda: stages.retrieve(session, corpus.cell("dense")))
        timed("words", lambda: stages.words(session, NAME, corpus.chunker))
        timed("bm25", lambda: stages.retrieve(session, corpus.cell("bm25")))
        timed("score", lambda: [stages.score(session, corpus.cell(name)) for name in ("dense", "bm25")])
        stored = sum(file.stat().st_size for file in Path(cache).rglob("*") if file.is_file())
    return {
        "files": len(corpus.paths),
        "source_mb": sum((corpus.root / path).stat().st_size for path in corpus.paths) / 1e6,
        "chunks": len(chunks),
        "queries": len(session.dataset(NAME).dataset.queries),
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "peak_mb": {name: round(value) for name, value in peaks.items()},
        "stored_mb": stored / 1e6,
    }


def _session(corpus: Corpus, cache: Path) -> Session:
    config = make_config({"chunkers": (corpus.chunker,), "embedders": (EMBEDDER,), "measures": ("ndcg@10",)})
    plugins = {EMBEDDER: RandomVectors()}
    return Session(config, cache, plugins=plugins, datasets={NAME: loaded_dataset(corpus)})


def _embed(session: Session, corpus: Corpus) -> None:
    for part in stages.embedding_parts(session, NAME, corpus.chunker, EMBEDDER):
        stages.embed(session, part)


Work = Callable[[Corpus, Executor, Path], Callable[[], None]]
"""Prepares everything, and returns the function to time."""


@contextmanager
def _workers(*, on_ray: bool) -> Iterator[dict[str, Executor]]:
    """Provide one worker and two: processes, or nodes of a cluster that ends with the block."""
    executors: dict[str, Executor] = {"one": Processes(1), "two": Processes(2)}
    if not on_ray:
        yield executors
    else:
        with two_nodes():
            yield executors | {"two": Ray()}
    for executor in executors.values():
        executor.close()


class Nodes(NamedTuple):
    """A Ray cluster of two nodes."""

    cluster: Any
    room: dict[str, int]

    def lose_one(self) -> None:
        """Remove the node that was added last, with its running tasks, and let another one join."""
        self.cluster.remove_node(self.cluster.list_all_nodes()[-1])
        self.cluster.add_node(**self.room)


@contextmanager
def two_nodes() -> Iterator[Nodes]:
    """Run a cluster on this machine until the block ends."""
    import ray
    from ray.cluster_utils import Cluster

    room = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**room, "include_dashboard": False})
    cluster.add_node(**room)
    ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
    try:
        yield Nodes(cluster, room)
    finally:
        ray.shutdown()
        cluster.shutdown()


def gain(work: Work, corpus: Corpus, executors: Mapping[str, Executor]) -> dict[str, float]:
    """Return the seconds of one and of two workers on the same work, each from an empty cache; all have started.

    If others use the machine, wall-clock seconds say little: ``path`` is the processor time of this process plus that
    of its busiest worker, which is about what the work takes on free cores, or slightly more.
    """
    seconds = dict.fromkeys(executors, math.inf)
    paths = dict.fromkeys(executors, math.inf)
    for number, (name, executor) in itertools.product(range(ROUNDS + 1), executors.items()):
        # The first round is smaller, so that the workers start and import what each stage needs.
        chosen = corpus if number else corpus._replace(paths=corpus.paths[: max(4 * PARTS, len(corpus.paths) // 4)])
        with tempfile.TemporaryDirectory() as cache:
            timed = work(chosen, executor, Path(cache))
            began, here, there = time.perf_counter(), time.process_time(), _processor_times()
            timed()
            if number:
                seconds[name] = min(seconds[name], time.perf_counter() - began)
                busy = [spent - there.get(pid, 0.0) for pid, spent in _processor_times().items()]
                paths[name] = min(paths[name], time.process_time() - here + max(busy, default=0.0))
    found = {**seconds, "ratio": seconds["one"] / seconds["two"]}
    if isinstance(executors["two"], Ray):
        return found  # its workers are not children of this process, so their usage is unknown here
    return {**found, "path_ratio": paths["one"] / paths["two"], "path_one": paths["one"], "path_two": paths["two"]}


def _processor_times() -> dict[int, float]:
    """Return the processor seconds used by each process that this one has started."""
    found = {}
    for child in multiprocessing.active_children():
        if child.pid is not None and child.is_alive():
            fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
            found[child.pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def _chunk_all(corpus: Corpus, executor: Executor, cache: Path) -> Callable[[], None]:
    return functools.partial(_chunk, _session(corpus, cache), corpus, executor)


def _chunk(session: Session, corpus: Corpus, executor: Executor) -> None:
    failed = make_chunks(session, [corpus.cell("bm25")], executor, Progress())
    if failed:
        raise RuntimeError(next(iter(failed.values())))


def _mine_all(corpus: Corpus, executor: Executor, cache: Path) -> Callable[[], None]:
    def mine() -> None:
        with spread_work(Store(cache), executor):
            mine_code(Folder(NAME, corpus.root, tuple(sorted(corpus.paths))), ("docstrings", "comments"), limit=200)

    return mine


def _search_all(retriever: str, corpus: Corpus, executor: Executor, cache: Path) -> Callable[[], None]:
    session = _session(corpus, cache)
    _chunk(session, corpus, executor)  # the same session goes on to search, as in a run
    if retriever != "bm25":
        _embed(session, corpus)
    cell = corpus.cell(retriever)

    def search() -> None:
        with sharing(session, executor, [NAME]):
            failed: dict[CellKey, str] = {}
            blocks = make_parts(session, [cell], executor, Progress(), failed)
            if failed:
                raise RuntimeError(failed[cell])
            stages.retrieve(session, cell, blocks=blocks.get(cell, ()))

    return search


_WORK: dict[str, Work] = {
    "walking and chunking": _chunk_all,
    "mining": _mine_all,
    "indexing and searching by BM25": functools.partial(_search_all, "bm25"),
    "searching by vectors": functools.partial(_search_all, "dense"),
}


def written(found: dict[str, Any]) -> str:
    """Return the tables as text."""
    return "\n".join(_lines(found))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if found["sizes"]:
        yield from _table(found["sizes"])
        yield ""
        yield from _carried_on(found["sizes"][0], found["sizes"][-1])
    yield f"Seconds are of the processor. Walking the tree took {found['walk_seconds']:.1f} s."
    for name, both in found["two_workers"].items():
        yield f"Two workers on {name}: {both['one']:.1f} s → {both['two']:.1f} s, {both['ratio']:.2f} times one."
        if both.get("path_two"):
            yield (
                f"  Processor time of the busiest worker and of the process that divides: {both['path_one']:.1f} s → "
                f"{both['path_two']:.1f} s, {both['path_ratio']:.2f} times."
            )
    yield f"Load of the machine at the end: {found['load']:.1f} on {len(os.sched_getaffinity(0))} processors."


def _carried_on(first: dict[str, Any], last: dict[str, Any]) -> Iterator[str]:
    """Yield an extrapolation to more chunks: time and store in proportion, memory by its growth; none for one size."""
    if first["chunks"] == last["chunks"]:
        return
    seconds = sum(spent for name, spent in last["seconds"].items() if name != "wall") / last["chunks"]
    stored = last["stored_mb"] / last["chunks"]
    peak, before = (max(row["peak_mb"].values()) for row in (last, first))
    growth = (peak - before) / (last["chunks"] - first["chunks"])
    for chunks, name in ((10**7, "10⁷"), (10**9, "10⁹")):
        most = peak + growth * (chunks - last["chunks"])
        yield (
            f"Carried on to {name} chunks: {chunks * seconds / 3600:,.1f} hours of one core, "
            f"{chunks * stored / 1e3:,.0f} GB of store, a peak of {most / 1e3:,.1f} GB."
        )
    if growth > 0:
        within = (last["chunks"] + (_MOST_MB - peak) / growth) / 1e6
        yield f"The peak grows by {1e6 * growth:,.0f} bytes a chunk and passes 2 GB at {within:,.1f} × 10⁶ chunks."


def _table(sizes: Sequence[dict[str, Any]]) -> Iterator[str]:
    names = [name for name in sizes[0]["seconds"] if name != "wall"]
    yield (
        "| size | files | source MB | chunks | queries | "
        + " | ".join(f"{name} s" for name in names)
        + (" | all s | µs per chunk | store MB | peak MB |")
    )
    yield "|" + "---|" * (9 + len(names))
    for row in sizes:
        spent = sum(row["seconds"][name] for name in names)
        yield (
            f"| {row['size']} | {row['files']:,} | {row['source_mb']:.0f} | {row['chunks']:,} | {row['queries']} | "
            + " | ".join(f"{row['seconds'][name]:.1f}" for name in names)
            + f" | {spent:.1f} | {1e6 * spent / row['chunks']:,.0f} | {row['stored_mb']:.0f} |"
            f" {max(row['peak_mb'].values()):,.0f} |"
        )


if __name__ == "__main__":
    command()
