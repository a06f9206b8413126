"""The gate: what counts as a change, what cannot be compared, and how often it is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.config import make_config
from evaluation.experiment.environment import environment
from evaluation.history.comparison import Night
from evaluation.history.gate import Finding, Limits, count_queries, gate_findings
from evaluation.history.movers import movers
from evaluation.history.origins import Match, all_differences, match_cells
from evaluation.history.record import CellOrigin, RunRecord
from evaluation.history.summary import headline, night_json, night_markdown
from evaluation.results.types import CellRecord, QueryRecord, Results
from evaluation.statistics import TestName, compare_pairs
from evaluation.types import CellKey
from scripts.check.quiet_nights import false_alarms

KEY = CellKey("code", "cast", "hashing", "dense")
LIMITS = Limits(flips=2000)
SHARE = "ndcg@10"
STAGES: dict[str, Any] = {
    "chunk": {
        "corpus": "c1",
        "chunker": {"class": "x:Cast", "version": "1", "code": "aa", "size": 1500},
        "versions": {"grammars": "pack 1", "tree-sitter": "0.25", "tiktoken": "0.8"},
    },
    "retrieve": {
        "embedder": {"encoder": "hashing", "revision": "r1"},
        "retriever": {"class": "x:Dense", "version": "1", "code": "bb"},
        "queries": "q1",
        "depth": 100,
        "versions": {"faiss-cpu": "1.8"},
    },
    "score": {"rule": "any", "annotations": "n1", "code": {"evaluation": "cc"}},
}


def night(
    values: Mapping[CellKey, Sequence[float] | np.ndarray],
    *,
    measure: str = SHARE,
    repositories: int = 1,
    first: int = 0,
) -> Results:
    """Return results in which the cells have these scores; query ids count from ``first``."""
    length = len(next(iter(values.values())))
    asked = tuple(
        QueryRecord("code", f"q{first + k}", f"question {k}", "r", f"r{k % repositories}", None, ())
        for k in range(length)
    )
    cells = tuple(CellRecord(key, "ok", scores={measure: np.array(each, float)}) for key, each in values.items())
    return Results(config=make_config({}), environment=environment(), datasets=(), cells=cells, queries=asked)


def found(now: Results, before: Results, *, measure: str = SHARE, limits: Limits = LIMITS) -> Finding:
    """Return the only finding."""
    matches = {cell.key: Match(cell.key, ()) for cell in now.cells}
    return gate_findings(now, before, matches=matches, measures=[measure], limits=limits)[0]


def record(stages: Mapping[str, Any], *, key: CellKey = KEY, loader: str = "1", status: str = "ok") -> RunRecord:
    """Return a run of one cell."""
    return RunRecord(
        number=1,
        time="2026-01-01T00:00:00+00:00",
        key="k",
        config=make_config({}),
        environment=environment(),
        sources={key.dataset: {"loader": {"class": "x:Mined", "version": loader, "code": "dd"}}},
        cells=(CellOrigin(key, status, "out of memory" if status == "failed" else "", stages),),
    )


def with_input(path: str, value: object) -> dict[str, Any]:
    """Return the inputs with one of them changed."""
    stage, *middle, last = path.split(".")
    changed = {name: dict(inputs) for name, inputs in STAGES.items()}
    place = changed[stage]
    for name in middle:
        place[name] = dict(place[name])
        place = place[name]
    place[last] = value
    return changed


SCORES = np.random.default_rng(0).uniform(0.2, 0.8, 60)


@pytest.mark.parametrize(
    ("measure", "shift", "verdict"),
    [
        (SHARE, -0.1, "regression"),
        (SHARE, 0.1, "improvement"),
        (SHARE, -0.005, "no change"),
        (SHARE, 0.0, "no change"),
        ("redundancy@4000tok", 0.1, "regression"),
        ("redundancy@4000tok", -0.1, "improvement"),
    ],
)
def test_the_verdict_follows_direction_and_size(measure: str, shift: float, verdict: str) -> None:
    """A clear shift is a change in the measure's own direction; one below the minimum effect is none."""
    now = night({KEY: SCORES + shift}, measure=measure)
    assert found(now, night({KEY: SCORES}, measure=measure), measure=measure).verdict == verdict


@pytest.mark.parametrize("mean", [0.5, 20.0, 4000.0])
@pytest.mark.parametrize("part", [0.5, 2.0])
def test_a_measure_in_a_unit_of_its_own_is_held_against_a_part_of_its_mean(mean: float, part: float) -> None:
    """Whatever the unit, half the minimum effect is no change and twice as much is one."""
    measure = "tokens_to_recall(0.5)"
    before = night({KEY: np.full(60, mean)}, measure=measure)
    now = night({KEY: np.full(60, mean * (1 + part * LIMITS.minimum_effect))}, measure=measure)
    one = found(now, before, measure=measure)
    assert one.verdict == ("regression" if part > 1 else "no change")


def test_from_nothing_to_everything_is_a_change() -> None:
    """The whole range of a share is no special case, and a night without a change or a failure exits with 0."""
    nothing, everything = night({KEY: np.zeros(60)}), night({KEY: np.ones(60)})
    assert found(everything, nothing).verdict == "improvement"
    assert found(nothing, everything).verdict == "regression"
    assert Night(record(STAGES), record(STAGES), findings=(found(everything, nothing),)).exit_code == 0


def test_one_query_alone_is_no_change() -> None:
    """A large move of a single query has no test behind it."""
    moved = SCORES.copy()
    moved[3] = 0.0
    finding = found(night({KEY: moved}), night({KEY: SCORES}))
    assert finding.verdict == "no change"
    assert finding.p is not None
    assert finding.p > 0.9


def test_only_shared_queries_are_compared() -> None:
    """Queries that appeared or vanished are counted and leave the means alone."""
    before, now = night({KEY: SCORES}), night({KEY: SCORES[10:]}, first=10)
    finding = found(now, before)
    assert finding.queries == 50
    assert finding.difference == pytest.approx(0)
    assert finding.before == pytest.approx(SCORES[10:].mean())
    assert count_queries(now, before)["code"] == (50, 0, 10)


def test_no_shared_query_is_not_comparable() -> None:
    """Two nights without a common query say nothing about each other."""
    finding = found(night({KEY: SCORES}, first=1000), night({KEY: SCORES}))
    assert (finding.verdict, finding.reason) == ("not comparable", "no query of the baseline is left")


def test_a_measure_without_a_better_side_is_not_judged() -> None:
    """More text behind five results is no regression, and less of it no improvement."""
    measure = "tokens_behind@5"
    finding = found(night({KEY: SCORES + 0.1}, measure=measure), night({KEY: SCORES}, measure=measure), measure=measure)
    assert (finding.verdict, finding.reason) == ("not comparable", "more tokens_behind@5 is neither better nor worse")


def test_undefined_scores_leave_their_query_out() -> None:
    """A query without a value on either night is not compared."""
    holes = SCORES.copy()
    holes[:5] = np.nan
    assert found(night({KEY: holes}), night({KEY: SCORES})).queries == 55


def test_repositories_are_the_units_where_there_are_six() -> None:
    """A move of one repository among eight is not shown, however many queries it has."""
    moved = SCORES.copy()
    moved[::8] = 0.0
    finding = found(night({KEY: moved}, repositories=8), night({KEY: SCORES}, repositories=8))
    assert (finding.unit, finding.verdict) == ("repository", "no change")


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), repositories=st.sampled_from([1, 7]))
def test_p_is_that_of_the_paired_comparison(seed: int, repositories: int) -> None:
    """For one cell, p and interval are those of the comparison of two chunkers on the same scores."""
    rng = np.random.default_rng(seed)
    before, now = rng.uniform(size=40), rng.uniform(size=40)
    finding = found(night({KEY: now}, repositories=repositories), night({KEY: before}, repositories=repositories))
    clusters = [f"r{k % repositories}" for k in range(40)]
    test: TestName = "t" if repositories == 7 else "sign-flip"
    oracle = compare_pairs(np.array([now, before]), clusters, names=["now", "before"], flips=2000, test=test)[0]
    assert finding.p == oracle.p_alone
    assert (finding.low, finding.high) == (oracle.low, oracle.high)


def test_the_correction_is_over_the_whole_night() -> None:
    """The same difference is less sure among many: a corrected p is never below the plain one."""
    rng = np.random.default_rng(1)
    keys = [KEY._replace(chunker=f"c{k}") for k in range(6)]
    before = night(dict.fromkeys(keys, SCORES))
    now = night({key: SCORES + rng.normal(0.01, 0.05, 60) for key in keys})
    matches = {key: Match(key, ()) for key in keys}
    many = gate_findings(now, before, matches=matches, measures=[SHARE], limits=LIMITS)
    assert all((each.p_corrected or 0) >= (each.p or 0) for each in many)
    assert any((each.p_corrected or 0) > (each.p or 0) for each in many)


@pytest.mark.parametrize("repositories", [1, 8])
def test_quiet_nights_alarm_at_most_as_often_as_promised(repositories: int) -> None:
    """Of 60 nights without a change, no more alarm than chance allows at the promised rate."""
    assert false_alarms(60, alpha=0.05, repositories=repositories, seed=3) <= 8


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ("chunk.versions.grammars", "pack 2", "grammar pack"),
        ("chunk.versions.tiktoken", "0.9", "tokenizer"),
        ("retrieve.embedder.revision", "r2", "model"),
        ("retrieve.retriever.version", "2", "retriever"),
        ("score.rule", "half", "relevance rule"),
    ],
)
def test_what_forbids_a_comparison_is_named(path: str, value: object, kind: str) -> None:
    """Another grammar pack, tokenizer, model, retriever or rule forbids a comparison, and the reason says which."""
    match = match_cells(record(with_input(path, value)), record(STAGES))[KEY]
    assert match.reasons
    assert match.reasons[0].startswith(kind)
    assert str(value) in match.reasons[0]


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ("chunk.chunker.code", "zz", "chunker code"),
        ("chunk.chunker.version", "2", "chunker"),
        ("retrieve.versions.faiss-cpu", "1.9", "library"),
        ("score.code.evaluation", "zz", "scoring code"),
    ],
)
def test_what_is_under_test_may_change(path: str, value: object, kind: str) -> None:
    """New code is what the gate is for: it is told and compared."""
    now, before = record(with_input(path, value)), record(STAGES)
    assert match_cells(now, before)[KEY] == Match(KEY, ())
    assert [each.kind for each in all_differences(now, before)] == [kind]


@pytest.mark.parametrize("path", ["chunk.corpus", "retrieve.queries", "score.annotations"])
def test_a_corpus_that_moved_on_is_no_reason(path: str) -> None:
    """New commits are compared on the shared queries."""
    now, before = record(with_input(path, "other")), record(STAGES)
    assert match_cells(now, before)[KEY] == Match(KEY, ())
    assert all_differences(now, before) == []


def test_another_dataset_or_embedder_is_said_to_be_the_reason() -> None:
    """A cell whose spec is new is held against the nearest one, and the part that differs is named."""
    moved = KEY._replace(dataset="other", embedder="minilm")
    match = match_cells(record(STAGES, key=moved), record(STAGES))[moved]
    assert match == Match(None, ("dataset was code and is other", "model was hashing and is minilm"))
    made = match_cells(record(STAGES, loader="2"), record(STAGES))[KEY]
    assert made.reasons == ("dataset code version was 1 and is 2",)
    new = record(STAGES)
    loader = {**new.sources["code"]["loader"], "queries": "40"}
    new = dataclasses.replace(new, sources={"code": {"loader": loader}})
    for now, before in ((new, record(STAGES)), (record(STAGES), new)):
        (reason,) = match_cells(now, before)[KEY].reasons
        assert reason.startswith("dataset code queries was ")


def test_a_failed_cell_is_not_comparable_and_exits_1() -> None:
    """A failure is told with its reason, on whichever night it was."""
    failed = record(STAGES, status="failed")
    assert "failed tonight: out of memory" in match_cells(failed, record(STAGES))[KEY].reasons[0]
    assert "failed in the baseline" in match_cells(record(STAGES), failed)[KEY].reasons[0]
    assert Night(failed, None).exit_code == 1


def test_the_summary_names_the_regression_and_its_queries() -> None:
    """People read the chunker and the query; Markdown in a query stays text; programs read the same."""
    moved = SCORES - 0.1
    moved[7] = 0.0
    now, before = night({KEY: moved}), night({KEY: SCORES})
    asked = list(now.queries)
    asked[7] = dataclasses.replace(asked[7], text="a *bold* [link](x) | <b>")
    now = dataclasses.replace(now, queries=tuple(asked))
    findings = [found(now, before)]
    one = Night(record(STAGES), record(STAGES), findings=tuple(findings), movers=tuple(movers(now, before, findings)))
    assert one.exit_code == 3
    assert headline(one) == "regression: cast in ndcg@10"
    text = night_markdown(one, links="runs/00001/")
    assert r"[a \*bold\* \[link\](x) \| \<b\>](runs/00001/report.html#query=q7&a=cast)" in text
    assert "**regression**" in text
    assert night_json(one)["movers"][0]["query_id"] == "q7"
    placed = tuple(mover._replace(place="src/a_b.py:3") for mover in one.movers[:1])
    for those, said in ((placed, True), (one.movers, False)):
        lines = night_markdown(dataclasses.replace(one, movers=those), links="").splitlines()
        (line,) = [line for line in lines if "#query=q7" in line]
        assert line.endswith(r" (src/a\_b.py:3)") is said
        assert not line.endswith("()")
    assert night_json(one)["counts"]["regression"] == 1


def test_the_night_in_a_few_words() -> None:
    """A first run, a run without a baseline that can be used, a change for the better, and nothing at all."""
    now, before = night({KEY: SCORES + 0.1}), night({KEY: SCORES})
    assert headline(Night(record(STAGES), None)) == "first run"
    assert headline(Night(record(STAGES), None, notes=("run 1 is damaged",))) == "no baseline"
    for found_now, words in ((now, "improvement: cast in ndcg@10"), (before, "no change")):
        assert headline(Night(record(STAGES), record(STAGES), findings=(found(found_now, before),))) == words
    refused = gate_findings(now, before, matches={KEY: Match(None, ("x",))}, measures=[SHARE], limits=LIMITS)
    one = Night(record(STAGES), record(STAGES), findings=tuple(refused))
    assert headline(one) == "not comparable with the baseline"
    failed = record(STAGES, status="failed")
    assert headline(Night(failed, None)) == "1 cell failed"


def test_a_quiet_night_shows_the_largest_moves_of_either_direction() -> None:
    """A query that stayed where it was, or that has no value, did not move; new queries are counted."""
    moved = SCORES.copy()
    moved[2:5] = SCORES[2] - 0.02, SCORES[3] + 0.03, np.nan
    now, before = night({KEY: moved}), night({KEY: SCORES})
    findings = [found(now, before)]
    assert findings[0].verdict == "no change"
    assert [mover.query_id for mover in movers(now, before, findings)] == ["q3", "q2"]
    for other, said in ((night({KEY: SCORES}, first=1), True), (before, False)):
        counted = Night(record(STAGES), record(STAGES), queries=count_queries(now, other))
        assert ("shared, 1 appeared, 1 vanished" in night_markdown(counted, links="")) is said


def test_the_summary_says_what_it_promises_and_explains_opposite_moves() -> None:
    """How often a quiet night raises an alarm is said; a chunker that got better and worse has its own sentence."""
    now, before = night({KEY: SCORES - 0.1}), night({KEY: SCORES})
    fell = found(now, before)
    rose = dataclasses.replace(fell, measure="recall@5", verdict="improvement")
    text = night_markdown(Night(record(STAGES), record(STAGES), findings=(fell, rose)), links="")
    assert "corrected for the 2 comparisons of the night" in text
    assert "at most 5 % raise any alarm: 1.5 in a month of 30 such nights." in text
    assert "got better in recall@5 (" in text
    assert "and worse in ndcg@10 (" in text
    alone = night_markdown(Night(record(STAGES), record(STAGES), findings=(fell,)), links="")
    assert "got better in" not in alone
