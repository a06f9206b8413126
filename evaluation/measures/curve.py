"""The recall-against-budget curve as data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.batch import Batch
from evaluation.measures.budget_recall import BudgetRecall
from evaluation.types import Case


def recall_curve(case: Case, unit: SizeUnit, budgets: Sequence[int], *, charge_duplicates: bool = False) -> np.ndarray:
    """Return the share of the gold text that is read within each budget."""
    measures = [BudgetRecall(budget=b, unit=unit, charge_duplicates=charge_duplicates) for b in budgets]
    batch = Batch([case], measures)
    return np.array([measure.score(batch)[0] for measure in measures])
