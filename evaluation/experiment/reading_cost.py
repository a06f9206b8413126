"""How much of each ranking is read until half, and most, of the answer has been seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.evaluate import median
from evaluation.measures.to_recall import TokensToRecall
from evaluation.results.facts import TokensRead

_HALF, _MOST = TokensToRecall(recall=0.5), TokensToRecall(recall=0.8)
READING_MEASURES = (_HALF, _MOST)


class ReadingCost(NamedTuple):
    """Both shares, under the names that `CostFacts` has for them."""

    tokens_to_50: TokensRead
    tokens_to_80: TokensRead


def reading_cost(scores: Mapping[str, np.ndarray], *, budgets: Sequence[int]) -> ReadingCost:
    """Summarise the scores of `READING_MEASURES`; a query that gets there beyond the largest budget counts as never.

    Rankings are kept up to the largest budget: without the bound, a number would depend on what else was measured.
    """
    return ReadingCost(*(_summary(measure, scores[measure.name], max(budgets)) for measure in READING_MEASURES))


def _summary(measure: TokensToRecall, values: np.ndarray, limit: int) -> TokensRead:
    within = np.where(values <= limit, values, np.nan)
    middle = median(measure, within)
    return TokensRead(
        median=None if np.isnan(middle) else middle,
        reached=float(np.mean(~np.isnan(within))) if len(within) else 0.0,
    )
