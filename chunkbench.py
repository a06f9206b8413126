"""Which code chunker retrieves better, by how much, and is that real? Everything from Python.

Compare chunkers on your own code; a chunker is a spec or an object of your own:

    import chunkbench as cb

    results = cb.compare("src", chunkers=["cast:size=1500", "fixed-lines:lines=50"])
    print(results)          # the table and the verdict; in a notebook, `results` alone shows both
    results.save("results/mine")

See where a chunker cuts:

>>> [chunk.span[2:] for chunk in chunk("chunkers/nearest.py", "fixed-lines:lines=6")]
[(1, 6), (7, 12)]

Measures are values that can be called:

>>> round(measure("ndcg@5")(["d1", "d2", "d3", "d4", "d5"], {"d2", "d4"}), 3)
0.651
>>> round(measure("ild@3")(["a", "b"], vectors=[[1.0, 0.0], [0.6, 0.8]]), 3)
0.4

Score rankings made by another tool:

>>> scores = evaluate({"q1": ["a", "b"], "q2": ["c"]}, {"q1": {"b"}, "q2": {"d"}}, ["mrr", "recall@5"])
>>> scores["mrr"], scores["recall@5"]
(0.25, 0.5)
>>> benchmark(lambda query: ["cli.py", "help.py"], [("how are errors shown?", {"cli.py"})])["ndcg@10"]
1.0
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != __file__.rpartition("/")[0]:
    del sys.path[0]  # `python -m` puts the current folder there, which may be someone else's repository

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from chunkers.errors import MissingExtraError, UsageError
    from chunkers.plugins import Listed
    from chunkers.types import Chunk, Chunker, Piece, SizeLimit, SourceFile, Span
    from evaluation.api import BatchValues
    from evaluation.measures.measure import Measure
    from evaluation.recommend.printable import PrintableRecommendation
    from evaluation.report.printable import PrintableResults
    from ground_truth.types import Annotation, Dataset, DatasetLoader, Query
    from indexing.types import Encoder, Hit, Retriever

__all__ = [
    "Annotation",
    "Chunk",
    "Chunker",
    "Dataset",
    "Encoder",
    "Hit",
    "Measure",
    "MissingExtraError",
    "Piece",
    "Query",
    "Retriever",
    "SizeLimit",
    "SourceFile",
    "Span",
    "UsageError",
    "benchmark",
    "chunk",
    "compare",
    "evaluate",
    "main",
    "measure",
    "plugins",
    "recommend",
]

_PACKAGES = ("chunkers", "indexing", "ground_truth", "evaluation", "scripts")
_HERE = str(Path(__file__).resolve().parent)
_TYPES = {
    "chunkers.errors": ("MissingExtraError", "UsageError"),
    "chunkers.types": ("Chunk", "Chunker", "Piece", "SizeLimit", "SourceFile", "Span"),
    "evaluation.measures.measure": ("Measure",),
    "ground_truth.types": ("Annotation", "Dataset", "Query"),
    "indexing.types": ("Encoder", "Hit", "Retriever"),
}


class _OwnPackages:
    """Finds the command's packages beside this file, whatever else on the path has their names."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [_HERE], target) if name in _PACKAGES and path is None else None


def _is_command() -> bool:
    return __name__ in ("__main__", "__mp_main__") or Path(sys.argv[0]).stem in ("chunkbench", "chunkbench-script")


def _claim_packages() -> None:
    """Let the command use its own packages; as a library, claim no name from its user, but report what hides it."""
    if _is_command():
        sys.meta_path.insert(0, _OwnPackages)
        return
    for name in _PACKAGES:
        spec = None if name in sys.modules else find_spec(name)
        origin = sys.modules[name].__file__ if name in sys.modules else spec and spec.origin
        places = [origin] if origin else list(spec.submodule_search_locations or ()) if spec else []
        if not any(Path(str(place)).resolve().is_relative_to(_HERE) for place in places):
            hidden = places[0] if places else "nothing"
            raise ImportError(
                f"chunkbench needs its own package {name!r} in {_HERE}, but {hidden} comes first on sys.path"
            )


_claim_packages()


def compare(
    source: str | Path | Dataset | DatasetLoader | Iterable[str | Path | Dataset | DatasetLoader] | None = None,
    *,
    chunkers: Iterable[str | Chunker] = (),
    embedders: Iterable[str | Encoder] = (),
    retrievers: Iterable[str | Retriever] = (),
    measures: Iterable[str | Measure] = (),
    annotations: str | Path | None = None,
    engine: str = "serial",
    jobs: int | None = None,
    **options: Any,  # noqa: ANN401 - the other keys of an experiment file
) -> PrintableResults:
    """Compare chunkers and return the results; ``print`` shows the table and the verdict.

    ``source`` is a folder of code (its queries are mined, or come from the file ``annotations``), several folders, a
    dataset as a spec or an object, several datasets, or nothing: the embedded dataset. Chunkers, embedders, retrievers
    and measures are specs or objects of your own. ``options`` are the keys of an experiment file, such as ``baseline``
    or ``limit``. ``engine="processes"`` uses ``jobs`` processes; a script that does so needs an
    ``if __name__ == "__main__":``.
    """
    from evaluation.report.printable import compare_objects

    axes: dict[str, Iterable[Any]] = {
        "chunkers": chunkers,
        "embedders": embedders,
        "retrievers": retrievers,
        "measures": measures,
    }
    return compare_objects(source, axes, annotations=annotations, engine=engine, jobs=jobs, options=options)


def recommend(
    source: str | Path | Dataset | DatasetLoader | Iterable[str | Path] | None = None,
    *,
    candidates: Iterable[str | Chunker] = (),
    embedder: str | Encoder | None = None,
    retriever: str | Retriever | None = None,
    current: str | Chunker | None = None,
    annotations: str | Path | None = None,
    max_chunks: int | None = None,
    max_index_mb: float | None = None,
    price: float | None = None,
    budget: float | None = None,
    engine: str = "serial",
    jobs: int | None = None,
    **options: Any,  # noqa: ANN401 - seed, margin, limit, headline
) -> PrintableRecommendation:
    """Recommend a chunker and a size for this code; ``print`` shows the answer and its risk.

    ``source`` is as in `compare`. Without ``candidates``, families of chunkers at six sizes race. ``current`` is the
    chunker in use, ``price`` that of embedding a million tokens, ``budget`` the most that embedding everything once may
    cost. ``options`` are ``seed``, ``margin`` (in points), ``limit`` (queries) and ``headline`` (the measure that
    decides).
    """
    from evaluation.recommend.printable import recommend_objects

    limits = (max_chunks, max_index_mb, price, budget)
    chosen = {"embedder": embedder, "retriever": retriever, "current": current, "annotations": annotations}
    return recommend_objects(source, candidates, chosen, limits=limits, engine=engine, jobs=jobs, options=options)


def chunk(path: str | Path, chunker: str | Chunker = "cast") -> list[Chunk]:
    """Return the chunks of a file, or of every source file of a folder."""
    from chunkers.errors import UsageError
    from chunkers.registry import chunker_of
    from chunkers.sources import walk
    from chunkers.splitting import chunk_file

    if not isinstance(path, (str, PathLike)):
        raise UsageError(f"the path is {path!r}: give a file or a folder")
    cutter = chunker_of(chunker)
    return [each for source in walk(Path(path).expanduser()).files() for each in chunk_file(cutter, source)]


def measure(name: str) -> Measure:
    """Return the measure of this name, to be called as ``measure("ndcg@10")(ids, relevant)``."""
    from evaluation.measures.registry import parse_measure

    return parse_measure(name)


def evaluate(
    run: Mapping[str, Sequence[str] | Mapping[str, float]],
    qrels: Mapping[str, Collection[str] | Mapping[str, float]],
    measures: str | Measure | Iterable[str | Measure] = ("ndcg@10", "recall@10", "mrr"),
) -> BatchValues:
    """Return the mean of each measure over the judged queries, with ``details`` and the values ``per_query``.

    ``per_query`` is in the order of ``qrels``; ``by_query`` has the same values by the query's id.

    ``run`` holds ids, best first, or ids with scores, where equal scores keep the order given; ``qrels`` relevant
    ids, or ids with grades. A judged query missing from the run scores as an empty ranking; an unjudged query in the
    run is an error.
    """
    from evaluation.api import evaluate_run

    return evaluate_run(run, qrels, measures)


def benchmark(
    retriever: Callable[..., Sequence[Any]],
    dataset: str | Dataset | DatasetLoader | Iterable[tuple[str, Collection[str] | Mapping[str, float]]],
    *,
    k_values: Sequence[int] = (1, 5, 10),
    measures: str | Measure | Iterable[str | Measure] | None = None,
) -> BatchValues:
    """Send every query of the dataset to the function and return the means.

    The dataset is a spec, an object, or pairs of a query and its relevant ids. For a spec or an object, the relevant
    ids are the paths of the files that hold gold; if it has several repositories, the function is also called with
    ``repo=NAME``. A function that returns places, as ``(file, first line, last line)`` or as a mapping
    with ``file``, ``start_line`` and ``end_line``, is scored on text and files, as a span run is.
    """
    from evaluation.api import benchmark as run

    return run(retriever, dataset, k_values, measures=measures)


def plugins(kind: str) -> list[Listed]:
    """Return the registered plug-ins of a kind: chunker, embedder, retriever, reader, dataset or measure.

    >>> found = {each.name: each for each in plugins("chunker")}
    >>> [str(parameter) for parameter in found["fixed-nws"].parameters]
    ['size=1500', 'header=none']
    """
    from evaluation.kinds import registry_of

    return registry_of(kind).listed()


def main() -> NoReturn:
    """Run the command `chunkbench`."""
    from scripts.cli import main as run

    run()


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the types of `_TYPES`
    for module, names in _TYPES.items():
        if name in names:
            return getattr(__import__(module, fromlist=[name]), name)
    raise AttributeError(f"module 'chunkbench' has no attribute {name!r}")


if __name__ == "__main__":
    main()
