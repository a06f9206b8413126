"""What a night says to people, chats and terminals: every number, count and name is that of its findings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from test_history_gate import KEY, SCORES, STAGES, found, night, record, with_input

from evaluation.config import NightlyConfig
from evaluation.history.comparison import Night
from evaluation.history.gate import Finding, Limits, QueryCount, gate_findings, row
from evaluation.history.lines import night_lines
from evaluation.history.movers import Mover, movers
from evaluation.history.notice import _fenced, failure_notice, night_notice
from evaluation.history.origins import Difference, Match, all_differences, match_cells
from evaluation.history.pins import CommitRange
from evaluation.history.summary import night_json, night_markdown
from evaluation.results.types import GoldLines

HEADLINE = "naurc@4000tok"


def _finding(verdict_: Any = "regression", **more: Any) -> Finding:
    numbers = {"before": 0.5, "now": 0.4, "difference": -0.1, "low": -0.15, "high": -0.05, "p": 0.001}
    return Finding(KEY, "ndcg@10", verdict_, **{**numbers, "p_corrected": 0.002, "queries": 1, "unit": "query", **more})


def _night(*findings: Finding, **more: Any) -> Night:
    base = dataclasses.replace(record(STAGES), number=7, time="yesterday")
    return Night(dataclasses.replace(record(STAGES), number=12), base, findings=findings, **more)


def test_a_row_of_the_summary_has_the_numbers_of_its_finding() -> None:
    """Baseline, now, difference with its interval, corrected p, queries; a change is strong; p has no equals sign."""
    other = _finding("no change", difference=0.012, low=-0.05, high=0.07, now=0.512, p_corrected=0.00001, queries=1234)
    text = night_markdown(_night(_finding(), other), links="x/")
    rows = [line for line in text.splitlines() if line.startswith("| cast")]
    assert rows == [
        "| cast | ndcg@10 | 50.0 | 40.0 | −10.0 | −15.0 … −5.0 | 0.002 | 1 | **regression** |",
        "| cast | ndcg@10 | 50.0 | 51.2 | +1.2 | −5.0 … +7.0 | < 0.0001 | 1234 | no change |",
    ]
    first, _, second, *_ = text.splitlines()
    assert first == "# Run 12: regression: cast in ndcg@10"
    assert second == "Compared with run 7 (yesterday): 1 regression, 1 no change. [Report](x/report.html)"
    better = night_markdown(_night(_finding("improvement")), links="")
    assert "**improvement**" in better
    elsewhere = dataclasses.replace(_finding(), key=KEY._replace(retriever="bm25"))
    both = night_markdown(_night(_finding(), elsewhere), links="")
    assert "| code × cast × hashing × bm25 | " in both
    assert "| code × cast × hashing × dense | " in both


def test_only_what_changed_is_offered_for_acceptance() -> None:
    """A quiet night asks nothing; a night without a baseline has nothing to be held against."""
    ask = 'If this is as it should be: `chunkbench history accept 12 --why "…"`'
    assert ask in night_markdown(_night(_finding()), links="")
    assert ask in night_markdown(_night(_finding("no change"), _finding("improvement")), links="")
    assert ask not in night_markdown(_night(_finding("no change")), links="")
    alone = Night(dataclasses.replace(record(STAGES), number=12), None, findings=(_finding(),))
    text = night_markdown(alone, links="r/")
    assert ask not in text
    assert "There is no accepted run to compare with. [Report](r/report.html)" in text
    assert night_json(alone)["baseline"] is None
    assert night_json(_night())["baseline"] == 7


@pytest.mark.parametrize(
    ("effect", "alpha", "words"),
    [
        (
            0.01,
            0.05,
            "at least 1 point of a share or 1 % of another mean. So on nights on which nothing changed, at most 5 %",
        ),
        (
            0.02,
            0.1,
            "at least 2 points of a share or 2 % of another mean. So on nights on which nothing changed, at most 10 %",
        ),
    ],
)
def test_the_promise_names_its_limits(effect: float, alpha: float, words: str) -> None:
    """The least effect, the level, the number of comparisons, the test, and alarms in a month."""
    held = _night(_finding(), _finding(unit="repository"), limits=Limits(alpha, effect))
    text = night_markdown(held, links="")
    assert words in text
    assert f"alarm: {30 * alpha:.2g} in a month of 30 such nights." in text
    assert (
        f"paired test over queries (sign flips) or repositories (t) shows at {alpha:g}, corrected for the 2 comp"
        in text
    )
    assert "over queries (sign flips) shows" in night_markdown(_night(_finding()), links="")
    assert "| chunker |" not in night_markdown(_night(_finding("not comparable", reason="x")), links="")


def test_each_part_of_a_summary_is_there_where_it_has_something() -> None:
    """Failures, files that were not cut, refusals by reason, commits, queries, changes, moves and notes."""
    refused = [
        dataclasses.replace(_finding("not comparable", reason=why), key=KEY._replace(chunker=name))
        for name, why in (("a", "model"), ("b", "model"), ("a", "model"), ("c", "rule"))
    ]
    held = _night(
        *refused,
        not_cut=("cast: x.py (bad)",),
        commits={
            "code": CommitRange("a" * 40, "b" * 40, 1, ("s_1",)),
            "docs": CommitRange("c" * 40, "d" * 40, None, ()),
        },
        queries={"code": QueryCount(1, 2000, 0), "docs": QueryCount(5, 0, 0), "more": QueryCount(3, 0, 1)},
        differences=(Difference("package", "x", "1", "", False),),
        movers=(Mover(KEY, "ndcg@10", "q/1", "a  b\nc", "x.py:3–4", 0.25, 0.5),),
        notes=("run 3 is damaged",),
    )
    failed = dataclasses.replace(held, record=dataclasses.replace(record(STAGES, status="failed"), number=12))
    lines = night_markdown(failed, links="r/").splitlines()
    assert lines[0] == "# Run 12: 1 cell failed"
    for wanted in (
        "- code × cast × hashing × dense: out of memory",
        "- cast: x.py (bad)",
        "- a, b: model",
        "- c: rule",
        f"- code: `{'a' * 12}..{'b' * 12}`, 1 commit",
        "  - s\\_1",
        f"- docs: `{'c' * 12}..{'d' * 12}`, commits unknown to the clone",
        "- code: 1 query shared, 2,000 appeared, 0 vanished",
        "- more: 3 queries shared, 0 appeared, 1 vanished",
        "- package x was 1 and is absent",
        "- cast, ndcg@10 25.0 → 50.0: [a b c](r/report.html#query=q%2F1&a=cast) (x.py:3–4)",
        "- run 3 is damaged",
    ):
        assert wanted in lines
    assert not any(line.startswith("- docs: 5") for line in lines)
    titles = [line for line in lines if line.startswith("## ")]
    assert titles == [
        f"## {title}"
        for title in (
            *("Failed", "Files that were not cut", "Not comparable", "What changed"),
            *("Queries that moved most", "Skipped"),
        )
    ]
    assert "## " not in night_markdown(_night(_finding()), links="")
    assert night_json(failed)["counts"] == {"regression": 0, "improvement": 0, "no change": 0, "not comparable": 4}
    (mover,) = night_json(failed)["movers"]
    assert mover["link"] == "runs/00012/report.html#query=q%2F1&a=cast"


def test_a_terminal_has_a_line_for_each_finding_and_change() -> None:
    """The verdict first; moves only of a night with a change, three at most."""
    moved = tuple(Mover(KEY, "ndcg@10", f"q{k}", f"t {k}", "", 0.5, 0.25) for k in range(5))
    held = _night(
        _finding(),
        _finding("not comparable", reason="other model"),
        not_cut=("y",),
        commits={"code": CommitRange("a" * 40, "b" * 40, 2, ()), "docs": CommitRange("c" * 40, "d" * 40, None, ())},
        queries={"code": QueryCount(3, 2, 1)},
        differences=(Difference("model", "m", "1", "2", True),),
        movers=moved,
        notes=("n",),
    )
    assert list(night_lines(held)) == [
        "run 12, against run 7: regression: cast in ndcg@10",
        "  regression     cast ndcg@10: 50.0 → 40.0 (−10.0, p = 0.002, 1 query)",
        "  not comparable cast ndcg@10: other model",
        "  not cut        y",
        f"  code: {'a' * 12}..{'b' * 12}, 2 commits",
        f"  docs: {'c' * 12}..{'d' * 12}, history rewritten",
        "  code: 3 queries shared, 2 new, 1 gone",
        "  changed: model m was 1 and is 2",
        *(f"  moved: cast 50.0 → 25.0: t {k} (q{k})" for k in range(3)),
        "  note: n",
    ]
    quiet = dataclasses.replace(held, findings=(_finding("no change"),))
    assert not any("moved: " in line for line in night_lines(quiet))
    better = dataclasses.replace(held, findings=(_finding("improvement"),))
    assert sum("moved: " in line for line in night_lines(better)) == 3
    assert next(iter(night_lines(Night(record(STAGES), None)))) == "run 1: first run"


def test_a_message_names_five_findings_and_counts_the_rest() -> None:
    """Regressions first; failures too; then over how many comparisons, and against which run."""
    many = [dataclasses.replace(_finding(), key=KEY._replace(chunker=f"c{k}")) for k in range(5)]
    better = _finding("improvement", difference=0.1, now=0.6)
    lines = night_notice(_night(better, *many), "json")["text"].splitlines()
    assert lines[0].startswith("chunkbench run 12: regression: c0 in ndcg@10, ")
    assert lines[1] == "regression: c0 ndcg@10 50.0 → 40.0 (−10.0, p = 0.002)"
    assert lines[6:8] == ["and 1 more", "6 comparisons, against run 7"]
    exact = night_notice(_night(*many), "json")["text"].splitlines()
    assert exact[6] == "5 comparisons, against run 7"
    failed = dataclasses.replace(record(STAGES, status="failed"), number=12)
    alone = night_notice(Night(failed, None), "json")["text"].splitlines()
    assert alone[1:3] == [
        "failed: code × cast × hashing × dense: out of memory",
        "0 comparisons, there is no accepted run to compare with",
    ]
    long = "x" * 400
    slack = failure_notice(long, "slack", exit_code=1)
    assert "x" * 299 + "…" in slack["text"]
    assert "x" * 300 not in slack["text"]
    links = failure_notice("r", "json", exit_code=1, url="https://x/", earlier=True)
    assert links["links"] == {"trend": "https://x/trend.html"}
    assert failure_notice("r", "json", exit_code=1, url="https://x")["links"] == {}
    plain = night_notice(_night(_finding()), "slack", url="https://ci/h")
    assert "<https://ci/h/runs/00012/report.html|report> · <https://ci/h/trend.html|trend>" in str(plain["blocks"])
    card = night_notice(_night(_finding()), "teams", url="https://ci/h")["attachments"][0]["content"]
    assert [action["title"] for action in card["actions"]] == ["report", "trend"]
    assert all(block["wrap"] for block in card["body"])
    huge = night_notice(
        _night(*[dataclasses.replace(_finding(), key=KEY._replace(chunker=long)) for _ in range(5)]), "slack"
    )
    assert len(huge["blocks"][0]["text"]["text"]) <= 2900


@pytest.mark.parametrize(("words", "ticks"), [("plain", 3), ("a ` b", 3), ("a ``` b", 4), ("`````", 6)])
def test_a_fence_is_longer_than_any_in_it(words: str, ticks: int) -> None:
    """Three backticks at least."""
    assert _fenced(words) == f"{'`' * ticks}\n{words}\n{'`' * ticks}"


def test_the_queries_that_moved_most_are_those_of_the_change() -> None:
    """In its direction, the largest first, at most five of each finding; equal moves in the order of their names."""
    now = SCORES - 0.1
    now[[3, 8]] -= 0.1
    now[20] = SCORES[20] + 0.5
    before, after = night({KEY: SCORES}), night({KEY: now})
    finding = dataclasses.replace(found(after, before), verdict="regression", difference=-0.1)
    moved = movers(after, before, [finding])
    assert len(moved) == 5
    assert {mover.query_id for mover in moved[:2]} == {"q3", "q8"}
    assert all(mover.now < mover.before for mover in moved)
    up = movers(after, before, [dataclasses.replace(finding, verdict="improvement", difference=0.1)])
    assert [mover.query_id for mover in up] == ["q20"]
    assert (up[0].before, up[0].now) == pytest.approx((SCORES[20], SCORES[20] + 0.5))
    assert len(movers(after, before, [finding, finding], most=2)) == 4
    steady = dataclasses.replace(finding, verdict="no change")
    assert [mover.query_id for mover in movers(after, before, [steady], most=1)] == ["q20"]
    assert movers(after, before, [dataclasses.replace(steady, queries=0)]) == []
    same = night({KEY: np.where(np.arange(60) < 3, 0.5, SCORES)})
    equal = night({KEY: np.where(np.arange(60) < 3, 0.25, SCORES)})
    assert [mover.query_id for mover in movers(equal, same, [finding])] == ["q0", "q1", "q2"]
    gold = (GoldLines("a.py", 3, 9), GoldLines("b.py", 1, 1))
    asked = tuple(dataclasses.replace(query, gold=gold) for query in after.queries)
    (one,) = movers(dataclasses.replace(after, queries=asked), before, [steady], most=1)
    assert one.place == "a.py:3–9"
    later = night({KEY: SCORES[10:]}, first=10)
    assert movers(later, before, [steady]) == []


def test_a_change_is_one_at_exactly_the_least_effect() -> None:
    """Just below it is none; neither is a difference of nothing where nothing is asked for."""
    before = night({KEY: np.full(64, 0.5)})
    for shift, verdict_ in ((0.25, "improvement"), (0.2499, "no change")):
        limits = Limits(minimum_effect=0.25, flips=2000)
        assert found(night({KEY: np.full(64, 0.5 + shift)}), before, limits=limits).verdict == verdict_
    assert found(before, before, limits=Limits(alpha=1.0, minimum_effect=0.0, flips=2000)).verdict == "no change"


def test_a_measure_that_the_baseline_lacks_is_refused_with_its_name() -> None:
    """Others of the same cell are compared; a refusal has its reasons joined."""
    before, now = night({KEY: SCORES}), night({KEY: SCORES})
    both = dataclasses.replace(
        now, cells=tuple(dataclasses.replace(c, scores={**c.scores, "recall@5": SCORES}) for c in now.cells)
    )
    matches = {KEY: Match(KEY, ())}
    first, second = gate_findings(
        both, before, matches=matches, measures=["ndcg@10", "recall@5"], limits=Limits(flips=99)
    )
    assert first.verdict == "no change"
    assert (second.verdict, second.reason) == ("not comparable", "the baseline did not measure recall@5")
    refused = {KEY: Match(KEY, ("x", "y"))}
    (one,) = gate_findings(now, before, matches=refused, measures=["ndcg@10"], limits=Limits())
    assert one.reason == "x; y"
    unknown = {KEY: Match(None, ())}
    (one,) = gate_findings(now, before, matches=unknown, measures=["ndcg@10"], limits=Limits())
    assert one.reason == "unknown"


def test_a_cell_is_held_against_the_nearest_of_its_chunker() -> None:
    """Fewer differences are nearer; equal ones by name; another chunker is none."""
    old = [KEY._replace(embedder="x", retriever="y"), KEY._replace(embedder="z"), KEY._replace(embedder="b")]
    before = dataclasses.replace(
        record(STAGES), cells=tuple(dataclasses.replace(record(STAGES).cells[0], key=key) for key in old)
    )
    assert match_cells(record(STAGES), before)[KEY].reasons == ("model was b and is hashing",)
    new = KEY._replace(chunker="other")
    reasons = match_cells(record(STAGES, key=new), before)[new].reasons
    assert reasons == ("the baseline has no such chunker",)


def test_what_appeared_and_what_went_is_a_difference_each() -> None:
    """Chunkers, models, retrievers, datasets and packages; each once, and absent where only the other run has it."""
    now, before = record(STAGES), record(STAGES)
    held = now.config.model_copy(update={"chunkers": ("a", "b"), "embedders": ("m",)})
    was = now.config.model_copy(update={"chunkers": ("b", "c"), "embedders": ("m",)})
    now, before = dataclasses.replace(now, config=held), dataclasses.replace(before, config=was)
    assert [each.words for each in all_differences(now, before)] == [
        "chunker a was absent and is new",
        "chunker c was there and is absent",
    ]
    assert not any(each.blocks for each in all_differences(now, before))
    packages = dataclasses.replace(now.environment, packages={**now.environment.packages, "new": "1", "bm25s": "9"})
    grown = dataclasses.replace(before, environment=packages)
    assert [each.words for each in all_differences(grown, before)] == ["package new was absent and is 1"]
    assert not any(each.blocks for each in all_differences(grown, before))
    elsewhere = dataclasses.replace(before, sources={**before.sources, "more": {"loader": {"class": "x"}}})
    assert all_differences(elsewhere, before) == all_differences(before, elsewhere) == []
    wider = dataclasses.replace(record(with_input("chunk.chunker.overlap", 5)), config=was)
    assert [each.words for each in all_differences(wider, before)] == ["chunker cast overlap was absent and is 5"]
    assert [each.words for each in all_differences(before, wider)] == ["chunker cast overlap was 5 and is absent"]
    more = dataclasses.replace(record(with_input("chunk.chunker.size", 9)), config=was)
    two = dataclasses.replace(
        more, cells=(*more.cells, dataclasses.replace(more.cells[0], key=KEY._replace(retriever="r")))
    )
    base = dataclasses.replace(
        before, cells=(*before.cells, dataclasses.replace(before.cells[0], key=KEY._replace(retriever="r")))
    )
    assert [each.words for each in all_differences(two, base)] == ["chunker cast size was 1500 and is 9"]


def test_a_p_of_exactly_the_level_is_shown_and_six_repositories_are_units() -> None:
    """Five are not; the usual limits are those of an experiment that names none; a refusal counts no query."""
    before = night({KEY: SCORES}, repositories=6)
    now = night({KEY: SCORES - 0.1 + np.random.default_rng(0).normal(0, 0.05, 60)}, repositories=6)
    one = found(now, before)
    assert one.unit == "repository"
    assert found(night({KEY: SCORES}, repositories=5), night({KEY: SCORES}, repositories=5)).unit == "query"
    assert one.p_corrected is not None
    for alpha, verdict_ in ((one.p_corrected, "regression"), (one.p_corrected * 0.999, "no change")):
        assert found(now, before, limits=Limits(alpha=alpha, flips=2000)).verdict == verdict_
    usual = NightlyConfig()
    assert (Limits().alpha, Limits().minimum_effect) == (usual.alpha, usual.minimum_effect) == (0.05, 0.01)
    assert Limits().seed == 0
    assert Finding(KEY, "ndcg@10", "not comparable").queries == 0
    told = row(one)
    assert told["chunker"] == "cast"
    assert (told["verdict"], told["now"], told["unit"]) == (one.verdict, one.now, "repository")
    assert "key" not in told
