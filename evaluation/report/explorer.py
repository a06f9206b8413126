"""The data of the query explorer: what each chunker returned, small enough to travel inside the page."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluation.report.formats import decimals, scale, writable
from evaluation.report.linestore import LineStore, text_lines
from evaluation.report.view import View
from evaluation.results.types import HiddenPart, HitRecord, QueryRecord, Results

LIMIT = 3_900_000
"""Characters of packed data; the rest of a page of 5 MB is for everything else."""


_DENSEST = 7
"""Source code never packs tighter than this, so that much larger data need not be tried."""


class Packed(NamedTuple):
    """Compressed data, and what had to be left out to fit."""

    data: str
    note: str


class _Fill(NamedTuple):
    hits: int
    queries: int | None
    lines: int | None


_FILLS = [_Fill(10, None, None), _Fill(5, None, None), _Fill(3, None, None), _Fill(3, None, 40)]
_FILLS += [_Fill(3, 400, 40), _Fill(3, 150, 40), _Fill(3, 50, 30), _Fill(2, 20, 20)]


def pack(results: Results, views: list[View], *, limit: int = LIMIT) -> Packed:
    """Return the fullest data that fits the limit."""
    packed = Packed("", "")
    texts = {chunk_id: text_lines(text) for chunk_id, text in results.texts.items()}
    for fill in _FILLS:
        raw = json.dumps(
            explorer_data(texts, views, fill, results.hidden),
            ensure_ascii=False,
            separators=(",", ":"),
            allow_nan=False,
        )
        if len(raw) > _DENSEST * limit:
            continue
        # mtime 0: the same results give the same page.
        data = base64.b64encode(gzip.compress(writable(raw).encode(), 9, mtime=0)).decode()
        packed = Packed(data, _note(fill))
        if len(data) <= limit:
            break
    return packed


def explorer_data(
    texts: Mapping[str, list[str]],
    views: list[View],
    fill: _Fill,
    hidden: Mapping[tuple[str, str], Sequence[HiddenPart]],
) -> dict[str, Any]:
    """Return settings with their queries, scores and hits; texts as lines of files, each once."""
    store = LineStore()
    settings = []
    for view in views:
        kept = _most_different(view, fill.queries)
        repos = [view.queries[k].repo for k in kept]
        cells = []
        for row in view.rows:
            values = row.cell.scores.get(view.headline, np.full(len(view.queries), np.nan))
            hits = [row.cell.hits.get(view.queries[k].id, ())[: fill.hits] for k in kept]
            dataset = view.setting.dataset
            placed = [
                [
                    [
                        *_place(store, texts, f"{dataset}\0{repo}", hit, fill.lines),
                        hidden_lines(texts.get(hit.chunk_id, []), hidden.get((dataset, hit.chunk_id), ())),
                    ]
                    for hit in found
                ]
                for found, repo in zip(hits, repos, strict=True)
            ]
            cells.append({"chunker": row.chunker, "scores": [_rounded(values[k]) for k in kept], "hits": placed})
        settings.append(
            {
                "title": view.setting.title,
                "headline": view.headline,
                "scale": scale(view.headline),
                "digits": decimals(view.headline),
                "queries": [_query(view.queries[k]) for k in kept],
                "cells": cells,
            }
        )
    _add_cuts(settings, store)
    return {"settings": settings, "files": store.packed()}


def _most_different(view: View, most: int | None) -> list[int]:
    """Return the places of the queries to keep: all, or those on which the chunkers' scores spread most."""
    everything = list(range(len(view.queries)))
    columns = [row.cell.scores[view.headline] for row in view.rows if view.headline in row.cell.scores]
    if most is None or len(everything) <= most or not columns:
        return everything
    spread = np.nan_to_num(np.ptp(np.array(columns), axis=0))
    return sorted(np.argsort(-spread, kind="stable")[:most].tolist())


def _query(query: QueryRecord) -> dict[str, Any]:
    return {
        "id": query.id,
        "text": query.text,
        "repo": query.repo,
        "language": query.language or "",
        "kind": query.kind,
        "gold": [list(gold) for gold in query.gold],
    }


def _place(store: LineStore, texts: Mapping[str, list[str]], scope: str, hit: HitRecord, most: int | None) -> list[Any]:
    """Return [file, first line, lines, lines not shown, score, lines]; the last is replaced by its cuts later."""
    pieces = texts.get(hit.chunk_id)
    length = hit.end_line - hit.start_line + 1
    if pieces is None:
        return [-1, hit.start_line, length, length, _rounded(hit.score), hit.path]
    shown = pieces if most is None else pieces[:most]
    number = store.add(scope, hit.path, hit.start_line, shown)
    return [number, hit.start_line, len(shown), len(pieces) - len(shown), _rounded(hit.score), shown]


def hidden_lines(lines: Sequence[str], parts: Sequence[HiddenPart]) -> list[list[int]]:
    """Return the hidden characters of a slice as [line, start, end], all counted from 0."""
    found, begin = [], 0
    for number, line in enumerate(lines):
        end = begin + len(line)
        inside = [(max(part.start, begin), min(part.end, end)) for part in parts]
        found += [[number, low - begin, high - begin] for low, high in inside if low < high]
        begin = end + 1
    return found


def _add_cuts(settings: list[dict[str, Any]], store: LineStore) -> None:
    """Replace each hit's lines by the ends that differ from the file's whole lines, and drop what it has none of."""
    for setting in settings:
        for cell in setting["cells"]:
            for hits in cell["hits"]:
                for hit in hits:
                    number, start, hidden = hit[0], hit[1], hit.pop()
                    if number < 0:
                        continue
                    first, last = store.cuts(number, start, hit[5])
                    if hidden:
                        hit[5:] = [first, last, hidden]
                    else:
                        hit[5:] = [] if first is None and last is None else [first, last]


def _rounded(value: float) -> float | None:
    return None if not math.isfinite(value) else round(float(value), 4)


def _note(fill: _Fill) -> str:
    if fill == _FILLS[0]:
        return ""
    parts = [f"the first {fill.hits} results of each query"]
    if fill.queries is not None:
        parts.append(f"the {fill.queries} queries on which the chunkers differ most")
    if fill.lines is not None:
        parts.append(f"the first {fill.lines} lines of a result")
    return "To keep this page small it holds " + ", ".join(parts) + "; the results folder has everything."
