"""Runs a tool on every query of a dataset: its answers become a span run."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from chunkers.sources import Repository
from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import CorpusFile
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.machine import machine
from evaluation.experiment.span_places import Place, PlaceError, PlaceFinder, SpanRun
from evaluation.results.facts import CostFacts
from evaluation.tools.answers import check_order, read_place
from evaluation.tools.asking import FunctionTool, Question, Tool, ToolError
from evaluation.tools.workspace import Workspace, lay_out
from ground_truth.hidden import blanked
from ground_truth.types import Query


def run_tool(tool: Tool, loaded: LoadedDataset, *, depth: int, units: Iterable[SizeUnit] = ()) -> SpanRun:
    """Return the tool's ranking for every query; places beyond the depth are dropped and counted."""
    asking = _Asking(tool, loaded, depth, PlaceFinder(loaded, units=units))
    dataset = loaded.dataset
    started = time.perf_counter()
    if dataset.scope == "all":
        asking.ask(dataset.repositories, dataset.queries)
    else:
        for repository in dataset.repositories:
            asking.ask([repository], [query for query in dataset.queries if query.repo == repository.name])
    slow = asking.seconds or [0.0]
    return SpanRun(
        tool.name,
        asking.places,
        seconds={"retrieve": time.perf_counter() - started},
        diagnostics={
            "query_seconds_p50": round(float(np.quantile(slow, 0.5)), 6),
            "query_seconds_p95": round(float(np.quantile(slow, 0.95)), 6),
            "answers_cut_off": float(asking.cut_answers),
            "places_cut_off": float(asking.cut_places),
        },
        cost=_cost(tool, asking.seconds),
    )


def _cost(tool: Tool, seconds: Sequence[float]) -> CostFacts:
    """Return the cost of querying; whether a user's command has an index, and its cost, is unknown here."""
    timed = CostFacts(
        query_seconds_p50=float(np.quantile(seconds, 0.5)) if seconds else None,
        query_seconds_p95=float(np.quantile(seconds, 0.95)) if seconds else None,
        queries_timed=len(seconds),
        machine=machine(),
    )
    if not isinstance(tool, FunctionTool):
        return timed
    # The built-in tools search the files themselves.
    return replace(
        timed, index_bytes=0, texts_embedded=0, tokens_embedded=0, embed_seconds=0, index_seconds=0, build_seconds=0
    )


class _Asking:
    """Queries a tool, repository by repository, and collects its answers."""

    def __init__(self, tool: Tool, loaded: LoadedDataset, depth: int, finder: PlaceFinder) -> None:
        self.places: dict[str, list[Place]] = {}
        self.seconds: list[float] = []
        self.cut_answers = self.cut_places = 0
        self._tool, self._loaded, self._depth, self._finder = tool, loaded, depth, finder

    def ask(self, repositories: Sequence[Repository], queries: Sequence[Query]) -> None:
        """Start the tool on copies of these repositories' files, as an index would see them, and query it."""
        if not queries:
            return
        loaded = self._loaded
        with tempfile.TemporaryDirectory(prefix="chunkbench-tool-") as folder:
            space = lay_out(
                Path(folder),
                repositories,
                lambda source: blanked(
                    source.data, loaded.hidden_ranges(CorpusFile(source.repo, source.path, source.language))
                ),
            )
            with self._tool.open(space.root) as answer:
                for query in queries:
                    started = time.perf_counter()
                    found = answer(Question(query.id, query.text, query.repo))
                    self.seconds.append(time.perf_counter() - started)
                    self.places[query.id] = self._found(found, query, space)

    def _found(self, answer: Sequence[object], query: Query, space: Workspace) -> list[Place]:
        if len(answer) > self._depth:
            self.cut_answers += 1
            self.cut_places += len(answer) - self._depth
        found = []
        higher = math.inf
        for rank, value in enumerate(answer[: self._depth], start=1):
            try:
                higher = check_order(value, higher, rank=rank)
                row = space.place(read_place(value, rank=rank))
                found.append(self._finder.find(row, query))
            except ToolError as error:
                raise ToolError(f"query {query.id!r}, {error}") from None
            except PlaceError as error:
                raise ToolError(f"query {query.id!r}, place {rank}: {error}") from None
        return found
