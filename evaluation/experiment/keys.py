"""What determines each stage's output; a stage's key is a hash of exactly that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chunkers.languages import GRAMMAR_PACK
from chunkers.plugin_code import function_hash
from chunkers.types import Chunker, SizeUnit
from evaluation.config import ExperimentConfig
from evaluation.experiment.code import code_of, plugin_inputs
from evaluation.experiment.environment import package_version
from evaluation.experiment.loaded_dataset import LoadedDataset
from evaluation.experiment.store import StageKey
from evaluation.measures.measure import Measure
from indexing.identity import vectors_identity
from indexing.types import Encoder, Retriever


def chunk_key(dataset: LoadedDataset, chunker: Chunker) -> StageKey:
    """Return what determines the chunks."""
    inputs = {
        "corpus": dataset.corpus,
        "chunker": plugin_inputs(chunker),
        "versions": cutting_versions(),
        "code": code_of("evaluation.experiment.chunk_table"),
    }
    return StageKey("chunk", inputs)


def file_chunks_inputs(chunker: Chunker) -> dict[str, Any]:
    """Return what determines the chunks of a file and their ids, apart from the file."""
    return {
        "chunker": plugin_inputs(chunker),
        "versions": cutting_versions(),
        "code": code_of("evaluation.experiment.chunk_ids"),
    }


def file_tokens_inputs() -> dict[str, Any]:
    """Return what determines the token offsets of a file, apart from the file."""
    return {"versions": {"tiktoken": package_version("tiktoken")}, "code": code_of("chunkers.sizes")}


def file_words_inputs() -> dict[str, Any]:
    """Return what determines the words of a file's chunks, apart from the file and the chunks."""
    texts = ("evaluation.experiment.chunk_table", "ground_truth.hidden")
    return {"code": [code_of(name) for name in ("indexing.word_columns", *texts)]}


def words_key(dataset: LoadedDataset, chunks: StageKey) -> StageKey:
    """Return what determines the document frequencies of the query words."""
    inputs = {
        "chunks": chunks.digest,
        "queries": dataset.queries,
        "hidden": dataset.hidden,
        "code": code_of("evaluation.experiment.space_words"),
    }
    return StageKey("words", inputs)


def part_key(ranking: StageKey, files: range) -> StageKey:
    """Return what determines the search results in some files of a corpus."""
    return StageKey("search", {"ranking": ranking.digest, "files": [files.start, files.stop]})


def cutting_versions() -> dict[str, str]:
    """Return the versions of the packages that affect where files are cut and how large chunks are."""
    return {name: package_version(name) for name in ("tree-sitter", "tiktoken")} | {"grammars": GRAMMAR_PACK}


def retrieve_key(
    dataset: LoadedDataset,
    chunks: StageKey,
    *,
    encoder: Encoder | None,
    retriever: Retriever,
    depth: int,
    budgets: Mapping[SizeUnit, int],
) -> StageKey:
    """Return what determines the rankings; the embedder matters only to a retriever that uses vectors."""
    inputs = {
        "chunks": chunks.digest,
        "queries": dataset.queries,
        "hidden": dataset.hidden,
        "embedder": vectors_identity(encoder) if encoder else None,
        "retriever": plugin_inputs(retriever),
        "depth": depth,
        "budgets": budgets,
        "versions": {name: package_version(name) for name in ("faiss-cpu", "bm25s")},
        "code": code_of("evaluation.experiment.searching"),
    }
    return StageKey("retrieve", inputs)


def levels_key(
    config: ExperimentConfig, measures: Sequence[Measure], dataset: LoadedDataset, chunks: StageKey
) -> StageKey:
    """Return what determines the scores of a random and of a perfect ranking."""
    inputs = {
        "chunks": chunks.digest,
        "queries": dataset.queries,
        "annotations": dataset.annotations,
        "hidden": dataset.hidden,
        "measures": _codes(measures),
        "rule": config.rule,
        "relevance": _relevance_of(config, dataset),
        "depth": config.depth,
        "weight": config.weight,
        "code": code_of("evaluation.experiment.levels"),
    }
    return StageKey("levels", inputs)


def score_key(
    config: ExperimentConfig, measures: Sequence[Measure], dataset: LoadedDataset, ranking: StageKey, encoder: Encoder
) -> StageKey:
    """Return what determines the scores."""
    inputs = {
        "ranking": ranking.digest,
        "annotations": dataset.annotations,
        "measures": _codes(measures),
        "rule": config.rule,
        "relevance": _relevance_of(config, dataset),
        "budgets": config.budgets,
        "embedder": vectors_identity(encoder),
        "code": code_of("evaluation.experiment.scoring"),
    }
    return StageKey("score", inputs)


def _codes(measures: Sequence[Measure]) -> dict[str, str]:
    """Return measure → hash of its code; a level uses that of its measure too."""
    return {
        each.name: "".join(plugin_inputs(part)["code"] for part in (each, *each.parts))
        for each in sorted(measures, key=lambda each: each.name)
    }


def _relevance_of(config: ExperimentConfig, dataset: LoadedDataset) -> dict[str, object]:
    """Return what determines relevance apart from the annotations: expected answers, and the dataset's own function.

    A function beside annotations is an error unless the user insists.
    """
    own = dataset.dataset.relevance
    return {
        "expected": [query.expected for query in dataset.dataset.queries if query.expected is not None],
        "own": None if own is None else [function_hash(own), config.insist],
    }
