"""From candidates to a recommendation: cut the code, race, and measure the final."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chunkers.errors import UsageError
from evaluation.experiment.executors import Executor
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_scores
from evaluation.experiment.session import Session
from evaluation.recommend.assembling import Finished, assemble
from evaluation.recommend.bounds import Scale
from evaluation.recommend.candidates import Candidate, default_candidates, family_of
from evaluation.recommend.estimating import Rules
from evaluation.recommend.field import Field, Runner, make_field
from evaluation.recommend.measuring import Measuring
from evaluation.recommend.race import race
from evaluation.recommend.sampling import Division, divide
from evaluation.recommend.scouting import answers, around, competing, scouts
from evaluation.recommend.types import Limits, Recommendation
from evaluation.report.formats import plural
from evaluation.results.comparisons import margin_of, statistics_options


class AllFailedError(UsageError):
    """No candidate could be measured."""

    exit_code = 1


class Help(NamedTuple):
    """The executor and the progress callbacks."""

    executor: Executor
    progress: Progress
    say: Callable[[str], None]


def recommend(
    session: Session, specs: Sequence[str], *, limits: Limits, current: str | None, helped: Help
) -> Recommendation:
    """Return the recommendation for the session's dataset; without specs, among the default candidates."""
    started = time.perf_counter()
    config = session.config
    rules = rules_of(session)
    dataset = session.dataset(config.datasets[0]).dataset
    candidates = (
        [Candidate(spec, family_of(spec, getattr(session.chunker(spec), "size_field", None))) for spec in specs]
        if specs
        else default_candidates(dataset, seed=config.seed)
    )
    chunkers = dict.fromkeys([*(each.spec for each in candidates), *([current] if current else [])])
    session = session.with_config(config.model_copy(update={"chunkers": tuple(chunkers)}))
    field = make_field(session, candidates, limits, executor=helped.executor, progress=helped.progress)
    first, division = _divided(session, field, rules, helped)
    filling = around(field.runners.values(), first) if first else {}
    measuring = Measuring(session, division, filling, helped.executor, helped.progress, helped.say)
    entrants = field.entrants(division.part.passages if division else None, filling)
    specs = [scout.candidate.spec for scout in first]
    outcome = race(entrants, measuring, rules, queries=measuring.queries, scouts=specs) if entrants else None
    if outcome is None:
        failed = {spec: out.reason for spec, out in field.out.items() if out.fate == "failed"} | measuring.failed
        raise AllFailedError(_all_failed(failed, len(candidates)))
    finished = Finished(session, candidates, field, measuring, outcome, limits, current)
    return assemble(finished, seconds=time.perf_counter() - started)


def _all_failed(failed: Mapping[str, str], candidates: int) -> str:
    """Return why no candidate is left; those that did not fail duplicate one that did, or exceed a limit."""
    spec, reason = next(iter(failed.items()))
    if candidates == 1:
        return f"the only candidate failed; {spec}: {reason}"
    if len(failed) == candidates:
        return f"{'both' if candidates == 2 else f'all {candidates}'} candidates failed; {spec}: {reason}"
    return f"none of the {candidates} candidates could be measured: {len(failed)} failed; {spec}: {reason}"


def _divided(session: Session, field: Field, rules: Rules, helped: Help) -> tuple[list[Runner], Division | None]:
    """Return the scouts, and what the round is measured on.

    If all candidates can meet in the final, or there is nothing to divide, there is no round.
    """
    dataset = session.dataset(session.config.datasets[0]).dataset
    runners = list(field.runners.values())
    while len(runners) > rules.without_rounds:
        first = scouts(runners)
        specs = [scout.candidate.spec for scout in first]
        search = f"{plural(len(first), 'candidate')} {'searches' if len(first) == 1 else 'search'} everything"
        helped.say(f"{search}, to see what competes for each query")
        cells = sorted((c for c in session.cells if c.chunker in specs), key=lambda cell: specs.index(cell.chunker))
        failed = {cell.chunker for cell in make_scores(session, cells, helped.executor, helped.progress)}
        if not failed:
            found, seed = competing(session, cells), session.config.seed
            division = divide(dataset, found, answers(dataset), share=field.share_of_texts, seed=seed)
            return (first, division) if division else ([], None)
        runners = [runner for runner in runners if runner.candidate.spec not in failed]
    return [], None


def rules_of(session: Session) -> Rules:
    """Return the parameters of the race for the session's headline measure; raise if it has no better side."""
    measure = next(each for each in session.measures if each.name == session.config.headline)
    if measure.direction == "none":
        raise UsageError(
            f"more {measure.name} is neither better nor worse: choose a headline such as naurc@4000tok to recommend by"
        )
    options = statistics_options(measure, session.config)
    scale = Scale(options["value_range"], options["higher_is_better"], options["weight"])
    return Rules(margin=margin_of(measure, session.config, 1.0), scale=scale)
