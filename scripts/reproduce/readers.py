"""`python -m scripts.reproduce.readers`: does it pay to read more around a hit than the retrieved chunk?

The same rankings, read chunk by chunk and by each reader, at equal token budgets: small-to-big retrieval, merged
parents and sentence windows are such readers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from chunkers.tokens import usable_cache

if TYPE_CHECKING:
    from evaluation.results.types import Results

BUDGETS = (1000, 4000, 8000)
READERS = ("merge", "neighbours:chunks=1")
_ANSWERS = {"better": "pays", "worse": "costs", "practically the same": "the same", "undecided": "undecided"}


@click.command()
@click.option("--dataset", "datasets", multiple=True, default=("installed",), help="Datasets.")
@click.option("--chunker", "chunkers", multiple=True, default=("cast:size=500", "cast:size=1500"), help="Chunkers.")
@click.option("--reader", "readers", multiple=True, default=READERS, help="Readers beside the chunk itself.")
@click.option("--retriever", default="bm25", help="What ranks the chunks.")
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(
    *, datasets: Sequence[str], chunkers: Sequence[str], readers: Sequence[str], retriever: str, as_json: bool
) -> None:
    """Print what each reader gains over the chunk itself, with 95 % intervals."""
    rows = [
        row
        for dataset in datasets
        for chunker in chunkers
        for row in reader_rows(compared(dataset, chunker, readers, retriever), chunker, readers)
    ]
    print(json.dumps(rows, indent=1) if as_json else written(rows))


def compared(dataset: str, chunker: str, readers: Sequence[str], retriever: str) -> Results:
    """Return the comparison of every reader with the chunk itself; intervals are corrected for the readers."""
    from evaluation.config import make_config
    from evaluation.experiment.executors import Serial
    from evaluation.experiment.run import run_experiment
    from evaluation.experiment.session import Session

    config = make_config(
        {
            "datasets": [dataset],
            "chunkers": [chunker],
            "retrievers": [retriever],
            "readers": ["chunk", *readers],
            "measures": [f"recall@{budget}tok" for budget in BUDGETS],
            "headline": f"recall@{BUDGETS[1]}tok",
            "budgets": BUDGETS,
            "baseline": chunker,
        }
    )
    return run_experiment(Session.resolve(config, usable_cache()), Serial())


def reader_rows(results: Results, chunker: str, readers: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row per reader and budget: both means, the reader's gain with its interval, and the decision."""
    failed = next((cell for cell in results.cells if cell.status == "failed"), None)
    if failed is not None:
        raise click.ClickException(f"{failed.key.chunker}: {failed.reason}")
    cells = {cell.key.chunker: cell for cell in results.cells}
    rows = []
    for reader in readers:
        name = next(key for key in cells if key != chunker and key.endswith(reader))
        for budget in BUDGETS:
            measure = f"recall@{budget}tok"
            found = next(
                each.found
                for each in results.comparisons
                if each.axis == "chunker" and each.measure == measure and name in (each.found.a, each.found.b)
            )
            found = found if found.a == name else found.turned()
            shown = ("better" if found.better == name else "worse") if found.better else found.decision
            rows.append(
                {
                    "dataset": results.datasets[0].name,
                    "chunker": chunker,
                    "reader": reader,
                    "budget": budget,
                    "chunk_recall": cells[chunker].measures[measure].mean,
                    "reader_recall": cells[name].measures[measure].mean,
                    **{key: getattr(found, key) for key in ("difference", "low", "high", "p")},
                    "answer": _ANSWERS[shown],
                }
            )
    return rows


def written(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, a line per reader, in points of recall."""
    lines = [
        "| dataset | chunker | read | " + " | ".join(f"{budget:,} tokens" for budget in BUDGETS) + " |",
        "|---|---|---|" + "---|" * len(BUDGETS),
    ]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["chunker"], row["reader"]), []).append(row)
    chunks: set[tuple[str, str]] = set()
    for (dataset, chunker, reader), group in groups.items():
        if (dataset, chunker) not in chunks:
            chunks.add((dataset, chunker))
            means = " | ".join(f"{100 * row['chunk_recall']:.1f}" for row in group)
            lines.append(f"| {dataset} | {chunker} | chunk | {means} |")
        cells = " | ".join(_gain(row) for row in group)
        lines.append(f"| {dataset} | {chunker} | {reader} | {cells} |")
    return "\n".join(lines)


def _gain(row: dict[str, Any]) -> str:
    interval = f"{100 * row['difference']:+.1f} ({100 * row['low']:+.1f} … {100 * row['high']:+.1f})"
    return f"{interval.replace('-', '−')} {row['answer']}"


if __name__ == "__main__":
    command()
