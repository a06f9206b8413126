"""Builds the case of each query: its ranking, its judgements, and the text behind both."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from chunkers.types import SizeUnit
from evaluation.experiment.chunk_table import ChunkTable, ChunkTexts
from evaluation.experiment.file_rulers import file_rulers, visible_bytes
from evaluation.experiment.gold_text import answer_key, gold_text
from evaluation.experiment.header_cost import header_cost
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.visible_chunks import searchable_rows, visible_sizes
from evaluation.types import Answer, Case, SearchSpace, TextCase, TextSpan
from ground_truth.overlap import Judgements
from ground_truth.types import Query
from indexing.types import Hit

_NO_ROWS = np.zeros(0, dtype=np.int64)


class CaseBuilder:
    """Builds the cases of one cell, without what no chosen measure needs."""

    def __init__(
        self,
        loaded: LoadedDataset,
        chunks: ChunkTable,
        judgements: Judgements,
        *,
        needs: Collection[str],
        units: Iterable[SizeUnit],
        embed: Callable[[Sequence[str]], np.ndarray],
        depth: int | None = None,
        vector_depth: int | None = None,
    ) -> None:
        self._chunks, self._needs, self._embed = chunks, needs, embed
        self._grades, self._answers = judgements.grades, judgements.answer_grades
        self._vector_depth = vector_depth
        self._rulers = {unit: file_rulers(chunks, unit, loaded) for unit in sorted(units)}
        self._bytes = visible_bytes(chunks, loaded) if loaded.dataset.hidden else None
        self._header_cost = functools.cache(header_cost)
        self._gold = gold_text(loaded.dataset, chunks.file_index, loaded.gold_lines)
        self._depth, self._scope, self._loaded = depth, loaded.dataset.scope, loaded
        self._spaces: dict[str, SearchSpace] = {}
        self._texts = ChunkTexts(chunks, range(len(chunks)), loaded)

    def cases(self, queries: Sequence[Query], ranking: Mapping[str, Sequence[Hit]]) -> list[Case]:
        """Return the cases of these queries; their vectors are fetched together, each text once."""
        cases = [self._case(query, ranking[query.id]) for query in queries]
        if "vectors" not in self._needs:
            return cases
        shown = [[hit.position for hit in ranking[query.id][: self._vector_depth]] for query in queries]
        rows = sorted({row for each in shown for row in each})
        place = {row: number for number, row in enumerate(rows)}
        vectors = self._embed([self._texts[row] for row in rows])
        return [
            replace(case, vectors=vectors[[place[row] for row in each]])
            for case, each in zip(cases, shown, strict=True)
        ]

    def _case(self, query: Query, hits: Sequence[Hit]) -> Case:
        chunks = self._chunks
        rows = [hit.position for hit in hits]
        gold = self._gold.get(query.id, [])
        spans = [self._span(row) for row in rows]
        text = None
        if "text" in self._needs:
            around = [self._span(row) for row in self._rows_around(gold)] if "chunks" in self._needs else None
            text = TextCase(spans, gold, self._rulers, self._header_costs(rows), around, self._bytes)
        return Case(
            query_id=query.id,
            ranking=[chunks.ids[row] for row in rows],
            grades=self._grades[query.id],
            text=text,
            nuggets=self._nuggets(gold) if "nuggets" in self._needs else None,
            space=self._space(query) if "space" in self._needs else None,
            answers=self._alternatives(query.id),
        )

    def _alternatives(self, query_id: str) -> list[Answer]:
        """Return the answers of a query that has several."""
        found = []
        for number, grades in enumerate(self._answers.get(query_id, ())):
            gold = self._gold.get(answer_key(query_id, number), [])
            found.append(Answer(grades, gold, self._nuggets(gold) if "nuggets" in self._needs else None))
        return found

    def _space(self, query: Query) -> SearchSpace:
        """Return the search space of the query, built once for all queries that share it."""
        name = "" if self._scope == "all" else query.repo
        if name not in self._spaces:
            chunks = self._chunks
            found = searchable_rows(self._loaded, chunks)
            wanted = list(found.values()) if self._scope == "all" else [found.get(query.repo, _NO_ROWS)]
            rows = np.concatenate([*wanted, _NO_ROWS])
            spans = np.stack([chunks.columns[column][rows].astype(np.int64) for column in ("file", "start", "end")], 1)
            sizes = {unit: self._units(unit, spans, rows) for unit in self._rulers}
            headers = {unit: np.array(costs) for unit, costs in self._header_costs(rows.tolist()).items()}
            self._spaces[name] = SearchSpace(spans, sizes, headers, depth=self._depth)
        return self._spaces[name]

    def _units(self, unit: SizeUnit, spans: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the sizes of spans in each unit that the measures use; a line that chunks share is counted once."""
        if unit != "lines":
            shown: np.ndarray = visible_sizes(self._loaded, self._chunks, unit)[rows].astype(np.int64)
            return shown
        sizes = np.zeros(len(spans), dtype=np.int64)
        for file in np.unique(spans[:, 0]).tolist():
            rows = spans[:, 0] == file
            begin, end = self._rulers[unit][file].at(spans[rows, 1:]).T
            sizes[rows] = end - begin
        return sizes

    def _span(self, row: int) -> TextSpan:
        columns = self._chunks.columns
        return TextSpan(int(columns["file"][row]), int(columns["start"][row]), int(columns["end"][row]))

    def _rows_around(self, gold: Sequence[TextSpan]) -> list[int]:
        """Return the row of every chunk in the files that hold gold."""
        files = self._chunks.columns["file"]
        return [
            row
            for file in sorted({span.file for span in gold})
            for row in range(int(np.searchsorted(files, file)), int(np.searchsorted(files, file, side="right")))
        ]

    def _header_costs(self, rows: Sequence[int]) -> dict[SizeUnit, list[int]]:
        headers = [self._chunks.header(row, self._loaded) for row in rows] if self._chunks.has_headers else []
        if not any(headers):
            return {}
        return {unit: [self._header_cost(header, unit) for header in headers] for unit in self._rulers}

    def _nuggets(self, gold: Sequence[TextSpan]) -> dict[str, frozenset[int]]:
        """Return the gold regions of every chunk that touches any, retrieved or not: the ideal is over all of them."""
        touched: dict[str, frozenset[int]] = {}
        for row in self._rows_around(gold):
            span = self._span(row)
            regions = frozenset(
                number
                for number, region in enumerate(gold)
                if region.file == span.file and self._shares_text(span, region)
            )
            if regions:
                touched[self._chunks.ids[row]] = regions
        return touched

    def _shares_text(self, span: TextSpan, region: TextSpan) -> bool:
        """Return whether a chunk shows any byte of a gold region."""
        start, end = max(span.start, region.start), min(span.end, region.end)
        return start < end and bool(self._loaded.visible(self._chunks.files[span.file], start, end))
