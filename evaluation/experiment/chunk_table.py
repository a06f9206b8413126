"""All chunks of one dataset under one chunker, as columns; their texts stay in the source files."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol, overload

import numpy as np

from chunkers.coverage import total
from chunkers.cut_errors import failed_on_all
from chunkers.errors import UsageError
from chunkers.types import SizeUnit
from evaluation.experiment.columns import numbers
from evaluation.experiment.file_chunks import CutFiles
from evaluation.results.facts import ChunkFacts, SizeHistogram

_COLUMNS = {"file": np.int32, "start": np.int64, "end": np.int64, "start_line": np.int32, "end_line": np.int32}
_SIZES: dict[SizeUnit, type] = {"nws": np.int32, "tokens": np.int32}
_BEFORE = {f"{unit}_before": dtype for unit, dtype in _SIZES.items()}
_ALL = _COLUMNS | _SIZES | _BEFORE
_ROWS = ("start", "end", "start_line", "end_line", "nws_before", "nws", "tokens_before", "tokens")


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

    nws_before and tokens_before give how much of the file precedes the chunk.
    """
    ids: Sequence[str]
    headers: Sequence[str]
    facts: ChunkFacts = field(default_factory=ChunkFacts)
    seconds: float = 0.0
    """Seconds it took to build."""

    def __len__(self) -> int:
        return len(self.ids)

    def sizes(self, unit: str) -> np.ndarray:
        """Return the size of each chunk in tokens, nws or lines."""
        if unit == "lines":
            return np.asarray(self.columns["end_line"] - self.columns["start_line"] + 1)
        return self.columns[unit]

    def header(self, row: int, shows: Shows) -> str:
        """Return the visible part of a chunk's header."""
        return shows.visible_header(self.files[self.columns["file"][row]], self.headers[row])

    @functools.cached_property
    def has_headers(self) -> bool:
        """Whether any chunk has a header."""
        return any(self.headers)

    @functools.cached_property
    def shown(self) -> dict[tuple[str, str], np.ndarray]:
        """The visible part of each chunk, cached by the hash of what the dataset hides and by what was requested."""
        return {}

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


class Shows(Protocol):
    """What part of a corpus an index may show."""

    def visible(self, file: CorpusFile, start: int, end: int) -> bytes:
        """Return the visible text of a span."""

    def visible_header(self, file: CorpusFile, header: str) -> str:
        """Return the visible text of a header."""


class ChunkTexts(Sequence[str]):
    """The indexed texts of some rows, read from the source one file at a time."""

    def __init__(self, table: ChunkTable, rows: Sequence[int] | np.ndarray, shows: Shows) -> None:
        self._table, self._rows, self._shows = table, rows, shows

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
        data = self._shows.visible(file, int(columns["start"][row]), int(columns["end"][row]))
        text = data.decode("utf-8", "surrogateescape")
        header = self._shows.visible_header(file, table.headers[row])
        return f"{header}\n{text}" if header else text


class ChunkPart(NamedTuple):
    """The chunks of some files of a corpus, in corpus order."""

    files: tuple[CorpusFile, ...]
    cuts: CutFiles
    ids: list[str]


def join_parts(parts: Sequence[ChunkPart]) -> ChunkTable:
    """Join parts, in order, into the table of the whole corpus; the result does not depend on the division."""
    files = tuple(file for part in parts for file in part.files)
    named = ((part.files[place], reason) for part in parts for place, reason in part.cuts.failed.items())
    failed = {f"{file.repo}/{file.path}": reason for file, reason in named}
    if failed and len(failed) == len(files):
        raise UsageError(f"the chunker {failed_on_all(failed)}")
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(part.cuts.counts for part in parts)])
    rows = np.concatenate([np.zeros((0, len(_ROWS)), np.int64), *(part.cuts.rows for part in parts)])
    columns = {"file": np.repeat(np.arange(len(files), dtype=np.int32), counts)}
    columns |= {name: rows[:, at].astype(_ALL[name]) for at, name in enumerate(_ROWS)}
    made = ChunkTable(
        files,
        columns,
        list(itertools.chain.from_iterable(part.ids for part in parts)),
        list(itertools.chain.from_iterable(part.cuts.headers for part in parts)),
    )
    covered = total(part.cuts.coverage for part in parts)
    fallbacks = sum((Counter(part.cuts.fallbacks) for part in parts), Counter[str]())
    facts = replace(
        _size_facts(made),
        files=len(files),
        total_nws=covered.total,
        lost_nws=covered.lost,
        doubled_nws=covered.doubled,
        fallbacks=dict(sorted(fallbacks.items())),
        failed_files=failed,
    )
    return replace(made, facts=facts, seconds=sum(part.cuts.seconds for part in parts))


def _size_facts(chunks: ChunkTable) -> ChunkFacts:
    """Return the number of chunks and their sizes."""
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

    chunks = pq.ParquetFile(folder / "chunks.parquet").read()
    files = pq.ParquetFile(folder / "files.parquet").read().to_pydict()
    found = json.loads((folder / "facts.json").read_text("utf-8"))
    histogram = SizeHistogram(*map(tuple, found["facts"].pop("sizes").values()))
    return ChunkTable(
        files=tuple(map(CorpusFile, *(files[name] for name in CorpusFile._fields))),
        columns={name: numbers(chunks[name]) for name in _ALL},
        ids=chunks["id"].to_pylist(),
        headers=chunks["header"].to_pylist(),
        facts=ChunkFacts(**found["facts"], sizes=histogram),
        seconds=found["seconds"],
    )
