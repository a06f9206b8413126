"""All chunks of one dataset under one chunker, as columns; their texts stay in the source files."""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np

from chunkers.coverage import coverage_of
from chunkers.errors import UsageError
from chunkers.sizes import Ruler
from chunkers.sources import Repository
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, Piece, SizeUnit, SourceFile
from evaluation.results.facts import ChunkFacts, SizeHistogram

_COLUMNS = {"file": np.int32, "start": np.int64, "end": np.int64, "start_line": np.int32, "end_line": np.int32}
_SIZES: dict[SizeUnit, type] = {"nws": np.int32, "tokens": np.int32}
_BEFORE = {f"{unit}_before": dtype for unit, dtype in _SIZES.items()}
_ALL = _COLUMNS | _SIZES | _BEFORE


class CorpusFile(NamedTuple):
    """A file of the corpus."""

    repo: str
    path: str
    language: str | None


@dataclass(frozen=True)
class ChunkTable:
    """Chunks ordered by repository, path, start and end byte: a chunk's row is its position in every search."""

    files: tuple[CorpusFile, ...]
    columns: Mapping[str, np.ndarray]
    """file (an index into files), start, end, start_line, end_line, nws, tokens: one value per chunk.

    nws_before and tokens_before say how much of its file lies before the chunk.
    """
    ids: Sequence[str]
    headers: Sequence[str]
    facts: ChunkFacts = field(default_factory=ChunkFacts)
    seconds: float = 0.0
    """How long it took to make."""

    def __len__(self) -> int:
        return len(self.ids)

    def sizes(self, unit: str) -> np.ndarray:
        """Return the size of each chunk in tokens, nws or lines."""
        if unit == "lines":
            return np.asarray(self.columns["end_line"] - self.columns["start_line"] + 1)
        return self.columns[unit]

    def edges(self, file: int, unit: str) -> tuple[np.ndarray, np.ndarray]:
        """Return where a file's chunks begin or end, ascending, and the units before each; nothing for lines."""
        if unit not in _SIZES:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        columns = self.columns
        rows = slice(*np.searchsorted(columns["file"], [file, file + 1]))
        before = columns[f"{unit}_before"][rows]
        offsets, first = np.unique(np.concatenate((columns["start"][rows], columns["end"][rows])), return_index=True)
        return offsets, np.concatenate((before, before + columns[unit][rows]))[first]

    @functools.cached_property
    def file_index(self) -> Mapping[tuple[str, str], int]:
        """(repository, path) → index into files."""
        return {(file.repo, file.path): index for index, file in enumerate(self.files)}

    @functools.cached_property
    def repository_rows(self) -> Mapping[str, range]:
        """Repository → its rows."""
        rows: dict[str, range] = {}
        if len(self):
            repos = np.array([file.repo for file in self.files])[self.columns["file"]]
            starts = [0, *(np.flatnonzero(repos[1:] != repos[:-1]) + 1).tolist()]
            for start, end in zip(starts, [*starts[1:], len(self)], strict=True):
                rows[str(repos[start])] = range(start, end)
        return rows


Show = Callable[["CorpusFile", int, int], bytes]
"""A file, start and end → the bytes of the span that an index may show."""


class ChunkTexts(Sequence[str]):
    """The indexed texts of some rows, read from the source one file at a time."""

    def __init__(self, table: ChunkTable, rows: Sequence[int] | np.ndarray, show: Show) -> None:
        self._table, self._rows, self._show = table, rows, show

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._text(row) for row in self._rows[place]]
        return self._text(self._rows[place])

    def __iter__(self) -> Iterator[str]:
        return map(self._text, self._rows)

    def _text(self, row: int) -> str:
        columns, table = self._table.columns, self._table
        file = table.files[columns["file"][row]]
        text = self._show(file, int(columns["start"][row]), int(columns["end"][row])).decode("utf-8", "surrogateescape")
        return f"{table.headers[row]}\n{text}" if table.headers[row] else text


RulerOf = Callable[["CorpusFile", SizeUnit], Ruler]
"""A file and a unit → the file's ruler."""


def build_chunks(repositories: Sequence[Repository], chunker: Chunker, *, ruler_of: RulerOf) -> ChunkTable:
    """Chunk every file; one file's text is held at a time."""
    files: list[CorpusFile] = []
    rows: dict[str, list[np.ndarray]] = {name: [] for name in _ALL}
    ids: list[str] = []
    headers: list[str] = []
    started = time.perf_counter()
    fallbacks: Counter[str] = Counter()
    failed: dict[str, str] = {}
    lost = doubled = total = 0
    for repository in sorted(repositories, key=lambda repository: repository.name):
        for source in repository.files():
            try:
                chunks = sorted(chunk_file(chunker, source), key=lambda chunk: chunk.span)
            except UsageError:
                raise
            except Exception as error:  # noqa: BLE001 - a third party's chunker may raise anything; the file is counted
                failed[f"{source.repo}/{source.path}"] = f"{type(error).__name__}: {error}"
                chunks = []
            files.append(CorpusFile(source.repo, source.path, source.language))
            _append(rows, chunks, file=len(files) - 1, ruler_of=functools.partial(ruler_of, files[-1]))
            ids += [chunk.id for chunk in chunks]
            headers += [chunk.header for chunk in chunks]
            if reason := getattr(chunker, "fallback", _no_fallback)(source):
                fallbacks[reason] += 1
            pieces = [Piece(chunk.span.start_byte, chunk.span.end_byte) for chunk in chunks]
            covered = coverage_of(chunker, source, pieces)
            lost, doubled, total = lost + covered.lost, doubled + covered.doubled, total + covered.total
    if failed and len(failed) == len(files):
        name, reason = next(iter(failed.items()))
        raise UsageError(f"the chunker failed on each of the {len(files)} files; on {name}: {reason}")
    columns = {
        name: np.concatenate(parts).astype(_ALL[name]) if parts else np.zeros(0, np.int64)
        for name, parts in rows.items()
    }
    made = ChunkTable(tuple(files), columns, ids, headers)
    facts = replace(
        _size_facts(made),
        files=len(files),
        total_nws=total,
        lost_nws=lost,
        doubled_nws=doubled,
        fallbacks=dict(sorted(fallbacks.items())),
        failed_files=failed,
    )
    return replace(made, facts=facts, seconds=time.perf_counter() - started)


def _size_facts(chunks: ChunkTable) -> ChunkFacts:
    """Return how many chunks there are and how large they are."""
    sizes = chunks.sizes("nws")
    edges = np.concatenate(([0], np.geomspace(16, 16_384, 21).round(), [np.inf]))
    counts, _ = np.histogram(sizes, edges)
    histogram = SizeHistogram(tuple(edges[:-1].tolist()), tuple(counts.tolist()))
    if not len(sizes):
        return ChunkFacts(sizes=histogram)
    return ChunkFacts(
        count=len(chunks),
        fingerprint=hashlib.sha256("\n".join(chunks.ids).encode()).hexdigest()[:16],
        mean_nws=float(sizes.mean()),
        median_nws=float(np.median(sizes)),
        p95_nws=float(np.quantile(sizes, 0.95)),
        mean_tokens=float(chunks.sizes("tokens").mean()),
        sizes=histogram,
    )


def save_chunks(table: ChunkTable, folder: Path) -> None:
    """Write the table as two Parquet files, and the facts beside them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    word = pa.dictionary(pa.int32(), pa.string())
    chunks = {name: pa.array(values) for name, values in table.columns.items()}
    chunks |= {"id": pa.array(table.ids, pa.string()), "header": pa.array(table.headers, pa.string())}
    pq.write_table(pa.table(chunks), folder / "chunks.parquet", compression="zstd")
    files = {name: pa.array([getattr(file, name) for file in table.files], word) for name in CorpusFile._fields}
    pq.write_table(pa.table(files), folder / "files.parquet", compression="zstd")
    facts = {"facts": asdict(table.facts), "seconds": table.seconds}
    (folder / "facts.json").write_text(json.dumps(facts, indent=1), "utf-8")


def load_chunks(folder: Path) -> ChunkTable:
    """Read what `save_chunks` wrote."""
    import pyarrow.parquet as pq

    chunks = pq.read_table(folder / "chunks.parquet")
    files = pq.read_table(folder / "files.parquet").to_pydict()
    found = json.loads((folder / "facts.json").read_text("utf-8"))
    histogram = SizeHistogram(*map(tuple, found["facts"].pop("sizes").values()))
    return ChunkTable(
        files=tuple(map(CorpusFile, *(files[name] for name in CorpusFile._fields))),
        columns={name: chunks[name].to_numpy() for name in _ALL},
        ids=chunks["id"].to_pylist(),
        headers=chunks["header"].to_pylist(),
        facts=ChunkFacts(**found["facts"], sizes=histogram),
        seconds=found["seconds"],
    )


def _no_fallback(_source: SourceFile) -> None:
    return None


def _append(
    rows: dict[str, list[np.ndarray]], chunks: Sequence[Chunk], *, file: int, ruler_of: Callable[[SizeUnit], Ruler]
) -> None:
    spans = np.array([chunk.span for chunk in chunks], dtype=np.int64).reshape(-1, 4)
    starts, ends = spans[:, 0], spans[:, 1]
    rows["file"].append(np.full(len(chunks), file))
    for name, column in zip(("start", "end", "start_line", "end_line"), spans.T, strict=True):
        rows[name].append(column)
    for unit in _SIZES:
        measured = ruler_of(unit)
        before = measured.at(starts)
        rows[f"{unit}_before"].append(before)
        rows[unit].append(measured.at(ends) - before)
