"""A dataset that is at hand, as a loader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ground_truth.types import Dataset


@dataclass(frozen=True, kw_only=True)
class InMemory:
    """Loads nothing; a table names it after its dataset."""

    version: ClassVar[str] = "1"

    dataset: Dataset

    def load(self) -> Dataset:
        """Return the dataset."""
        return self.dataset
