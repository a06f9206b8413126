"""Text measures of random span runs against an independent computation by exact fractions."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chunkers.sizes import ruler
from chunkers.sources import walk
from evaluation.experiment.loaded_dataset import load_dataset
from evaluation.experiment.span_runs import NamedFile, read_span_runs
from evaluation.experiment.span_scoring import score_spans
from evaluation.measures.registry import parse_measure
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

BUDGET = 40
NAMES = (
    f"recall@{BUDGET}tok",
    f"precision@{BUDGET}tok",
    f"iou@{BUDGET}tok",
    f"naurc@{BUDGET}tok",
    "tokens_to_recall(0.5)",
    "file_rr",
    "file_recall@2",
)
WORDS = ("größe", "x", "return", "\r\n", "\n", " ", "漢字", "(", ")", "value_of")
FILES = 3
QUERIES = 20

Region = tuple[int, int, int]
"""A file, and the half-open bytes of a stretch of gold."""
Ranked = tuple[int, int, int, int]
"""A file, half-open bytes, and the tokens of a header."""


class World(NamedTuple):
    """Files with hidden parts, and gold for every query."""

    data: list[bytes]
    dataset: Dataset


def make_world(root: Path, draw: random.Random) -> World:
    """Return three small files; some text is hidden, and some queries have several equally good answers."""
    root.mkdir()
    data = ["".join(draw.choice(WORDS) for _ in range(draw.randint(15, 60))).encode() for _ in range(FILES)]
    hidden = []
    for file, text in enumerate(data):
        (root / f"f{file}.py").write_bytes(text)
        if draw.random() < 0.5:
            start = draw.randrange(len(text))
            hidden.append(HiddenSpan("r", f"f{file}.py", start, draw.randint(start, len(text))))
    queries = tuple(Query(f"q{n}", "x", "r") for n in range(QUERIES))
    notes = [_note(query.id, data, draw) for query in queries for _ in range(draw.randint(1, 3))]
    return World(data, Dataset("world", (walk(root, name="r"),), queries, tuple(notes), hidden=tuple(hidden)))


def _note(query_id: str, data: list[bytes], draw: random.Random) -> Annotation:
    file = draw.randrange(FILES)
    count = data[file].count(b"\n") + (not data[file].endswith(b"\n"))
    first = draw.randint(1, count)
    answer = draw.choice(["", "", "x", "y"])
    return Annotation(query_id, "r", f"f{file}.py", first, draw.randint(first, count), alternative=answer)


def make_run(world: World, draw: random.Random, *, by_score: bool) -> tuple[list[dict[str, Any]], list[list[Ranked]]]:
    """Return the rows of a span run, and the places of each query in the order in which they are to be read."""
    rows, orders = [], []
    for number in range(QUERIES):
        found = [_place(world.data, draw) for _ in range(draw.randint(0, 8))]
        found += found[: draw.randint(0, 2)]
        scores = [draw.choice([0.0, 0.5, 1.0]) for _ in found]
        for rank, ((file, start, end, header), score) in enumerate(zip(found, scores, strict=True), start=1):
            where = {"file": f"f{file}.py", "start_byte": start, "end_byte": end, "header_tokens": header}
            rows.append(
                {"query_id": f"q{number}", "repo": "r", **where, **({"score": score} if by_score else {"rank": rank})}
            )
        tied = sorted(zip(scores, found, strict=True), key=lambda pair: (-pair[0], *pair[1][:3]))
        orders.append([place for _, place in tied] if by_score else found)
    if not by_score:
        draw.shuffle(rows)
    return rows, orders


def _place(data: list[bytes], draw: random.Random) -> Ranked:
    file = draw.randrange(FILES)
    start = draw.randrange(len(data[file]))
    return file, start, draw.randint(start, len(data[file])), draw.choice([0, 0, 3])


def test_text_measures_of_random_runs_equal_brute_force(tmp_path: Path) -> None:
    """Over 2,000 worlds the difference is 0.

    They have overlaps, repeats, ties, headers, hidden text, several files and equally good answers; runs are read from
    files, by rank and by score.
    """
    draw = random.Random(5)
    measures = [parse_measure(name) for name in NAMES]
    worlds = 0
    for block in range(100):
        world = make_world(tmp_path / f"world{block}", draw)
        loaded = load_dataset("world", InMemory(dataset=world.dataset), duplicates="keep", limit=None, seed=0)
        rows, orders = make_run(world, draw, by_score=block % 2 == 1)
        file = tmp_path / "run.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (run,) = read_span_runs(NamedFile("r", file), loaded)
        scores = score_spans(measures, loaded, run, budgets=[BUDGET]).scores
        for number, expected in enumerate(_all_expected(world, orders)):
            for measure, value in zip(measures, expected, strict=True):
                got = scores[measure.name][number]
                assert np.isnan(got) if value is None else got == float(value), (block, number, measure.name)
            worlds += 1
    assert worlds == 2000


def _all_expected(world: World, orders: list[list[Ranked]]) -> list[list[Fraction | None]]:
    """Return the value of every measure for every query; of several answers the best counts."""
    units = [ruler(text, "tokens").starts.tolist() for text in world.data]
    parts = world.dataset.hidden
    hidden = [
        [any(part.path == f"f{file}.py" and part.start_byte <= at < part.end_byte for part in parts) for at in starts]
        for file, starts in enumerate(units)
    ]
    found = []
    for number, order in enumerate(orders):
        answers: dict[str, list[Region]] = {}
        for note in world.dataset.annotations:
            if note.query_id == f"q{number}":
                answers.setdefault(note.alternative, []).append(_gold_bytes(world.data, note))
        values = [_expected(order, gold, brute_force(units, hidden, order, gold), BUDGET) for gold in answers.values()]
        found.append([_best(name, column) for name, column in zip(NAMES, zip(*values, strict=True), strict=True)])
    return found


def brute_force(
    units: list[list[int]],
    hidden: list[list[bool]],
    places: list[Ranked],
    gold: list[Region],
) -> tuple[list[tuple[int, bool]], int]:
    """Return every unit that is read for the first time, in order, as (cost before it, gold), and the gold units."""
    golden = {
        (file, k)
        for file, start, end in gold
        for k, at in enumerate(units[file])
        if start <= at < end and not hidden[file][k]
    }
    seen: set[tuple[int, int]] = set()
    read: list[tuple[int, bool]] = []
    spent = 0
    for file, start, end, header in places:
        spent += header
        for k, at in enumerate(units[file]):
            if start <= at < end and not hidden[file][k] and (file, k) not in seen:
                seen.add((file, k))
                read.append((spent, (file, k) in golden))
                spent += 1
    return read, len(golden)


def _best(name: str, values: tuple[Fraction | None, ...]) -> Fraction | None:
    """Return the value of the answer that is best found."""
    known = [value for value in values if value is not None]
    return (min if name.startswith("tokens_to") else max)(known, default=None)


def _gold_bytes(data: list[bytes], note: Annotation) -> Region:
    file = int(note.path[1])
    ends = [place + 1 for place, byte in enumerate(data[file]) if byte == 10]
    starts = [0, *ends]
    return file, starts[note.start_line - 1], (starts[note.end_line] if note.end_line <= len(ends) else len(data[file]))


def _expected(
    places: list[Ranked],
    gold: list[Region],
    read: tuple[list[tuple[int, bool]], int],
    budget: int,
) -> list[Fraction | None]:
    """Return the values of the measures by their definitions, as exact fractions."""
    order, total = read
    within = [(at, golden) for at, golden in order if at < budget]
    found = sum(golden for _, golden in within)
    spent = min(budget, _spent(places, order))
    area = sum(Fraction(budget - at) - Fraction(1, 2) for at, golden in within if golden)
    ideal = Fraction(min(total, budget) ** 2, 2) + Fraction(max(0, budget - total) * total)
    reach = None
    so_far = 0
    for at, golden in order:
        so_far += golden
        if total and golden and 2 * so_far >= total:
            reach = Fraction(at + 1)
            break
    files = list(dict.fromkeys(file for file, *_ in places))
    golden_files = {file for file, *_ in gold}
    first = next((Fraction(1, rank) for rank, file in enumerate(files, start=1) if file in golden_files), Fraction(0))
    return [
        Fraction(found, total) if total else Fraction(0),
        Fraction(found, spent) if spent else Fraction(0),
        Fraction(found, spent + total - found) if spent + total - found else Fraction(0),
        area / ideal if ideal else Fraction(0),
        reach,
        first,
        Fraction(len(golden_files.intersection(files[:2])), len(golden_files)),
    ]


def _spent(places: list[Ranked], order: list[tuple[int, bool]]) -> int:
    return len(order) + sum(header for *_, header in places)
