"""`python -m scripts.bench.overlap`: how the time of the overlap rules grows."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NamedTuple

import click

from scripts.cli import exit_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkers.types import Span
    from ground_truth.line_axis import ChunkLines
    from ground_truth.types import Annotation, Query


class _Cut(NamedTuple):
    id: str
    repo: str
    path: str
    span: Span


@click.command()
@click.option(
    "--chunks", type=click.IntRange(min=1000), default=1_000_000, show_default=True, help="The largest corpus."
)
@click.option("--steps", type=click.IntRange(min=1), default=4, show_default=True, help="How often the size is halved.")
@click.option("--rule", "rules", multiple=True, default=("any",), show_default=True, help="Rules to time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, chunks: int, steps: int, rules: Sequence[str], as_json: bool) -> None:
    """Time the overlap rules on made-up corpora, each half as large as the next; annotations are a tenth of chunks.

    \b
    python -m scripts.bench.overlap
    python -m scripts.bench.overlap --chunks 200000 --rule any --rule min_cover --json
    """  # noqa: D301 - \b is click's mark for text that is not wrapped
    rows = [
        {"chunks": size, "annotations": size // 10, "rule": rule, "seconds": seconds, "relevant": relevant}
        for size in [chunks >> step for step in reversed(range(steps))]
        for rule, seconds, relevant in _time(size, rules)
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        click.echo(
            f"{row['chunks']:>9,} chunks × {row['annotations']:>8,} annotations  {row['rule']:<24} "
            f"{row['seconds']:7.2f} s  {row['relevant']:>9,} relevant"
        )


def _time(size: int, rules: Sequence[str]) -> list[tuple[str, float, int]]:
    from ground_truth.overlap import make_qrels
    from ground_truth.rules import parse_rule

    table, queries, notes = _corpus(size)
    rows = []
    for rule in rules:
        start = time.perf_counter()
        judged = make_qrels(parse_rule(rule), queries, notes, table)
        rows.append((rule, round(time.perf_counter() - start, 3), sum(judged.relevant.values())))
    return rows


def _corpus(size: int) -> tuple[ChunkLines, list[Query], list[Annotation]]:
    """Return files of 1,000 lines in windows of 20 lines that overlap by half, and a tenth as many annotations."""
    import numpy as np

    from chunkers.types import Span
    from ground_truth.line_axis import ChunkLines
    from ground_truth.lines import FileLines
    from ground_truth.spans import FileKey
    from ground_truth.types import Annotation, Query

    lines = FileLines.of(b"".join(b"x = 1\n" if number % 7 else b"\n" for number in range(1000)))
    spans = [
        Span(*lines.to_bytes(first + 1, min(first + 20, 1000)), first + 1, min(first + 20, 1000))
        for first in range(0, 1000, 10)
    ]
    count = max(1, size // len(spans))
    files = {FileKey("r", f"{number}.py"): lines for number in range(count)}
    cuts = [_Cut(f"{key.path}:{span.start_byte}", "r", key.path, span) for key in files for span in spans]
    draws = np.random.default_rng(0).integers((0, 1, 1), (count, 951, 50), size=(size // 10, 3))
    notes = [Annotation(str(n % 5000), "r", f"{f}.py", int(a), int(a + b - 1)) for n, (f, a, b) in enumerate(draws)]
    queries = [Query(str(number), "q", "r") for number in range(min(5000, len(notes)))]
    return ChunkLines.of(files, cuts), queries, notes


if __name__ == "__main__":
    exit_with(command)
