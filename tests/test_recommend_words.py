"""The recommendation in sentences: what they say of who is recommended, and of how the race went."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from test_recommend_page import _made

from evaluation.recommend.types import CandidateRecord, Cost, Current, Fate, Recommendation, RoundFacts
from evaluation.recommend.words import sentences
from evaluation.report.formats import at_most
from evaluation.statistics import compare_pairs


def with_finalists(*specs: str, docstrings: int) -> Recommendation:
    """Return a recommendation of the first of these, each a point below the one before it."""
    made = _made(specs[0])
    (first,) = made.finalists
    finalists = tuple(
        replace(first, spec=spec, mean_of_all=first.mean_of_all - place / 100) for place, spec in enumerate(specs)
    )
    return replace(made, finalists=finalists, docstring_queries=docstrings)


@pytest.mark.parametrize("name", ["definitions", "functions", "declarations"])
def test_answers_of_the_recommended_ones_shape_are_a_caution(name: str) -> None:
    """It names the leader of those that cut otherwise; without docstrings, or for others, there is none."""
    specs = (f"{name}:size=4000", "definitions", "cast:size=600", "recursive:size=600")
    (caution,) = [said for said in sentences(with_finalists(*specs, docstrings=7)) if said.startswith("Caution")]
    assert caution == (
        f"Caution: the answer to 7 docstring queries is one definition, which is exactly what {name}:size=4000 cuts; "
        "of the other finalists cast:size=600 leads (48.0)."
    )
    (alone,) = [said for said in sentences(with_finalists(name, docstrings=1)) if said.startswith("Caution")]
    assert alone == f"Caution: the answer to 1 docstring query is one definition, which is exactly what {name} cuts."
    for other in (with_finalists(*specs, docstrings=0), with_finalists(*reversed(specs), docstrings=7)):
        assert not any(said.startswith("Caution") for said in sentences(other))


@pytest.mark.parametrize(
    ("worse", "said"),
    [(0, "none of the others is shown"), (1, "1 of the others is shown"), (2, "2 of the others are shown")],
)
def test_one_is_worse_and_two_are(worse: int, said: str) -> None:
    """Whoever is shown to be worse is counted."""
    made = _made("cast:size=600")
    lost = tuple(CandidateRecord(f"x{number}", "x", "worse", "worse", 1, 1.0, 1, 1, 1) for number in range(worse))
    assert any(said in each for each in sentences(replace(made, candidates=(*made.candidates, *lost))))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_change_gains_or_loses_with_its_own_bounds(order: tuple[int, int]) -> None:
    """A loss is written as a positive amount, and its bounds are turned with it; low stands before high."""
    rng = np.random.default_rng(1)
    better = np.clip(rng.random(60) * 0.3 + 0.5, 0, 1)
    scores = np.array([better, better - 0.2])[list(order)]
    made = _made("cast:size=600")
    (change,) = compare_pairs(scores, ["r"] * 60, names=["cast:size=600", "old"])
    used = Current("old", made.finalists[0].mean, change, Cost(chunks=5, mean_nws=1.0, tokens=1))
    (said,) = [each for each in sentences(replace(made, current=used)) if each.startswith("Changing")]
    verb = "gains" if order == (0, 1) else "loses"
    found = re.match(rf"Changing from old {verb} ([\d.]+) points \(([−\d.]+) … ([−\d.]+)\) and needs 100 % more", said)
    assert found, said
    gain, low, high = (float(part.replace("−", "-")) for part in found.groups())
    assert gain == pytest.approx(100 * abs(change.difference), abs=0.06)
    assert low <= gain <= high
    assert (low > 0) is change.shown


def test_a_change_of_what_is_better_when_lower() -> None:
    """Less is a gain; a change of nothing gains nothing, and its chunks are as many."""
    rng = np.random.default_rng(2)
    scores = np.array([rng.random(60) * 10 + 20, rng.random(60) * 10 + 50])
    made = replace(_made("cast:size=600"), measure="tokens_behind")
    (change,) = compare_pairs(
        scores, ["r"] * 60, names=["cast:size=600", "old"], higher_is_better=False, value_range=(0.0, 100.0)
    )
    used = Current("old", made.finalists[0].mean, change, Cost(chunks=10, mean_nws=1.0, tokens=1))
    (said,) = [each for each in sentences(replace(made, current=used)) if each.startswith("Changing")]
    found = re.match(r"Changing from old gains (\d+) tokens \((\d+) … (\d+)\) and needs as many chunks\.", said)
    assert found, said
    gain, low, high = map(int, found.groups())
    assert low < gain < high
    assert gain == pytest.approx(scores[1].mean() - scores[0].mean(), abs=0.6)
    none = replace(change, difference=0.0, low=-5.0, high=7.0, higher_is_better=True)
    (said,) = said_of(replace(made, current=replace(used, change=none)), "Changing")
    assert "gains 0 tokens (−5 … 7; that it makes a difference is not shown)" in said


def test_the_mean_is_of_queries_that_chose_nobody() -> None:
    """Where there was a round; of one query there is no interval."""
    divided, alone = race_of(2, 1, risk=0.05), race_of(2, risk=0.05)
    assert said_of(divided, "Its mean") == [
        "Its mean is 50.0 (40.0 … 60.0) on 10 queries that did not choose the finalists."
    ]
    assert said_of(alone, "Its mean") == ["Its mean is 50.0 (40.0 … 60.0) on 10 queries."]
    one = replace(alone.finalists[0].mean, low=math.nan, high=math.nan, n=1)
    single = tuple(replace(each, mean=one) for each in alone.finalists)
    assert said_of(replace(alone, finalists=single), "Its mean") == ["Its mean is 50.0 on 1 query."]


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        ("", ["Searched by words alone (bm25); for an answer about your embedder, name it with --embedder."]),
        ("minilm", []),
        ("hashing:dimensions=16", ["hashing is a smoke test and no model: this says nothing about real embedders."]),
    ],
)
def test_what_searched_is_said_where_it_limits_the_answer(embedder: str, said: list[str]) -> None:
    """Words alone, or vectors that mean nothing."""
    made = replace(race_of(2, risk=0.05), embedder=embedder)
    assert [each for each in sentences(made) if each.startswith(("Searched", "hashing"))] == said


def race_of(met: int, left: int = 0, *, risk: float, final_risk: float | None = None, **more: object) -> Recommendation:
    """Return a recommendation with so many finalists and so many measured on passages alone."""
    made = _made("cast:size=600")
    (first,), (raced, behind) = made.finalists, made.candidates
    names = ["cast:size=600", *(f"f{k}" for k in range(1, met))]
    known = final_risk if final_risk is not None else risk
    finalists = tuple(replace(first, spec=name, risk=risk, final_risk=known) for name in names)
    records = [replace(raced, spec=name) for name in names] + [replace(behind, spec=f"p{k}") for k in range(left)]
    rounds = made.rounds if left else (RoundFacts(met, 15, 1, 9, 1.0),)
    best = tuple(each.spec for each in records)
    changes = {"finalists": finalists, "candidates": tuple(records), "rounds": rounds, "may_be_best": best, **more}
    return replace(made, risk=risk, **{"loss": risk, **changes})  # type: ignore[arg-type]


def first_words(made: Recommendation) -> str:
    """Return what is said of the risk, without the chunker and the measure."""
    return sentences(made)[0].split(". ", 1)[1].removeprefix("On naurc@4000tok, ")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (race_of(2, risk=0.031), "the other candidate is not better by more than 3.1 points (95 %)."),
        (race_of(3, risk=0.031), "neither of the 2 other candidates is better by more than 3.1 points (95 %)."),
        (race_of(9, risk=0.031), "none of the 8 other candidates is better by more than 3.1 points (95 %)."),
        (race_of(2, risk=0.0), "the other candidate is not better (95 %)."),
        (race_of(4, risk=0.0), "none of the 3 other candidates is better (95 %)."),
        (race_of(4, risk=0.0003), "none of the 3 other candidates is better by more than 0.1 points (95 %)."),
        (race_of(2, risk=1.0), "how much better the other candidate may be is not known."),
        (race_of(3, risk=1.0), "how much better the 2 other candidates may be is not known."),
        (
            race_of(2, 1, risk=0.05, final_risk=0.03),
            (
                "the other finalist is not better by more than 3.0 points (95 %), "
                "and the candidate measured on passages alone is not better by more than 5.0 points (95 %)."
            ),
        ),
        (
            race_of(4, 5, risk=0.05, final_risk=0.0),
            (
                "none of the 3 other finalists is better (95 %), "
                "and none of the 5 candidates measured on passages alone is better by more than 5.0 points (95 %)."
            ),
        ),
        (
            race_of(1, 3, risk=0.05, final_risk=0.0),
            "none of the 3 candidates measured on passages alone is better by more than 5.0 points (95 %).",
        ),
        (race_of(4, 5, risk=0.05), "none of the 8 other candidates is better by more than 5.0 points (95 %)."),
    ],
)
def test_the_risk_in_words(made: Recommendation, said: str) -> None:
    """Of one other, of two and of many; a risk of none has no amount, and a small one is not rounded to none."""
    assert first_words(made) == said


def test_what_is_likely_is_said_where_it_is_less() -> None:
    """Of one other and of many, and where nobody is likely to be better at all."""
    shared = " Judged by what families and near sizes have in common, "
    for met, loss, said in ((3, 0.01, "none is better by more than 1.0 points."), (3, 0.0, "none is better.")):
        assert first_words(race_of(met, risk=0.05, loss=loss)).endswith(shared + said)
    assert first_words(race_of(2, risk=0.05, loss=0.01)).endswith(shared + "it is not better by more than 1.0 points.")
    assert shared not in first_words(race_of(3, risk=0.05, loss=0.05))


def out(fate: Fate, count: int) -> tuple[CandidateRecord, ...]:
    """Return candidates that did not race."""
    return tuple(CandidateRecord(f"{fate} {k}", "x", fate, "why") for k in range(count))


def without(made: Recommendation, *left_out: CandidateRecord) -> Recommendation:
    """Return the same with others that were left out."""
    failed = {each.spec: each.reason for each in left_out if each.fate == "failed"}
    return replace(made, candidates=(*made.candidates, *left_out), failed=failed)


def test_the_only_one_left_is_not_the_only_candidate() -> None:
    """Those that were named and did not race are counted, with why."""
    alone = race_of(1, risk=0.0)
    assert first_words(alone) == "It is the only candidate, so that there is nothing to choose."
    left = without(alone, *out("same chunks", 1), *out("over the limit", 2), *out("failed", 1))
    assert first_words(left) == (
        "It is the only one left of 5 candidates, so that there is nothing to choose: 1 cuts this code exactly as "
        "another does, 2 exceed a limit and 1 failed."
    )
    assert sentences(left)[-1] == "1 candidate failed; failed 0: why."
    assert first_words(without(alone, *out("over the limit", 1))).endswith("to choose: 1 exceeds a limit.")


def test_those_left_out_are_counted_in_grammar() -> None:
    """One cuts, exceeds or failed; two cut and exceed."""
    made = race_of(2, risk=0.05, loss=0.0)
    one = sentences(without(made, *out("same chunks", 1), *out("over the limit", 1), *out("failed", 1)))[-3:]
    assert one == [
        "1 candidate cuts this code exactly as another does and did not race.",
        "1 candidate exceeds a limit and did not race; the risk is about the others.",
        "1 candidate failed, and the risk is about the others; failed 0: why.",
    ]
    two = sentences(without(made, *out("same chunks", 2), *out("over the limit", 1200), *out("failed", 2)))[-3:]
    assert [said.split(" and")[0] for said in two] == [
        "2 candidates cut this code exactly as another does",
        "1,200 candidates exceed a limit",
        "2 candidates failed,",
    ]


def said_of(made: Recommendation, beginning: str) -> list[str]:
    """Return the sentences that begin so."""
    return [said for said in sentences(made) if said.startswith(beginning)]


def with_costs(made: Recommendation, *costs: tuple[int, int], **each: object) -> Recommendation:
    """Return the same whose finalists have so many chunks and tokens."""
    found = [
        replace(finalist, cost=Cost(chunks=chunks, mean_nws=1.0, tokens=tokens), **each)  # type: ignore[arg-type]
        for finalist, (chunks, tokens) in zip(made.finalists, costs, strict=True)
    ]
    return replace(made, finalists=tuple(found))


@pytest.mark.parametrize(
    ("own", "leading", "price", "said"),
    [
        ((70, 900), (100, 900), None, "It needs 30 % fewer chunks than the leader, f1"),
        ((100, 900), (100, 1000), None, "It needs as many chunks and 10 % fewer tokens to index than the leader, f1"),
        ((999, 900), (1000, 900), None, "It needs less than 1 % fewer chunks than the leader, f1"),
        ((996, 900), (1000, 900), None, "It needs less than 1 % fewer chunks than the leader, f1"),
        ((994, 900), (1000, 900), None, "It needs 1 % fewer chunks than the leader, f1"),
        ((197, 900), (200, 900), None, "It needs 2 % fewer chunks than the leader, f1"),
        ((1, 900), (1000, 900), None, "It needs over 99 % fewer chunks than the leader, f1"),
        ((1, 900), (200, 900), None, "It needs over 99 % fewer chunks than the leader, f1"),
        ((1, 900), (100, 900), None, "It needs 99 % fewer chunks than the leader, f1"),
        ((110, 900), (100, 1000), 0.5, "It needs 10 % fewer tokens to index than the leader, f1"),
        ((70, 900), (100, 900), 0.5, "It needs 30 % fewer chunks than the leader, f1"),
    ],
)
def test_what_is_saved_is_what_makes_it_cheaper(
    own: tuple[int, int], leading: tuple[int, int], price: float | None, said: str
) -> None:
    """Chunks; tokens where there are as many chunks, or where tokens have a price."""
    made = replace(with_costs(race_of(2, risk=0.05), own, leading), leader="f1", price=price)
    assert said_of(made, "It needs") == [f"{said} (50.0 against 50.0 over all queries)."]
    assert not said_of(replace(made, leader=made.recommended), "It needs")


def test_who_may_be_best_too() -> None:
    """One or several, those that scored the same, and the least risky of the cheaper ones."""
    two = with_costs(race_of(2, risk=0.05), (100, 9), (100, 9))
    assert said_of(two, "May be") == ["May be best too: f1."]
    same = replace(two, finalists=(two.finalists[0], replace(two.finalists[1], same=True)))
    assert said_of(same, "f1") == ["f1 scored the same as cast:size=600 on every query."]
    assert not said_of(two, "f1")
    three = with_costs(race_of(3, risk=0.05), (100, 9), (90, 9), (80, 9))
    assert said_of(three, "Of the fin") == ["Of the finalists, any of these may be best too: f1 or f2."]
    assert said_of(three, "f2") == [
        "f2 needs 20 % fewer chunks, but another finalist may be better than it by 5.0 points (95 %)."
    ]
    safe = replace(three, finalists=(*three.finalists[:2], replace(three.finalists[2], final_risk=0.0)))
    assert said_of(safe, "f2") == ["f2 needs 20 % fewer chunks, and none is better (95 %)."]
    left = race_of(1, 1, risk=0.05)
    passages = "Of those that were measured on passages alone, "
    assert said_of(left, passages) == [f"{passages}1 candidate is not shown to be worse and may be best too."]
    assert "2 candidates are not" in said_of(race_of(2, 2, risk=0.05), passages)[0]
    beaten = replace(two, finalists=tuple(replace(each, may_be_best=False) for each in two.finalists))
    assert not said_of(replace(beaten, may_be_best=(two.recommended,)), "May be")


def test_too_little_data_names_the_ways_to_more_that_there_are() -> None:
    """A larger limit, a history and more repositories only where they would help; nothing within the margin."""
    made = replace(race_of(2, risk=0.05), queries=1)
    ending = "1 query in 1 repository. More would come, cheapest first, from: "
    repositories, own = "more repositories of the same kind (recommend PATH PATH …)", "questions of your own"
    (said,) = said_of(made, "There is too little data")
    assert f"margin of 2.0 points: {ending}{repositories}; {own}" in said
    (said,) = said_of(replace(made, history=True, limited=True), "There is too little data")
    history = "queries from the history (--dataset mined:root=PATH,kind=commits)"
    assert f"{ending}a larger --limit; {history}; {repositories}" in said
    (said,) = said_of(replace(made, repositories=6), "There is too little data")
    assert said.endswith("in 6 repositories. More would come from questions of your own (chunkbench annotate).")
    for enough in (replace(made, loss=0.02), race_of(1, risk=0.05)):
        assert not said_of(enough, "There is too little data")


def test_the_chunker_in_use_in_words() -> None:
    """The recommended one, one that cuts alike, one that failed: said once."""
    made = race_of(2, risk=0.05)
    mean, cost = made.finalists[0].mean, made.finalists[0].cost
    own = replace(made, current=Current(made.recommended, mean, None, cost))
    assert said_of(own, "Your present") == ["Your present chunker is the recommended one: cast:size=600."]
    alike = replace(made, current=Current("old", mean, None, cost))
    assert said_of(alike, "Changing") == [
        "Changing from old changes nothing: it cuts this code exactly as cast:size=600 does."
    ]
    broken = replace(made, current=Current("old", None, None, None, "ValueError: no"))
    assert said_of(broken, "Your") == ["Your present chunker old could not be measured: ValueError: no."]
    candidate = CandidateRecord("old", "x", "failed", "ValueError: no")
    both = without(broken, candidate)
    assert sum("ValueError" in said for said in sentences(both)) == 1
    assert sentences(both)[-1] == "1 candidate failed, and the risk is about the others: old."
    three = without(broken, candidate, *out("failed", 1))
    assert sentences(three)[-1] == "2 candidates failed, and the risk is about the others; failed 0: why."


def test_files_that_the_recommended_one_failed_on_are_a_caution() -> None:
    """Nothing can be found in them."""
    assert said_of(replace(race_of(2, risk=0.05), uncut="1 file: r/a.py (ValueError: no)"), "Caution") == [
        "Caution: it failed on 1 file: r/a.py (ValueError: no); nothing can be found there."
    ]


def test_how_the_race_went_in_words() -> None:
    """One was, two were; what there is none of is not counted."""
    one = replace(race_of(1, 1, risk=0.05), embedded_texts=1, grid_texts=1000)
    (said,) = said_of(one, "Of 2 candidates")
    assert said == (
        "Of 2 candidates, 1 was measured on all text; none of the others is shown to be worse, and 1 was behind on "
        "the passages of 5 queries. 1 of 1,000 texts was indexed (less than 1 %)."
    )
    two = replace(race_of(2, 2, risk=0.05), embedder="minilm")
    assert said_of(two, "Of 4 candidates, 2 were measured")[0].endswith(
        "and 2 were behind on the passages of 5 queries. 5 of 18 texts were embedded (28 %)."
    )
    gone = tuple(replace(each, fate="failed") if each.spec == "p0" else each for each in two.candidates)
    assert said_of(replace(two, candidates=gone), "Of 3 candidates")
    assert not said_of(race_of(3, risk=0.05), "Of 3 candidates")


@pytest.mark.parametrize(
    ("measure", "value", "said"),
    [
        ("naurc@4000tok", 0.0, "0.0 points"),
        ("naurc@4000tok", 0.0004, "0.1 points"),
        ("naurc@4000tok", 0.0006, "0.1 points"),
        ("naurc@4000tok", 0.0123, "1.3 points"),
        ("naurc@4000tok", 0.02042, "2.1 points"),
        ("naurc@4000tok", 0.021, "2.1 points"),
        ("naurc@4000tok", 1.0, "100.0 points"),
        ("tokens_behind", 0.2, "1 token"),
        ("tokens_behind", 12.0, "12 tokens"),
        ("tokens_behind", 12.01, "13 tokens"),
        ("kendall_tau", 0.001234, "0.00124"),
        ("kendall_tau", 0.5, "0.5"),
    ],
)
def test_a_bound_is_rounded_up(measure: str, value: float, said: str) -> None:
    """What is within a bound is within what is shown of it; the least amount that can be shown is a bound too."""
    assert at_most(measure, value) == said


def test_files_that_a_chunker_failed_on_are_said_of_everyone() -> None:
    """Of the recommended one, of the one in use, and of the others together."""
    made = race_of(3, risk=0.05)
    recommended, *others = made.candidates
    one = replace(made, candidates=(recommended, replace(others[0], uncut="2 files: a.py: no"), *others[1:]))
    said = f"1 other candidate failed on some files and found nothing there: {others[0].spec} on 2 files: a.py: no."
    assert said in sentences(one)
    used = Current("old", made.finalists[0].mean, None, Cost(5, 1.0, 1), uncut="1 file: b.py: no")
    said = "Caution: old failed on 1 file: b.py: no; with it nothing can be found there."
    assert said in sentences(replace(made, current=used))
    mine = replace(one, uncut="2 files: a.py: no", current=replace(used, spec=others[0].spec))
    assert [each for each in sentences(mine) if "failed on" in each] == [
        "Caution: it failed on 2 files: a.py: no; nothing can be found there.",
        f"Caution: {others[0].spec} failed on 1 file: b.py: no; with it nothing can be found there.",
    ]
