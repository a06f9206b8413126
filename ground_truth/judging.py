"""A dataset cut by a chunker and judged by a rule."""

from __future__ import annotations

from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker
from ground_truth.line_axis import ChunkLines
from ground_truth.lines import FileLines
from ground_truth.overlap import Judgements, make_qrels
from ground_truth.rules import Rule
from ground_truth.spans import FileKey
from ground_truth.types import Dataset


def judge(dataset: Dataset, chunker: Chunker, rule: Rule) -> Judgements:
    """Return the qrels of the dataset for this chunker; only annotated files are cut, as only they can be relevant."""
    repositories = {repository.name: repository for repository in dataset.repositories}
    files: dict[FileKey, FileLines] = {}
    chunks: list[Chunk] = []
    for repo, path in sorted({(note.repo, note.path) for note in dataset.annotations if note.grade > 0}):
        source = repositories[repo].read(path)
        if source is not None:
            files[FileKey(repo, path)] = FileLines.of(source.data)
            chunks += chunk_file(chunker, source)
    return make_qrels(rule, dataset.queries, dataset.annotations, ChunkLines.of(files, chunks))
