"""The recall-against-budget curve as data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkers.types import SizeUnit
from evaluation.measures.budget_recall import BudgetRecall
from evaluation.measures.evaluate import score_together
from evaluation.types import Case


def recall_curve(case: Case, unit: SizeUnit, budgets: Sequence[int], *, charge_duplicates: bool = False) -> np.ndarray:
    """Return the share of the gold text that is read within each budget."""
    curve: np.ndarray = recall_curves([case], unit, budgets, charge_duplicates=charge_duplicates)[0]
    return curve


def recall_curves(
    cases: Sequence[Case], unit: SizeUnit, budgets: Sequence[int], *, charge_duplicates: bool = False
) -> np.ndarray:
    """Return the curve of each case as a row; a file that several cases show is measured once."""
    measures = [BudgetRecall(budget=b, budget_unit=unit, charge_duplicates=charge_duplicates) for b in budgets]
    return np.array(score_together(measures, cases)).T.reshape(len(cases), len(budgets))
