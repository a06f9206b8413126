"""Assembles the race's findings: how far every candidate came, the finalists' costs, and the chunker in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from chunkers.sizes import nws
from evaluation.experiment import stages
from evaluation.experiment.chunk_table import ChunkTable
from evaluation.experiment.session import Session
from evaluation.measures import Measure
from evaluation.recommend.bounds import Scored
from evaluation.recommend.candidates import Candidate
from evaluation.recommend.costs import cost_of
from evaluation.recommend.field import Field, no_chunks, uncut
from evaluation.recommend.measuring import Measuring
from evaluation.recommend.paste import Code
from evaluation.recommend.race import Left, Outcome
from evaluation.recommend.types import CandidateRecord, Current, Fate, Finalist, Limits, Recommendation, RoundFacts
from evaluation.report.cautions import fallback_words
from evaluation.results.comparisons import margin_of, statistics_options
from evaluation.statistics import Interval, best_set, compare_pairs, mean_interval
from ground_truth.datasets.mined import MinedRepository
from ground_truth.types import Dataset

_LOOKED_AT = 5_000_000
"""Characters in which the share of whitespace is counted."""


class Finished(NamedTuple):
    """A finished race."""

    session: Session
    candidates: Sequence[Candidate]
    field: Field
    measuring: Measuring
    outcome: Outcome
    limits: Limits
    current: str | None

    @property
    def fresh(self) -> Scored:
        """The final's scores on the queries that had no part in choosing the finalists."""
        return self.outcome.rounds[-1].scored.on(~self.measuring.queries.choosing)


def assemble(race: Finished, *, seconds: float) -> Recommendation:
    """Return the recommendation."""
    session, outcome, config = race.session, race.outcome, race.session.config
    dataset = session.dataset(config.datasets[0]).dataset
    final = outcome.rounds[-1].scored
    current = _current(race, race.current) if race.current else None
    searched = race.measuring.session_of(race.measuring.last, final.names)
    best = best_set(final.values, final.clusters, names=list(final.names), corrections=2, **_options(session))
    finalists = tuple(
        Finalist(
            spec=name,
            mean=_interval(session, race.fresh, name),
            mean_of_all=outcome.rounds[-1].means[name],
            may_be_best=name in outcome.may_be_best,
            risk=outcome.beliefs[name].risk,
            final_risk=outcome.beliefs[name].final_risk,
            cost=cost_of(searched, name, race.limits),
            same=name in outcome.equals,
        )
        for name in outcome.finalists
    )
    records = tuple(_records(race))
    failed = {each.spec: each.reason for each in records if each.fate == "failed"}
    return Recommendation(
        dataset=config.datasets[0],
        measure=config.headline,
        embedder=config.embedders[0] if session.retriever(config.retrievers[0]).uses_vectors else "",
        retriever=config.retrievers[0],
        seed=config.seed,
        margin=_margin(session),
        recommended=outcome.recommended,
        leader=outcome.finalists[0],
        may_be_best=tuple(name for name in outcome.may_be_best if name not in failed),
        risk=outcome.beliefs[outcome.recommended].risk,
        loss=outcome.beliefs[outcome.recommended].loss,
        finalists=finalists,
        candidates=records,
        rounds=tuple(_rounds(race)),
        embedded_texts=outcome.embedded,
        grid_texts=outcome.grid,
        seconds=seconds,
        price=race.limits.price,
        current=current,
        detectable=None if np.isnan(best.detectable) else best.detectable,
        caveats=best.caveats if len(final.names) > 1 else (),
        mined=dataset.mined,
        history=_history(session.loader(config.datasets[0])),
        limited=config.limit is not None and len(dataset.queries) >= config.limit,
        uncut=race.field.runners[outcome.recommended].uncut,
        repositories=len({query.cluster for query in dataset.queries}),
        queries=len(dataset.queries),
        docstring_queries=sum(query.kind == "docstrings" for query in dataset.queries),
        failed=failed,
        code=_code(dataset),
        fallbacks=fallback_words(_table(race, outcome.recommended).facts),
    )


def _history(loader: object) -> bool:
    """Return whether there are commits to mine queries from, in addition to the existing ones."""
    return isinstance(loader, MinedRepository) and loader.has_more_history()


def _table(race: Finished, spec: str) -> ChunkTable:
    return stages.chunk(race.session, race.session.config.datasets[0], spec)


def _code(dataset: Dataset) -> Code:
    """Return the language that holds most of the code, and the share of whitespace in its text."""
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
    outcome = race.outcome
    for candidate in race.candidates:
        spec = candidate.spec
        if spec in race.field.out:
            yield race.field.out[spec]
            continue
        runner = race.field.runners[spec]
        rounds = [each for each in outcome.rounds if spec in each.means]
        scored = [race.fresh if each is outcome.rounds[-1] else each.scored for each in rounds]
        record = CandidateRecord(
            spec=spec,
            family=candidate.family,
            fate="finalist",
            reason="measured on all text",
            chunks=runner.chunks,
            mean_nws=runner.mean_nws,
            tokens=runner.tokens,
            texts=runner.distinct,
            round=len(rounds),
            rounds=tuple(_interval(race.session, each, spec) for each in scored),
            may_be_best=spec in outcome.may_be_best,
            better_by=_advantage(outcome, spec),
        )
        if spec in race.measuring.failed:
            yield replace(record, fate="failed", reason=race.measuring.failed[spec], may_be_best=False)
            continue
        left = rounds[-1].left.get(spec)
        found = record if left is None else _with_reason(record, left)
        reason = f"{found.reason}; failed on {runner.uncut}" if runner.uncut else found.reason
        yield replace(found, reason=reason, uncut=runner.uncut)


def _advantage(outcome: Outcome, spec: str) -> float | None:
    """Return a candidate's possible advantage over the recommended one; None for that one, or without a score."""
    return outcome.beliefs[spec].advantage if spec in outcome.beliefs and spec != outcome.recommended else None


def _with_reason(record: CandidateRecord, left: Left) -> CandidateRecord:
    """Return the record of a candidate that left, with the reason."""
    fate: Fate = "behind" if record.may_be_best else "worse"
    reason = (
        "behind on passages and not measured further; may still be best"
        if record.may_be_best
        else "shown to be worse than a finalist"
    )
    return replace(record, fate=fate, reason=reason, behind=left.behind, rival=left.rival)


def _rounds(race: Finished) -> Iterator[RoundFacts]:
    session = race.session
    files = len(session.dataset(session.config.datasets[0]).files)
    parts = [race.measuring.division.part] if race.measuring.division else []
    shares = [(len(part.passages.ranges), race.field.share_of_texts(part.passages)) for part in parts]
    for (held, share), each in zip([*shares, (files, 1.0)], race.outcome.rounds, strict=True):
        clusters = each.scored.clusters
        yield RoundFacts(len(each.means), len(clusters), len(set(clusters)), held, share)


def _current(race: Finished, spec: str) -> Current:
    """Measure the chunker in use and compare the recommended one with it, on the queries that chose no finalist.

    The interval is corrected for all finalists, since the choice among them depends on the same queries.
    """
    session, final = race.session, race.fresh
    last = race.measuring.last
    if spec not in final.names:
        final = final.with_rows(race.measuring(last, [spec]).on(~race.measuring.queries.choosing))
    if spec not in final.names:
        return Current(spec, None, None, None, race.measuring.failed[spec])
    if empty := no_chunks(_table(race, spec)):
        return Current(spec, None, None, None, empty)
    change = None
    cuts, others = (_table(race, each).facts.fingerprint for each in (spec, race.outcome.recommended))
    if cuts != others:
        options = _options(session)
        found = compare_pairs(
            final.values, final.clusters, names=list(final.names), family=spec, margin=_margin(session), **options
        )
        change = next(each for each in found if each.a == race.outcome.recommended)
    searched = race.measuring.session_of(last, [spec])
    cost, failed_on = cost_of(searched, spec, race.limits), uncut(_table(race, spec))
    return Current(spec, _interval(session, final, spec), change, cost, uncut=failed_on)
