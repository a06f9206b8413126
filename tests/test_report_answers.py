"""Every number and name in the words of an answer is that of the comparison it speaks of."""

from __future__ import annotations

import dataclasses
import functools
import math
from itertools import combinations
from typing import Any

import pytest
from report_case import simulated_results

from evaluation.measures.declared import MeasureFacts, recall
from evaluation.report.glance import facts
from evaluation.report.legend import mark_words
from evaluation.report.other_axes import axis_sentences
from evaluation.report.reading import is_read, reading_sentence
from evaluation.report.verdict import axes_alone, sentences, verdict, where
from evaluation.report.view import View, find_pair, views
from evaluation.results.types import Results
from evaluation.statistics import Comparison
from evaluation.statistics.types import LEAST

HEADLINE = "naurc@4000tok"
NAMES = ("a", "b", "c")


@functools.cache
def _run(baseline: str | None = None, retrievers: tuple[str, ...] = ("dense",), headline: str = HEADLINE) -> Results:
    edges = (0.2, 0.0, -0.1)
    return simulated_results(names=NAMES, edges=edges, baseline=baseline, retrievers=retrievers, headline=headline)


def _view(**how: Any) -> View:
    (view,) = views(_run(**how))
    return view


def _pair(view: View, names: str, low: float, difference: float, high: float, **more: Any) -> Comparison:
    """Return a comparison of the view with other numbers; one repository left out changes nothing unless said."""
    a, b = names.split()
    found = next(row for row in view.comparisons if {row.a, row.b} == {a, b})
    more = {"without_one_low": math.nan, "without_one_high": math.nan, **more}
    return dataclasses.replace(found, a=a, b=b, difference=difference, low=low, high=high, **more)


def _with(view: View, *pairs: Comparison, may: tuple[str, ...], **best: Any) -> View:
    """Return the view with these comparisons, and with those who may be best."""
    assert view.best is not None
    standings = tuple(dataclasses.replace(each, may_be_best=each.name in may) for each in view.best.standings)
    held = dataclasses.replace(view.best, may_be_best=may, standings=standings, **best)
    return dataclasses.replace(view, comparisons=pairs, best=held, reading=())


def _having(view: View, *shown: float) -> View:
    """Return the view with other means of what has been shown of the answer."""
    name = view.recall_name or ""
    rows = []
    for row, mean in zip(view.rows, shown, strict=True):
        summary = dataclasses.replace(row.cell.measures[name], mean=mean)
        measures = {**row.cell.measures, name: summary}
        rows.append(dataclasses.replace(row, cell=dataclasses.replace(row.cell, measures=measures)))
    return dataclasses.replace(view, rows=tuple(rows))


def _said(view: View) -> str:
    return " ".join(sentences(view))


def _points(*values: float, signed: bool = False) -> list[str]:
    return [f"{100 * value:{'+' if signed else ''}.1f}".replace("-", "−") for value in values]


def test_the_distance_behind_the_best_is_that_of_the_standing() -> None:
    """Both means, the distance and its interval without signs, and the range without any one repository."""
    view = _view()
    assert view.best is not None
    a, b = (view.row(name).mean(HEADLINE) or 0.0 for name in "ab")
    one, found = view.best.standing("b"), view.comparison("a", "b")
    assert found is not None
    means, away = _points(a, b), _points(abs(one.difference), *sorted((abs(one.low), abs(one.high))))
    range_ = _points(*sorted((found.without_one_low, found.without_one_high)))
    said = _said(view)
    assert said.startswith("a is best. Of the code that answers a question, a has shown ")
    assert (
        f"a has {means[0]} and b {means[1]}: {away[0]} points behind the best ({away[1]} … {away[2]}); without any one "
        f"repository it is between {range_[0]} and {range_[1]}."
    ) in said
    assert ", b, the closest, " in said


@pytest.mark.parametrize("less", [False, True])
def test_who_is_excluded_on_one_side_alone_has_both_answers(*, less: bool) -> None:
    """The one that is left may be best, and is not called best; beside p stands what the pair's own test says."""
    sign = -1 if less else 1
    view = _view(headline="redundancy@4000tok" if less else HEADLINE)
    assert view.best is not None
    low, high = (LEAST, 0.2) if less else (-0.2, -LEAST)
    first, second, _ = (row.chunker for row in view.rows)
    standings = tuple(
        dataclasses.replace(each, p=0.031, low=low, high=high) if each.name != first else each
        for each in view.best.standings
    )
    view = dataclasses.replace(view, best=dataclasses.replace(view.best, standings=standings))
    for names, flip in ((f"{first} {second}", sign), (f"{second} {first}", -sign)):
        low, high = sorted((-0.01 * flip, 0.2 * flip))
        said = _said(_with(view, _pair(view, names, low, 0.1 * flip, high, p=0.06), may=(first,)))
        assert said.startswith(f"Only {first} may be best. ")
        assert (
            "behind the best (p = 0.031, one-sided, which decides who may be best; two-sided, −1.0 … +20.0, undecided)"
        ) in said
    alone = _said(_with(view, may=(first,)))
    assert "behind the best (p = 0.031, one-sided, which decides who may be best), each of 8" in alone


def test_who_is_not_best_is_named_up_to_four_and_counted_beyond() -> None:
    """One is not, two are not; what is closest is the first of them."""
    view = _view()
    pairs = [_pair(view, f"{a} {b}", -0.1, 0.05, 0.2) for a, b in combinations(NAMES, 2)]
    assert _said(_with(view, *pairs, may=("a", "b"))).startswith("a or b may be best; c is not. ")
    assert _said(_with(view, *pairs, may=("a",))).startswith("a is best. ")
    assert " and c " in _said(_with(view, *pairs, may=("a", "b")))
    nobody = _said(_with(view, *pairs, may=()))
    assert nobody.startswith("No chunker is left as the best: each is behind another on the queries that both")
    many = simulated_results(names=[f"c{k}" for k in range(7)], edges=(0.3, 0.29, 0, 0, 0, 0, 0), queries=160)
    (wide,) = views(many)
    assert wide.best is not None
    shown = [_pair(wide, f"{a} {b}", -0.1, 0.05, 0.2) for a, b in combinations([f"c{k}" for k in range(7)], 2)]
    for may, words in (
        (("c0", "c1"), "c0 or c1 may be best; the other 5 are not. "),
        (("c0", "c1", "c2"), "c0, c1 or c2 may be best; "),
    ):
        assert _said(_with(wide, *shown, may=may)).startswith(words)
    four = _said(_with(wide, *shown, may=("c0", "c1", "c2")))
    assert four.split("; ")[1].startswith(tuple(f"c{k}, " for k in range(3, 7)))
    assert ", the closest of those that are not," in four


def test_all_that_may_be_best_have_the_range_of_their_means() -> None:
    """Of two it is either; means that look alike have no range; what has been read is of the first and the least."""
    view = _view()
    pairs = [_pair(view, f"{a} {b}", -0.1, 0.05, 0.2) for a, b in combinations(NAMES, 2)]
    known = [row.mean(HEADLINE) or 0.0 for row in view.rows]
    ends = _points(min(known), max(known))
    three = _said(_with(view, *pairs, may=NAMES))
    assert three.startswith("Any of the 3 chunkers may be best: none is shown to be behind. In naurc@4000tok (")
    assert f"), they have {ends[0]} to {ends[1]}, each of 8 repositories counting once. " in three
    rows = tuple(
        dataclasses.replace(row, cell=dataclasses.replace(row.cell, measures=view.rows[0].cell.measures))
        for row in view.rows
    )
    same = _said(_with(dataclasses.replace(view, rows=rows), *pairs, may=NAMES))
    assert f"), all have {ends[1]}, each of 8" in same
    two = dataclasses.replace(view, rows=view.rows[:2])
    assert _said(_with(two, pairs[0], may=("a", "b"))).startswith("Either chunker may be best: neither is shown to be ")
    read = dataclasses.replace(_with(view, *pairs, may=NAMES), reading=view.reading)
    assert ", c, the lowest, " in _said(read)
    assert ", b, the lowest, " in _said(_having(read, 0.9, 0.1, 0.5))
    assert "once you have read" not in _said(_having(read, 0.1, 0.9, 0.5))
    read = dataclasses.replace(_with(two, pairs[0], may=("a", "b")), reading=view.reading)
    assert "4,000 tokens, b " in _said(read)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.012, 0.034, "; without any one repository it is between 1.2 and 3.4"),
        (-0.034, -0.012, "; without any one repository it is between 1.2 and 3.4"),
        (-0.012, 0.034, "; without any one repository it is between −1.2 and +3.4"),
        (0.0, 0.034, "; without any one repository it is between 0.0 and +3.4"),
        (-0.034, 0.0, "; without any one repository it is between −3.4 and 0.0"),
        (0.02, 0.02, "; without any one repository it stays at 2.0"),
        (math.nan, math.nan, ""),
    ],
)
def test_the_range_without_one_repository_has_signs_where_both_occur(low: float, high: float, said: str) -> None:
    """It is left out below three repositories, where it would be one repository's difference."""
    view = _view(baseline="b")
    ends = {"without_one_low": low, "without_one_high": high}
    pairs = [_pair(view, "a b", 0.1, 0.2, 0.3, n_clusters=3, **ends), _pair(view, "c b", -0.3, -0.2, -0.1)]
    assert f"Better than b: a by 20.0 points (10.0 … 30.0{said})." in _said(_with(view, *pairs, may=("a",)))
    few = [dataclasses.replace(pairs[0], n_clusters=2), pairs[1]]
    assert "Better than b: a by 20.0 points (10.0 … 30.0)." in _said(_with(view, *few, may=("a",)))


def test_the_range_without_one_repository_has_the_sign_of_the_difference_beside_it() -> None:
    """Beside a signed difference its ends are signed too; beside an amount they are in the amount's direction."""
    view = _view()
    less = {"without_one_low": -0.12, "without_one_high": -0.06}
    pair = _pair(view, "a b", -0.2, -0.1, 0.05, **less)
    said = _said(_with(view, pair, may=("a", "b")))
    more = "; without any one repository it is between −12.0 and −6.0"
    assert f"a − b is −10.0 points (−20.0 … +5.0){more}." in said
    based = _view(baseline="b")
    worse = _pair(based, "c b", -0.3, -0.2, -0.1, without_one_low=-0.25, without_one_high=0.01)
    said = _said(_with(based, dataclasses.replace(pair, a="a", b="b"), worse, may=("a",)))
    assert f"Undecided against b: a −10.0 points (−20.0 … +5.0{more})." in said
    ends = "; without any one repository it is between −1.0 and +25.0"
    assert f"Worse than b: c by 20.0 points (10.0 … 30.0{ends})." in said


def test_each_answer_against_a_baseline_has_its_numbers() -> None:
    """Better and worse without a sign, undecided with one; a shown difference within the margin is said to be small."""
    view = _view(baseline="b")

    def said(*pairs: Comparison) -> str:
        return _said(_with(view, *pairs, may=("a",)))

    up, down = _pair(view, "a b", 0.001, 0.01, 0.019), _pair(view, "c b", -0.3, -0.2, -0.1)
    found = said(up, down)
    assert "Better than b: a by 1.0 points (0.1 … 1.9, which is within 2 points). " in found
    assert "Worse than b: c by 20.0 points (10.0 … 30.0). " in found
    mean = _points(view.row("b").mean(HEADLINE) or 0.0)[0]
    assert f"b has {mean} in naurc@4000tok (" in found
    open_ = _pair(view, "a b", -0.05, 0.01, 0.07, without_one_low=-0.01, without_one_high=0.03)
    same = _pair(view, "c b", -0.01, 0.0, 0.01)
    found = said(open_, same)
    more = "; without any one repository it is between −1.0 and +3.0"
    assert f"Undecided against b: a +1.0 points (−5.0 … +7.0{more}). " in found
    assert "Practically the same as b, within 2 points: c. " in found
    assert "Better" not in found
    assert "Worse" not in found


def test_those_that_may_be_best_are_compared_among_themselves() -> None:
    """All within the margin, some of them, one better than another, or undecided; each with its difference."""
    view = _view()
    between = zip(combinations(NAMES, 2), (0.001, 0.004, -0.002), strict=True)
    same = [_pair(view, f"{a} {b}", -0.01, difference, 0.01) for (a, b), difference in between]
    said = _said(_with(view, *same, may=NAMES))
    alike = "practically the same: every difference is within 2 points."
    assert f"These 3 are {alike} a − c is +0.4 points (−1.0 … +1.0)." in said
    two = _said(_with(view, *same, may=("a", "b")))
    assert f"a and b are {alike} a − b is +0.1 points (" in two
    mixed = [same[0], _pair(view, "a c", -0.05, 0.03, 0.11), same[2]]
    said = _said(_with(view, *mixed, may=NAMES))
    assert "Practically the same as a, within 2 points: b. " in said
    assert "Which of a and c is better is undecided: a − c is +3.0 points (−5.0 … +11.0)." in said
    shown = [_pair(view, "a b", 0.01, 0.05, 0.09), _pair(view, "a c", -0.2, -0.1, -0.05), same[2]]
    said = _said(_with(view, *shown, may=NAMES))
    assert "c is better than a: c − a is +10.0 points (+5.0 … +20.0)." in said
    assert "a is better than b: a − b is +5.0 points (+1.0 … +9.0)." in _said(_with(view, *shown, may=("a", "b")))
    apart = [dataclasses.replace(each, n_queries=0, low=math.nan, high=math.nan) for each in shown]
    assert "a and c have no query in common that has a value." in _said(_with(view, apart[1], shown[0], may=("a", "c")))


def test_a_margin_of_an_amount_is_a_share_of_its_mean() -> None:
    """Two per cent of the mean where the headline is not a share."""
    words = ("cost", "cost", "cost", "what it costs", "what an answer costs", "here")
    recall([MeasureFacts(*words, "number", "lower", 0.0, None, comparable=True)])
    view = _view(baseline="b", headline="cost")
    same = [_pair(view, "a b", -0.001, 0.0, 0.001, margin=0.01), _pair(view, "c b", -0.2, 0.1, 0.4)]
    said = _said(_with(view, *same, may=("a",)))
    assert "Practically the same as b, within 2 % of the mean: a. " in said
    assert "Undecided against b: c +0.1 (−0.2 … +0.4). " in said


def test_a_run_that_could_show_nothing_says_so_only_where_nothing_is_shown() -> None:
    """Where something was shown the sentence would be false."""
    view = _view()
    pairs = [_pair(view, f"{a} {b}", -0.1, 0.05, 0.2) for a, b in combinations(NAMES, 2)]
    nothing = "With so few queries, no difference could have been shown."
    assert nothing in _said(_with(view, *pairs, may=NAMES, detectable=math.nan))
    assert nothing not in _said(_with(view, *pairs, may=("a", "b"), detectable=math.nan))
    shown = [dataclasses.replace(pairs[0], low=0.01), *pairs[1:]]
    assert nothing not in _said(_with(view, *shown, may=NAMES, detectable=math.nan))
    some = _with(view, *pairs, may=NAMES, detectable=0.05)
    assert nothing not in _said(some)
    assert "A true difference of 5.0 points would have been shown four times in five; with 32 " in _said(some)
    assert "four times in five" not in " ".join(sentences(some, power=False))


@pytest.mark.parametrize(("headline", "first"), [(HEADLINE, "a"), ("redundancy@4000tok", "c")])
def test_another_leader_under_the_other_weight_is_named_with_both_means(headline: str, first: str) -> None:
    """The best mean is the lowest where less is better; an equal one is no news, and one repository has one weight."""
    view = _view(headline=headline)
    assert view.rows[0].chunker == first

    def said(**means: float) -> str:
        rows = [
            dataclasses.replace(
                row,
                cell=dataclasses.replace(
                    row.cell,
                    measures={
                        **row.cell.measures,
                        headline: dataclasses.replace(row.cell.measures[headline], other_mean=means.get(row.chunker)),
                    },
                ),
            )
            for row in view.rows
        ]
        found = sentences(dataclasses.replace(view, rows=tuple(rows)))
        return "".join(each for each in found if each.startswith("With each "))

    lead = 0.5 if headline == HEADLINE else 0.4
    rest = 0.4 if headline == HEADLINE else 0.5
    wanted = f"With each query counting once, the best mean would be that of b, not of {first}"
    other = "c" if first == "a" else "a"
    means = f"{100 * lead:.1f} to {100 * rest:.1f}"
    assert said(**{"b": lead, first: rest, other: rest}) == f"{wanted}: {means}."
    assert said(**{"b": lead, first: lead, other: rest}) == ""
    assert said(**{"b": rest, first: lead, other: rest}) == ""
    assert said() == ""
    one = tuple(dataclasses.replace(query, cluster="r") for query in view.queries)
    assert "With each " not in _said(dataclasses.replace(view, queries=one))


def test_notes_are_those_of_the_set_and_of_the_pair_that_is_named() -> None:
    """Each once; what is noted of another pair is not said here."""
    view = _view()
    pairs = {
        (a, b): _pair(view, f"{a} {b}", -0.1, 0.05, 0.2, caveats=(f"about {a}{b}",)) for a, b in combinations(NAMES, 2)
    }

    def notes(*may: str) -> list[str]:
        held = _with(view, *pairs.values(), may=may, caveats=("about all", "about all"))
        return [each for each in sentences(held) if each.startswith("Note: ")]

    assert notes("a") == ["Note: about all.", "Note: about ab."]
    assert notes("a", "b") == ["Note: about all.", "Note: about ac."]
    assert notes("a", "b", "c") == ["Note: about all.", "Note: about ac."]
    assert notes() == ["Note: about all."]
    base = dataclasses.replace(view, config=view.config.model_copy(update={"baseline": "b"}))
    held = _with(base, *pairs.values(), may=("a",), caveats=())
    assert [each for each in sentences(held) if each.startswith("Note: ")] == ["Note: about ab."]


def test_what_has_been_read_is_said_of_headlines_that_mean_it() -> None:
    """Equal for every question is said as such; an unknown share, pair or measure gives no sentence."""
    view = _view()
    name = view.recall_name
    assert name == "recall@4000tok"
    assert [is_read(each) for each in (HEADLINE, "recall@4000tok", "redundancy@4000tok")] == [True, True, False]
    a, b = _points(*(view.row(each).mean(name) or 0.0 for each in "ab"))
    pair = find_pair(view.reading, "a", "b")
    assert pair is not None

    def said(**numbers: Any) -> str:
        held = (dataclasses.replace(pair, **numbers),)
        return reading_sentence(dataclasses.replace(view, reading=held), "a", "b", which="!", basis="over all")

    start = f"Of the code that answers a question, a has shown {a} % once you have read 4,000 tokens, b! {b} %: "
    same = {"ties": pair.n_queries}
    assert said(**same) == f"{start}the same for every question, over all."
    few = {"ties": 0}
    more = said(difference=0.123, low=0.1, high=0.15, **few)
    assert more == f"{start}12.3 points more (10.0 … 15.0), over all."
    assert said(difference=-0.123, low=-0.15, high=-0.1, **few) == f"{start}12.3 points less (10.0 … 15.0), over all."
    equal = said(difference=0.0, low=-0.15, high=0.1, **few)
    assert equal == f"{start}equal, up to chance (−15.0 … +10.0 points), over all."
    chance = said(difference=-0.01, low=-0.15, high=0.1, **few)
    assert chance == f"{start}1.0 points less, which may be chance (−15.0 … +10.0), over all."
    near = said(difference=0.001, low=-0.01, high=0.01, margin=0.02, **few)
    assert near == f"{start}practically the same (−1.0 … +1.0 points), over all."
    assert reading_sentence(dataclasses.replace(view, reading=()), "a", "b", basis="x") == ""
    assert reading_sentence(dataclasses.replace(view, measures=(HEADLINE,)), "a", "b", basis="x") == ""
    assert reading_sentence(_view(headline="redundancy@4000tok"), "a", "b", basis="x") == ""


def test_a_headline_without_a_better_side_has_means_and_no_winner() -> None:
    """How much text stands behind five results is neither good nor bad."""
    said = _said(_view(headline="tokens_behind@5"))
    assert said.endswith("More is neither better nor worse, so none is called best.")
    assert said.startswith("tokens_behind@5 (")


@pytest.mark.parametrize("baseline", [None, "b"])
def test_a_headline_without_a_better_side_marks_nobody(baseline: str | None) -> None:
    """No chunker may be best, has a mark or is better than another: their differences are only different."""
    results = _run(headline="tokens_behind@5", baseline=baseline, retrievers=("dense", "bm25"))
    assert not [each for each in results.best if each.measure == "tokens_behind@5"]
    assert not axis_sentences(results)
    for view in views(results):
        assert not [row.mark for row in view.rows if row.mark]
        assert not mark_words(view)
        assert [fact.name for fact in facts(view)] == ["What is compared"]
        answers = {row.decision for row in view.comparisons}
        assert "different" in answers
        assert "better" not in answers
        assert {row.better for row in view.comparisons} == {None}


def test_a_run_whose_repositories_give_no_bounds_does_not_blame_its_queries() -> None:
    """A weight by queries over repositories of very unequal sizes can show hardly anything, however many queries."""
    view = _view()
    pairs = [_pair(view, f"{a} {b}", -0.1, 0.05, 0.2) for a, b in combinations(NAMES, 2)]
    said = _said(_with(view, *pairs, may=NAMES, detectable=math.nan, weight="query"))
    assert "With repositories of such unequal sizes, hardly any difference could have been shown." in said
    assert "With so few queries" not in said


def test_scores_without_comparisons_are_not_called_equal() -> None:
    """A view of which nothing was computed says that."""
    view = dataclasses.replace(_view(), comparisons=(), best=None)
    assert _said(view) == "3 chunkers were scored, and no comparison was computed."
    assert where(view) == "simulated · minilm · dense (64 queries, 8 repositories)"


def test_many_failures_are_counted() -> None:
    """Two are left out, and named."""
    results = simulated_results(names=NAMES, edges=(0.2, 0.0, -0.1), failed={"x": "why", "y": "why"})
    (view,) = views(results)
    assert sentences(view)[-1] == "2 chunkers failed and are left out: x, y."
    assert not axes_alone(results, [view])


def test_a_single_setting_begins_with_itself() -> None:
    """There is no statement over all settings where there is one."""
    assert verdict(_run()).startswith("simulated · minilm · dense (64 queries, 8 repositories):\na is best. ")
