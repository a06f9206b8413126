"""Every dataset: one line each."""

from chunkers.plugins import Entry, Registry
from ground_truth.types import DatasetLoader

DATASETS: Registry[DatasetLoader] = Registry(
    kind="dataset",
    group="chunkbench.datasets",
    builtin={
        "installed": Entry(
            "ground_truth.datasets.installed:Installed",
            "packages that are installed anyway, docstring queries: the default",
        ),
        "mined": Entry(
            "ground_truth.datasets.mined:MinedRepository", "your own repository, queries mined from it: root=FOLDER"
        ),
        "annotations": Entry(
            "ground_truth.datasets.annotations:Annotations", "your own repository and annotation file"
        ),
        "repoeval": Entry(
            "ground_truth.datasets.repoeval:RepoEval",
            "RepoEval's completion tasks: path=FOLDER with tasks and repositories",
        ),
    },
)
