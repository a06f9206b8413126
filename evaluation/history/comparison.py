"""Two runs side by side: score changes per chunker, changed inputs, and the queries that show the change."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.config import ExperimentConfig, NightlyConfig
from evaluation.history.gate import Finding, GateVerdict, Limits, QueryCount, count_queries, gate_findings
from evaluation.history.movers import Mover, movers
from evaluation.history.origins import Difference, all_differences, match_cells
from evaluation.history.pins import CommitRange, commits_between
from evaluation.history.record import RunRecord
from evaluation.results.types import Results


@dataclass(frozen=True)
class Night:
    """The findings of a run against another one."""

    record: RunRecord
    baseline: RunRecord | None
    findings: tuple[Finding, ...] = ()
    queries: dict[str, QueryCount] = dataclasses.field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    commits: dict[str, CommitRange] = dataclasses.field(default_factory=dict)
    movers: tuple[Mover, ...] = ()
    notes: tuple[str, ...] = ()
    """What was skipped."""
    not_cut: tuple[str, ...] = ()
    """A line for each chunker that could not cut some files."""
    limits: Limits = dataclasses.field(default_factory=Limits)
    """When a difference counts."""

    @property
    def failed(self) -> list[str]:
        """A line for each cell that failed."""
        return [f"{' × '.join(cell.key)}: {cell.reason}" for cell in self.record.cells if cell.status != "ok"]

    def of(self, verdict: GateVerdict) -> list[Finding]:
        """Return the findings with a verdict."""
        return [finding for finding in self.findings if finding.verdict == verdict]

    @property
    def exit_code(self) -> int:
        """3 if a regression was found, 1 if cells failed, else 0."""
        return 3 if self.of("regression") else 1 if self.failed else 0

    def with_notes(self, notes: Sequence[str]) -> Night:
        """Return the same with further notes."""
        return dataclasses.replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))


def compare_runs(
    now: tuple[RunRecord, Results],
    before: tuple[RunRecord, Results] | None,
    *,
    measures: Sequence[str],
    limits: Limits,
) -> Night:
    """Return what changed between two runs; without an earlier one there are no findings."""
    record, results = now
    not_cut = tuple(dict.fromkeys(_not_cut(results)))
    if before is None:
        return Night(record, None, not_cut=not_cut)
    old_record, old_results = before
    findings = gate_findings(
        results, old_results, matches=match_cells(record, old_record), measures=measures, limits=limits
    )
    return Night(
        record=record,
        baseline=old_record,
        findings=tuple(findings),
        queries=count_queries(results, old_results),
        differences=tuple(all_differences(record, old_record)),
        commits=_commits(record, old_record),
        movers=tuple(movers(results, old_results, findings)),
        not_cut=not_cut,
        limits=limits,
    )


def _not_cut(results: Results) -> Iterator[str]:
    for cell in results.cells:
        if cell.chunks.failed_files:
            yield f"{cell.key.chunker}: {cell.chunks.failed_words}"


def limits_of(config: ExperimentConfig) -> Limits:
    """Return the limits in a run's configuration."""
    nightly = config.nightly or NightlyConfig()
    return Limits(nightly.alpha, nightly.minimum_effect, config.flips, config.seed)


def measures_of(config: ExperimentConfig) -> list[str]:
    """Return the gated measures in a run's configuration."""
    from evaluation.measures.registry import parse_measure

    named = (config.nightly or NightlyConfig()).measures or [config.headline]
    return list(dict.fromkeys(parse_measure(name).name for name in named))


def _commits(now: RunRecord, before: RunRecord) -> dict[str, CommitRange]:
    found = {}
    for dataset, source in now.sources.items():
        old, new = before.sources.get(dataset, {}).get("commit"), source.get("commit")
        if old and new and old != new:
            found[dataset] = commits_between(Path(source["root"]), old, new)
    return found
