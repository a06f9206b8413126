"""`chunkbench qrels`: which chunks answer each query, as TREC qrels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from chunkers.errors import UsageError

if TYPE_CHECKING:
    from chunkers.cut_errors import FailedFiles
    from ground_truth.overlap import Judgements
    from ground_truth.types import Dataset


@click.command()
@click.argument("annotations", required=False)
@click.option("--root", default=".", show_default=True, help="Folder of the annotated repository or repositories.")
@click.option("--dataset", help="A dataset spec instead of an annotation file, such as installed.")
@click.option("--chunker", default="cast", show_default=True, help="A chunker spec, such as fixed-lines:lines=40.")
@click.option("--rule", default="any", show_default=True, help="The overlap rule, such as iou(0.5) or best_cover.")
@click.option("--duplicates", default="keep", show_default=True, type=click.Choice(["keep", "first", "equal"]))
@click.option("--json", "as_json", is_flag=True, help="Print qrels and statistics as one JSON object.")
def command(
    *, annotations: str | None, root: str, dataset: str | None, chunker: str, rule: str, duplicates: str, as_json: bool
) -> None:
    """Print the chunks that answer each query.

    \b
    chunkbench qrels ann.jsonl --root ~/code/project --chunker cast:size=1500 > cast.qrels
    chunkbench qrels --dataset installed --chunker fixed-lines --rule "iou(0.5)"
    chunkbench qrels ann.jsonl --root . --rule min_cover --json
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    from chunkers.cut_errors import FailedFiles
    from chunkers.registry import CHUNKERS
    from ground_truth.duplicates import apply_duplicates
    from ground_truth.relevance import judge_chunker
    from ground_truth.rules import parse_rule
    from scripts.cut_failures import end_with_failures
    from scripts.verbosity import note

    parsed = parse_rule(rule)
    data = apply_duplicates(_dataset(annotations, root, dataset), duplicates)
    failed = FailedFiles()
    judged = judge_chunker(parsed, data, CHUNKERS.create(chunker), cut=failed.chunks)
    click.echo(_as_json(judged, failed) if as_json else _as_trec(judged), nl=False)
    if not as_json:
        note(_summary(judged))
    end_with_failures({chunker: failed})


def _dataset(annotations: str | None, root: str, spec: str | None) -> Dataset:
    from ground_truth.datasets.annotations import Annotations
    from ground_truth.loading import load_from
    from ground_truth.registry import DATASETS

    if (annotations is None) == (spec is None):
        raise UsageError("give either an annotation file or --dataset SPEC")
    return load_from(DATASETS.create(spec), spec) if spec else Annotations(path=annotations or "", root=root).load()


def _as_trec(judged: Judgements) -> str:
    return "".join(
        f"{query} 0 {chunk} {grade}\n"
        for query, grades in judged.qrels.items()
        for chunk, grade in sorted(grades.items())
    )


def _as_json(judged: Judgements, failed: FailedFiles) -> str:
    queries = {"relevant": judged.relevant, "uncovered": judged.uncovered, "qrels": judged.qrels}
    report = {**judged.report(), "failed_files": failed.reasons, **queries}
    return json.dumps(report, indent=1) + "\n"


def _summary(judged: Judgements) -> str:
    report = judged.report()
    counts = report["relevant_per_query"]
    return (
        f"rule {report['rule']}: {report['queries']} queries, relevant chunks per query "
        f"mean {counts['mean']:g}, median {counts['median']:g}, max {counts['max']}; "
        f"{report['uncovered_queries']} without any ({report['uncovered_share']:.1%})"
        + (f"; grades are multiplied by {judged.scale}" if judged.scale != 1 else "")
    )
