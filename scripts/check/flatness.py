"""`python -m scripts.check.flatness`: the effect of size alone on each measure, with a retriever of known skill.

The simulated retriever separates chunks that hold some of the answer from the others with the same skill whatever the
size of the chunks: scores are normal, and those of chunks with gold are ``--skill`` standard deviations higher. A fair
measure should hardly change with the size; one on chunk ids does. For reference: the scores of a random and of a
perfect ranking of the same chunks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from chunkers.tokens import usable_cache

SIZES = (200, 400, 800, 1500, 3000, 6000)
MEASURES = ("naurc@4000tok", "recall@4000tok", "ndcg@10", "recall@5")


@click.command()
@click.option("--dataset", default="installed", show_default=True)
@click.option("--chunker", default="fixed-nws", show_default=True, help="A chunker with a size.")
@click.option("--size", "sizes", multiple=True, type=int, default=SIZES, show_default=True)
@click.option(
    "--skill", default=2.5, show_default=True, help="Standard deviations between chunks with and without gold."
)
@click.option("--repeats", default=10, show_default=True, help="Rankings drawn for each query.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(
    *, dataset: str, chunker: str, sizes: tuple[int, ...], skill: float, repeats: int, seed: int, as_json: bool
) -> None:
    """Print each measure of a retriever of constant skill over chunk sizes, with chance and ceiling."""
    rows = flatness(
        dataset,
        [f"{chunker}:size={size}" for size in sizes],
        skill=skill,
        repeats=repeats,
        seed=seed,
        cache=usable_cache(),
    )
    print(json.dumps(rows, indent=1) if as_json else written(rows))


def flatness(
    dataset: str, chunkers: list[str], *, skill: float, repeats: int, seed: int, cache: Path
) -> list[dict[str, Any]]:
    """Return a row per chunker: the mean of every measure, and chance and ceiling of the first."""
    from evaluation.config import make_config
    from evaluation.experiment import stages
    from evaluation.experiment.session import Session

    config = make_config(
        {"datasets": [dataset], "chunkers": chunkers, "retrievers": ["bm25"], "measures": MEASURES, "limit": None}
    )
    session = Session.resolve(config, cache)
    rows = []
    for spec in chunkers:
        table = stages.chunk(session, dataset, spec)
        levels = stages.levels(session, dataset, spec)
        means = np.mean([_scores(session, dataset, spec, skill, seed + turn) for turn in range(repeats)], axis=0)
        rows.append(
            {
                "chunker": spec,
                "chunks": len(table),
                **{name: float(mean) for name, mean in zip(MEASURES, means, strict=True)},
                "chance": levels.chance[MEASURES[0]],
                "ceiling": levels.ceiling[MEASURES[0]],
            }
        )
    return rows


def _scores(session: Any, dataset: str, spec: str, skill: float, seed: int) -> list[float]:  # noqa: ANN401 - a Session
    """Return the mean of each measure over one drawn ranking per query."""
    from evaluation.experiment import stages
    from evaluation.experiment.qrels import qrels_of
    from evaluation.experiment.scoring import Scoring, score_ranking
    from evaluation.experiment.visible_chunks import searchable_rows
    from indexing.types import Hit

    rng = np.random.default_rng(seed)
    loaded, table = session.dataset(dataset), stages.chunk(session, dataset, spec)
    rows = searchable_rows(loaded, table)
    relevant = qrels_of(session.rule, loaded, table).qrels
    place = {name: row for row, name in enumerate(table.ids)}
    ranking = {}
    for query in loaded.dataset.queries:
        space = rows.get(query.repo, np.zeros(0, dtype=np.int64))
        scores = rng.normal(size=len(space))
        gold = np.isin(space, [place[name] for name in relevant[query.id]])
        order = np.argsort(-(scores + skill * gold), kind="stable")
        ranking[query.id] = [Hit(int(space[at]), float(-rank)) for rank, at in enumerate(order)]
    how = Scoring(
        measures=session.measures,
        rule=session.rule,
        insist=False,
        budgets=session.config.budgets,
        depth=session.config.depth,
        embed=_no_vectors,
    )
    scored = score_ranking(how, loaded, table, ranking)
    return [float(np.nanmean(scored.scores[name])) for name in MEASURES]


def _no_vectors(texts: Any) -> np.ndarray:  # noqa: ANN401 - any sequence of texts
    raise ValueError(f"no measure here asks for the vectors of {len(texts)} texts")


def written(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, in points, with the range of each measure below."""
    names = [*MEASURES, "chance", "ceiling"]
    lines = [f"| chunker | chunks | {' | '.join(names)} |", f"|---|---:|{'---:|' * len(names)}"]
    for row in rows:
        points = " | ".join(f"{100 * row[name]:.1f}" for name in names)
        lines.append(f"| `{row['chunker']}` | {row['chunks']:,} | {points} |")
    ratios = " | ".join(f"{max(row[name] for row in rows) / min(row[name] for row in rows):.2f} ×" for name in names)
    return "\n".join([*lines, f"| largest / smallest | | {ratios} |"])


if __name__ == "__main__":
    command()
