"""Scores of plain id lists, for a retriever written elsewhere. `chunkbench` is its public interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from evaluation.config import measures_at
from evaluation.measures import Measure, aggregate, evaluate, parse_measure
from evaluation.measures.own import declared_well
from evaluation.measures.registry import remember_measure
from evaluation.measures.single import Ranking, Relevant, as_grades, as_ranking, described
from evaluation.types import Case
from ground_truth.loading import load_from
from ground_truth.overlap import Strategy
from ground_truth.registry import DATASETS
from ground_truth.types import Dataset, DatasetLoader


@dataclass(frozen=True, slots=True)
class Details:
    """The facts behind one mean."""

    name: str
    value: float
    queries_with_relevant: int
    total: int
    k: int | None
    strategy_used: str
    strategy_counts: Mapping[str, int]


class Values(dict[str, float]):
    """measure → value; any spelling of a measure works: values["NDCG@10"] is values["ndcg@10"]."""

    def __missing__(self, name: str) -> float:
        canonical = parse_measure(name).name
        if canonical == name:
            raise KeyError(name)
        return self[canonical]


class BatchValues(Values):
    """Means over all queries, with the facts behind each and the values of every query."""

    details: dict[str, Details]
    per_query: list[Values]
    by_query: dict[str, Values]
    """The same by the query's id; a pair of `benchmark` has its text, or its number if two have the same text."""


def evaluate_batch(
    all_results: Sequence[Ranking],
    all_relevant_docs: Sequence[Relevant | None],
    k_values: Sequence[int] = (1, 5, 10),
    *,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    query_ids: Sequence[str] | None = None,
    strategies: Sequence[Strategy] | None = None,
    mix_strategies: bool = False,
) -> BatchValues:
    """Return the means over all queries; an empty set of relevant ids scores 0, None is an error.

    ``query_ids`` name the queries in errors and in the result; by default, they are numbered from 0. ``strategies``
    gives for each query the source of its relevant ids. Scores of different strategies mean different things, so their
    mean is an error unless ``mix_strategies`` allows it; the details then say "mixed".
    """
    if len(all_results) != len(all_relevant_docs):
        raise UsageError(
            f"{len(all_results)} rankings and {len(all_relevant_docs)} sets of relevant ids: give one each"
        )
    used = _strategies(strategies, len(all_results), mix=mix_strategies)
    chosen = default_measures(k_values) if measures is None else _chosen(measures)
    ids = [str(number) for number in range(len(all_results))] if query_ids is None else query_ids
    cases = [_case(*each) for each in zip(ids, all_results, all_relevant_docs, strict=True)]
    scores = evaluate(chosen, cases)
    values = BatchValues({name: summary.mean for name, summary in aggregate(scores).items()})
    values.per_query = [Values(scores[case.query_id]) for case in cases]
    values.by_query = dict(zip(ids, values.per_query, strict=True))
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
    run: Mapping[str, Ranking],
    qrels: Mapping[str, Relevant],
    measures: str | Measure | Iterable[str | Measure],
) -> BatchValues:
    """Return the means over the judged queries; a query missing from the run scores as an empty ranking."""
    _check_mapping(run, "run", "{'q1': ['a', 'b']}")
    _check_mapping(qrels, "qrels", "{'q1': {'a'}}")
    unjudged = [query for query in run if query not in qrels]
    if unjudged:
        raise UsageError(
            f"query {unjudged[0]!r} is in the run and not judged: leave it out, or judge it (empty scores 0)"
        )
    rankings = [run.get(query, ()) for query in qrels]
    return evaluate_batch(rankings, list(qrels.values()), measures=_chosen(measures), query_ids=list(qrels))


def benchmark(
    retriever: Callable[..., Sequence[Any]],
    dataset: str | Path | Dataset | DatasetLoader | Iterable[tuple[str, Relevant]],
    k_values: Sequence[int] = (1, 5, 10),
    *,
    measures: str | Measure | Iterable[str | Measure] | None = None,
) -> BatchValues:
    """Send every query to the retriever and return the means.

    Pairs are queries with their relevant ids. For a dataset, the paths of the files that hold gold are relevant, with
    their highest grade; if it has several repositories, the retriever is called with ``repo=NAME`` too. On a dataset, a
    retriever may return places instead of ids, which are scored on text and files.
    """
    if not callable(retriever):
        raise UsageError(f"the retriever is {described(retriever)}: give a function from a query to a list of ids")
    chosen = default_measures(k_values) if measures is None else _chosen(measures)
    loaded = _loader(dataset) if isinstance(dataset, (str, Path)) else dataset
    DATASETS.check_object(loaded)
    if isinstance(loaded, Dataset) or hasattr(loaded, "load"):
        whole = (
            loaded if isinstance(loaded, Dataset) else load_from(loaded, dataset if isinstance(dataset, str) else "")
        )
        several = len(whole.repositories) > 1
        found = [
            _listed(retriever(each.text, **({"repo": each.repo} if several else {})), each.text)
            for each in whole.queries
        ]
        if any(not isinstance(each, str) for results in found for each in results) or (
            not any(found) and measures is not None and _are_on_places(chosen)
        ):
            return _benchmark_places(found, whole, None if measures is None else [each.name for each in chosen])
        relevant = _gold_files(whole)
        judged: list[Relevant] = [relevant[each.id] for each in whole.queries]
        ids = [each.id for each in whole.queries]
    else:
        asked = _pairs(loaded)
        found, judged = [_listed(retriever(text), text) for text, _ in asked], [each for _, each in asked]
        ids = _distinct([str(text) for text, _ in asked])
    return evaluate_batch(found, judged, measures=chosen, query_ids=ids)


def _loader(source: str | Path) -> DatasetLoader:
    """Return the loader that a spec describes; raise for a folder, which has no questions."""
    if Path(source).is_dir() and str(source) not in DATASETS.entries():
        raise UsageError(
            f"{str(source)!r} is a folder, and a dataset has questions about it: give 'annotations:path=FILE,"
            f"root={source}', or pairs of a query and its relevant ids"
        )
    return DATASETS.create(str(source))


def _pairs(given: object) -> list[tuple[str, Relevant]]:
    """Return the pairs of a query and its relevant ids; raise for anything else."""
    if not isinstance(given, Iterable):
        raise UsageError(f"the dataset is {described(given)}: give a spec, or pairs of a query and its relevant ids")
    pairs = list(given)
    for number, each in enumerate(pairs, start=1):
        if not isinstance(each, (tuple, list)) or len(each) != 2:
            raise UsageError(
                f"item {number} of the dataset is {described(each)}: give pairs of a query and its relevant ids, as in "
                "[('how are errors shown?', {'cli.py'})]"
            )
    return pairs


def _distinct(texts: list[str]) -> list[str]:
    """Return the texts as ids of their queries; their numbers if two are equal."""
    return texts if len(set(texts)) == len(texts) else [str(number) for number in range(len(texts))]


def _are_on_places(measures: Sequence[Measure]) -> bool:
    """Return whether there are measures and all of them score places: an empty ranking is then one of places."""
    from evaluation.experiment.span_scoring import scores_spans

    return bool(measures) and all(map(scores_spans, measures))


def _listed(answer: object, query: str) -> list[Any]:
    """Return a function's answer as a list; any iterable of ids or places is accepted, but not a single text."""
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
        raise UsageError(
            f"the function returned {type(answer).__name__} for {one_line(str(query), limit=80)!r}: "
            "return a list of ids, or of places such as (file, first line, last line)"
        )
    return list(answer)


def _benchmark_places(found: Sequence[Sequence[Any]], dataset: Dataset, names: Sequence[str] | None) -> BatchValues:
    """Return the scores of places, each computed as in `compare`; the median replaces a missing mean."""
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
    values.by_query = dict(zip((query.id for query in dataset.queries), values.per_query, strict=True))
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


def _case(query_id: str, results: Ranking, relevant: Relevant | None) -> Case:
    of = f"of query {_short(query_id)}"
    grades = None if relevant is None else as_grades(relevant, f"the relevant ids {of}")
    return Case(str(query_id), as_ranking(results, f"the ranking {of}"), grades)


def _short(query_id: str) -> str:
    return one_line(repr(query_id), limit=80)


def _check_mapping(given: object, what: str, example: str) -> None:
    if not isinstance(given, Mapping):
        raise UsageError(f"{what} is {described(given)}: give a mapping by query id, as in {example}")


def _chosen(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Return the measures; a single name or object counts as a list of one."""
    listed = [measures] if isinstance(measures, (str, Measure)) else measures
    if not isinstance(listed, Iterable):
        raise UsageError(f"measures is {described(measures)}: give names, as in ['ndcg@10', 'mrr']")
    found = [_measure(each) for each in listed]
    for each in found:
        remember_measure(each)  # means are aggregated by name
    return found


def _measure(measure: str | Measure) -> Measure:
    return declared_well(measure if isinstance(measure, Measure) else parse_measure(measure))


def default_measures(k_values: Sequence[int]) -> list[Measure]:
    """Return nDCG, precision, recall and hit at each k, and MRR and MAP at the largest."""
    cutoffs = list(k_values) if isinstance(k_values, Iterable) else []
    if not cutoffs or not all(isinstance(each, Integral) for each in cutoffs):
        raise UsageError(f"k_values is {described(k_values)}: give whole numbers, as in [1, 5, 10]")
    return [parse_measure(name) for name in measures_at(cutoffs)]


def _strategies(given: Sequence[Strategy] | None, count: int, *, mix: bool) -> Counter[str]:
    if given is not None and len(given) != count:
        raise UsageError(f"{len(given)} strategies for {count} queries: give one each")
    used: Counter[str] = Counter(given if given is not None else ["qrels"] * count)
    if len(used) > 1 and not mix:
        raise UsageError(
            f"queries were judged in different ways ({', '.join(sorted(used))}): score them apart, or mix_strategies"
        )
    return used or Counter({"qrels": 0})
