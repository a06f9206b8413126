"""Queries and the code that answers them."""

from typing import TYPE_CHECKING

from chunkers.lazy import exports

if TYPE_CHECKING:
    from ground_truth.contract import check_dataset
    from ground_truth.registry import DATASETS
    from ground_truth.types import Annotation, Dataset, DatasetLoader, Qrels, Query

__all__ = ["DATASETS", "Annotation", "Dataset", "DatasetLoader", "Qrels", "Query", "check_dataset"]

__getattr__ = exports(
    __name__,
    {
        "ground_truth.contract": ("check_dataset",),
        "ground_truth.registry": ("DATASETS",),
        "ground_truth.types": ("Annotation", "Dataset", "DatasetLoader", "Qrels", "Query"),
    },
)
