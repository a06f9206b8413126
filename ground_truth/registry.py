"""Every dataset: one line each."""

from chunkers.plugins import Entry, Registry
from ground_truth.types import DatasetLoader

DATASETS: Registry[DatasetLoader] = Registry(
    kind="dataset",
    group="chunkbench.datasets",
    members=("version", "load"),
    builtin={
        "installed": Entry(
            "ground_truth.datasets.installed:Installed",
            "packages that are installed anyway, queries of docstrings and comments: the default",
        ),
        "annotations": Entry(
            "ground_truth.datasets.annotations:Annotations", "your own repository and annotation file"
        ),
        "mined": Entry(
            "ground_truth.datasets.mined:MinedRepository", "any folder or clone without labels, its queries mined"
        ),
        "repoeval": Entry(
            "ground_truth.datasets.repoeval:RepoEval", "RepoEval's completion tasks in eight repositories"
        ),
        "swebench": Entry("ground_truth.datasets.swebench:SweBench", "issues and the lines that their patches change"),
        "codesearchnet": Entry(
            "ground_truth.datasets.codesearchnet:CodeSearchNet",
            "99 queries with graded human judgements, six languages",
        ),
        "crosscodeeval": Entry(
            "ground_truth.datasets.crosscodeeval:CrossCodeEval",
            "line completion that needs other files of the repository",
        ),
        "contextbench": Entry(
            "ground_truth.datasets.contextbench:ContextBench", "issues and the context that experts marked"
        ),
        "semble": Entry(
            "ground_truth.datasets.semble:Semble", "semble's questions about 63 repositories in 19 languages"
        ),
        "repobench": Entry(
            "ground_truth.datasets.repobench:RepoBench",
            "RepoBench-R: which snippet of other files does the next line need?",
        ),
        "cocha": Entry("ground_truth.datasets.cocha:Cocha", "questions about code files with the passages that answer"),
        "beir": Entry("ground_truth.datasets.beir:Beir", "a folder in the format of BEIR or CoIR"),
        "simple-json": Entry("ground_truth.datasets.simple_json:SimpleJson", "a small JSON file of queries and files"),
    },
)
