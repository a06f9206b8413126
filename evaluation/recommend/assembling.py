"""Puts together what the race found: every candidate's way, the finalists' costs, and the chunker in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from chunkers.sizes import nws
from evaluation.experiment.session import Session
from evaluation.measures import Measure
from evaluation.recommend.bounds import Scored
from evaluation.recommend.candidates import Candidate
from evaluation.recommend.costs import cost_of
from evaluation.recommend.field import Field
from evaluation.recommend.measuring import Measuring
from evaluation.recommend.paste import Code
from evaluation.recommend.race import Outcome
from evaluation.recommend.texts import count_distinct
from evaluation.recommend.types import CandidateRecord, Current, Fate, Finalist, Limits, Recommendation, RoundFacts
from evaluation.results.comparisons import margin_of, statistics_options
from evaluation.statistics import Interval, best_set, compare_pairs, mean_interval
from ground_truth.types import Dataset

_LOOKED_AT = 5_000_000
"""Characters of which the share of whitespace is counted."""


class Finished(NamedTuple):
    """A race that is over."""

    session: Session
    candidates: Sequence[Candidate]
    field: Field
    measuring: Measuring
    outcome: Outcome
    limits: Limits
    current: str | None
    scout: str | None
    """Who searched everything before the first round."""


def assemble(race: Finished, *, seconds: float) -> Recommendation:
    """Return the recommendation."""
    session, outcome, config = race.session, race.outcome, race.session.config
    dataset = session.dataset(config.datasets[0]).dataset
    final = outcome.rounds[-1].scored
    current = _current(race) if race.current else None
    searched = race.measuring.session_of(len(race.measuring.parts) - 1, final.names)
    best = best_set(final.values, final.clusters, names=list(final.names), corrections=2, **_options(session))
    finalists = tuple(
        Finalist(
            spec=name,
            mean=_interval(session, final, name),
            may_be_best=name in outcome.may_be_best,
            risk=outcome.risks[name],
            final_risk=outcome.final_risks[name],
            cost=cost_of(session, searched, name, race.limits),
        )
        for name in outcome.finalists
    )
    failed = {spec: out.reason for spec, out in race.field.out.items() if out.fate == "failed"}
    return Recommendation(
        dataset=config.datasets[0],
        measure=config.headline,
        embedder=config.embedders[0] if session.retriever(config.retrievers[0]).uses_vectors else "",
        retriever=config.retrievers[0],
        seed=config.seed,
        margin=_margin(session),
        recommended=outcome.recommended,
        leader=outcome.finalists[0],
        may_be_best=outcome.may_be_best,
        risk=outcome.risks[outcome.recommended],
        riskiest=outcome.riskiest,
        finalists=finalists,
        candidates=tuple(_records(race)),
        rounds=tuple(_rounds(race)),
        embedded_texts=count_distinct(_embedded(race)),
        grid_texts=count_distinct(runner.texts.keys for runner in race.field.runners.values()),
        seconds=seconds,
        price=race.limits.price,
        current=current,
        detectable=None if np.isnan(best.detectable) else best.detectable,
        caveats=best.caveats if len(final.names) > 1 else (),
        mined=dataset.mined,
        repositories=len({query.cluster for query in dataset.queries}),
        queries=len(dataset.queries),
        failed=failed | race.measuring.failed,
        code=_code(dataset),
    )


def _code(dataset: Dataset) -> Code:
    """Return the language that holds most of the code, and how much of its text is whitespace."""
    sizes: Counter[str | None] = Counter()
    characters = dense = 0
    for repository in dataset.repositories:
        for source in repository.files():
            sizes[source.language] += len(source.data)
            if characters < _LOOKED_AT:
                characters += len(source.data.decode("utf-8", "replace"))
                dense += nws(source.data)
    language = max(sizes, key=lambda name: sizes[name], default=None)
    return Code(language, characters / max(dense, 1))


def _measure(session: Session) -> Measure:
    return next(each for each in session.measures if each.name == session.config.headline)


def _margin(session: Session) -> float:
    return margin_of(_measure(session), session.config, 1.0)


def _options(session: Session) -> dict[str, Any]:
    return statistics_options(_measure(session), session.config)


def _interval(session: Session, scored: Scored, name: str) -> Interval:
    row = scored.values[scored.names.index(name)]
    options = _options(session)
    return mean_interval(row, scored.clusters, weight=options["weight"], value_range=options["value_range"])


def _records(race: Finished) -> Iterator[CandidateRecord]:
    """Yield every candidate in the order given, with how far it came."""
    for candidate in race.candidates:
        spec = candidate.spec
        if spec in race.field.out:
            yield race.field.out[spec]
            continue
        runner = race.field.runners[spec]
        rounds = [each for each in race.outcome.rounds if spec in each.means]
        record = CandidateRecord(
            spec=spec,
            family=candidate.family,
            fate="finalist",
            reason="met the other finalists on queries that no round had seen",
            chunks=runner.chunks,
            mean_nws=runner.mean_nws,
            tokens=runner.tokens,
            texts=runner.entrant.texts,
            round=len(rounds),
            rounds=tuple(_interval(race.session, each.scored, spec) for each in rounds),
        )
        if spec in race.measuring.failed:
            yield replace(record, fate="failed", reason=race.measuring.failed[spec])
            continue
        left = rounds[-1].left.get(spec)
        if left is None:
            yield record
            continue
        reason = (
            f"shown to be worse than {left.rival} in round {len(rounds)}"
            if left.shown
            else f"too far behind {left.rival} in round {len(rounds)} to be measured further; not shown to be worse"
        )
        fate: Fate = "worse" if left.shown else "behind"
        yield replace(record, fate=fate, reason=reason, behind=left.behind, rival=left.rival)


def _rounds(race: Finished) -> Iterator[RoundFacts]:
    session = race.session
    files = len(session.dataset(session.config.datasets[0]).files)
    for part, each in zip(race.measuring.parts, race.outcome.rounds, strict=True):
        yield RoundFacts(
            candidates=len(each.means),
            queries=len(each.scored.clusters),
            repositories=len(set(each.scored.clusters)),
            files=files if part.passages is None else len(part.passages.ranges),
            share=race.field.share_of_texts(part.passages),
        )


def _embedded(race: Finished) -> Iterator[np.ndarray]:
    """Yield the texts that each candidate was measured on: those of the last round that it took part in."""
    for spec, runner in race.field.runners.items():
        parts = [
            part for part, each in zip(race.measuring.parts, race.outcome.rounds, strict=True) if spec in each.means
        ]
        if parts:
            yield runner.texts.within(None if spec == race.scout else parts[-1].passages)


def _current(race: Finished) -> Current:
    """Measure the chunker in use on the final's queries and compare the recommended one with it.

    The interval is corrected for all finalists, since which of them is recommended depends on the same queries.
    """
    session, final, spec = race.session, race.outcome.rounds[-1].scored, race.current or ""
    if spec not in final.names:
        mine = race.measuring(len(race.measuring.parts) - 1, [spec])
        final = Scored([*final.names, *mine.names], np.concatenate([final.values, mine.values]), final.clusters)
    if spec not in final.names:
        return Current(spec, None, None, None, race.measuring.failed[spec])
    change = None
    if spec != race.outcome.recommended:
        options = _options(session)
        found = compare_pairs(
            final.values, final.clusters, names=list(final.names), family=spec, margin=_margin(session), **options
        )
        change = next(each for each in found if each.a == race.outcome.recommended)
    searched = race.measuring.session_of(len(race.measuring.parts) - 1, [spec])
    return Current(spec, _interval(session, final, spec), change, cost_of(session, searched, spec, race.limits))
