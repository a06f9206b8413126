"""`python -m scripts.check.spans`: a comparison's rankings, written as spans and scored again, give the same numbers.

The default comparison, tools included, under every measure that needs only places and gold: per-query values are
compared to the last digit.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from chunkers.tokens import usable_cache


@click.command()
@click.option("--dataset", default="installed", help="The dataset.")
@click.option("--chunker", "chunkers", multiple=True, help="Chunkers; the default ones where none is named.")
@click.option("--embedder", default="minilm", help="The embedder.")
@click.option("--retriever", "retrievers", multiple=True, default=("dense", "bm25", "hybrid"), help="Retrievers.")
@click.option("--reader", "readers", multiple=True, help="Readers beside the chunk.")
@click.option("--tool", "tools", multiple=True, default=("ripgrep", "grep-read"), help="Tools.")
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(**options: Any) -> None:  # noqa: ANN401 - as click read them
    """Print, for each row of the comparison, how many values were compared and how many differ; exit 1 if any does."""
    as_json = options.pop("as_json")
    rows = round_trip(**options)
    print(json.dumps(rows, indent=1) if as_json else written(rows))
    sys.exit(1 if any(row["different"] for row in rows) or not rows else 0)


def round_trip(
    *,
    dataset: str,
    chunkers: Sequence[str],
    embedder: str,
    retrievers: Sequence[str],
    readers: Sequence[str],
    tools: Sequence[str],
) -> list[dict[str, Any]]:
    """Return a row per cell: the values of the pipeline against those of its spans."""
    from evaluation.config import make_config
    from evaluation.experiment.executors import Serial
    from evaluation.experiment.matching import match_sizes
    from evaluation.experiment.run import run_experiment
    from evaluation.experiment.session import Session
    from evaluation.experiment.span_results import score_span_files
    from evaluation.experiment.span_writing import run_name, write_spans

    names = text_measures()
    given = {
        "datasets": [dataset],
        "embedders": [embedder],
        "retrievers": retrievers,
        "readers": ["chunk", *readers],
        "tools": tools,
        "measures": names,
        **({"chunkers": chunkers} if chunkers else {}),
    }
    session = match_sizes(Session.resolve(make_config(given), usable_cache())).session
    results = run_experiment(session, Serial())
    with tempfile.TemporaryDirectory(prefix="chunkbench-spans-") as folder:
        file = Path(folder) / "spans.jsonl"
        write_spans(session, file)
        again = {cell.key.chunker: cell for cell in score_span_files([str(file)], dataset, names).cells}
    rows = []
    for cell in results.cells:
        if cell.status == "failed":
            raise click.ClickException(f"{' × '.join(cell.key)} failed: {cell.reason}")
        other = again[run_name(cell.key)]
        # Cells scored in only one of the two count as differences.
        differ = len(cell.scores.keys() ^ other.scores.keys()) * len(results.queries)
        pairs = [(values, other.scores[name]) for name, values in cell.scores.items() if name in other.scores]
        differ += sum(int((~((a == b) | (np.isnan(a) & np.isnan(b)))).sum()) for a, b in pairs)
        means = [(cell.measures[name].mean, other.measures[name].mean) for name in other.measures]
        rows.append(
            {
                "run": run_name(cell.key),
                "measures": len(pairs),
                "queries": len(results.queries),
                "values": sum(len(a) for a, _ in pairs),
                "different": differ + sum(a != b for a, b in means),
            }
        )
    return rows


def text_measures() -> list[str]:
    """Return the name of every registered measure that needs only places and gold."""
    from evaluation.experiment.span_scoring import scores_spans
    from evaluation.measures.audit import specimen
    from evaluation.measures.registry import measure_classes

    made = [specimen(each, budget=4000, cutoff=10) for each in measure_classes().values()]
    return sorted(each.name for each in made if scores_spans(each))


def written(rows: list[dict[str, Any]]) -> str:
    """Return a line per row of the comparison, and their sum."""
    lines = [f"{row['different']:>7,} of {row['values']:>9,} values differ  {row['run']}" for row in rows]
    total = f"{sum(row['different'] for row in rows):>7,} of {sum(row['values'] for row in rows):>9,} values differ"
    return "\n".join([*lines, f"{total}  all, {rows[0]['measures']} measures" if rows else "nothing was scored"])


if __name__ == "__main__":
    command()
