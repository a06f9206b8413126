"""`chunkbench recommend`: which chunker and size for this code, and what that risks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkers.errors import UsageError
from scripts.verbosity import note

if TYPE_CHECKING:
    from evaluation.recommend.types import Recommendation

_EXAMPLES = """\b
Examples:
  chunkbench recommend ~/src/project                                words alone: nothing is embedded
  chunkbench recommend ~/src/project --embedder minilm              vectors and words
  chunkbench recommend ~/src/project --current fixed-lines:lines=50
  chunkbench recommend ~/src/gin ~/src/flask --max-chunks 20000
  chunkbench recommend --dataset repoeval --price 0.02 --budget 1.50
  chunkbench recommend ~/src/project --candidates cast:size=1000 --candidates cast:size=2000
"""


@click.command(epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--annotations", type=click.Path(path_type=Path), help="Gold lines for PATH, as JSON Lines.")
@click.option("--dataset", metavar="SPEC", help="A dataset in place of PATH; `chunkbench list datasets`.")
@click.option(
    "--candidates",
    multiple=True,
    metavar="SPEC|FILE",
    help="Chunkers to choose from, or a file with one per line [families at six sizes].",
)
@click.option("--embedder", metavar="SPEC", help="Your embedder [none: words alone are searched].")
@click.option("--retriever", metavar="SPEC", help="Your retriever [hybrid with --embedder, else bm25].")
@click.option("--headline", metavar="NAME", help="The measure to choose by [naurc@4000tok].")
@click.option("--current", metavar="SPEC", help="The chunker in use: what would changing gain?")
@click.option("--max-chunks", type=click.IntRange(min=1), help="Leave out candidates that cut the code into more.")
@click.option(
    "--max-index-mb", type=click.FloatRange(min=0, min_open=True), help="Leave out candidates with a larger index."
)
@click.option("--price", type=click.FloatRange(min=0), help="Price of embedding a million tokens, in any currency.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    help="Leave out candidates that cost more than this to embed once; needs --price.",
)
@click.option("--limit", type=click.IntRange(min=1), help="At most this many queries, drawn by seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides which queries choose the finalists.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=2.0,
    show_default=True,
    help="A loss within this is none: points of a share.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write recommend.json and recommend.html into a folder.")
@click.option("--engine", default="processes", show_default=True, help="serial, processes, ray or ray://HOST:PORT.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes [all cores].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, as_json: bool, out: Path | None, **asked: Any) -> None:  # noqa: ANN401 - as click read them
    """Recommend a chunker and a size for the code in PATH, and state the risk of taking it.

    Without PATH and --dataset the embedded dataset is used. Candidates race on passages that compete for the queries;
    those that cannot be the best leave, and the finalists are measured on all of the code.
    """
    from evaluation.recommend.document import to_json

    if out is not None:
        from evaluation.recommend.build import check_recommendation

        check_recommendation(out)
    made = _made(asked)
    if out is not None:
        _write(made, out)
    if as_json:
        click.echo(json.dumps(to_json(made), indent=1, ensure_ascii=False))
    else:
        from scripts.recommend_view import show

        show(made)
    for spec, reason in made.failed.items():
        click.echo(f"chunkbench: {spec} failed: {reason}", err=True)
    sys.exit(1 if made.failed or (made.current and made.current.failed) else 0)


def _made(asked: dict[str, Any]) -> Recommendation:
    from evaluation.recommend.candidates import read_candidates
    from evaluation.recommend.front import Engine, recommend_for
    from evaluation.recommend.types import Limits
    from scripts.progress import shown_progress

    limits = Limits(*(asked[name] for name in Limits.__dataclass_fields__))
    options = {name: asked[name] for name in ("headline", "limit", "seed", "margin")}
    with shown_progress() as progress:
        return recommend_for(
            _source(asked["paths"], asked["dataset"], asked["annotations"]),
            read_candidates(asked["candidates"]),
            annotations=asked["annotations"],
            embedder=asked["embedder"],
            retriever=asked["retriever"],
            current=asked["current"],
            limits=limits,
            options=options,
            engine=Engine(asked["engine"], asked["jobs"], progress, note),
        )


def _source(paths: tuple[Path, ...], dataset: str | None, annotations: Path | None) -> Any:  # noqa: ANN401 - as the front takes it
    if paths and dataset is not None:
        raise UsageError("PATH and --dataset name two different corpora: give one of them")
    if annotations is not None and len(paths) != 1:
        raise UsageError("--annotations needs the repository it is about: chunkbench recommend PATH --annotations FILE")
    for each in paths:
        if not each.is_dir():
            raise UsageError(f"{each} is not a folder: give a folder of source code")
    return list(paths) if len(paths) > 1 else paths[0] if paths else dataset


def _write(made: Recommendation, folder: Path) -> None:
    from evaluation.recommend.build import write_recommendation

    for path in write_recommendation(made, folder):
        note(f"wrote {path}")
