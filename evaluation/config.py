"""An experiment's configuration: one validated value, from a TOML file or from the command line."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from chunkers.plain_text import one_line
from chunkers.plugins import Spec, nearest
from evaluation.prices import check_prices
from evaluation.run_options import RunOptions, Table
from evaluation.statistics.types import TestName, Weight

_LARGEST_FILE = 16 * 2**20
DEFAULT_CHUNKERS = ("cast", "recursive", "fixed-lines:lines=50")
DEFAULT_SIZE = "fixed-lines:lines=50"
"""The default chunkers get limits that match this one's mean chunk size."""
DEFAULT_TEXT_MEASURES = ("recall@4000tok", "naurc@4000tok")
DEFAULT_MEASURES = (
    "ndcg@5",
    "ndcg@10",
    "precision@5",
    "precision@10",
    "recall@5",
    "recall@10",
    "mrr@10",
    "map@10",
    "hit@5",
    *DEFAULT_TEXT_MEASURES,
)


def _sweep(value: object) -> object:
    """Expand each table such as {name = "cast", size = [1000, 2000]} into one spec per combination."""
    if isinstance(value, (str, Mapping)):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return value
    specs: list[object] = []
    for item in value:
        if not isinstance(item, Mapping):
            specs.append(item)
            continue
        options = dict(item)
        name = options.pop("name", None)
        if name is None:
            raise ValueError('a table needs a name, as in {name = "cast", size = [1000, 2000]}')
        choices = [choice if isinstance(choice, list) else [choice] for choice in options.values()]
        for combination in itertools.product(*choices):
            written = tuple((key, _written(each)) for key, each in zip(options, combination, strict=True))
            specs.append(str(Spec(str(name), written)))
    return list(dict.fromkeys(specs)) if all(isinstance(each, str) for each in specs) else specs


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_SPEC = {
    "anyOf": [
        {"type": "string", "description": "NAME or NAME:KEY=VALUE,…"},
        {
            "type": "object",
            "description": "A table is swept: one plug-in per combination of its lists.",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    ]
}
_SPECS = {"anyOf": [*_SPEC["anyOf"], {"type": "array", "items": _SPEC, "minItems": 1}]}
Specs = Annotated[tuple[str, ...], BeforeValidator(_sweep), Field(min_length=1), WithJsonSchema(_SPECS)]


class NightlyConfig(Table):
    """The `[nightly]` table: where runs are stored, and when a change counts."""

    history: str = Field(default="history", description="Folder of past runs, relative to the experiment file.")
    fetch: bool = Field(default=False, description="Fetch the clones of datasets that name a ref before each run.")
    measures: tuple[str, ...] = Field(
        default=(), description="Measures that raise an alarm; the headline where none is named."
    )
    alpha: float = Field(
        default=0.05, gt=0, lt=1, description="Share of quiet nights in which anything at all may be called a change."
    )
    minimum_effect: float = Field(
        default=0.01,
        ge=0,
        description="A change below this is none: a share, or a part of the mean for measures in a unit.",
    )
    keep: int = Field(default=0, ge=0, description="Newest runs that are kept; 0 keeps all. The baseline always stays.")


class ExperimentConfig(Table):
    """Every key of an experiment file; each is also an option of `chunkbench compare`."""

    datasets: Specs = ("installed",)
    chunkers: Specs = DEFAULT_CHUNKERS
    match_size: str | None = Field(
        None,
        description="Choose each chunker's limit so that mean chunk sizes agree: nws=1200, tokens=300, or a chunker "
        "such as fixed-lines:lines=50 whose mean is the target, as it is for the default chunkers.",
    )
    embedders: Specs = ("minilm",)
    retrievers: Specs = ("dense", "bm25", "hybrid")
    readers: Specs = Field(
        ("chunk",), description="What is read for each hit, beside the chunk itself: neighbours, lines, merge …"
    )
    measures: Annotated[tuple[str, ...], Field(min_length=1)] = DEFAULT_MEASURES
    k: tuple[Annotated[int, Field(gt=0)], ...] = Field(
        (), description="Cutoffs of nDCG, precision, recall and hit; MRR and MAP take the largest. Others are kept."
    )
    headline: str = Field("naurc@4000tok", description="The measure that the verdict is about.")
    rule: str = Field("any", description="When a chunk counts as relevant, for measures on chunk ids.")
    insist: bool = Field(
        default=False, description="Allow relevance that does not compare chunkers: token_f1, or of several kinds."
    )
    duplicates: Literal["keep", "first", "equal"] = Field(
        "keep", description="Identical files: keep all, index only the first, or count a copy of gold text as gold."
    )
    budgets: tuple[Annotated[int, Field(gt=0)], ...] = Field(
        (250, 500, 1000, 2000, 4000, 8000), description="Points of the recall-against-budget curve, in tokens."
    )
    offsets: int = Field(
        1, gt=0, le=50, description="Average line and token chunkers over this many offsets of their first cut."
    )
    spans: tuple[str, ...] = Field(
        (), description="Span runs that stand beside the chunkers: NAME=FILE, what another tool returned as JSON Lines."
    )
    tools: tuple[str, ...] = Field(
        (), description="Tools that are asked every query: NAME=COMMAND, or ripgrep or grep-read, which are ready."
    )
    tool_timeout: float = Field(60.0, gt=0, le=86_400, description="Seconds in which a tool answers one query.")
    baseline: str | None = Field(None, description="Compare every chunker with this one instead of all pairs.")
    limit: int | None = Field(
        None, gt=0, description="At most this many queries of each dataset, drawn by the seed and the queries' ids."
    )
    seed: int = 0
    weight: Weight = Field(
        "repository", description="What counts once in a mean: each repository, or each query; both are in the results."
    )
    margin: float = Field(
        2.0,
        gt=0,
        description="Differences within this are practically the same: points of a share, else per cent of the mean.",
    )
    test: TestName = Field("t", description="The procedure behind every p and interval: t, or sign-flip.")
    flips: int = Field(100_000, gt=99, description="Sign flips, where the test is sign-flip.")
    depth: int = Field(
        1000, ge=100, description="Results searched per query, at least 100; those that no budget reads are not kept."
    )
    nightly: NightlyConfig | None = Field(None, description="Settings of `chunkbench nightly`.")
    run: RunOptions = Field(
        RunOptions.model_validate({}),
        exclude=True,
        description="How it is run and shown; the results keep it beside the experiment.",
    )


def measures_at(cutoffs: Sequence[int]) -> list[str]:
    """Return nDCG, precision, recall and hit at each cutoff, and MRR and MAP at the largest."""
    names = [f"{label}@{k}" for label in ("ndcg", "precision", "recall", "hit") for k in cutoffs]
    return [*names, f"mrr@{max(cutoffs)}", f"map@{max(cutoffs)}"]


def load_config(path: Path, **overrides: object) -> ExperimentConfig:
    """Load the experiment from a TOML file; options from the command line override it."""
    try:
        found = tomllib.loads(read_text_input(path, largest=_LARGEST_FILE))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # nested too deeply, or a number of thousands of digits
        raise UsageError(f"{path} is not TOML: {one_line(str(error), limit=200)}") from None
    if isinstance(found.get("run"), dict) and isinstance(overrides.get("run"), dict):
        overrides = {**overrides, "run": {**found["run"], **overrides["run"]}}  # type: ignore[dict-item] # looked at above
    return make_config({**found, **overrides}, source=str(path))


def make_config(values: Mapping[str, Any], *, source: str = "options") -> ExperimentConfig:
    """Return the validated experiment; the error names the key and the nearest one that exists."""
    values = dict(values)
    if "chunkers" not in values:
        values.setdefault("match_size", DEFAULT_SIZE)
    try:
        config = ExperimentConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            tables: dict[tuple[int | str, ...], type[Table]] = {("nightly",): NightlyConfig, ("run",): RunOptions}
            known = tables.get(first["loc"][:-1], ExperimentConfig)
            hint = nearest(str(first["loc"][-1]), known.model_fields)
            raise UsageError(f"{source}: unknown key {key!r}.{hint}") from None
        raise UsageError(f"{source}: {key}: {first['msg'].removeprefix('Value error, ')}") from None
    check_prices(config.run.price, config.embedders)
    if config.k:
        # Unless they name measures, users of -k mean these cutoffs instead of the default ones.
        kept = config.measures if "measures" in values else DEFAULT_TEXT_MEASURES
        config = config.model_copy(update={"measures": tuple(dict.fromkeys([*measures_at(config.k), *kept]))})
    if config.headline not in config.measures:
        config = config.model_copy(update={"measures": (*config.measures, config.headline)})
    gated = [name for name in (config.nightly.measures if config.nightly else ()) if name not in config.measures]
    if gated:
        config = config.model_copy(update={"measures": (*config.measures, *gated)})
    named = {text.partition("=")[0] for text in (*config.spans, *config.tools)}
    if config.baseline is not None and config.baseline not in {*config.chunkers, *named}:
        config = config.model_copy(update={"chunkers": (config.baseline, *config.chunkers)})
    return config
