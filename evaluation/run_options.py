"""How an experiment is run and displayed: nothing here changes a number, so nothing here is part of its identity."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from chunkers.errors import UsageError

Overwrite = Literal["always", "never", "only-missing", "only-cache"]


def check_engine(engine: str) -> None:
    """Raise unless there is an engine of that name."""
    if engine not in ("serial", "processes", "ray") and not engine.startswith("ray://"):
        raise UsageError(f"unknown engine {engine!r}. Known: serial, processes, ray, ray://HOST:PORT")


class Table(BaseModel):
    """A table of an experiment file: its keys are known, its numbers are finite, and true is none of them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag(cls, value: object, about: ValidationInfo) -> object:
        if isinstance(value, bool) and cls.model_fields[str(about.field_name)].annotation is not bool:
            raise ValueError("it is a number or a text, not true or false")
        return value


class RunOptions(Table):
    """The `[run]` table of an experiment file."""

    out: str | None = Field(default=None, description="Results folder; results/NAME-HASH where none is named.")
    write_spans: str | None = Field(
        default=None, description="A file into which every ranking is written, as a span run under the cell's name."
    )
    engine: str = Field(default="processes", description="serial, processes, ray or ray://HOST:PORT.")
    jobs: int | None = Field(default=None, gt=0, description="Processes; all cores where no number is named.")
    overwrite: Overwrite = Field(
        default="only-missing",
        description="What to do with results that exist: make all again, keep the output folder, add what lacks, "
        "compute nothing.",
    )
    shard: str | None = Field(
        default=None, description="Run the I-th of N parts, as I/N; `chunkbench report` merges them."
    )
    show: Literal["table", "wide", "json"] = Field(
        default="table",
        description="What is printed: the table, all measures in it (--wide), or results.json (--json).",
    )

    price: tuple[str, ...] = Field(
        default=(), description="What a million embedded tokens cost: a number, or EMBEDDER=NUMBER for one of several."
    )
    quiet: bool = Field(default=False, description="Say nothing but errors on stderr.")
    verbose: bool = Field(default=False, description="Say more on stderr.")

    @field_validator("price", mode="before")
    @classmethod
    def _prices(cls, price: object) -> object:
        return [str(each) for each in (price if isinstance(price, (list, tuple)) else [price])]

    @field_validator("engine")
    @classmethod
    def _known_engine(cls, engine: str) -> str:
        try:
            check_engine(engine)
        except UsageError as error:
            raise ValueError(str(error)) from None  # as pydantic requires
        return engine
