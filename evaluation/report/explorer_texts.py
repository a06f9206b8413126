"""Texts of the explorer: each line of a file once, each chunk once, with its colours, hidden parts and cuts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any

from evaluation.report.colouring import all_colours
from evaluation.report.linestore import LineStore, text_lines
from evaluation.results.types import FilePlace, HiddenPart, HitRecord, QueryRecord, Results

_Chunk = tuple[str, str, HitRecord, int, list[str]]
"""Dataset, chunk id, its first result, number of its file, and its shown lines."""


class ExplorerTexts:
    """Collects chunks and files while results are listed, then packs them."""

    def __init__(self, results: Results, *, lines: int | None, colours: bool) -> None:
        self._results, self._most, self._colours = results, lines, colours
        self._lines: dict[str, list[str]] = {}
        self._store = LineStore()
        self._places: dict[FilePlace, int] = {}
        self._chunks: list[_Chunk] = []
        self._numbers: dict[tuple[str, str, str, str, int, int | None], int] = {}

    def add_files(self, dataset: str, queries: Sequence[QueryRecord]) -> None:
        """Add the whole files of these queries' repositories, as far as the results have them."""
        repos = {query.repo for query in queries}
        for key, file in self._results.files.items():
            if key.dataset == dataset and key.repo in repos:
                scope = f"{dataset}\0{key.repo}"
                self._places[key] = self._store.add(scope, key.path, 1, text_lines(file.text))

    def add(self, dataset: str, repo: str, hit: HitRecord) -> int:
        """Return the number of a result's chunk; the same chunk adds less to read where more of it was shown above."""
        key = (dataset, repo, hit.chunk_id, hit.path, hit.start_line, hit.tokens)
        if key not in self._numbers:
            self._numbers[key] = len(self._chunks)
            shown = self._shown(hit.chunk_id)
            number = -1 if shown is None else self._store.add(f"{dataset}\0{repo}", hit.path, hit.start_line, shown)
            self._chunks.append((dataset, hit.chunk_id, hit, number, shown or []))
        return self._numbers[key]

    def _shown(self, chunk_id: str) -> list[str] | None:
        text = self._results.texts.get(chunk_id)
        return None if text is None else text_lines(text)[: self._most]

    def packed(self, datasets: Sequence[str]) -> dict[str, Any]:
        """Return files with their runs of lines, chunks that point into them, and every chunker's cuts."""
        files = self._store.packed()
        if self._colours:
            colours = iter(all_colours([(file["path"], str(run)) for file in files for _, run in file["runs"]]))
            for file in files:
                file["colours"] = [next(colours) for _ in file["runs"]]
        for key, number in self._places.items():
            hidden = self._results.files[key].hidden
            files[number]["hidden"] = hidden_lines(text_lines(self._results.files[key].text), hidden)
            files[number]["of"] = [datasets.index(key.dataset), key.repo]
        return {"files": files, "chunks": [self._chunk(each) for each in self._chunks], "cuts": self._cuts(datasets)}

    def _chunk(self, chunk: _Chunk) -> list[Any]:
        """Return [file, first line, lines, lines not shown, tokens, first cut, last cut, hidden parts], shortened."""
        dataset, chunk_id, hit, number, shown = chunk
        length = hit.end_line - hit.start_line + 1
        if number < 0:
            return [-1, hit.start_line, length, length, hit.tokens, hit.path]
        whole = text_lines(self._results.texts[chunk_id])
        hidden = hidden_lines(shown, self._results.hidden.get((dataset, chunk_id), ()))
        first, last = self._store.cuts(number, hit.start_line, shown)
        entry = [number, hit.start_line, len(shown), len(whole) - len(shown), hit.tokens, first, last, hidden or None]
        while entry[-1] is None and len(entry) > 5:
            entry.pop()
        return entry

    def _cuts(self, datasets: Sequence[str]) -> list[dict[str, dict[int, list[int]]]]:
        """Return, for each dataset, chunker → file → alternating first and last lines, delta-encoded."""
        found: list[dict[str, dict[int, list[int]]]] = [{} for _ in datasets]
        for (chunker, key), cuts in self._results.cuts.items():
            number = self._places.get(key)
            if number is not None and key.dataset in datasets:
                ends = [end for cut in cuts for end in cut]
                steps = [end - before for end, before in zip(ends, [0, *ends], strict=False)]
                found[datasets.index(key.dataset)].setdefault(chunker, {})[number] = steps
        return found


def hidden_lines(lines: Sequence[str], parts: Sequence[HiddenPart]) -> list[list[int]]:
    """Return the hidden characters of a slice as [line, start, end], all counted from 0, by line."""
    if not parts:
        return []
    begins = list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]
    found = []
    for part in parts:
        for number in range(max(0, bisect_right(begins, part.start) - 1), bisect_left(begins, part.end)):
            begin = begins[number]
            low, high = max(part.start - begin, 0), min(part.end - begin, len(lines[number]))
            if low < high:
                found.append([number, low, high])
    return sorted(found, key=itemgetter(0))
