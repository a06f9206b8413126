"""Scores of plain id lists: for a retriever that was written elsewhere. `chunkbench` is the door to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from evaluation.config import measures_at
from evaluation.measures import Measure, aggregate, evaluate, parse_measure
from evaluation.measures.single import Relevant, as_grades
from evaluation.types import Case
from ground_truth.overlap import Strategy
from ground_truth.registry import DATASETS
from ground_truth.types import Dataset, DatasetLoader


@dataclass(frozen=True, slots=True)
class Details:
    """What stands behind one mean."""

    name: str
    value: float
    queries_with_relevant: int
    total: int
    k: int | None
    strategy_used: str
    strategy_counts: Mapping[str, int]


class Values(dict[str, float]):
    """measure → value; any spelling of a measure finds it: values["NDCG@10"] is values["ndcg@10"]."""

    def __missing__(self, name: str) -> float:
        canonical = parse_measure(name).name
        if canonical == name:
            raise KeyError(name)
        return self[canonical]


class BatchValues(Values):
    """Means over all queries, with the record behind each and the values of every query."""

    details: dict[str, Details]
    per_query: list[Values]


def evaluate_batch(
    all_results: Sequence[Sequence[str]],
    all_relevant_docs: Sequence[Relevant | None],
    k_values: Sequence[int] = (1, 5, 10),
    *,
    measures: Sequence[str | Measure] | None = None,
    strategies: Sequence[Strategy] | None = None,
    mix_strategies: bool = False,
) -> BatchValues:
    """Return the means over all queries; an empty set of relevant ids scores 0, None is an error.

    ``strategies`` says for each query where its relevant ids come from. Scores of different strategies mean different
    things, so that their mean is refused unless ``mix_strategies`` asks for it; the details then say "mixed".
    """
    if len(all_results) != len(all_relevant_docs):
        raise UsageError(
            f"{len(all_results)} rankings and {len(all_relevant_docs)} sets of relevant ids: give one each"
        )
    used = _strategies(strategies, len(all_results), mix=mix_strategies)
    chosen = default_measures(k_values) if measures is None else [_measure(each) for each in measures]
    cases = [
        Case(str(number), list(results), None if relevant is None else as_grades(relevant))
        for number, (results, relevant) in enumerate(zip(all_results, all_relevant_docs, strict=True))
    ]
    scores = evaluate(chosen, cases)
    values = BatchValues({name: summary.mean for name, summary in aggregate(scores).items()})
    values.per_query = [Values(scores[case.query_id]) for case in cases]
    with_relevant = sum(any(grade > 0 for grade in (case.grades or {}).values()) for case in cases)
    values.details = {
        measure.name: Details(
            name=measure.name,
            value=values.get(measure.name, float("nan")),
            queries_with_relevant=with_relevant,
            total=len(cases),
            k=measure.cutoff,
            strategy_used=next(iter(used)) if len(used) == 1 else "mixed",
            strategy_counts={name: used.get(name, 0) for name in ("qrels", "pack", "token-fallback")},
        )
        for measure in chosen
    }
    return values


def evaluate_run(
    run: Mapping[str, Sequence[str] | Mapping[str, float]],
    qrels: Mapping[str, Relevant],
    measures: Iterable[str | Measure],
) -> BatchValues:
    """Return the means over the judged queries; a query that the run does not have scores as an empty ranking."""
    unjudged = [query for query in run if query not in qrels]
    if unjudged:
        raise UsageError(
            f"query {unjudged[0]!r} is in the run and not judged: leave it out, or judge it (empty scores 0)"
        )
    rankings = [_ranked(run.get(query, ())) for query in qrels]
    return evaluate_batch(rankings, list(qrels.values()), measures=list(measures))


def benchmark(
    retriever: Callable[..., Sequence[Any]],
    dataset: str | Dataset | DatasetLoader | Iterable[tuple[str, Relevant]],
    k_values: Sequence[int] = (1, 5, 10),
    *,
    measures: Sequence[str] | None = None,
) -> BatchValues:
    """Ask the retriever every query and return the means.

    Pairs are queries with their relevant ids. Of a dataset, the paths of the files that hold gold are relevant, with
    their highest grade; where it has several repositories, the retriever is called with ``repo=NAME`` too. On a dataset
    a retriever may return places instead of ids, which are scored on text and files.
    """
    loaded = DATASETS.create(dataset) if isinstance(dataset, str) else dataset
    if isinstance(loaded, Dataset) or hasattr(loaded, "load"):
        whole = loaded if isinstance(loaded, Dataset) else loaded.load()
        several = len(whole.repositories) > 1
        found = [
            _listed(retriever(each.text, **({"repo": each.repo} if several else {})), each.text)
            for each in whole.queries
        ]
        if any(not isinstance(each, str) for results in found for each in results) or (
            not any(found) and _are_on_places(measures or ())
        ):
            return _benchmark_places(found, whole, measures)
        relevant = _gold_files(whole)
        judged: list[Relevant] = [relevant[each.id] for each in whole.queries]
    else:
        asked = list(loaded)
        found, judged = [_listed(retriever(text), text) for text, _ in asked], [each for _, each in asked]
    return evaluate_batch(found, judged, k_values, measures=measures)


def _are_on_places(names: Sequence[str]) -> bool:
    """Return whether measures are named, and each of them scores places: then a ranking of nothing is one of places."""
    from evaluation.experiment.span_scoring import scores_spans

    return bool(names) and all(scores_spans(parse_measure(name)) for name in names)


def _listed(answer: object, query: str) -> list[Any]:
    """Return what a function answered as a list; whatever yields ids or places will do, but no single text."""
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
        raise UsageError(
            f"the function returned {type(answer).__name__} for {one_line(query, limit=80)!r}: "
            "return a list of ids, or of places such as (file, first line, last line)"
        )
    return list(answer)


def _benchmark_places(found: Sequence[Sequence[Any]], dataset: Dataset, names: Sequence[str] | None) -> BatchValues:
    """Return the scores of places, each counted as `compare` counts it; a median stands where there is no mean."""
    from evaluation.experiment.span_results import DEFAULT, score_places, span_measures

    measures = span_measures(DEFAULT if names is None else names)
    results = score_places(found, dataset, measures)
    cell = results.cells[0]
    centres = {
        name: summary.median if summary.mean is None else summary.mean for name, summary in cell.measures.items()
    }
    values = BatchValues({name: float("nan") if value is None else value for name, value in centres.items()})
    values.per_query = [
        Values({name: float(column[place]) for name, column in cell.scores.items()}) for place in range(len(found))
    ]
    values.details = {
        measure.name: Details(
            name=measure.name,
            value=values[measure.name],
            queries_with_relevant=cell.judgements.queries_with_relevant,
            total=len(found),
            k=measure.cutoff,
            strategy_used="qrels",
            strategy_counts={"qrels": len(found), "pack": 0, "token-fallback": 0},
        )
        for measure in measures
    }
    return values


def _gold_files(dataset: Dataset) -> dict[str, dict[str, float]]:
    """Return query id → path → the highest grade of its annotations."""
    found: dict[str, dict[str, float]] = {query.id: {} for query in dataset.queries}
    for note in dataset.annotations:
        grades = found[note.query_id]
        grades[note.path] = max(note.grade, grades.get(note.path, 0.0))
    return found


def _ranked(results: Sequence[str] | Mapping[str, float]) -> Sequence[str]:
    """Return the ids, best first; equal scores are ordered by id, so that the order of a mapping does not matter."""
    if not isinstance(results, Mapping):
        return results
    return sorted(results, key=lambda item: (-results[item], item))


def _measure(measure: str | Measure) -> Measure:
    return measure if isinstance(measure, Measure) else parse_measure(measure)


def default_measures(k_values: Sequence[int]) -> list[Measure]:
    """Return nDCG, precision, recall and hit at each k, and MRR and MAP at the largest."""
    if not k_values:
        raise UsageError("k_values is empty: name at least one cutoff")
    return [parse_measure(name) for name in measures_at(k_values)]


def _strategies(given: Sequence[Strategy] | None, count: int, *, mix: bool) -> Counter[str]:
    if given is not None and len(given) != count:
        raise UsageError(f"{len(given)} strategies for {count} queries: give one each")
    used: Counter[str] = Counter(given if given is not None else ["qrels"] * count)
    if len(used) > 1 and not mix:
        raise UsageError(
            f"queries were judged in different ways ({', '.join(sorted(used))}): score them apart, or mix_strategies"
        )
    return used or Counter({"qrels": 0})
