"""Measures on gold text: equal to reading unit by unit, and unchanged by what must not matter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.sizes import Ruler
from chunkers.types import SizeUnit
from evaluation.measures import aggregate, evaluate, parse_measure
from evaluation.measures.curve import recall_curves
from evaluation.types import Case, TextCase, TextSpan

FILES, LENGTH = 3, 24
BUDGETS = (1, 5, 17, 60)
AT_BUDGET = "recall precision iou naurc ndcg_text region_success redundancy".split()


def rulers(seed: int) -> Mapping[SizeUnit, Sequence[Ruler]]:
    """Return files of which only some bytes begin a unit."""
    rng = np.random.default_rng(seed)
    return {"tokens": [Ruler(np.flatnonzero(rng.random(LENGTH) < 0.7)) for _ in range(FILES)]}


@st.composite
def spans(draw: st.DrawFn) -> TextSpan:
    """Return a span of a file that is not empty."""
    start = draw(st.integers(0, LENGTH - 1))
    return TextSpan(draw(st.integers(0, FILES - 1)), start, draw(st.integers(start + 1, LENGTH)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return a case with overlapping results, overlapping gold and now and then headers."""
    results = draw(st.lists(spans(), max_size=8))
    headers = draw(st.one_of(st.none(), st.lists(st.integers(0, 4), min_size=len(results), max_size=len(results))))
    text = TextCase(
        results,
        draw(st.lists(spans(), max_size=4)),
        rulers(draw(st.integers(0, 5))),
        headers={} if headers is None else {"tokens": headers},
    )
    return Case("q", [str(i) for i in range(len(results))], {}, text)


def units(text: TextCase, span: TextSpan) -> list[tuple[int, int]]:
    """Return the units of a span in document order."""
    measured = text.rulers["tokens"][span.file]
    assert isinstance(measured, Ruler)
    return [(span.file, int(start)) for start in measured.starts if span.start <= start < span.end]


def read_slowly(text: TextCase, *, charge: bool) -> tuple[list[int], list[bool], list[tuple[int, int] | None]]:
    """Return y after each unit that is paid for, whether it was read before, and which it was (None: a header)."""
    gold = {unit for span in text.gold for unit in units(text, span)}
    seen: set[tuple[int, int]] = set()
    y, curve, again, which = 0, [], [], []
    for rank, span in enumerate(text.results):
        paid: list[tuple[int, int] | None] = [None] * text.headers.get("tokens", [0] * 99)[rank]
        for unit in (*paid, *units(text, span)):
            old = unit in seen
            if old and not charge:
                continue
            if unit is not None and not old:
                y += unit in gold
                seen.add(unit)
            curve.append(y)
            again.append(old)
            which.append(unit)
    return curve, again, which


def expected(text: TextCase, budget: int, *, charge: bool) -> dict[str, float]:
    """Return every measure from the curve that was read unit by unit."""
    curve, _, which = read_slowly(text, charge=charge)
    total = len({unit for span in text.gold for unit in units(text, span)})
    x = min(budget, len(curve))
    y = curve[x - 1] if x else 0
    line = [0, *curve[:x], *([y] * (budget - x))]
    area = sum((a + b) / 2 for a, b in pairwise(line))
    top = min(total, budget)
    steps = [b - a for a, b in pairwise(line)]
    grid = np.linspace(0, 1, 2001)

    def discount(begin: int) -> float:
        return float(np.trapezoid(1 / np.log2(2 + begin + grid), grid))

    ideal = sum(discount(i) for i in range(top))
    read = set(which[:x])
    regions = [units(text, span) for span in text.gold if units(text, span)]
    sent, repeated, _ = read_slowly(text, charge=True)
    n = min(budget, len(sent))
    return {
        "recall": y / total if total else 0.0,
        "precision": y / x if x else 0.0,
        "iou": y / (x + total - y) if x + total else 0.0,
        "naurc": area / (top * budget - top * top / 2) if top else 0.0,
        "ndcg_text": sum(discount(i) for i, step in enumerate(steps) if step) / ideal if ideal else 0.0,
        "region_success": (
            sum(sum(u in read for u in region) >= len(region) / 2 for region in regions) / len(regions)
            if regions
            else 0.0
        ),
        "redundancy": sum(repeated[:n]) / n if n else 0.0,
    }


def value(name: str, case: Case) -> float:
    """Return one measure of one case."""
    measure = parse_measure(name)
    return evaluate([measure], [case])["q"][measure.name]


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(BUDGETS), st.booleans())
def test_measures_equal_reading_unit_by_unit(case: Case, budget: int, charge: bool) -> None:  # noqa: FBT001 - drawn
    """Every measure at a budget is what a reader who goes unit by unit would find."""
    assert case.text is not None
    truth = expected(case.text, budget, charge=charge)
    option = "(charge_duplicates)" if charge else ""
    for name in AT_BUDGET:
        found = value(f"{name}@{budget}tok{'' if name == 'redundancy' else option}", case)
        assert found == pytest.approx(truth[name], abs=1e-6 if name == "ndcg_text" else 1e-9), name


@settings(max_examples=40, deadline=None)
@given(st.lists(cases(), min_size=1, max_size=6))
def test_cases_of_a_batch_do_not_touch_each_other(several: list[Case]) -> None:
    """A case scores the same alone and among others."""
    named = [replace(case, query_id=str(number)) for number, case in enumerate(several)]
    measures = [parse_measure(f"{name}@17tok") for name in AT_BUDGET] + [parse_measure("tokens_to_recall(0.6)")]
    # A batch has headers in one unit or it has none: a case without any counts as headers of no length.
    together = evaluate(measures, named)
    for case in named:
        alone = evaluate(measures, [case])[case.query_id]
        assert together[case.query_id] == pytest.approx(alone, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(cases(), st.data())
def test_splitting_a_result_changes_nothing(case: Case, data: st.DataObject) -> None:
    """A retrieved chunk that is cut into two at neighbouring ranks reads the same."""
    text = case.text
    assert text is not None
    text = replace(text, headers={})
    long = [i for i, span in enumerate(text.results) if span.end - span.start > 1]
    if not long:
        return
    at = data.draw(st.sampled_from(long))
    file, start, end = text.results[at]
    cut = data.draw(st.integers(start + 1, end - 1))
    halves = [*text.results[:at], TextSpan(file, start, cut), TextSpan(file, cut, end), *text.results[at + 1 :]]
    split = Case("q", [str(i) for i in range(len(halves))], {}, replace(text, results=halves))
    for name in [f"{n}@17tok" for n in AT_BUDGET] + ["tokens_to_recall(0.5)"]:
        assert value(name, split) == pytest.approx(value(name, replace(case, text=text)), abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(cases(), st.data())
def test_text_already_read_never_raises_a_score(case: Case, data: st.DataObject) -> None:
    """A further result that shows only what was already shown gains nothing."""
    text = case.text
    assert text is not None
    if not text.results:
        return
    text = replace(text, headers={})
    again = [*text.results, data.draw(st.sampled_from(text.results))]
    longer = Case("q", [str(i) for i in range(len(again))], {}, replace(text, results=again))
    for name in AT_BUDGET[:-1]:
        for option in ("", "(charge_duplicates)"):
            full = f"{name}@17tok{option}"
            assert value(full, longer) <= value(full, replace(case, text=text)) + 1e-12


@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from(BUDGETS))
def test_bounds_and_extremes(case: Case, budget: int) -> None:
    """Scores lie in 0…1; gold read first scores 1; nothing read scores 0."""
    text = case.text
    assert text is not None
    for name in AT_BUDGET:
        assert 0 <= value(f"{name}@{budget}tok", case) <= 1
    nothing = Case("q", [], {}, replace(text, results=[], headers={}))
    assert all(value(f"{name}@{budget}tok", nothing) == 0 for name in AT_BUDGET)
    if not any(units(text, span) for span in text.gold):
        return
    best = Case("q", [str(i) for i in range(len(text.gold))], {}, replace(text, results=text.gold, headers={}))
    for name in ("naurc", "ndcg_text"):
        assert value(f"{name}@{budget}tok", best) == pytest.approx(1, abs=1e-12)
    assert value("recall@999tok", best) == value("region_success@999tok(cover=1)", best) == 1


@settings(max_examples=30, deadline=None)
@given(cases(), st.sampled_from([0.1, 0.5, 1.0]))
def test_tokens_to_recall_is_where_the_curve_gets_there(case: Case, share: float) -> None:
    """The units read are the least at which the recall curve reaches the share, or undefined."""
    (curve,) = recall_curves([case], "tokens", range(1, 120))
    reached = np.flatnonzero(curve >= share - 1e-9)
    found = value(f"tokens_to_recall({share})", case)
    assert found == reached[0] + 1 if len(reached) else math.isnan(found)


def test_chance_recall_does_not_depend_on_chunk_size() -> None:
    """A random ranking reads the same share of the gold whatever the chunks' size, within sampling error."""
    rng = np.random.default_rng(3)
    size, gold = 960, [TextSpan(0, 100, 160), TextSpan(0, 500, 530)]
    by_unit: Mapping[SizeUnit, Sequence[Ruler]] = {"tokens": [Ruler(np.arange(size))]}
    for step in (8, 40, 160, 480):
        chunks = [TextSpan(0, start, start + step) for start in range(0, size, step)]
        drawn = [
            Case(str(i), [str(c) for c in order], {}, TextCase([chunks[c] for c in order], gold, by_unit))
            for i, order in enumerate(rng.permutation(len(chunks)) for _ in range(800))
        ]
        values = [row["recall@480tok"] for row in evaluate([parse_measure("recall@480tok")], drawn).values()]
        assert np.mean(values) == pytest.approx(0.5, abs=float(4 * np.std(values) / math.sqrt(len(values))))


def test_chunking_measures_use_half_open_spans() -> None:
    """A chunk that only touches the gold shares nothing with it; a region inside one chunk is not split."""
    by_unit: Mapping[SizeUnit, Sequence[Ruler]] = {"nws": [Ruler(np.arange(30))]}
    chunks = [TextSpan(0, 0, 10), TextSpan(0, 10, 20), TextSpan(0, 20, 30)]
    text = TextCase([chunks[0], chunks[1]], [TextSpan(0, 10, 20), TextSpan(0, 25, 30)], by_unit, chunks=chunks)
    case = Case("q", ["a", "b"], {}, text)
    assert value("chroma_recall@1", case) == 0
    assert value("chroma_recall@2", case) == pytest.approx(10 / 15)
    assert value("chroma_precision@2", case) == pytest.approx(10 / 20)
    assert value("chroma_iou@2", case) == pytest.approx(10 / 25)
    assert value("precision_omega", case) == pytest.approx(15 / 20)
    assert value("split_rate", case) == 0
    crossed = replace(case, text=replace(text, gold=[TextSpan(0, 8, 12), TextSpan(0, 1, 3)]))
    assert value("split_rate", crossed) == 0.5
    # Five bytes of white space are nowhere among the characters that count.
    blank: Mapping[SizeUnit, Sequence[Ruler]] = {"nws": [Ruler(np.array([*range(9), *range(14, 30)]))]}
    unseen = replace(text, gold=[TextSpan(0, 9, 14), TextSpan(0, 18, 22)], rulers=blank)
    assert value("split_rate", replace(case, text=unseen)) == 1
    overlapping = replace(crossed, text=replace(text, gold=[TextSpan(0, 8, 12)], chunks=[*chunks, TextSpan(0, 5, 15)]))
    assert value("split_rate", overlapping) == 0


def test_files_rank_by_their_first_chunk() -> None:
    """Several chunks of one file are one file."""
    results = [TextSpan(0, 0, 5), TextSpan(0, 5, 9), TextSpan(2, 0, 5), TextSpan(1, 0, 5)]
    gold = [TextSpan(1, 0, 3), TextSpan(2, 0, 3)]
    case = Case("q", list("abcd"), {}, TextCase(results, gold, {}))
    assert value("file_recall@2", case) == 0.5
    assert value("file_recall@3", case) == 1
    assert value("file_rr", case) == 0.5


def test_what_was_never_reached_is_not_left_out_of_the_summary() -> None:
    """tokens_to_recall has a median with failures as infinite and the share that got there, never a mean."""
    chunks = [TextSpan(0, 0, 10), TextSpan(0, 10, 20), TextSpan(0, 20, 30)]
    by_unit: Mapping[SizeUnit, Sequence[Ruler]] = {"tokens": [Ruler(np.arange(30))]}
    orders = [[0], [1, 0], [2, 1, 0], [1], [2]]
    made = [
        Case(str(i), list(map(str, order)), {}, TextCase([chunks[c] for c in order], [chunks[0]], by_unit))
        for i, order in enumerate(orders)
    ]
    name = "tokens_to_recall(0.5)"
    summary = aggregate(evaluate([parse_measure(name)], made))[name]
    assert math.isnan(summary.mean)
    assert (summary.median, summary.share_scored) == (25.0, 0.6)
    worse = aggregate(evaluate([parse_measure(name)], made[1:]))[name]
    assert math.isnan(worse.median)
    assert worse.share_scored == 0.5
