"""The data of the query explorer: what each chunker returned, small enough to be embedded in the page."""

from __future__ import annotations

import base64
import gzip
import json
import math
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from chunkers.writable import valid_text
from evaluation.report.explorer_texts import ExplorerTexts
from evaluation.report.formats import decimals, measure_of, scale
from evaluation.report.view import View
from evaluation.results.types import HitRecord, QueryRecord, Results

_LEVEL = 6
"""gzip level: the highest one takes more than twice as long for one per cent less."""
_BEST_GAIN = 0.65
"""Best compression relative to the fastest: 0.8 for source code, and never less than this."""
_COLOURS = 0.08
"""The least that colours add to compressed source code; an eighth is usual."""
_WORTH_A_LOOK = 3
"""Multiple of the limit: less text than this nearly always fits after compression."""


class Packed(NamedTuple):
    """Compressed data, and what had to be left out to fit."""

    data: str
    note: str


class _Fill(NamedTuple):
    """How much is kept: results of a query, queries, lines of a result, whole files, colours; None means all."""

    hits: int
    queries: int | None = None
    lines: int | None = None
    files: bool = True
    colours: bool = True


_FILLS = [_Fill(10), _Fill(5), _Fill(5, colours=False), _Fill(5, files=False, colours=False)]
_FILLS += [_Fill(3, None, lines, files=False, colours=False) for lines in (None, 40)]
_FILLS += [_Fill(3, queries, 40, files=False, colours=False) for queries in (400, 150)]
_FILLS += [_Fill(3, 50, 30, files=False, colours=False), _Fill(2, 20, 20, files=False, colours=False)]


def pack(results: Results, views: list[View], *, limit: int) -> Packed:
    """Return the fullest data that fits the limit; colours are skipped where the rest leaves no room for them."""
    plain = _FILLS.index(next(fill for fill in _FILLS if not fill.colours))
    first, known = 0, dict[_Fill, Packed | None]()
    if _characters(results) > _WORTH_A_LOOK * limit:
        # Computing colours takes longest, and large results have no room for them.
        known[_FILLS[plain]] = without = _packed(results, views, _FILLS[plain], limit=limit)
        size = len(without.data) if without else limit + 1
        first = 0 if size * (1 + _COLOURS) <= limit else plain if size <= limit else plain + 1
    packed = Packed("", "")
    for fill in _FILLS[first:]:
        made = known[fill] if fill in known else _packed(results, views, fill, limit=limit)
        packed = made or packed
        if made and len(made.data) <= limit:
            break
    return packed


def _packed(results: Results, views: list[View], fill: _Fill, *, limit: int) -> Packed | None:
    """Return the compressed data; None where it is far too large, unless there is no smaller one."""
    raw = _written(results, views, fill)
    if _too_large(raw, limit) and fill != _FILLS[-1]:
        return None
    # mtime 0: the same results give the same page.
    data = base64.b64encode(gzip.compress(raw, _LEVEL, mtime=0)).decode()
    return Packed(data, _note(fill, len(max((view.queries for view in views), key=len, default=()))))


def _characters(results: Results) -> int:
    return sum(map(len, results.texts.values())) + sum(len(file.text) for file in results.files.values())


def _written(results: Results, views: list[View], fill: _Fill) -> bytes:
    data = explorer_data(results, views, fill)
    return valid_text(json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)).encode()


def _too_large(raw: bytes, limit: int) -> bool:
    """Return whether data is too large even with the best compression."""
    return len(raw) > limit and _BEST_GAIN * 4 / 3 * len(zlib.compress(raw, 1)) > limit


def explorer_data(results: Results, views: Sequence[View], fill: _Fill = _FILLS[0]) -> dict[str, Any]:
    """Return settings with scores and results; queries, texts and cuts once, however many settings share them."""
    texts = ExplorerTexts(results, lines=fill.lines, colours=fill.colours)
    kept = {view.setting.dataset: _most_different(views, view.setting.dataset, fill.queries) for view in views}
    if fill.files:
        for dataset, queries in kept.items():
            texts.add_files(dataset, [query for query, _ in queries])
    settings = []
    for view in views:
        dataset = view.setting.dataset
        cells = []
        for row in view.rows:
            values = row.cell.scores.get(view.headline, np.full(len(view.queries), np.nan))
            mark = view.marks[row.chunker]
            cells.append(
                {
                    "chunker": row.chunker,
                    "mark": [mark.number, mark.colour],
                    "scores": [_rounded(values[k]) for _, k in kept[dataset]],
                    "hits": [
                        _numbers(texts, dataset, query, row.cell.hits.get(query.id, ())[: fill.hits])
                        for query, _ in kept[dataset]
                    ],
                }
            )
        settings.append({**_facts(view), "dataset": list(kept).index(dataset), "cells": cells})
    asked = [[_query(query) for query, _ in found] for found in kept.values()]
    return {"settings": settings, "queries": asked, **texts.packed(list(kept))}


def _facts(view: View) -> dict[str, Any]:
    measure = measure_of(view.headline)
    in_tokens = measure.budget_unit == "tokens"
    return {
        "title": view.setting.title,
        "headline": view.headline,
        "scale": scale(measure),
        "digits": decimals(measure),
        "budget": measure.budget if in_tokens else None,
    }


def _numbers(texts: ExplorerTexts, dataset: str, query: QueryRecord, hits: Sequence[HitRecord]) -> list[int]:
    return [texts.add(dataset, query.repo, hit) for hit in hits]


def _most_different(views: Sequence[View], dataset: str, most: int | None) -> list[tuple[QueryRecord, int]]:
    """Return the queries to keep, with their indices: all, or those on which the chunkers' scores differ most."""
    mine = [view for view in views if view.setting.dataset == dataset]
    everything = list(enumerate(mine[0].queries))
    columns = [
        np.array([row.cell.scores[view.headline] for row in view.rows if view.headline in row.cell.scores])
        for view in mine
    ]
    spreads = [np.nan_to_num(np.ptp(column, axis=0)) for column in columns if len(column)]
    if most is None or len(everything) <= most or not spreads:
        return [(query, k) for k, query in everything]
    first = sorted(np.argsort(-np.max(spreads, axis=0), kind="stable")[:most].tolist())
    return [(everything[k][1], k) for k in first]


def _query(query: QueryRecord) -> dict[str, Any]:
    return {
        "id": query.id,
        "text": query.text,
        "repo": query.repo,
        "language": query.language or "",
        "kind": query.kind,
        "gold": [list(gold) for gold in query.gold],
    }


def _rounded(value: float) -> float | None:
    return None if not math.isfinite(value) else round(float(value), 4)


def _note(fill: _Fill, queries: int) -> str:
    if fill == _FILLS[0]:
        return ""
    parts = [f"the first {fill.hits} results of each query"]
    if fill.queries is not None and fill.queries < queries:
        parts.append(f"of {queries:,} queries the {fill.queries} on which the chunkers differ most")
    if fill.lines is not None:
        parts.append(f"the first {fill.lines} lines of a result")
    missing = [name for name, kept in (("syntax colours", fill.colours), ("whole files", fill.files)) if not kept]
    without = f", and no {' and no '.join(missing)}" if missing else ""
    return f"To keep this page small it holds {', '.join(parts)}{without}; the results folder has everything."
