"""The audit: every measure has what it declares, and a false declaration is found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

from evaluation.measures.audit import PROPERTIES, Finding, audit, audit_measure
from evaluation.measures.kendall_tau import KendallTau
from evaluation.measures.mrr import Mrr
from evaluation.measures.registry import measure_classes
from scripts.audit import command

if TYPE_CHECKING:
    from evaluation.measures.batch import Batch


@pytest.fixture(scope="module")
def findings() -> tuple[Finding, ...]:
    """Return the whole table, made once."""
    return audit()


def test_every_measure_has_what_it_declares(findings: tuple[Finding, ...]) -> None:
    """No declared property is missing, and every cell of the table was asked."""
    assert [finding for finding in findings if finding.broken] == []
    assert len(findings) == len(measure_classes()) * len(PROPERTIES)


def test_the_table_says_what_is_known(findings: tuple[Finding, ...]) -> None:
    """Binary nDCG does not tell all rankings apart; tau does, and is symmetric and robust; ids depend on chunk size."""
    holds = {(finding.measure, finding.name): finding.holds for finding in findings}
    assert holds["ndcg@k", "ioi_binary"] is False
    assert holds["ndcg@k", "ioi_graded"] is True
    assert all(holds[KendallTau.pattern, name] for name in ("ioi_graded", "symmetric", "type1", "type2_items"))
    assert holds[KendallTau.pattern, "type2_positions"] is False
    for text in ("recall@B", "naurc@B", "ndcg_text@B"):
        assert all(holds[text, name] for name in ("split", "duplicate", "chance"))
    assert not any(holds[unbounded, "type1"] for unbounded in ("tokens_behind@k", "relevant"))
    for ids in ("ndcg@k", "precision@k", "recall@k"):
        assert not any(holds[ids, name] for name in ("split", "duplicate", "chance"))


def test_a_false_declaration_is_found() -> None:
    """A measure that claims what it does not have is broken."""

    @dataclass(frozen=True, kw_only=True)
    class Boastful(Mrr):
        """Reciprocal rank with a claim that it cannot keep."""

        properties: ClassVar[frozenset[str]] = frozenset({"ioi_binary", "bounded"})

    found = audit_measure(Boastful(cutoff=5), Boastful(cutoff=5))
    assert [finding.name for finding in found if finding.broken] == ["ioi_binary"]


def test_the_command_prints_the_table() -> None:
    """The JSON holds the findings, and the exit code is 0 while nothing is broken."""
    done = CliRunner().invoke(command, ["--json"], catch_exceptions=False)
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert record["broken"] == []
    assert set(record["properties"]) == set(PROPERTIES)


def test_values_outside_the_range_and_unstable_scores_are_found() -> None:
    """On either side of the range; and where what is not relevant changes a score by standing at the end."""

    @dataclass(frozen=True, kw_only=True)
    class Shifted(Mrr):
        """Reciprocal rank moved by a half."""

        by: ClassVar[float] = 0.5

        def score(self, batch: Batch) -> np.ndarray:
            """Return the moved scores."""
            return super().score(batch) + self.by

    class Lowered(Shifted):
        """Moved the other way."""

        by = -0.5

    class Counting(Mrr):
        """Counts the results, whatever they are."""

        def score(self, batch: Batch) -> np.ndarray:
            """Return a share that grows with the ranking."""
            return np.array([len(case.ranking) / 10 for case in batch.cases])

    for cls, name in ((Shifted, "bounded"), (Lowered, "bounded"), (Counting, "stable")):
        found = {finding.name: finding.holds for finding in audit_measure(cls(cutoff=5), cls(cutoff=5))}
        assert found[name] is False, cls
