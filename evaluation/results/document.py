"""`results.json`: the only place where results are converted to and from plain JSON values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from evaluation.config import ExperimentConfig
from evaluation.measures.declared import MeasureFacts, recall
from evaluation.results.facts import ChunkFacts, CostFacts, DatasetRecord, JudgementFacts, SearchFacts, Truncation
from evaluation.results.types import (
    BestRecord,
    CellRecord,
    ComparisonRecord,
    Environment,
    Interaction,
    MeasureSummary,
    OffsetSpread,
    Overall,
    Results,
    SettingBest,
)
from evaluation.statistics import BestSet, Comparison, Standing
from evaluation.types import CellKey

VERSION = 1
_WHERE = ("axis", "dataset", "chunker", "embedder", "retriever", "measure")
_CHUNK_KEYS = {field.name for each in (ChunkFacts, JudgementFacts) for field in dataclasses.fields(each)}
_DETAILS = {
    "strategyUsed": "strategy_used",
    "strategyCounts": "strategy_counts",
    "queriesWithRelevant": "queries_with_relevant",
    "exactMatches": "exact_matches",
}
"""How relevance was determined, as spelled in a metric's details and by `chunkbench qrels`; `chunks` has the same
facts."""


def to_json(results: Results) -> dict[str, Any]:
    """Return the contents of `results.json`."""
    return {
        "version": VERSION,
        "config": config_json(results.config, results.shard),
        "environment": environment_json(results.environment),
        "dataset": _plain(results.datasets[0]),
        "datasets": [_plain(each) for each in results.datasets],
        "budgets": list(results.budgets),
        "budget_unit": results.budget_unit,
        "matched_size": results.matched_size,
        "left_out": dict(results.left_out),
        "own_measures": [_plain(each) for each in results.own_measures],
        "cells": [_cell(cell) for cell in results.cells],
        "comparisons": [comparison_row(each) for each in results.comparisons if each.axis == "chunker"],
        "other_axes": [comparison_row(each) for each in results.comparisons if each.axis != "chunker"],
        "best": [best_row(each) for each in results.best],
        "overall": _overall(results.overall) if results.overall else None,
    }


def config_json(config: ExperimentConfig, shard: str | None = None) -> dict[str, Any]:
    """Return the experiment as it is named in results."""
    return {**config.model_dump(mode="json"), "shard": shard}


def environment_json(environment: Environment) -> dict[str, Any]:
    """Return the versions and the run options."""
    versions = {name: getattr(environment, name) for name in ("python", "platform", "packages")}
    return versions | {"run": environment.run.model_dump(mode="json")}


def read_config(found: Mapping[str, Any]) -> ExperimentConfig:
    """Read a config; keys of other versions are dropped, since nothing here needs them."""
    return ExperimentConfig.model_validate({k: v for k, v in found.items() if k in ExperimentConfig.model_fields})


def read_environment(found: Mapping[str, Any]) -> Environment:
    """Read what `environment_json` wrote."""
    environment: Environment = _read(Environment, found)
    return environment


def comparison_row(record: ComparisonRecord) -> dict[str, Any]:
    """Return a comparison as one flat row."""
    return _where(record) | record.found.row()


def best_row(record: BestRecord) -> dict[str, Any]:
    """Return the set that may be best as one row."""
    return _where(record) | record.found.row()


def _where(record: ComparisonRecord | BestRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _WHERE}


def _overall(found: Overall) -> dict[str, Any]:
    one = found.interaction
    return {
        **{name: getattr(found, name) for name in ("measure", "chunkers", "may_be_best", "excluded")},
        "settings": [{"setting": each.setting._asdict(), **each.found.row()} for each in found.settings],
        "interaction": None
        if one is None
        else {
            "a": one.a,
            "b": one.b,
            "first": one.first._asdict(),
            "second": one.second._asdict(),
            "in_first": json_number(one.in_first),
            "in_second": json_number(one.in_second),
            "change": one.change.row(),
        },
    }


def json_number(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value, or None for an undefined number: JSON has no NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _cell(cell: CellRecord) -> dict[str, Any]:
    return {
        **cell.key._asdict(),
        "status": cell.status,
        "reason": cell.reason,
        "chunks": _chunks(cell) if cell.status == "ok" else {},
        "details": {key: getattr(cell.judgements, name) for key, name in _DETAILS.items()}
        if cell.status == "ok"
        else {},
        "measures": {name: _plain(summary) for name, summary in cell.measures.items()},
        "seconds": dict(cell.seconds),
        "cost": _plain(cell.cost),
        "offsets": {each.measure: list(each.means) for each in cell.offsets},
    }


def _chunks(cell: CellRecord) -> dict[str, Any]:
    """Return the facts beside the scores, as one flat object."""
    truncated = cell.search.truncated
    return {
        **_plain(cell.chunks),
        **_plain(cell.judgements),
        "truncated": _plain(truncated) if truncated else None,
        "hidden_chunks": cell.search.hidden_chunks,
        "uses_vectors": cell.search.uses_vectors,
        **cell.search.diagnostics,
    }


def _plain(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any of our dataclasses
    return {name: json_number(each) for name, each in dataclasses.asdict(value).items()}


def from_json(found: Mapping[str, Any], *, source: str) -> Results:
    """Return the results written by `to_json`, without the tables beside it; ``source`` is named in errors."""
    try:
        own = tuple(_read(MeasureFacts, row) for row in found.get("own_measures", ()))
        recall(own)
        return Results(
            config=read_config(found["config"]),
            environment=read_environment(found["environment"]),
            datasets=tuple(_read(DatasetRecord, row) for row in found["datasets"]),
            cells=tuple(_read_cell(row) for row in found["cells"]),
            comparisons=tuple(_read_comparison(row) for row in (*found["comparisons"], *found.get("other_axes", ()))),
            best=tuple(_read_best(row) for row in found.get("best", ())),
            overall=_read_overall(found["overall"]) if found.get("overall") else None,
            budget_unit=str(found["budget_unit"]),
            own_measures=own,
            shard=found["config"].get("shard"),
            matched_size=str(found.get("matched_size", "")),
            left_out=TypeAdapter(dict[str, str]).validate_python(found.get("left_out", {})),
        )
    except (ValidationError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UsageError(f"{source} is not a results file ({_why(error)}): run the comparison again") from None


def _read_cell(row: Mapping[str, Any]) -> CellRecord:
    chunks = row["chunks"]
    search = {name: chunks[name] for name in ("uses_vectors", "truncated", "hidden_chunks") if name in chunks}
    rest = {name: value for name, value in chunks.items() if name not in _CHUNK_KEYS and name not in search}
    return CellRecord(
        key=CellKey(*(str(row[name]) for name in CellKey._fields)),
        status="ok" if row["status"] == "ok" else "failed",
        reason=str(row["reason"]),
        chunks=_read(ChunkFacts, chunks),
        search=_read(SearchFacts, {**search, "diagnostics": rest}),
        judgements=_read(JudgementFacts, chunks),
        measures={str(name): _read(MeasureSummary, each) for name, each in row["measures"].items()},
        seconds=TypeAdapter(dict[str, float]).validate_python(row["seconds"]),
        cost=_read(CostFacts, row.get("cost", {})),  # runs from before costs were recorded have none
        offsets=tuple(
            OffsetSpread(str(name), tuple(map(float, means))) for name, means in row.get("offsets", {}).items()
        ),
    )


def _read_comparison(row: Mapping[str, Any]) -> ComparisonRecord:
    return ComparisonRecord(**_read_where(row), found=_read(Comparison, _with_nan(Comparison, row)))


def _read_best(row: Mapping[str, Any]) -> BestRecord:
    return BestRecord(**_read_where(row), found=_best_set(row))


def _best_set(row: Mapping[str, Any]) -> BestSet:
    standings = [_with_nan(Standing, each) for each in row["standings"]]
    found: BestSet = _read(BestSet, {**_with_nan(BestSet, row), "standings": standings})
    return found


def _read_where(row: Mapping[str, Any]) -> dict[str, str]:
    # Version 1 compared only chunkers, without saying so.
    return {name: str(row.get(name, {"axis": "chunker", "chunker": ""}.get(name, ""))) for name in _WHERE}


def _read_overall(row: Mapping[str, Any]) -> Overall:
    one = row["interaction"]
    names = {name: tuple(map(str, row[name])) for name in ("chunkers", "may_be_best", "excluded")}
    return Overall(
        measure=str(row["measure"]),
        **names,
        settings=tuple(SettingBest(CellKey(**each["setting"]), _best_set(each)) for each in row["settings"]),
        interaction=Interaction(
            a=str(one["a"]),
            b=str(one["b"]),
            first=CellKey(**one["first"]),
            second=CellKey(**one["second"]),
            in_first=math.nan if one["in_first"] is None else float(one["in_first"]),
            in_second=math.nan if one["in_second"] is None else float(one["in_second"]),
            change=_read(Comparison, _with_nan(Comparison, one["change"])),
        )
        if one
        else None,
    )


def _with_nan(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with NaN for null wherever the value is a plain number: JSON has no NaN."""
    real = {name for name, hint in get_type_hints(kind).items() if hint is float}
    return {name: math.nan if value is None and name in real else value for name, value in row.items()}


def _read(kind: Any, row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any of our dataclasses
    if not isinstance(row, Mapping):
        raise TypeError(f"{kind.__name__} is {type(row).__name__}")
    return TypeAdapter(kind).validate_python(dict(row))


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{type(error).__name__}: {one_line(str(error), limit=200)}"


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema of `results.json`."""
    parts = (
        ChunkFacts,
        JudgementFacts,
        Truncation,
        CostFacts,
        MeasureSummary,
        MeasureFacts,
        DatasetRecord,
        Environment,
        Comparison,
        BestSet,
    )
    definitions: dict[str, Any] = {}
    for part in (*parts, ExperimentConfig):
        made = TypeAdapter(part).json_schema(ref_template="#/$defs/{model}", mode="serialization")
        inner = made.pop("$defs", {})
        definitions |= {name: _nullable(each) if name == "Standing" else each for name, each in inner.items()}
        definitions[part.__name__] = _nullable(made) if part in (Comparison, BestSet) else made
    # Values with a default are written all the same.
    definitions = {name: {**each, **_required(each)} for name, each in definitions.items()}
    text, number, nothing = {"type": "string"}, {"type": "number"}, {"type": "object", "maxProperties": 0}
    chunks = {
        "allOf": [_ref(ChunkFacts), _ref(JudgementFacts)],
        "properties": {
            "truncated": {"anyOf": [_ref(Truncation), {"type": "null"}]},
            "hidden_chunks": {"type": "integer", "minimum": 0},
            "uses_vectors": {"type": "boolean"},
        },
    }
    judgements = definitions[JudgementFacts.__name__]["properties"]
    cell = {
        **dict.fromkeys(CellKey._fields, text),
        "status": {"enum": ["ok", "failed"]},
        "reason": text,
        "chunks": {"anyOf": [chunks, nothing]},
        "details": {"anyOf": [_object({key: judgements[name] for key, name in _DETAILS.items()}), nothing]},
        "measures": {"type": "object", "additionalProperties": _ref(MeasureSummary)},
        "seconds": {"type": "object", "additionalProperties": number},
        "cost": _ref(CostFacts),
        "offsets": {"type": "object", "additionalProperties": {"type": "array", "items": number}},
    }
    where = dict.fromkeys(_WHERE, text)
    body = {
        "version": {"const": VERSION},
        "config": {"allOf": [_ref(ExperimentConfig)], "properties": {"shard": {"type": ["string", "null"]}}},
        "environment": _ref(Environment),
        "dataset": _ref(DatasetRecord),
        "datasets": {"type": "array", "items": _ref(DatasetRecord), "minItems": 1},
        "budgets": {"type": "array", "items": {"type": "integer", "exclusiveMinimum": 0}},
        "budget_unit": text,
        "matched_size": text,
        "left_out": {"type": "object", "additionalProperties": text},
        "own_measures": {"type": "array", "items": _ref(MeasureFacts)},
        "cells": {"type": "array", "items": _object(cell)},
        "comparisons": {"type": "array", "items": {"allOf": [_object(where), _ref(Comparison)]}},
        "other_axes": {"type": "array", "items": {"allOf": [_object(where), _ref(Comparison)]}},
        "best": {"type": "array", "items": {"allOf": [_object(where), _ref(BestSet)]}},
        "overall": {"type": ["object", "null"]},
    }
    definitions[ExperimentConfig.__name__].pop("additionalProperties", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "results.json of chunkbench",
        **_object(body),
        "$defs": definitions,
    }


def _ref(kind: type) -> dict[str, str]:
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _required(schema: dict[str, Any]) -> dict[str, list[str]]:
    return {"required": list(schema["properties"])} if "properties" in schema else {}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with null allowed for every plain number: an undefined number is null."""
    properties = {
        name: {**each, "type": ["number", "null"]} if each.get("type") == "number" else each
        for name, each in schema["properties"].items()
    }
    return {**schema, "properties": properties}
