"""Overlap rules against a slow oracle that looks at every pair and every line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from chunkers.splitting import line_span
from chunkers.types import Chunk
from ground_truth.intervals import Intervals, overlapping
from ground_truth.line_axis import ChunkLines
from ground_truth.lines import FileLines
from ground_truth.overlap import FRACTION, Judgements, make_qrels
from ground_truth.rules import parse_rule
from ground_truth.spans import FileKey
from ground_truth.types import Annotation, Query

LINES = st.lists(st.sampled_from([b"", b"  ", b"x", b"  yy ", b"\xc3\xa9", b"a b"]), min_size=1, max_size=14)
RULES = [
    "any", "any(blank=true)", "annotation_fraction(0.5)", "chunk_fraction(0.5)", "iou(0.3)", "best_cover", "min_cover",
    "graded(coverage)", "graded(purity)", "graded(iou)",
]  # fmt: skip


def chunk(data: bytes, start: int, end: int) -> Chunk:
    """Return a chunk of the file a.py in repository r."""
    newlines = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    span = line_span(newlines, start, end)
    return Chunk("r", "a.py", None, span, data[start:end].decode("utf-8", "surrogateescape"), "", f"{start}-{end}")


def judge(rule: str, data: bytes, cuts: list[tuple[int, int]], gold: list[tuple[int, int, float]]) -> Judgements:
    """Return the qrels of one file and one query q."""
    files = {FileKey("r", "a.py"): FileLines.of(data)}
    notes = [Annotation("q", "r", "a.py", first, last, grade) for first, last, grade in gold]
    table = ChunkLines.of(files, [chunk(data, start, end) for start, end in cuts])
    return make_qrels(parse_rule(rule), [Query("q", "text", "r")], notes, table)


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, int]], list[tuple[int, int, float]]]:
    """Draw a file, chunks that may overlap and cut lines, and annotations that may overlap."""
    lines = draw(LINES)
    data = b"\n".join(lines) + draw(st.sampled_from([b"", b"\n"]))
    count = FileLines.of(data).count
    if not count:
        data, count = b"x", 1
    offsets = st.integers(0, len(data))
    cuts = draw(st.lists(st.tuples(offsets, offsets), max_size=8))
    spans = sorted({(min(pair), max(pair)) for pair in cuts if pair[0] != pair[1]})
    numbers = st.integers(1, count)
    gold = draw(st.lists(st.tuples(numbers, numbers, st.sampled_from([1.0, 2.0])), min_size=1, max_size=4))
    return data, spans, [(min(a, b), max(a, b), grade) for a, b, grade in gold]


def text_lines(data: bytes, start: int, end: int) -> set[int]:
    """Return the lines whose text, from the first visible character to the last, a span shares a byte with."""
    visible: dict[int, list[int]] = {}
    line = 1
    for offset, value in enumerate(data):
        if value not in b" \t\n\r\v\f" and value & 0xC0 != 0x80:
            visible.setdefault(line, []).append(offset)
        line += value == 10
    return {line for line, at in visible.items() if max(start, at[0]) < min(end, at[-1] + 1)}


@settings(max_examples=300, deadline=None)
@given(cases())
def test_any_agrees_with_looking_at_every_line(case: tuple) -> None:
    """A chunk is relevant exactly when it holds text of an annotated line, with the best grade among those."""
    data, cuts, gold = case
    expected = {}
    for start, end in cuts:
        held = text_lines(data, start, end)
        if grades := [grade for first, last, grade in gold if held & set(range(first, last + 1))]:
            expected[f"{start}-{end}"] = int(max(grades))
    assert judge("any", data, cuts, gold).qrels["q"] == expected


@settings(max_examples=200, deadline=None)
@given(cases(), st.sampled_from(["annotation_fraction(0.5)", "chunk_fraction(0.5)", "iou(0.3)"]))
def test_fractions_agree_with_counting_lines(case: tuple, rule: str) -> None:
    """The fraction rules equal set arithmetic on lines with text over merged regions."""
    data, cuts, gold = case
    filled = text_lines(data, 0, len(data))
    regions: list[set[int]] = []
    for first, last, _ in sorted(gold):
        lines = set(range(first, last + 1)) & filled
        touching = [region for region in regions if lines and min(lines) <= max(region)]
        if touching:
            touching[0] |= lines
        elif lines:
            regions.append(lines)
    parsed = parse_rule(rule)
    expected = set()
    for start, end in cuts:
        held = text_lines(data, start, end)
        touched = [region for region in regions if region & held]
        if not touched:
            continue
        share = {
            "annotation_fraction": max(len(held & region) / len(region) for region in touched),
            "chunk_fraction": sum(len(held & region) for region in touched) / len(held),
            "iou": max(len(held & region) / len(held | region) for region in touched),
        }[parsed.name]
        if share >= parsed.threshold - 1e-9:
            expected.add(f"{start}-{end}")
    assert set(judge(rule, data, cuts, gold).qrels["q"]) == expected


@settings(max_examples=200, deadline=None)
@given(cases())
def test_min_cover_is_a_smallest_set_with_all_the_gold_that_any_chunk_holds(case: tuple) -> None:
    """No smaller set of chunks holds as many gold lines (tried exhaustively)."""
    from itertools import combinations

    data, cuts, gold = case
    wanted = {line for first, last, _ in gold for line in range(first, last + 1)}
    held = {f"{start}-{end}": text_lines(data, start, end) & wanted for start, end in cuts}
    reachable = set().union(*held.values()) if held else set()
    chosen = judge("min_cover", data, cuts, gold).qrels["q"]
    assert set().union(*(held[name] for name in chosen)) == reachable
    for smaller in combinations(held, max(0, len(chosen) - 1)):
        if chosen:
            assert set().union(*(held[name] for name in smaller)) != reachable


@given(cases())
def test_best_cover_has_one_chunk_per_covered_region(case: tuple) -> None:
    """Under best_cover |REL| is at most the number of regions and no chunk covers more of a lone region."""
    data, cuts, gold = case
    chosen = judge("best_cover", data, cuts, gold[:1]).qrels["q"]
    first, last, _ = gold[0]
    covers = {f"{s}-{e}": len(text_lines(data, s, e) & set(range(first, last + 1))) for s, e in cuts}
    best = max(covers.values(), default=0)
    assert len(chosen) == (1 if best else 0)
    assert all(covers[name] == best for name in chosen)


def test_a_chunk_that_only_touches_the_gold_is_not_relevant() -> None:
    """Half-open bytes: a chunk that begins with the line feed after the gold shares nothing with it."""
    data = b"aa\nbb\ncc\n"
    assert judge("any", data, [(0, 5), (5, 9)], [(1, 2, 1.0)]).qrels["q"] == {"0-5": 1}


def test_blank_lines_count_only_when_asked() -> None:
    """A chunk whose only annotated line is blank is relevant under any(blank=true) alone."""
    data = b"a\n\nb\n"
    gold = [(1, 2, 1.0)]
    assert judge("any", data, [(0, 2), (2, 5)], gold).qrels["q"] == {"0-2": 1}
    assert judge("any(blank=true)", data, [(0, 2), (2, 5)], gold).qrels["q"] == {"0-2": 1, "2-5": 1}


def test_graded_multiplies_the_grade_by_the_share() -> None:
    """Half of a region of grade 2 is a grade of 1, in millionths."""
    data = b"a\nb\nc\nd\n"
    judged = judge("graded(coverage)", data, [(0, 4), (4, 8)], [(1, 4, 2.0)])
    assert judged.qrels["q"] == {"0-4": FRACTION, "4-8": FRACTION}
    assert judged.scale == FRACTION


def test_judged_irrelevant_is_not_relevant_and_uncovered_is_told() -> None:
    """Grade 0 makes nothing relevant; the query stays, empty, and is counted."""
    judged = judge("any", b"a\nb\n", [(0, 4)], [(1, 1, 0.0)])
    assert judged.qrels == {"q": {}}
    assert judged.uncovered == ("q",)
    assert judged.report()["uncovered_share"] == 1


@pytest.mark.parametrize("text", RULES)
def test_a_rule_reads_back_what_it_writes(text: str) -> None:
    """The str of a rule and parse_rule are inverse."""
    assert str(parse_rule(text)) == text
    assert parse_rule(str(parse_rule(text))) == parse_rule(text)


@pytest.mark.parametrize(
    "text", ["", "some", "iou", "iou(x)", "iou(2)", "iou(0)", "graded", "graded(x)", "best_cover(1)", "any(x)"]
)
def test_a_wrong_rule_is_a_usage_error(text: str) -> None:
    """Every malformed rule is one line that says what to write."""
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert "\n" not in str(caught.value)


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(-1, 40)), max_size=12),
    st.lists(st.tuples(st.integers(1, 60), st.integers(-1, 40)), max_size=12),
)
def test_overlapping_finds_every_pair_once(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    """The grouped search equals comparing all pairs, empty intervals included."""

    def columns(rows: list[tuple[int, int]]) -> Intervals:
        array = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return Intervals(array[:, 0], array[:, 0] + array[:, 1])

    expected = [
        (i, j)
        for i, (a, n) in enumerate(left)
        for j, (b, m) in enumerate(right)
        if n >= 0 and m >= 0 and a <= b + m and b <= a + n
    ]
    pairs = overlapping(columns(left), columns(right))
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == expected


def test_the_benchmark_prints_one_row_per_size_and_rule() -> None:
    """Sizes double from row to row; no time is judged here."""
    from click.testing import CliRunner

    from scripts.bench.overlap import command

    done = CliRunner().invoke(
        command, ["--chunks", "4000", "--steps", "2", "--rule", "any", "--rule", "min_cover", "--json"]
    )
    rows = json.loads(done.output)
    assert [(row["chunks"], row["rule"]) for row in rows] == [
        (2000, "any"), (2000, "min_cover"), (4000, "any"), (4000, "min_cover"),
    ]  # fmt: skip
    assert all(row["relevant"] for row in rows)


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40, deadline=None)
@given(cases(), st.data())
def test_alternatives_are_judged_each_as_the_only_answer(rule: str, case: tuple, data: st.DataObject) -> None:
    """The qrels of an answer are those it has alone; the query's are their union; what is irrelevant is no answer."""
    source, cuts, gold = case
    gold = [(first, last, data.draw(st.sampled_from([grade, 0.0]))) for first, last, grade in gold]
    names = [data.draw(st.sampled_from(["", "x", "y"])) for _ in gold]
    files = {FileKey("r", "a.py"): FileLines.of(source)}
    chunks = ChunkLines.of(files, [chunk(source, start, end) for start, end in cuts])
    notes = [
        Annotation("q", "r", "a.py", first, last, grade, alternative=name)
        for (first, last, grade), name in zip(gold, names, strict=True)
    ]
    found = make_qrels(parse_rule(rule), [Query("q", "?", "r"), Query("other", "?", "r")], notes, chunks)
    used = sorted({note.alternative for note in notes if note.grade > 0})
    alone = [
        judge(rule, source, cuts, [g for g, name in zip(gold, names, strict=True) if name == wanted]).grades["q"]
        for wanted in used
    ]
    assert set(found.answers) == ({"q"} if len(used) > 1 else set())
    if len(used) > 1:
        assert list(found.answer_grades["q"]) == [pytest.approx(row) for row in alone]
    union = {name: max(row.get(name, 0) for row in alone) for row in alone for name in row}
    assert found.grades == {"q": pytest.approx(union), "other": {}}
