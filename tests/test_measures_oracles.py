"""Ranked measures agree with pytrec_eval, ranx, scikit-learn, pyndeval, scipy and their plain definitions."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pyndeval
import pytest
import pytrec_eval
from scipy import stats
from sklearn.metrics import average_precision_score, ndcg_score

from evaluation.measures import evaluate, parse_measure
from evaluation.measures.kendall_tau import kendall_tau
from evaluation.measures.rbo import rbo
from evaluation.types import Case

CUTOFFS = (1, 3, 5, 10, 100)


def random_cases(seed: int, count: int, *, least: int = 0, highest: int = 3) -> list[Case]:
    """Return cases with graded, zero, unretrieved and no judgements, and rankings down to ``least`` results."""
    rng = random.Random(seed)
    cases = []
    for number in range(count):
        pool = [f"d{i}" for i in rng.sample(range(1000), 40)]
        ranking = pool[: rng.randint(least, 30)]
        judged = rng.sample(pool, rng.choice([0, 1, 2, 5, 12]))
        cases.append(Case(f"q{number}", ranking, {item: rng.randint(0, highest) for item in judged}))
    return cases


def scores(names: Sequence[str], cases: Sequence[Case]) -> dict[str, np.ndarray]:
    """Return name → one value per case."""
    measures = {name: parse_measure(name) for name in names}
    found = evaluate(list(measures.values()), cases)
    return {name: np.array([found[case.query_id][m.name] for case in cases]) for name, m in measures.items()}


def plain(name: str, ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return the measure by its definition, written out."""
    gains = [max(0.0, grades.get(item, 0)) for item in ranking[:k]]
    hits = [gain > 0 for gain in gains]
    relevant = sum(grade > 0 for grade in grades.values())
    if not relevant:
        return 0.0
    best = sorted((g for g in grades.values() if g > 0), reverse=True)[:k]
    sums = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit]
    power = [2**g - 1 for g in gains]
    return {
        "ndcg": dcg(gains) / dcg(best),
        "ndcg_exp": dcg(power) / dcg([2**g - 1 for g in best]),
        "ndcg_retrieved": dcg(gains) / dcg(sorted(gains, reverse=True)) if any(gains) else 0.0,
        "precision": sum(hits) / k,
        "precision_returned": sum(hits) / len(hits) if hits else 0.0,
        "recall": sum(hits) / relevant,
        "hit": float(any(hits)),
        "mrr": 1 / (hits.index(True) + 1) if any(hits) else 0.0,
        "map": sum(sums) / relevant,
        "ap_capped": sum(sums) / min(relevant, k),
    }[name]


def dcg(gains: Sequence[float]) -> float:
    """Return the discounted sum."""
    return math.fsum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


ALL = "ndcg ndcg_exp ndcg_retrieved precision precision_returned recall hit mrr map ap_capped".split()


@pytest.mark.parametrize("fractional", [False, True])
def test_measures_equal_their_definitions(fractional: bool) -> None:  # noqa: FBT001 - a test's parameter
    """Over 2,000 random queries every ranked measure is its definition, also with fractional grades."""
    cases = random_cases(1, 1000)
    if fractional:
        rng = random.Random(2)
        cases = [
            Case(c.query_id, c.ranking, {k: round(rng.random(), 3) if v else 0 for k, v in (c.grades or {}).items()})
            for c in cases
        ]
    found = scores([f"{name}@{k}" for name in ALL for k in CUTOFFS], cases)
    for name in ALL:
        for k in CUTOFFS:
            expected = [plain(name, c.ranking, c.grades or {}, k) for c in cases]
            np.testing.assert_allclose(found[f"{name}@{k}"], expected, atol=1e-9, err_msg=f"{name}@{k}")


def test_the_adapter_equals_pytrec_eval() -> None:
    """On untied runs the six measures are pytrec_eval's own, with 0 where it leaves a query out."""
    cases = random_cases(3, 2000)
    run = {c.query_id: {d: 1000 - 3.25 * i for i, d in enumerate(c.ranking)} for c in cases if c.ranking}
    qrels = {c.query_id: dict(c.grades or {}) for c in cases}
    names = {
        "ndcg": "ndcg_cut_{}",
        "precision": "P_{}",
        "recall": "recall_{}",
        "map": "map_cut_{}",
        "hit": "success_{}",
    }
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels, {form.format(k) for form in names.values() for k in CUTOFFS} | {"recip_rank", "map", "ndcg"}
    ).evaluate(run)
    pairs = {f"{name}@{k}": form.format(k) for name, form in names.items() for k in CUTOFFS}
    pairs |= {"mrr": "recip_rank", "map": "map", "ndcg": "ndcg"}
    for name, values in scores(list(pairs), cases).items():
        expected = [theirs.get(c.query_id, {}).get(pairs[name], 0.0) for c in cases]
        np.testing.assert_allclose(values, expected, atol=1e-9, err_msg=name)


_RANX = """
import json, sys, warnings
warnings.simplefilter("ignore")
from ranx import Qrels, Run, evaluate
data = json.load(sys.stdin)
found = evaluate(Qrels(data["qrels"]), Run(data["run"]), data["names"], return_mean=False)
ids = sorted(data["qrels"])
json.dump({"ids": ids, "scores": {k: list(map(float, v)) for k, v in found.items()}}, sys.stdout)
"""


def test_ranx_agrees() -> None:
    """The values of ranx are the same, also where fewer than k results exist."""
    cases = [c for c in random_cases(4, 1000, least=1) if any(g > 0 for g in (c.grades or {}).values())]
    names = {
        "ndcg@5": "ndcg@5",
        "ndcg_exp@5": "ndcg_burges@5",
        "recall@5": "recall@5",
        "mrr@5": "mrr@5",
        "map": "map",
        "hit@5": "hit_rate@5",
        "precision@5": "precision@5",
    }
    data = {
        "qrels": {c.query_id: {k: v for k, v in (c.grades or {}).items() if v > 0} for c in cases},
        "run": {c.query_id: {d: float(100 - i) for i, d in enumerate(c.ranking)} for c in cases},
        "names": list(names.values()),
    }
    done = subprocess.run(
        [sys.executable, "-c", _RANX],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        check=True,
        # Its compilation takes a minute; the same functions run as plain Python.
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    answer = json.loads(done.stdout)
    ours = evaluate([parse_measure(name) for name in names], cases)
    for name, theirs in names.items():
        expected = dict(zip(answer["ids"], answer["scores"][theirs], strict=True))
        for query_id, row in ours.items():
            assert row[name] == pytest.approx(expected[query_id], abs=1e-9), (name, query_id)


def test_scikit_learn_agrees_on_the_union() -> None:
    """On the union of retrieved and judged, everything retrieved, scikit-learn's nDCG and AP are the same."""
    rng = random.Random(5)
    for number in range(300):
        pool = [f"d{i}" for i in range(rng.randint(2, 20))]
        grades = {item: rng.randint(0, 3) for item in pool}
        if not any(grades.values()):
            continue
        ranking = rng.sample(pool, len(pool))
        k = rng.randint(1, len(pool))
        row = evaluate([parse_measure(n) for n in (f"ndcg@{k}", "map")], [Case(str(number), ranking, grades)])
        truth = np.array([grades[item] for item in ranking])
        falling = np.arange(len(ranking), 0, -1)
        assert row[str(number)][f"ndcg@{k}"] == pytest.approx(ndcg_score([truth], [falling], k=k), abs=1e-9)
        assert row[str(number)]["map"] == pytest.approx(average_precision_score(truth > 0, falling), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9, 1.0])
def test_alpha_ndcg_equals_ndeval(alpha: float) -> None:
    """The value of alpha-nDCG is ndeval's, wherever the greedy ideal does not hang on how ties are broken."""
    rng = random.Random(6)
    compared = 0
    for number in range(400):
        # Nested and disjoint sets of regions: no two different chunks tie at any step with different futures.
        pool = [f"d{i:02}" for i in range(12)]
        nuggets = {item: frozenset({rng.randint(1, 4)}) for item in rng.sample(pool, rng.randint(1, 8))}
        ranking = rng.sample(pool, 10)
        case = Case(str(number), ranking, None, nuggets=nuggets)
        rows = [("q", str(region), item, 1) for item, shown in nuggets.items() for region in shown]
        run = [("q", item, 100.0 - i) for i, item in enumerate(ranking)]
        theirs = pyndeval.ndeval(rows, run, measures=["alpha-nDCG@5", "alpha-nDCG@10"], alpha=alpha)
        for k in (5, 10):
            measure = parse_measure(f"alpha_ndcg@{k}(alpha={alpha})")
            ours = evaluate([measure], [case])[str(number)][measure.name]
            assert ours == pytest.approx(theirs["q"][f"alpha-nDCG@{k}"], abs=1e-6)
            compared += 1
    assert compared == 800


def test_alpha_dcg_with_several_regions_per_chunk_is_proportional_to_ndeval() -> None:
    """Gains agree for any sets of regions; only the ideal may differ, as ndeval breaks its ties by the ids."""
    rng = random.Random(12)
    measure, equal = parse_measure("alpha_ndcg@5"), 0
    for number in range(300):
        pool = [f"d{i:02}" for i in range(12)]
        nuggets = {d: frozenset(rng.sample(range(5), rng.randint(1, 3))) for d in rng.sample(pool, rng.randint(1, 8))}
        rows = [("q", str(region), item, 1) for item, shown in nuggets.items() for region in shown]
        ours, theirs, normal = [], [], []
        for _ in range(2):
            ranking = rng.sample(pool, 10)
            run = [("q", item, 100.0 - i) for i, item in enumerate(ranking)]
            found = pyndeval.ndeval(rows, run, measures=["alpha-DCG@5", "alpha-nDCG@5"])["q"]
            theirs.append(found["alpha-DCG@5"])
            normal.append(found["alpha-nDCG@5"])
            ours.append(
                evaluate([measure], [Case(str(number), ranking, None, nuggets=nuggets)])[str(number)][measure.name]
            )
        assert ours[0] * theirs[1] == pytest.approx(ours[1] * theirs[0], abs=1e-6)
        assert ours == pytest.approx(normal, rel=0.05)
        equal += ours == pytest.approx(normal, abs=1e-6)
    assert equal > 270


@pytest.mark.parametrize("variant", ["b", "c"])
def test_kendall_tau_equals_scipy(variant: Literal["b", "c"]) -> None:
    """tau-b and tau-c are scipy's over random vectors with ties; NaN where one is constant."""
    rng = np.random.default_rng(7)
    for _ in range(500):
        n = int(rng.integers(2, 30))
        x, y = rng.integers(0, 6, n), rng.integers(0, 6, n)
        expected = stats.kendalltau(x, y, variant=variant).statistic
        ours = kendall_tau(x, y, variant=variant)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_kendall_tau_of_grades_equals_the_vectors() -> None:
    """The batch form against grades is the vector form, for every variant."""
    cases = random_cases(8, 300)
    for variant in ("a", "b", "c", "literal"):
        name = f"kendall_tau_grades({variant})"
        expected = [
            kendall_tau(
                -np.arange(len(c.ranking)), np.array([(c.grades or {}).get(d, 0) for d in c.ranking]), variant=variant
            )
            for c in cases
        ]
        np.testing.assert_allclose(scores([name], cases)[name], expected, atol=1e-9)


def test_rbo_equals_its_definition() -> None:
    """Extrapolated RBO equals the sum with agreement held from the end of the lists on, for lists of equal length."""
    rng = random.Random(9)
    for _ in range(300):
        n, p = rng.randint(1, 12), rng.choice([0.5, 0.9])
        pool = [str(i) for i in range(15)]
        left, right = rng.sample(pool, n), rng.sample(pool, n)
        agreement = [len(set(left[:d]) & set(right[:d])) / d for d in range(1, n + 1)]
        agreement += [agreement[-1]] * 400
        expected = (1 - p) * math.fsum(a * p**d for d, a in enumerate(agreement))
        assert rbo(left, right, p=p) == pytest.approx(expected, abs=1e-9)
        assert rbo(left, left, p=p) == pytest.approx(1)


def test_rbo_of_uneven_lists_equals_the_papers_extrapolation() -> None:
    """For uneven lists the shorter one's agreement is extended at its own rate, as the paper's equation 32 says."""
    rng = random.Random(10)
    for _ in range(300):
        pool = [str(i) for i in range(15)]
        short, long = rng.sample(pool, rng.randint(1, 6)), rng.sample(pool, rng.randint(6, 12))
        s, n, p = len(short), len(long), 0.8
        shared = [len(set(short[:d]) & set(long[:d])) for d in range(1, n + 1)]
        rate = shared[s - 1] / s
        total = sum((shared[d - 1] + (rate * (d - s) if d > s else 0)) / d * p**d for d in range(1, n + 1))
        end = (shared[-1] + rate * (n - s)) / n
        expected = (1 - p) / p * total + end * p**n
        assert rbo(short, long, p=p) == pytest.approx(expected, abs=1e-9)
        assert rbo(long, short, p=p) == pytest.approx(rbo(short, long, p=p), abs=1e-12)


def test_alpha_ndcg_equals_ndeval_where_regions_were_not_retrieved() -> None:
    """2,000 worlds: the ideal is over all judged chunks, so that a ranking which misses regions scores below 1."""
    rng = random.Random(21)
    rows, runs, cases = [], [], []
    for number in range(2000):
        pool = [f"d{i:02}" for i in range(12)]
        nuggets = {item: frozenset({rng.randint(1, 5)}) for item in rng.sample(pool, rng.randint(2, 9))}
        ranking = rng.sample(pool, rng.randint(1, 4))
        cases.append(Case(f"q{number}", ranking, None, nuggets=nuggets))
        rows += [(f"q{number}", str(region), item, 1) for item, shown in nuggets.items() for region in shown]
        runs += [(f"q{number}", item, 100.0 - i) for i, item in enumerate(ranking)]
    measure = parse_measure("alpha_ndcg@5")
    ours = evaluate([measure], cases)
    theirs = pyndeval.ndeval(rows, runs, measures=["alpha-nDCG@5"])
    missed = 0
    for case in cases:
        value = ours[case.query_id][measure.name]
        assert value == pytest.approx(theirs[case.query_id]["alpha-nDCG@5"], abs=1e-6)
        shown = {region for item in case.ranking for region in (case.nuggets or {}).get(item, ())}
        if shown != {region for regions in (case.nuggets or {}).values() for region in regions}:
            missed += 1
            assert value < 1
    assert missed > 1500
