"""A loader for a dataset that is already in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ground_truth.types import Dataset


@dataclass(frozen=True, kw_only=True)
class InMemory:
    """Loads nothing; tables name it after its dataset."""

    version: ClassVar[str] = "1"

    dataset: Dataset

    def load(self) -> Dataset:
        """Return the dataset."""
        return self.dataset
