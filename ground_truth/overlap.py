"""From annotated lines to relevant chunks, by a named rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from chunkers.errors import UsageError
from ground_truth.intervals import Intervals, Pairs, overlapping
from ground_truth.line_axis import ChunkLines, LineAxis, place_annotations
from ground_truth.rules import Rule
from ground_truth.types import Annotation, Qrels, Query

Strategy = Literal["qrels", "pack", "token-fallback"]
"""What determined which chunks are relevant to a query: annotations, the dataset's own function, or token F1."""

FRACTION = 1_000_000
"""The factor for fractional grades, because qrels hold integers."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """Qrels and the facts needed to interpret them."""

    qrels: Qrels
    rule: Rule
    scale: int
    """Grades in the qrels are those of the annotations times this: 1, or a million for fractions."""
    answers: Mapping[str, tuple[Mapping[str, int], ...]] = field(default_factory=dict)
    """The qrels of each alternative answer, for queries that have several; ``qrels`` holds their union."""
    strategies: Mapping[str, Strategy] = field(default_factory=dict)
    """The strategy of each query; empty if annotations determined all of them."""
    exact_matches: int | None = None
    """Queries whose expected answer occurs verbatim in a chunk; None if answers were not compared."""

    @property
    def strategy_counts(self) -> dict[str, int]:
        """The number of queries for each strategy."""
        counts = Counter(self.strategies.values() if self.strategies else ["qrels"] * len(self.qrels))
        return {name: counts[name] for name in get_args(Strategy)}

    @property
    def strategy_used(self) -> str:
        """The one strategy, or "mixed"; "none" without queries."""
        used = [name for name, count in self.strategy_counts.items() if count]
        return used[0] if len(used) == 1 else "mixed" if used else "none"

    @property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """The qrels in the annotations' own grades, which thresholds and exponential gains expect."""
        return {query: self._unscaled(row) for query, row in self.qrels.items()}

    @property
    def answer_grades(self) -> Mapping[str, tuple[Mapping[str, float], ...]]:
        """The same for each alternative answer."""
        return {query: tuple(map(self._unscaled, rows)) for query, rows in self.answers.items()}

    def _unscaled(self, row: Mapping[str, int]) -> Mapping[str, float]:
        return row if self.scale == 1 else {chunk: value / self.scale for chunk, value in row.items()}

    @property
    def relevant(self) -> dict[str, int]:
        """|REL| of each query."""
        return {query: len(grades) for query, grades in self.qrels.items()}

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The queries left without a relevant chunk."""
        return tuple(query for query, grades in self.qrels.items() if not grades)

    def report(self) -> dict[str, Any]:
        """Return the rule, how many chunks are relevant per query, and the share of queries that have none."""
        counts = np.array(list(self.relevant.values()) or [0])
        return {
            "rule": str(self.rule),
            "queries": len(self.qrels),
            "relevant_per_query": {
                "mean": round(float(counts.mean()), 4),
                "median": float(np.median(counts)),
                "max": int(counts.max()),
            },
            "uncovered_queries": len(self.uncovered),
            "uncovered_share": round(len(self.uncovered) / max(1, len(self.qrels)), 4),
            "grade_scale": self.scale,
            "strategyUsed": self.strategy_used,
            "strategyCounts": self.strategy_counts,
            "queriesWithRelevant": len(self.qrels) - len(self.uncovered),
            "exactMatches": self.exact_matches,
        }


class _Gold(NamedTuple):
    """Gold ranges in order of query and position: one per annotation, or one per region of overlapping ones."""

    query: np.ndarray
    lines: Intervals
    grade: np.ndarray
    size: np.ndarray


class _Relevant(NamedTuple):
    query: np.ndarray
    chunk: np.ndarray
    grade: np.ndarray


def make_qrels(
    rule: Rule, queries: Sequence[Query], annotations: Sequence[Annotation], chunks: ChunkLines
) -> Judgements:
    """Return the chunks that are relevant to each query; a query without any has an empty mapping.

    If a query has alternative answers, the rule is applied to each as if it were the only one, and a chunk that is
    relevant to any of them is relevant, with its highest grade.
    """
    if rule.name == "token_f1":
        raise UsageError(f"the rule {rule} compares texts: it cannot be laid over lines")
    names = alternatives(annotations)
    if not names:
        return _judge(rule, queries, annotations, chunks)
    # One pseudo-query per answer, numbered after its query: ids of queries hold no control characters.
    apart = [
        replace(query, id=answer) for query in queries for answer in _answer_ids(query.id, names.get(query.id, ()))
    ]
    notes = [replace(note, query_id=answer_id(note, names)) for note in annotations]
    found = _judge(rule, apart, notes, chunks)
    qrels: dict[str, dict[str, int]] = {}
    answers: dict[str, tuple[Mapping[str, int], ...]] = {}
    for query in queries:
        rows = [found.qrels[answer] for answer in _answer_ids(query.id, names.get(query.id, ()))]
        qrels[query.id] = {}
        for row in rows:
            for chunk, grade in row.items():
                qrels[query.id][chunk] = max(grade, qrels[query.id].get(chunk, 0))
        if len(rows) > 1:
            answers[query.id] = tuple(rows)
    return Judgements(qrels, rule, found.scale, answers)


def alternatives(annotations: Sequence[Annotation]) -> dict[str, list[str]]:
    """Return the names of the alternative answers of each query that has several, in order."""
    names: dict[str, set[str]] = {}
    for note in annotations:
        if note.grade > 0:
            names.setdefault(note.query_id, set()).add(note.alternative)
    return {query: sorted(found) for query, found in names.items() if len(found) > 1}


def answer_id(note: Annotation, names: Mapping[str, Sequence[str]]) -> str:
    """Return an id for the annotation's answer: its query's own if there is only one."""
    if note.query_id not in names or note.grade <= 0:
        return note.query_id
    return f"{note.query_id}\x1f{names[note.query_id].index(note.alternative)}"


def _answer_ids(query_id: str, names: Sequence[str]) -> list[str]:
    return [f"{query_id}\x1f{number}" for number in range(len(names))] or [query_id]


def _judge(rule: Rule, queries: Sequence[Query], annotations: Sequence[Annotation], chunks: ChunkLines) -> Judgements:
    numbers = {query.id: number for number, query in enumerate(queries)}
    annotations = [note for note in annotations if note.grade > 0]
    for note in annotations:
        if note.query_id not in numbers:
            raise UsageError(f"an annotation of {note.path} names query {note.query_id!r}, which is not there")
    gold = _gold(rule, annotations, numbers, chunks.axis)
    spread = chunks.lines.touched if rule.blank else chunks.lines.text
    found = _apply(rule, gold, overlapping(gold.lines, spread), chunks)
    whole = rule.name != "graded" and all(float(note.grade).is_integer() for note in annotations)
    scale = 1 if whole else FRACTION
    qrels: dict[str, dict[str, int]] = {query.id: {} for query in queries}
    grades = np.maximum(1, np.rint(found.grade * scale).astype(np.int64))
    for number, chunk, grade in zip(found.query.tolist(), found.chunk.tolist(), grades.tolist(), strict=True):
        known = qrels[queries[number].id]
        name = chunks.ids[chunk]
        known[name] = max(grade, known.get(name, 0))
    return Judgements(qrels, rule, scale)


def _gold(rule: Rule, annotations: Sequence[Annotation], numbers: Mapping[str, int], axis: LineAxis) -> _Gold:
    table = place_annotations(axis, annotations)
    lines = table.touched if rule.blank else table.text
    query = np.array([numbers[note.query_id] for note in annotations], dtype=np.int64)
    grade = np.array([note.grade for note in annotations], dtype=np.float64)
    order = np.lexsort((lines.last, lines.first, query))
    lines = Intervals(lines.first[order], lines.last[order])
    gold = _Gold(query[order], lines, grade[order], table.sizes[order])
    return gold if rule.name == "any" else _merge(gold, axis)


def _merge(gold: _Gold, axis: LineAxis) -> _Gold:
    """Join the overlapping ranges of a query to regions, each with the highest grade of its parts."""
    regions: list[list[float]] = []
    for query, first, last, grade in zip(gold.query, gold.lines.first, gold.lines.last, gold.grade, strict=True):
        if last < first:
            continue
        if regions and regions[-1][0] == query and first <= regions[-1][2]:
            regions[-1][2:] = [max(last, regions[-1][2]), max(grade, regions[-1][3])]
        else:
            regions.append([query, first, last, grade])
    columns = np.array(regions, dtype=np.float64).reshape(-1, 4).T
    whole = columns[:3].astype(np.int64)
    return _Gold(whole[0], Intervals(whole[1], whole[2]), columns[3], axis.count(whole[1], whole[2]))


def _apply(rule: Rule, gold: _Gold, pairs: Pairs, chunks: ChunkLines) -> _Relevant:
    left, right = pairs
    found = _Relevant(gold.query[left], right, gold.grade[left])
    if rule.name == "any":
        return found
    if rule.name == "min_cover":
        return _min_cover(gold, pairs, chunks)
    text = chunks.lines.text
    first = np.maximum(gold.lines.first[left], text.first[right])
    shared = chunks.axis.count(first, np.minimum(gold.lines.last[left], text.last[right]))
    if rule.name == "best_cover":
        order = np.lexsort((right, chunks.lines.sizes[right], -shared, left))
        best = order[np.unique(left[order], return_index=True)[1]]
        return _Relevant(*(column[best] for column in found))
    share = _share(rule, found, shared, gold.size[left], chunks.lines.sizes[right])
    if rule.name == "graded":
        return found._replace(grade=found.grade * share)
    # A small tolerance, so that 0.3 of ten lines is three lines, however the division rounds.
    kept = share >= rule.threshold - 1e-9
    return _Relevant(*(column[kept] for column in found))


def _share(rule: Rule, found: _Relevant, shared: np.ndarray, gold: np.ndarray, chunk: np.ndarray) -> np.ndarray:
    """Return for each pair the share that the rule looks at."""
    if rule.name == "iou" or (rule.name == "graded" and rule.share == "iou"):
        return np.asarray(shared / (gold + chunk - shared))
    if rule.name == "annotation_fraction" or (rule.name == "graded" and rule.share == "coverage"):
        return np.asarray(shared / gold)
    # The gold share of a chunk counts all regions of the query inside it; regions never overlap.
    _, pair_of = np.unique(np.stack((found.query, found.chunk)), axis=1, return_inverse=True)
    totals = np.bincount(pair_of.ravel(), weights=shared, minlength=1)
    return np.asarray(totals[pair_of.ravel()] / chunk)


def _min_cover(gold: _Gold, pairs: Pairs, chunks: ChunkLines) -> _Relevant:
    """Return the fewest chunks that hold all gold lines held by any chunk: greedily the one that reaches furthest."""
    # Regions have few chunks each: plain numbers are faster than arrays here.
    ends = chunks.lines.text.last[pairs.right].tolist()
    starts = chunks.lines.text.first[pairs.right].tolist()
    sizes = chunks.lines.sizes[pairs.right].tolist()
    bounds = np.searchsorted(pairs.left, np.arange(len(gold.query) + 1)).tolist()
    chosen: set[tuple[int, int]] = set()
    query, reached = -1, -1
    rows = zip(gold.query.tolist(), gold.lines.first.tolist(), gold.lines.last.tolist(), strict=True)
    for region, (owner, first, last) in enumerate(rows):
        if owner != query:
            query, reached = owner, -1
        options = range(bounds[region], bounds[region + 1])
        position = max(first, reached + 1)
        while options and (position := chunks.axis.next_text(position)) <= last:
            holding = [pair for pair in options if starts[pair] <= position <= ends[pair]]
            if holding:
                best = min(holding, key=lambda pair: (-ends[pair], sizes[pair], pair))
                chosen.add((query, int(pairs.right[best])))
                position = reached = ends[best]
            position += 1
    kept = np.array(
        [pair in chosen for pair in zip(gold.query[pairs.left].tolist(), pairs.right.tolist(), strict=True)], dtype=bool
    )
    return _Relevant(gold.query[pairs.left][kept], pairs.right[kept], gold.grade[pairs.left][kept])
