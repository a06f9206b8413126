"""One row of a span run: a ranked place in a file, as written by other tools."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from chunkers.plugins import nearest

Line = Annotated[int, Field(ge=1, strict=True)]
Byte = Annotated[int, Field(ge=0, strict=True)]


class PlaceRow(BaseModel):
    """A place in a file: lines, 1-based and inclusive, or bytes, half-open; a tool answers with a list of these."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="chunkbench place")

    file: str = Field(min_length=1, description="Posix path below the repository's root.")
    repo: str = Field(default="", description="The repository; the query's own where it is left out.")
    start_line: Line | None = Field(default=None, description="First line, counted from 1.")
    end_line: Line | None = Field(default=None, description="Last line, inclusive.")
    start_byte: Byte | None = Field(default=None, description="First byte, counted from 0; decides where lines do too.")
    end_byte: Byte | None = Field(default=None, description="The byte after the last.")
    header: str | None = Field(
        default=None, description="Text shown above the place: it costs budget and is never an answer."
    )
    header_tokens: Annotated[int, Field(ge=0, le=10**9, strict=True)] | None = Field(
        default=None, description="What is shown above the place, as a number of tokens, where its text is not kept."
    )
    text: str | None = Field(default=None, description="What the tool printed; for the reader, never scored.")


class SpanRow(PlaceRow):
    """A place that a run returned for a query, with its rank or its score."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="chunkbench span")

    query_id: str = Field(pattern=r"^\S+$", description="A query of the dataset.")
    rank: Annotated[int, Field(ge=1, strict=True)] | None = Field(default=None, description="1 is the best.")
    score: Annotated[float, Field(allow_inf_nan=False, strict=True)] | None = Field(
        default=None, description="In place of a rank; higher is better, ties go by path and first byte."
    )
    run: str = Field(default="", description="Names the run, where a file holds several.")
    dataset: str = Field(default="", description="The dataset's spec, where a file is about several.")


class TrajectoryRow(BaseModel):
    """The files and lines an agent opened while looking for an answer: views in reading order."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="chunkbench trajectory")

    query_id: str = Field(pattern=r"^\S+$", description="A query of the dataset.")
    views: tuple[PlaceRow, ...] = Field(description="Places in the order read: the first has rank 1.")
    repo: str = Field(default="", description="The repository of views that name none.")
    run: str = Field(default="", description="Names the run, where a file holds several.")
    dataset: str = Field(default="", description="The dataset's spec, where a file is about several.")


REMEDIES = {
    "query_id": "write the id of one of the dataset's queries",
    "rank": "write a whole number counted from 1",
    "score": "write a finite number",
    "file": "write the path below the repository's root",
    "start_line": "lines are whole numbers counted from 1",
    "end_line": "lines are whole numbers counted from 1",
    "start_byte": "bytes are whole numbers counted from 0",
    "end_byte": "bytes are whole numbers counted from 0",
    "header_tokens": "write how many tokens it has",
    "views": "write a list of objects with file, start_line and end_line",
}


def explain(detail: dict[str, Any], known: type[BaseModel]) -> tuple[str, str]:
    """Return what is wrong with a field, from pydantic's error, and the remedy."""
    name = ".".join(map(str, detail["loc"]))
    last = str(detail["loc"][-1]) if detail["loc"] else ""
    value = repr(detail["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    if detail["type"] == "missing":
        return f"{name} is missing", f"add {last}"
    if detail["type"] == "extra_forbidden":
        return f"unknown key {name!r}", nearest(last, known.model_fields).strip() or "remove it"
    if detail["type"] == "model_type":
        return f"{name or 'it'} is {value}", "write an object with file, start_line and end_line"
    return f"{name or 'it'} is {value}", REMEDIES.get(last, detail["msg"].lower())


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of one row of a span run: a place, or a query's views."""
    made = TypeAdapter(SpanRow | TrajectoryRow).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "chunkbench span run", **made}
