"""A results folder: written atomically, read back as `Results`."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.bounded_json import parse_json
from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.plain_text import one_line
from chunkers.writable import is_writable, valid_text
from evaluation.atomic import held
from evaluation.config import ExperimentConfig
from evaluation.results.document import VERSION, config_json, from_json, to_json
from evaluation.results.shown_files import cut_blocks, file_blocks, shown_cuts, shown_files, whole_file_schemas
from evaluation.results.types import CellRecord, GoldLines, HiddenPart, HitRecord, QueryRecord, Results
from evaluation.trec import read_qrels, read_run, write_qrels, write_run
from evaluation.types import CellKey

if TYPE_CHECKING:
    import pyarrow as pa

_CELL = CellKey._fields
_HIT = ("rank", "chunk_id", "score", "path", "start_line", "end_line", "tokens")
_DRAFT = ".draft-"
_RANKINGS = {"runs": ".run", "qrels": ".qrels"}
"""Folders of TREC files, one for each cell."""
_BY = "(--out, or save() in Python)"
"""How the user specified the folder, for error messages."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_TABLES = ("queries", "scores", "curves", "hits", "texts")
_LATER = ("files", "cuts")
"""Tables missing from folders of earlier versions."""
_FILES = {"results.json", *(f"{table}.parquet" for table in (*_TABLES, *_LATER))}
_CELL_NAME = re.compile(r"(?:.*__){3}|.*-[0-9a-f]{12}\Z")
"""The form that `CellRecord.slug` writes; foreign runs and judgements have the same suffixes."""
Block = dict[str, Any]
"""Columns of equal length."""


def check_output(folder: Path, *, config: ExperimentConfig, shard: str | None = None) -> None:
    """Raise unless the folder can and may be written: absent, empty, or with the same experiment."""
    _check_place(folder)
    if not folder.exists():
        return
    marker = folder / "results.json"
    if not marker.exists():
        if not all(map(_is_ours, folder.iterdir())):
            raise UsageError(f"{folder} holds other files and no results.json: name an empty folder {_BY}")
        return
    # These are replaced as a whole.
    for kind in _RANKINGS:
        if (folder / kind).exists() and not _is_ours(folder / kind):
            raise UsageError(f"{folder / kind} holds other files: move them, or name another folder {_BY}")
    try:
        held = parse_json(read_text_input(marker))["config"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{marker} is not readable: move {folder} away or name another folder {_BY}") from None
    if held != json.loads(json.dumps(config_json(config, shard))):
        raise UsageError(f"{folder} holds the results of another experiment: name another folder {_BY}")


def _check_place(folder: Path) -> None:
    """Raise unless the folder exists or can be created, and is writable: better now than after hours of work."""
    if not is_writable(str(folder)):
        raise UsageError(f"{str(folder)!r} is not UTF-8: name another folder {_BY}")
    try:
        place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not place.is_dir():
            raise UsageError(f"{place} is a file: name a folder {_BY}")
        allowed = os.access(place, os.W_OK | os.X_OK)
    except OSError:
        allowed = False
    if not allowed:
        raise UsageError(f"{folder} cannot be written: name another folder {_BY}")


def _is_ours(path: Path) -> bool:
    """Return whether this tool wrote it, perhaps in a killed run; nothing else is replaced or removed."""
    if path.is_symlink():
        return False
    if not path.is_dir():
        return path.name.startswith(_DRAFT) or path.name in _FILES
    if not path.name.startswith(_DRAFT) and path.name not in _RANKINGS:
        return False
    try:
        inside = list(path.iterdir())
    except FileNotFoundError:
        return True  # another run has just put it in its place
    if path.name in _RANKINGS:
        ending = _RANKINGS[path.name]
        return all(each.suffix == ending and _CELL_NAME.match(each.stem) for each in inside)
    return all(map(_is_ours, inside))


def write_results(results: Results, folder: Path) -> None:
    """Write the folder; `results.json` is written last, so that readers see the old results or all of the new."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with held(folder):
            # Any other writer waits for its turn, so these are left over.
            for abandoned in filter(_is_ours, folder.glob(f"{_DRAFT}*")):
                shutil.rmtree(abandoned, ignore_errors=True)
            _write_whole(results, folder)
    except OSError as error:
        # pyarrow's errors have no errno.
        space = "free some space, or " if error.errno is None or error.errno in _FULL else ""
        raise UsageError(
            f"{folder}: the results cannot be written ({error.strerror or error}). What was computed is in the cache: "
            f"{space}name another folder {_BY}, and run again"
        ) from error


def _write_whole(results: Results, folder: Path) -> None:
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=folder))
    try:
        _write_tables(results, draft)
        for kind in _RANKINGS:
            (draft / kind).mkdir()
        for cell in results.cells:
            if cell.status == "ok":
                write_run(draft / "runs" / f"{cell.slug}.run", cell.run)
                write_qrels(draft / "qrels" / f"{cell.slug}.qrels", cell.qrels)
        text = json.dumps(to_json(results), indent=1, ensure_ascii=False, allow_nan=False)
        (draft / "results.json").write_text(text + "\n", "utf-8")
        for kind in _RANKINGS:
            shutil.rmtree(folder / kind, ignore_errors=True)
        for made in sorted(draft.iterdir(), key=lambda path: path.name == "results.json"):
            made.replace(folder / made.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_results(folder: Path, *, rankings: bool = False) -> Results:
    """Return the results written by `write_results`; runs and qrels, which no report needs, only if requested."""
    import pyarrow as pa

    try:
        return _read(folder, rankings=rankings)
    except (OSError, pa.ArrowException, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        # A table with another layout, or a row for an unknown query: the folder was edited.
        why = one_line(f"{type(error).__name__}: {error}", limit=200)
        raise UsageError(f"{folder} is not complete ({why}): run the comparison again") from None


def _read(folder: Path, *, rankings: bool) -> Results:
    marker = folder / "results.json"
    if not marker.is_file():
        raise UsageError(f"{folder} holds no results.json: name a folder that `chunkbench compare --out` wrote")
    try:
        found = parse_json(read_text_input(marker), finite=True)
        version = found["version"]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{marker} is not a results file: run the comparison again") from None
    if version != VERSION:
        raise UsageError(f"{marker} has version {one_line(str(version), limit=40)}; this chunkbench reads {VERSION}")
    present = [name for name in _LATER if (folder / f"{name}.parquet").exists()]
    tables = {name: _read_table(folder / f"{name}.parquet") for name in (*_TABLES, *present)}
    queries = tuple(
        QueryRecord(
            dataset=row["dataset"],
            id=row["query_id"],
            text=row["text"],
            repo=row["repo"],
            cluster=row["cluster"],
            language=row["language"],
            kind=row.get("kind") or "",
            category=row.get("category") or "",
            gold=tuple(GoldLines(**gold) for gold in row["gold"]),
        )
        for row in tables["queries"].to_pylist()
    )
    order = _orders(queries)
    scores, curves, hits = (_by_cell(tables[name]) for name in ("scores", "curves", "hits"))
    texts = tables["texts"].to_pydict()
    results = from_json(found, source=str(marker))
    cells = tuple(
        replace(
            cell,
            **(_rankings(folder, cell) if rankings else {}),
            scores=_score_arrays(scores.get(cell.key), order.get(cell.key.dataset, {})),
            curve=_curve_array(curves.get(cell.key), order.get(cell.key.dataset, {}), results.budgets),
            hits=_hit_records(hits.get(cell.key)),
        )
        for cell in results.cells
    )
    return replace(
        results,
        cells=cells,
        queries=queries,
        texts=dict(zip(texts["chunk_id"], texts["text"], strict=True)),
        hidden=_hidden_parts(texts),
        files=shown_files(tables["files"]) if "files" in tables else {},
        cuts=shown_cuts(tables["cuts"]) if "cuts" in tables else {},
    )


def _read_table(file: Path) -> pa.Table:
    import pyarrow.parquet as pq

    if not file.is_file():
        raise FileNotFoundError(f"{file.name} is not there")
    # Of one file; reading it as a dataset would import pandas, which takes longer than the reading.
    with pq.ParquetFile(file) as opened:
        return opened.read()


def _hidden_parts(texts: Mapping[str, list[Any]]) -> dict[tuple[str, str], tuple[HiddenPart, ...]]:
    """Return the hidden parts of each text; folders of earlier versions have no such column, and nothing is marked."""
    found: dict[tuple[str, str], tuple[HiddenPart, ...]] = {}
    for key, parts in zip(texts["chunk_id"], texts.get("hidden", ()), strict=False):
        for part in parts or ():
            place = (part["dataset"], key)
            found[place] = (*found.get(place, ()), HiddenPart(part["start"], part["end"]))
    return found


def _rankings(folder: Path, cell: CellRecord) -> dict[str, Any]:
    if cell.status == "failed":
        return {}
    # A rule may leave every query without a relevant chunk, and a search may find nothing: then the file is empty.
    run, judged = folder / "runs" / f"{cell.slug}.run", folder / "qrels" / f"{cell.slug}.qrels"
    qrels = read_qrels(judged) if judged.stat().st_size else {}
    return {
        "run": read_run(run) if run.stat().st_size else {},
        "qrels": {query: {chunk: int(grade) for chunk, grade in row.items()} for query, row in qrels.items()},
    }


def _write_tables(results: Results, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    word, text, number, real = pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.int32(), pa.float64()
    cell = dict.fromkeys(_CELL, word)
    gold = pa.list_(pa.struct({"path": text, "start_line": number, "end_line": number}))
    schemas = {
        "queries": {"dataset": word, "query_id": text, "text": text, "repo": word, "cluster": word}
        | {"language": word, "kind": word, "category": word, "gold": gold},
        "scores": cell | {"query_id": word, "cluster": word, "measure": word, "value": real},
        "curves": cell | {"query_id": word, "budget": number, "recall": real},
        "hits": cell
        | {"query_id": word, "rank": number, "chunk_id": word, "score": real}
        | {"path": word, "start_line": number, "end_line": number, "tokens": number},
        "texts": {"chunk_id": text, "text": text}
        | {"hidden": pa.list_(pa.struct({"dataset": text, "start": number, "end": number}))},
        **whole_file_schemas(),
    }
    blocks = {
        "queries": _query_blocks,
        "scores": _score_blocks,
        "curves": _curve_blocks,
        "hits": _hit_blocks,
        "texts": _text_blocks,
        "files": file_blocks,
        "cuts": cut_blocks,
    }
    for name, columns in schemas.items():
        schema = pa.schema(columns, metadata={"chunkbench_version": str(VERSION)})
        with pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd") as writer:
            for block in blocks[name](results):
                writer.write_table(pa.table(block, schema=schema))


def _cell_columns(cell: CellRecord, rows: int) -> Block:
    return {name: [value] * rows for name, value in cell.key._asdict().items()}


def _query_blocks(results: Results) -> Iterator[Block]:
    queries = results.queries
    yield {
        "dataset": [query.dataset for query in queries],
        "query_id": [query.id for query in queries],
        "text": [valid_text(query.text) for query in queries],
        "repo": [query.repo for query in queries],
        "cluster": [query.cluster for query in queries],
        "language": [query.language for query in queries],
        "kind": [query.kind for query in queries],
        "category": [query.category for query in queries],
        "gold": [[gold._asdict() for gold in query.gold] for query in queries],
    }


def _score_blocks(results: Results) -> Iterator[Block]:
    import pyarrow as pa

    for cell in results.cells:
        queries = results.queries_of(cell.key.dataset)
        for measure, values in cell.scores.items():
            yield {
                **_cell_columns(cell, len(queries)),
                "query_id": [query.id for query in queries],
                "cluster": [query.cluster for query in queries],
                "measure": [measure] * len(queries),
                "value": pa.array(values, mask=np.isnan(values)),  # an undefined value is null, not NaN
            }


def _curve_blocks(results: Results) -> Iterator[Block]:
    for cell in results.cells:
        if cell.curve is None:
            continue
        queries = results.queries_of(cell.key.dataset)
        yield {
            **_cell_columns(cell, cell.curve.size),
            "query_id": [query.id for query in queries for _ in results.budgets],
            "budget": list(results.budgets) * len(queries),
            "recall": cell.curve.ravel(),
        }


def _hit_blocks(results: Results) -> Iterator[Block]:
    for cell in results.cells:
        found = [(query_id, hit) for query_id, hits in cell.hits.items() for hit in hits]
        yield {
            **_cell_columns(cell, len(found)),
            "query_id": [query_id for query_id, _ in found],
            **{name: [getattr(hit, name) for _, hit in found] for name in _HIT},
        }


def _text_blocks(results: Results) -> Iterator[Block]:
    keys = sorted(results.texts)
    yield {
        "chunk_id": keys,
        "text": [valid_text(results.texts[key]) for key in keys],
        "hidden": [
            [
                {"dataset": dataset.name, **part._asdict()}
                for dataset in results.datasets
                for part in results.hidden.get((dataset.name, key), ())
            ]
            for key in keys
        ],
    }


def _orders(queries: tuple[QueryRecord, ...]) -> dict[str, dict[str, int]]:
    """Return, for each dataset, the index of each query in the score arrays."""
    orders: dict[str, dict[str, int]] = {}
    for query in queries:
        order = orders.setdefault(query.dataset, {})
        order[query.id] = len(order)
    return orders


def _by_cell(table: pa.Table) -> dict[CellKey, dict[str, list[Any]]]:
    """Return the columns of each cell's rows."""
    columns = table.to_pydict()
    groups: dict[CellKey, list[int]] = {}
    for row, key in enumerate(zip(*(columns[name] for name in _CELL), strict=True)):
        groups.setdefault(CellKey(*key), []).append(row)
    rest = [name for name in columns if name not in _CELL]
    return {key: {name: [columns[name][row] for row in rows] for name in rest} for key, rows in groups.items()}


def _score_arrays(rows: dict[str, list[Any]] | None, order: Mapping[str, int]) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for measure, query, value in (
        zip(*(rows[name] for name in ("measure", "query_id", "value")), strict=True) if rows else ()
    ):
        values = arrays.setdefault(measure, np.full(len(order), np.nan))
        if value is not None:
            values[order[query]] = value
    return arrays


def _curve_array(
    rows: dict[str, list[Any]] | None, order: Mapping[str, int], budgets: tuple[int, ...]
) -> np.ndarray | None:
    if not rows:
        return None
    column = {budget: place for place, budget in enumerate(budgets)}
    curve = np.full((len(order), len(budgets)), np.nan)
    for query, budget, recall in zip(rows["query_id"], rows["budget"], rows["recall"], strict=True):
        curve[order[query], column[budget]] = recall
    return curve


def _hit_records(rows: dict[str, list[Any]] | None) -> dict[str, tuple[HitRecord, ...]]:
    hits: dict[str, list[HitRecord]] = {}
    # Folders of earlier versions have no costs.
    names = [name for name in _HIT if rows and name in rows]
    for query, *fields in zip(rows["query_id"], *(rows[name] for name in names), strict=True) if rows else ():
        hits.setdefault(query, []).append(HitRecord(*fields))
    return {query: tuple(found) for query, found in hits.items()}
