"""Patches, copies, snippets, overlap and projection, each against a plain way to find the same."""

from __future__ import annotations

import difflib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_overlap import cases, text_lines
from test_overlap import judge as judged

from chunkers.errors import UsageError
from chunkers.sources import walk
from chunkers.splitting import line_span
from chunkers.types import Chunk
from ground_truth.duplicates import find_copies
from ground_truth.line_axis import ChunkLines
from ground_truth.lines import FileLines, LineRange
from ground_truth.overlap import FRACTION, Judgements
from ground_truth.patches import FilePatch, Hunk, OldLine, fit, merged, parse_patch
from ground_truth.projection import Projection
from ground_truth.rules import parse_rule
from ground_truth.snippets import SnippetPlace, find_lines, find_snippet
from ground_truth.spans import FileKey
from ground_truth.texts import Texts

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "-- x", "++ y", "\\"]), max_size=12)


@given(LINES, LINES, st.integers(0, 3))
def test_changed_lines_are_those_that_the_difference_of_two_files_names(
    old: list[str], new: list[str], context: int
) -> None:
    """Lines replaced or deleted; of lines put in between, the neighbours that the hunk can see."""
    text = "\n".join(difflib.unified_diff(old, new, "a/f.py", "b/f.py", lineterm="", n=context)) + "\n"
    expected = []
    for kind, first, last, *_ in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind in ("replace", "delete"):
            expected.append((first + 1, last))
        elif kind == "insert" and context and first < len(old):
            expected.append((max(1, first), first + 1))
        elif kind == "insert" and first:
            expected.append((first, first))
    assert [lines for patch in parse_patch(text, where="x") for lines in patch.changed] == expected


@given(st.lists(st.sampled_from("ab"), max_size=9), st.lists(st.sampled_from("ab"), min_size=1, max_size=3), st.data())
def test_a_hunk_goes_to_the_nearest_place_that_fits(lines: list[str], wanted: list[str], data: st.DataObject) -> None:
    """Of all places where its old lines stand; of two as near the upper one; with none the patch fits nowhere."""
    start = data.draw(st.integers(1, 10))
    old = [OldLine(start + k, text) for k, text in enumerate(wanted)]
    patch = FilePatch("f", "f", [Hunk([LineRange(start, start)], old)])
    places = [at for at in range(1, len(lines) + 1) if lines[at - 1 : at - 1 + len(wanted)] == wanted]
    found = fit(patch, "\n".join(lines).encode())
    if not places:
        assert found is None
        return
    best = min(places, key=lambda at: (abs(at - start), at))
    assert found is not None
    assert found.changed == [(best, best)]
    assert [line.number for line in found.old_lines] == list(range(best, best + len(wanted)))


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 5)), max_size=8))
def test_merged_ranges_are_runs_of_lines(rows: list[tuple[int, int]]) -> None:
    """Every run of neighbouring lines that any range holds, once and in order."""
    ranges = [LineRange(first, first + more) for first, more in rows]
    held = sorted({line for first, last in ranges for line in range(first, last + 1)})
    found = list(merged(ranges))
    assert [line for first, last in found for line in range(first, last + 1)] == held
    assert all(one.last + 1 < other.first for one, other in pairwise(found))


def test_names_in_patches() -> None:
    """With a/ or b/ or neither, a time after a tab, in quotes with signs of their own, and a carriage return."""
    names = {
        "a/x.py": "x.py",
        "x.py": "x.py",
        "c/x.py": "c/x.py",
        "a/x.py\t2024-01-01": "x.py",
        '"a/\\303\\274 \\"q\\".py"': 'ü "q".py',
        "a/x.py\r": "x.py",
        "/dev/null": None,
    }
    for written, path in names.items():
        (patch,) = parse_patch(f"--- {written}\n+++ b/y.py\n@@ -1 +1 @@\n-a\n+b\n", where="x")
        assert (patch.old_path, patch.new_path, patch.changed) == (path, "y.py", [LineRange(1, 1)])
    several = parse_patch(
        "--- a/x\n+++ b/x\n@@ -3,0 +4,2 @@\n+a\n+b\n@@ -9,1 +12,0 @@\n-c\n--- a/y\n+++ b/y\n", where="x"
    )
    assert [(patch.old_path, patch.changed) for patch in several] == [("x", [(3, 3), (9, 9)]), ("y", [])]
    with pytest.raises(UsageError, match="x: patch row 1: a hunk before any file name"):
        parse_patch("@@ -1 +1 @@\n-a\n+b\n", where="x")


def copies(folder: Path, **texts: str) -> list[tuple[tuple[str, ...], bool]]:
    """Return the groups of copies among files."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return [(group.paths, group.identical) for group in find_copies(walk(folder, name="r"))]


def test_nine_tenths_of_the_lines_make_a_near_copy(tmp_path: Path) -> None:
    """18 of 20 lines that either has are enough, 17 of 19 are not; order and spaces do not matter."""
    lines = [f"value_{n} = compute({n})" for n in range(30)]

    def text(numbers: list[int], *, sep: str = "\n") -> str:
        return sep.join(lines[n] for n in numbers) + "\n"

    near = {"a": text([*range(18), 20]), "b": text([21, *range(18)], sep="\n\n   ")}
    assert copies(tmp_path, **near) == [(("a.py", "b.py"), False)]
    assert copies(tmp_path, a=text([*range(17), 20]), b=text([21, *range(17)])) == []


@pytest.mark.parametrize(("count", "found"), [(10, True), (9, False)])
def test_files_of_fewer_than_ten_lines_are_no_near_copies(tmp_path: Path, *, count: int, found: bool) -> None:
    """Licences and empty packages resemble each other; identical files are copies whatever their length."""
    lines = [f"line {n}" for n in range(count)]
    texts = {"a": "\n".join(lines), "b": "\n".join(lines[::-1]), "c": "x = 1\n", "d": "x = 1\n", "e": " \n"}
    near = [(("a.py", "b.py"), False)] if found else []
    assert copies(tmp_path, **texts) == [(("c.py", "d.py"), True), *near]


def test_groups_of_copies_join(tmp_path: Path) -> None:
    """Three near copies are one group, and the first of identical files stands for them."""
    lines = [f"value_{n} = compute({n})" for n in range(60)]
    texts = {name: "\n".join([*lines, f"own_{name} = 1"]) + "\n" for name in "bca"}
    assert copies(tmp_path, **texts, d=texts["a"]) == [(("a.py", "d.py"), True), (("a.py", "b.py", "c.py"), False)]


SNIPPET = "if x:\n    go(x, 1)\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("if x:\n    go(x, 1)\n", (1, 2)),
        ("a\n\n  if x:\n\n\tgo(x, 1)  \nb\n", (3, 5)),
        ("if x:\nif x:\ngo(x, 1)", (2, 3)),
        ("if x:\n    go(x, 1)\nif x:\n    go(x, 1)\n", (1, 2)),
        ("if x:\n    go(x)\n", None),
        ("if x:", None),
        ("", None),
    ],
)
def test_lines_are_found_with_blank_lines_between(text: str, lines: tuple[int, int] | None) -> None:
    """The first place, whatever its indentation; half of them is none."""
    assert find_lines(["if x:", "go(x, 1)"], text) == lines
    assert find_lines([], text) is None
    place = find_snippet(SNIPPET, Texts("r", {"z.py": "other = 2\n", "f.py": text}), path="", similar=0.5)
    assert place == (None if lines is None else SnippetPlace("f.py", *lines, exact=True))


def test_the_most_similar_stretch_of_a_named_file_is_taken_from_its_threshold_on() -> None:
    """Two of the four words that either has are a half; of equal stretches the first; elsewhere is not looked."""
    files = Texts("r", {"f.py": "x = 1\n\nif x:\n  go(x, 2)\nif x:\n  go(x, 3)\n", "g.py": "if x:\n    go(x, 1)\n"})
    found = find_snippet(SNIPPET, files, path="f.py", similar=0.6)
    assert found == SnippetPlace("f.py", 3, 4, exact=False)
    assert find_snippet(SNIPPET, files, path="f.py", similar=0.61) is None
    assert find_snippet(SNIPPET, files, path="absent.py", similar=0.1) is None
    assert find_snippet("if x:\n    go(x, 9)\n", files, path="", similar=0.1) is None
    short = Texts("r", {"f.py": "\nif x:\n"})
    assert find_snippet(SNIPPET, short, path="f.py", similar=0.5) == SnippetPlace("f.py", 2, 2, exact=False)


@settings(max_examples=150, deadline=None)
@given(cases(), st.sampled_from(["coverage", "purity", "iou"]))
def test_graded_chunks_have_the_share_that_is_counted(case: tuple, share: str) -> None:
    """The grade of a region times the share of lines; of several regions in a chunk the highest."""
    data, cuts, gold = case
    filled = text_lines(data, 0, len(data))
    regions: list[tuple[set[int], float]] = []
    for first, last, grade in sorted(gold):
        lines = set(range(first, last + 1)) & filled
        if lines and regions and min(lines) <= max(regions[-1][0]):
            regions[-1] = (regions[-1][0] | lines, max(grade, regions[-1][1]))
        elif lines:
            regions.append((lines, grade))
    expected = {}
    for start, end in cuts:
        held = text_lines(data, start, end)
        touched = [(region, grade) for region, grade in regions if region & held]
        both = sum(len(region & held) for region, _ in touched)
        shares = {
            "coverage": [grade * len(region & held) / len(region) for region, grade in touched],
            "purity": [grade * both / len(held) for _, grade in touched],
            "iou": [grade * len(region & held) / len(region | held) for region, grade in touched],
        }[share]
        if shares:
            expected[f"{start}-{end}"] = max(shares)
    found = judged(f"graded({share})", data, cuts, gold)
    assert found.scale == FRACTION
    assert found.grades["q"] == pytest.approx(expected, abs=1.1e-6)


def test_of_equal_covers_the_smaller_chunk_is_taken_and_then_the_first() -> None:
    """best_cover has one chunk per region, min_cover the one that reaches furthest and is smallest."""
    data = b"a\nb\nc\nd\ne\nf\n"
    gold = [(3, 4, 1.0)]
    assert judged("best_cover", data, [(0, 8), (2, 8), (4, 8), (4, 12)], gold).qrels["q"] == {"4-8": 1}
    assert judged("best_cover", data, [(0, 6), (2, 6), (6, 12)], gold).qrels["q"] == {"2-6": 1}
    assert judged("min_cover", data, [(0, 8), (4, 8), (2, 10)], gold).qrels["q"] == {"2-10": 1}
    assert judged("min_cover", data, [(0, 8), (2, 8)], gold).qrels["q"] == {"2-8": 1}
    assert judged("min_cover", data, [(0, 6), (4, 6), (6, 12)], gold).qrels["q"] == {"4-6": 1, "6-12": 1}
    # One chunk that holds the end of one region and the beginning of the next is enough for both.
    assert judged("min_cover", data, [(0, 6), (4, 8)], [(3, 3, 1.0), (4, 4, 2.0)]).qrels["q"] == {"4-8": 2}


def test_fractional_grades_are_kept_in_millionths() -> None:
    """Whole grades stay as they are; 0.5 makes all of them fractions; the least is one."""
    data = b"a\nb\n"
    assert judged("any", data, [(0, 2), (2, 4)], [(1, 1, 2.0), (2, 2, 1.0)]).qrels["q"] == {"0-2": 2, "2-4": 1}
    found = judged("any", data, [(0, 2), (2, 4)], [(1, 1, 2.0), (2, 2, 0.5)])
    assert (found.qrels["q"], found.scale) == ({"0-2": 2_000_000, "2-4": 500_000}, FRACTION)
    assert judged("any", data, [(0, 2)], [(1, 1, 1e-9)]).qrels["q"] == {"0-2": 1}


def test_the_report_of_judgements_counts() -> None:
    """Mean, median and most relevant chunks, and the queries that are left without any."""
    rule = parse_rule("any")
    found = Judgements({"a": {"1": 1, "2": 1, "3": 1, "4": 1}, "b": {}, "c": {"1": 1}, "d": {}}, rule, 1).report()
    assert found["relevant_per_query"] == {"mean": 1.25, "median": 0.5, "max": 4}
    assert (found["queries"], found["uncovered_queries"], found["uncovered_share"]) == (4, 2, 0.5)
    assert (found["queriesWithRelevant"], found["strategyUsed"]) == (2, "qrels")
    nothing = Judgements({}, rule, 1).report()
    assert (nothing["uncovered_share"], nothing["strategyUsed"], nothing["relevant_per_query"]["max"]) == (0, "none", 0)


@pytest.mark.parametrize("name", ["annotation_fraction", "chunk_fraction", "iou", "token_f1"])
def test_thresholds_lie_above_0_and_reach_to_1(name: str) -> None:
    """1 is a threshold, 0 and what is above 1 are none."""
    for threshold in ("0.001", "1"):
        assert str(parse_rule(f"{name}({threshold})")) == f"{name}({threshold})"
    for threshold in ("0", "-0.1", "1.001", "nan"):
        with pytest.raises(UsageError):
            parse_rule(f"{name}({threshold})")


@settings(max_examples=150, deadline=None)
@given(cases(), cases(), st.data())
def test_a_projection_takes_the_best_line_or_their_mean(case: tuple, other: tuple, data: st.DataObject) -> None:
    """By going through every line: its best score, and the highest or the mean of a chunk's lines with text."""
    source, cuts, _ = case
    reference = sorted({(min(s, len(source)), min(e, len(source))) for s, e in other[1]})
    reference = [(start, end) for start, end in reference if start < end]

    def table(spans: list[tuple[int, int]]) -> ChunkLines:
        newlines = np.flatnonzero(np.frombuffer(source, dtype=np.uint8) == 10)
        made = [Chunk("r", "f", None, line_span(newlines, s, e), "", "", f"{s}-{e}") for s, e in spans]
        return ChunkLines.of({FileKey("r", "f"): FileLines.of(source)}, made)

    order = data.draw(st.permutations(cuts))[: data.draw(st.integers(0, 8))]
    ranking = [(f"{start}-{end}", 10.0 - rank) for rank, (start, end) in enumerate(order)]
    scores: dict[int, float] = {}
    for (start, end), (_, score) in zip(order, ranking, strict=True):
        for line in text_lines(source, start, end):
            scores[line] = max(score, scores.get(line, score))
    projection = Projection(table(cuts), table(reference))
    for aggregation in ("max", "mean"):
        expected = []
        for place, (start, end) in enumerate(reference):
            lines = text_lines(source, start, end)
            if lines & set(scores):
                lowest = ranking[-1][1]
                held = [scores.get(line, lowest) for line in lines]
                value = sum(held) / len(held) if aggregation == "mean" else max(scores[n] for n in lines & set(scores))
                expected.append((-round(value, 9), place, f"{start}-{end}"))
        found = projection.rank(ranking, aggregation=aggregation)
        assert [(-round(one.score, 9), one.id) for one in found] == [
            (value, name) for value, _, name in sorted(expected)
        ]
