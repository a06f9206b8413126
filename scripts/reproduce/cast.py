"""cAST's retrieval tables on RepoEval and SWE-bench Lite, for any embedder, with the fair answer beside them.

Where the paper is not specific (how line scores are aggregated, which windows are the reference, the size limit) there
is an option, and `--sensitivity` shows how much each matters.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chunkers.errors import UsageError
from chunkers.tokens import cache_folder
from scripts.cli import exit_with

if TYPE_CHECKING:
    import numpy as np

    from evaluation.experiment.session import Session
    from evaluation.results.types import CellRecord, Results

PUBLISHED_MEASURES = ("ndcg@5", "ndcg@10", "precision@5", "precision@10", "recall@5", "recall@10")
FAIR_MEASURES = ("naurc@4000tok", "recall@4000tok")
PROTOCOLS = ("coderag", "projected", "own-ids", "fair")
REFERENCE = "sliding-window:window=50,step=10"
"""CodeRAG-Bench's windows."""

# arXiv 2506.15655, table 2: in the order of PUBLISHED_MEASURES, cAST and then fixed-size chunks.
PAPER = {
    "repoeval": {
        "BGE-base": ((71.1, 74.7, 34.9, 20.4, 69.8, 77.6), (71.3, 74.6, 32.8, 19.1, 67.4, 74.1)),
        "BGE-large": ((72.2, 75.4, 34.9, 20.2, 69.6, 76.3), (71.1, 73.9, 31.3, 18.1, 64.9, 70.6)),
        "GIST-base": ((75.9, 78.5, 38.1, 21.2, 75.0, 80.5), (74.2, 78.0, 34.8, 20.6, 70.7, 78.5)),
        "GIST-large": ((78.9, 81.9, 38.8, 22.0, 76.6, 82.8), (75.1, 79.5, 34.8, 21.1, 71.1, 80.2)),
        "CodeSage-small-v2": ((85.1, 88.8, 44.1, 25.3, 83.9, 91.0), (83.0, 86.4, 42.9, 24.5, 82.1, 89.1)),
        "Jina-v2-code": ((87.1, 90.5, 47.9, 27.1, 87.9, 94.7), (86.8, 90.9, 46.3, 26.7, 84.9, 92.9)),
    },
    "swebench": {
        "BGE-base": ((44.0, 41.5, 39.7, 32.5, 18.4, 26.8), (42.4, 39.5, 38.3, 31.2, 17.3, 24.4)),
        "BGE-large": ((42.2, 40.4, 37.7, 31.6, 17.5, 26.1), (42.8, 39.9, 38.3, 31.2, 17.0, 24.6)),
        "GIST-base": ((44.4, 42.5, 39.1, 32.9, 18.5, 27.6), (43.1, 40.6, 38.6, 31.8, 17.8, 25.9)),
        "GIST-large": ((44.0, 41.9, 39.5, 33.1, 18.5, 27.0), (43.5, 41.7, 39.2, 33.2, 18.0, 26.5)),
        "CodeSage-small-v2": ((43.1, 41.4, 38.8, 32.8, 18.3, 26.4), (42.6, 40.0, 37.5, 31.0, 17.5, 24.7)),
    },
}


class Row(NamedTuple):
    """One line of the table: chunker, protocol, and scores in points of 100."""

    source: str
    protocol: str
    chunker: str
    scores: dict[str, float | None]


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="RepoEval: the folder with tasks and repositories.")
@click.option("--swebench", type=click.Path(path_type=Path), help="SWE-bench Lite: its .jsonl (needs --repos).")
@click.option("--repos", type=click.Path(path_type=Path), help="Clones or bare mirrors of SWE-bench's repositories.")
@click.option("--model", "models", multiple=True, default=("minilm",), show_default=True, help="Embedders by spec.")
@click.option("--protocol", "protocols", multiple=True, type=click.Choice(PROTOCOLS), help="Which tables [all].")
@click.option("--gold", default="prompt", show_default=True, help="RepoEval's gold: prompt, body or function.")
@click.option("--repositories", default="8", show_default=True, help="RepoEval's repositories: 8, 6 or names.")
@click.option("--ast", default="cast:size=2000", show_default=True, help="The syntax chunker.")
@click.option("--fixed", default="fixed-nws:size=2000", show_default=True, help="The fixed-size chunker.")
@click.option("--also", multiple=True, metavar="SPEC", help="Further chunkers for the own-ids and fair tables.")
@click.option("--reference", default=REFERENCE, show_default=True, help="Whose ids the projection uses.")
@click.option("--aggregation", type=click.Choice(["max", "mean"]), default="max", show_default=True)
@click.option("--sensitivity", is_flag=True, help="Repeat the projection under every choice the paper leaves open.")
@click.option("--out", type=click.Path(path_type=Path), help="Also write the results folder with the report.")
@click.option("--engine", default="processes", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(**options: Any) -> None:  # noqa: ANN401 - passed on as they are
    """Reproduce cAST's retrieval tables."""
    from evaluation.config import make_config
    from evaluation.experiment.executors import make_executor
    from evaluation.experiment.run import run_experiment
    from evaluation.experiment.session import Session
    from evaluation.results.document import comparison_row
    from scripts.progress import shown_progress

    protocols = options["protocols"] or PROTOCOLS
    names = _datasets(options)
    # The projection needs the reference's windows, not their vectors.
    reference = (options["reference"],) if "coderag" in protocols else ()
    chunkers = dict.fromkeys((options["ast"], options["fixed"], *options["also"], *reference))
    session = Session.resolve(
        make_config(
            {
                "datasets": list(names.values()),
                "chunkers": list(chunkers),
                "embedders": options["models"],
                "measures": [*PUBLISHED_MEASURES, *FAIR_MEASURES],
                # CodeRAG-Bench counts blank lines too.
                "rule": "any(blank=true)",
            }
        ),
        cache_folder(),
    )
    with shown_progress() as progress:
        results = run_experiment(session, make_executor(options["engine"], None), progress=progress)
    records = {record.name: record for record in results.datasets}
    tables = {
        name: {
            "queries": records[spec].queries,
            "skipped": records[spec].details.get("skipped", {}),
            "rows": [
                row._asdict()
                for row in _rows(session, results, name=name, spec=spec, options=options, protocols=protocols)
            ],
            "comparisons": [_comparison(comparison_row(row)) for row in results.comparisons if row.dataset == spec]
            if "fair" in protocols
            else [],
            "sensitivity": [row._asdict() for row in _sensitivity(session, spec, options)]
            if options["sensitivity"]
            else [],
        }
        for name, spec in names.items()
    }
    if options["out"]:
        from evaluation.report.build import write_report
        from evaluation.results.folder import write_results

        write_results(results, options["out"])
        write_report(results, options["out"])
    if options["as_json"]:
        click.echo(json.dumps(tables, indent=1, ensure_ascii=False))
    else:
        for name, found in tables.items():
            _print(name, found)


def _datasets(options: dict[str, Any]) -> dict[str, str]:
    found = {}
    if options["data"]:
        found["repoeval"] = (
            f"repoeval:path={options['data']},gold={options['gold']},repositories={options['repositories']}"
        )
    if options["swebench"]:
        if not options["repos"]:
            raise UsageError("--swebench needs --repos: the folder with clones or bare mirrors of its repositories")
        # Instances without a local clone are skipped and counted.
        found["swebench"] = f"swebench:path={options['swebench']},repos={options['repos']},problems=skip"
    if not found:
        raise UsageError("name RepoEval's folder with --data, or SWE-bench Lite's file with --swebench and --repos")
    return found


def _rows(
    session: Session,
    results: Results,
    *,
    name: str,
    spec: str,
    options: dict[str, Any],
    protocols: tuple[str, ...],
) -> list[Row]:
    rows = []
    if set(protocols) & {"coderag", "projected", "own-ids"}:
        for model, (ast, fixed) in PAPER[name].items():
            for label, values in (("cAST", ast), ("fixed-size", fixed)):
                rows.append(
                    Row(f"paper, {model}", "published", label, dict(zip(PUBLISHED_MEASURES, values, strict=True)))
                )
    for model in session.config.embedders:
        cells = {cell.key.chunker: cell for cell in results.cells if cell.key[0] == spec and cell.key[2] == model}
        if "coderag" in protocols:
            reference = options["reference"]
            rows.append(Row(model, "coderag", reference, _points(cells[reference], PUBLISHED_MEASURES)))
        if "projected" in protocols:
            rows += [
                Row(model, "projected", chunker, _projected(session, spec, model, chunker, options))
                for chunker in (options["ast"], options["fixed"])
            ]
        for protocol, measures in (("own-ids", PUBLISHED_MEASURES), ("fair", FAIR_MEASURES)):
            if protocol in protocols:
                rows += [Row(model, protocol, chunker, _points(cell, measures)) for chunker, cell in cells.items()]
    return rows


def _points(cell: CellRecord, measures: tuple[str, ...]) -> dict[str, float | None]:
    if cell.status == "failed":
        raise UsageError(f"{' × '.join(cell.key)} failed: {cell.reason}")
    return {measure: _hundred(cell.measures[measure].mean) for measure in measures}


def _projected(
    session: Session,
    spec: str,
    model: str,
    chunker: str,
    options: dict[str, Any],
) -> dict[str, float | None]:
    from evaluation.experiment.projected import score_projected
    from evaluation.types import CellKey

    scores: dict[str, np.ndarray] = score_projected(
        session,
        CellKey(spec, chunker, model, "dense"),
        reference=options["reference"],
        measures=PUBLISHED_MEASURES,
        aggregation=options["aggregation"],
    )
    return {measure: _hundred(float(values.mean())) for measure, values in scores.items()}


def _sensitivity(session: Session, spec: str, options: dict[str, Any]) -> list[Row]:
    """Return the projection under every choice that the paper leaves open."""
    references = dict.fromkeys(
        (options["reference"], REFERENCE, "sliding-window:window=20,step=10", "fixed-lines:lines=50")
    )
    choices = itertools.product(options["models"], references, ("max", "mean"), (options["ast"], options["fixed"]))
    return [
        Row(
            model,
            f"projected on {reference}, {aggregation}",
            chunker,
            _projected(session, spec, model, chunker, {**options, "reference": reference, "aggregation": aggregation}),
        )
        for model, reference, aggregation, chunker in choices
    ]


def _comparison(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = (
        "embedder",
        "measure",
        "a",
        "b",
        "difference",
        "low",
        "high",
        "p",
        "p_corrected",
        "shown",
        "n_clusters",
        "caveat",
    )
    return {name: row[name] for name in kept}


def _hundred(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)


def _print(name: str, found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 150)
    left_out = ", ".join(f"{count} {reason}" for reason, count in found["skipped"].items())
    console.print(f"{name}: {found['queries']} queries" + (f"; left out: {left_out}" if left_out else ""), markup=False)
    for title, measures, protocols in (
        (f"{name}: chunk ids, in points", PUBLISHED_MEASURES, {"published", "coderag", "projected", "own-ids"}),
        (f"{name}: gold text at equal budgets, in points", FAIR_MEASURES, {"fair"}),
        (f"{name}: what the paper leaves open", PUBLISHED_MEASURES, None),
    ):
        rows = found["sensitivity"] if protocols is None else [r for r in found["rows"] if r["protocol"] in protocols]
        if not rows:
            continue
        table = Table(title=title, title_justify="left", box=None)
        for heading in ("model", "protocol", "chunker"):
            table.add_column(heading, overflow="fold")
        for measure in measures:
            table.add_column(measure, justify="right")
        for row in rows:
            cells = ["–" if (value := row["scores"].get(m)) is None else f"{value:.1f}" for m in measures]
            table.add_row(row["source"], row["protocol"], row["chunker"], *cells)
        console.print(table)
    for row in found["comparisons"]:
        if row["measure"] in FAIR_MEASURES:
            console.print(
                f"{row['measure']}, {row['embedder']}: {row['a']} − {row['b']} = {100 * row['difference']:+.1f} points "
                f"({100 * row['low']:.1f} … {100 * row['high']:.1f}), corrected p = {row['p_corrected']:.3f} "
                f"over {row['n_clusters']} repositories" + (f" ({row['caveat']})" if row["caveat"] else ""),
                markup=False,
                highlight=False,
            )


if __name__ == "__main__":
    exit_with(command)
