"""`python -m scripts.reproduce.remedies`: the effect of each remedy of the default experiment on its verdict.

The first row is how chunkers are often compared: docstrings blanked before files are cut, default limits, a model that
reads the beginning of each chunk, docstring queries alone, every query counting once. Each further row changes one
thing and keeps it.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chunkers.tokens import usable_cache
from chunkers.types import SourceFile

if TYPE_CHECKING:
    from evaluation.experiment.session import Session
    from ground_truth.types import Dataset

MEASURE = "naurc@4000tok"
LINES, CAST = "fixed-lines:lines=50", "cast:size=1500"
_BEGINNING = "minilm:long=truncate"


class Step(NamedTuple):
    """One way to run the comparison."""

    words: str
    dataset: str = "hidden"
    match: bool = True
    embedder: str = "minilm"
    retriever: str = "dense"
    weight: str = "query"


STEPS = (
    Step(
        "blanked before the cut, limits as given, 256 tokens, docstrings",
        "blanked docstrings",
        False,
        "minilm:long=truncate",
    ),
    Step("cut as it is, hidden at the edge", "docstrings", False, "minilm:long=truncate"),
    Step("one mean size", "docstrings", True, "minilm:long=truncate"),
    Step("every token read", "docstrings"),
    Step("docstrings and comments"),
    Step("each repository once", weight="repository"),
    Step("bm25 instead of dense", retriever="bm25", weight="repository"),
    Step("hybrid instead of dense", retriever="hybrid", weight="repository"),
)


@dataclasses.dataclass(frozen=True)
class Blanked:
    """Blanks the hidden bytes of each file, as a transformation of a repository."""

    dataset: Any

    def __call__(self, source: SourceFile) -> SourceFile:
        """Return the file with spaces in place of hidden text."""
        from ground_truth.hidden import HiddenText, blanked

        hidden = HiddenText(span for span in self.dataset.hidden if span.path == source.path)
        return dataclasses.replace(source, data=blanked(source.data, hidden.ranges(source.repo, source.path)))


@click.command()
@click.option(
    "--packages", default="", help="Packages of the default dataset, separated by commas; all where none is named."
)
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(*, packages: str, as_json: bool) -> None:
    """Print the difference between cast and fixed lines under each remedy."""
    rows = remedies(packages)
    print(json.dumps(rows, indent=1) if as_json else written(rows))


def remedies(packages: str) -> list[dict[str, Any]]:
    """Return a row per step: both means, the difference with its interval, and the decision."""
    from evaluation.experiment.executors import Serial
    from evaluation.experiment.run import run_experiment

    data = datasets(packages)
    rows = []
    for step in STEPS:
        results = run_experiment(_session(step, data), Serial())
        cast, lines = (
            next(cell for cell in results.cells if cell.key.chunker.startswith(name))
            for name in ("cast", "fixed-lines")
        )
        found = next(row.found for row in results.comparisons if row.axis == "chunker" and row.measure == MEASURE)
        found = found if found.a == cast.key.chunker else found.turned()
        rows.append(
            {
                "step": step.words,
                "cast": cast.measures[MEASURE].mean,
                "fixed-lines": lines.measures[MEASURE].mean,
                "sizes": [round(cell.chunks.mean_nws) for cell in (cast, lines)],
                **{name: getattr(found, name) for name in ("difference", "low", "high", "decision")},
            }
        )
    return rows


def datasets(packages: str) -> dict[str, Dataset]:
    """Return the default dataset, its docstring queries alone, and these with docstrings blanked before the cut."""
    from ground_truth.datasets.installed import Installed

    whole = (Installed(packages=packages) if packages else Installed()).load()
    asked = {query.id for query in whole.queries if query.kind == "docstrings"}
    docstrings = dataclasses.replace(
        whole,
        queries=tuple(query for query in whole.queries if query.id in asked),
        annotations=tuple(note for note in whole.annotations if note.query_id in asked),
    )
    folders: tuple[Any, ...] = docstrings.repositories
    blanked = dataclasses.replace(
        docstrings,
        repositories=tuple(dataclasses.replace(folder, transform=Blanked(docstrings)) for folder in folders),
        hidden=(),
    )
    return {"hidden": whole, "docstrings": docstrings, "blanked docstrings": blanked}


def _session(step: Step, data: dict[str, Dataset]) -> Session:
    from evaluation.config import make_config
    from evaluation.experiment.matching import match_sizes
    from evaluation.experiment.session import Session
    from ground_truth.datasets.in_memory import InMemory

    config = make_config(
        {
            "datasets": [step.dataset],
            "chunkers": [LINES, "cast" if step.match else CAST],
            "match_size": LINES if step.match else None,
            "embedders": [step.embedder],
            "retrievers": [step.retriever],
            "measures": [MEASURE],
            "weight": step.weight,
        }
    )
    loaders = {name: InMemory(dataset=dataset) for name, dataset in data.items()}
    return match_sizes(Session.resolve(config, usable_cache(), plugins=loaders)).session


def written(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, in points."""
    lines = [
        "| one change at a time | cast | fixed lines | mean nws | cast − lines | answer |",
        "|---|---:|---:|---|---|---|",
    ]
    for row in rows:
        interval = f"{100 * row['difference']:+.1f} ({100 * row['low']:+.1f} … {100 * row['high']:+.1f})"
        sizes = " / ".join(f"{size:,}" for size in row["sizes"])
        means = f"{100 * row['cast']:.1f} | {100 * row['fixed-lines']:.1f}"
        lines.append(f"| {row['step']} | {means} | {sizes} | {interval.replace('-', '−')} | {row['decision']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    command()
