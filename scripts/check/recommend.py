"""Checks that a recommendation is good and that its risk is true: in simulated worlds, and against the whole grid."""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from evaluation.report.formats import number
from scripts.check.recommend_worlds import MARGIN, WORLDS, Played, World, play

_WITHIN = 0.95
_TEXTS = 0.4
_ROUNDING = 1e-12


@click.group()
def command() -> None:
    """Check recommendations."""


@command.command()
@click.option("--runs", default=200, show_default=True, help="Simulated races per world.")
@click.option("--every", default=1, show_default=True, help="Only every n-th world.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def simulate(*, runs: int, every: int, seed: int, as_json: bool) -> None:
    """Race in worlds whose truth is known; exit 1 if a target is missed.

    The recommended one is within 2 points of the truly best in 95 % of the races without a warning of too little data,
    and in 95 % of all races in a world where this holds for the whole grid (the best mean of all candidates on all
    queries). The risk holds and the best is among those that may be best in 95 %; finalists' means on queries
    that did not choose them are not above their true ones; no race indexes more than 40 % of the texts.
    """
    rows = []
    for world in WORLDS[::every]:
        row = _simulated(world, runs, seed)
        rows.append(row)
        if not as_json:
            click.echo(_text(row))
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    if not all(row["ok"] for row in rows):
        raise SystemExit(1)


def _simulated(world: World, runs: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    played = [play(world, rng) for _ in range(runs)]
    column = {name: np.array([getattr(race, name) for race in played]) for name in Played._fields}
    loss, risk = column["loss"], column["risk"]
    within, possible = (float((each <= MARGIN + _ROUNDING).mean()) for each in (loss, column["loss_of_grid"]))
    holds = float((loss <= risk + _ROUNDING).mean())
    error = float(column["bias"].std() / np.sqrt(runs))
    flattered = float(column["bias"].mean()) > 3 * error
    sure = loss[column["likely_loss"] <= MARGIN]
    sure_within = float((sure <= MARGIN + _ROUNDING).mean()) if len(sure) else None
    return {
        "world": world.name,
        "within_2_points": within,
        "whole_grid_within_2_points": possible,
        "warned": 1 - len(sure) / runs,
        "within_2_points_unwarned": sure_within,
        "risk_holds": holds,
        "best_kept": float(column["kept"].mean()),
        "may_be_best": float(np.median(column["may_be_best"])),
        "loss": 100 * float(loss.mean()),
        "loss_of_grid": 100 * float(column["loss_of_grid"].mean()),
        "risk": 100 * float(np.median(risk)),
        "risk_among_finalists": 100 * float(np.median(column["final_risk"])),
        "bias": 100 * float(column["bias"].mean()),
        "bias_error": 100 * error,
        "bias_of_recommended": 100 * float(column["winner_bias"].mean()),
        "texts": float(column["texts"].max()),
        "runs": runs,
        "ok": (possible < _WITHIN or _reached(within, _WITHIN, runs))
        and (sure_within is None or _reached(sure_within, _WITHIN, len(sure)))
        and _reached(holds, _WITHIN, runs)
        and _reached(float(column["kept"].mean()), _WITHIN, runs)
        and not flattered
        and bool((column["texts"] <= _TEXTS).all()),
    }


def _reached(share: float, goal: float, runs: int) -> bool:
    """Return whether a share meets its target, within three standard errors of the simulation."""
    return share >= goal - 3 * float(np.sqrt(max(goal * (1 - goal), 0.0) / runs))


def _text(row: dict[str, Any]) -> str:
    share = row["within_2_points_unwarned"]
    unwarned = "–" if share is None else f"{share:.3f}"
    return (
        f"{'ok ' if row['ok'] else 'BAD'} {row['world']:<32} within 2 points {row['within_2_points']:.3f} "
        f"(whole grid {row['whole_grid_within_2_points']:.3f}), "
        f"warned {row['warned']:.2f}, without warning {unwarned}; loss {row['loss']:.2f} ({row['loss_of_grid']:.2f}); "
        f"risk holds {row['risk_holds']:.3f}, best kept {row['best_kept']:.3f}; median risk {row['risk']:.1f}, "
        f"among finalists {row['risk_among_finalists']:.1f}, may be best {row['may_be_best']:.0f}; "
        f"bias {row['bias']:+.2f} ± {row['bias_error']:.2f}, of the recommended {row['bias_of_recommended']:+.2f}; "
        f"texts at most {row['texts']:.0%}"
    )


class _Grid(NamedTuple):
    """The whole grid: every candidate on everything."""

    names: list[str]
    scores: np.ndarray
    clusters: list[str]
    seconds: float


@command.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--dataset", "datasets", multiple=True, metavar="SPEC", help="Datasets beside the folders.")
@click.option("--retriever", default="bm25", show_default=True)
@click.option("--embedder", default="minilm", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="At most this many queries of each.")
@click.option("--seed", default=0, show_default=True)
@click.option("--engine", default="serial", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def regret(*, paths: tuple[Path, ...], datasets: tuple[str, ...], as_json: bool, **options: Any) -> None:  # noqa: ANN401 - as click read them
    """Recommend, then measure every candidate on everything: what was lost, and what it saved.

    Race and grid each start with an empty cache, so that their times can be compared; times are processor time.
    """
    rows = []
    sources: list[Path | str] = [*datasets, *paths]
    if not as_json:
        click.echo(_REGRET)
    for source in sources:
        row = _regret(source, options)
        rows.append(row)
        if not as_json:
            click.echo(_regret_text(row))
    if as_json:
        click.echo(json.dumps(rows, indent=1))


def _regret(source: Path | str, options: dict[str, Any]) -> dict[str, Any]:
    from evaluation.recommend.front import Engine, recommend_for
    from evaluation.recommend.types import Limits
    from evaluation.statistics import compare_pairs
    from evaluation.statistics.intervals import weighted_mean

    chosen = {name: options[name] for name in ("embedder", "retriever")}
    with tempfile.TemporaryDirectory() as folder:
        started = _processor_seconds()
        made = recommend_for(
            source,
            (),
            annotations=None,
            current=None,
            limits=Limits(),
            options={"seed": options["seed"], "limit": options["limit"]},
            engine=Engine(options["engine"], cache=Path(folder)),
            **chosen,
        )
        seconds = _processor_seconds() - started
    raced = [each.spec for each in made.candidates if each.round > 0]
    grid = _grid(made.dataset, raced, options)
    means = dict(zip(grid.names, (weighted_mean(row, grid.clusters) for row in grid.scores), strict=True))
    best = max(grid.names, key=lambda name: means[name])
    loss = means[best] - means[made.recommended]
    rows = [grid.names.index(name) for name in dict.fromkeys((best, made.recommended))]
    pair = compare_pairs(grid.scores[rows], grid.clusters, names=[grid.names[k] for k in rows])
    return {
        "source": source.name if isinstance(source, Path) else source,
        "retriever": options["retriever"],
        "candidates": len(raced),
        "queries": len(grid.clusters),
        "repositories": len(set(grid.clusters)),
        "recommended": made.recommended,
        "best_of_grid": best,
        "loss": 100 * loss,
        "low": 100 * pair[0].low if pair else 0.0,
        "high": 100 * pair[0].high if pair else 0.0,
        "risk": 100 * made.risk,
        "final_risk": 100 * made.best.final_risk,
        "place": sorted(means.values(), reverse=True).index(means[made.recommended]) + 1,
        "texts": made.embedded_texts / max(made.grid_texts, 1),
        "seconds": seconds,
        "grid_seconds": grid.seconds,
    }


def _grid(dataset: str, specs: list[str], options: dict[str, Any]) -> _Grid:
    from evaluation.config import make_config
    from evaluation.experiment import stages
    from evaluation.experiment.executors import make_executor
    from evaluation.experiment.progress import Progress
    from evaluation.experiment.run import make_scores
    from evaluation.experiment.session import Session

    with tempfile.TemporaryDirectory() as folder:
        started = _processor_seconds()
        config = make_config(
            {
                "datasets": (dataset,),
                "chunkers": tuple(specs),
                "embedders": (options["embedder"],),
                "retrievers": (options["retriever"],),
                "measures": ("naurc@4000tok",),
                "seed": options["seed"],
                **({"limit": options["limit"]} if options["limit"] else {}),
            }
        )
        session = Session.resolve(config, Path(folder))
        executor = make_executor(options["engine"], None)
        make_scores(session, session.cells, executor, Progress())
        executor.close()
        scores = np.array([stages.score(session, cell).scored.scores["naurc@4000tok"] for cell in session.cells])
        clusters = [query.cluster for query in session.dataset(dataset).dataset.queries]
        return _Grid(list(specs), scores, clusters, _processor_seconds() - started)


def _processor_seconds() -> float:
    """Return the processor time of this process and its finished workers: others on the machine do not count."""
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + workers.ru_utime + workers.ru_stime


_REGRET = (
    "| data | queries | searched by | recommended | place | points lost | stated risk | texts | time |\n"
    "|---|---:|---|---|---:|---:|---:|---:|---:|"
)


def _regret_text(row: dict[str, Any]) -> str:
    interval = f" ({number(row['low'])} … {number(row['high'])})" if row["place"] > 1 else ""
    return (
        f"| {row['source']} | {row['queries']:,} | {row['retriever']} | `{row['recommended']}` | {row['place']} of "
        f"{row['candidates']} | {row['loss']:.1f}{interval} | {row['risk']:.1f} | {row['texts']:.0%} | "
        f"{row['seconds'] / row['grid_seconds']:.0%} |"
    )


if __name__ == "__main__":
    command()
