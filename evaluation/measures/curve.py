"""The recall-against-budget curve as data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.budget_recall import BudgetRecall
from evaluation.measures.evaluate import score_together
from evaluation.types import Case


def recall_curves(cases: Sequence[Case], unit: SizeUnit, budgets: Sequence[int]) -> np.ndarray:
    """Return the share of the gold text that is read within each budget, one row per case.

    A file that several cases show is measured once.
    """
    measures = [BudgetRecall(budget=budget, budget_unit=unit) for budget in budgets]
    return np.array(score_together(measures, cases)).T.reshape(len(cases), len(budgets))
