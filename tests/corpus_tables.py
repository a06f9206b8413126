"""Chunk tables of small corpora, made as a run makes them: in blocks, which are joined."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from chunkers.errors import UsageError
from chunkers.sizes import ruler
from chunkers.sources import Repository
from chunkers.types import Chunker, SourceFile
from evaluation.experiment.chunk_ids import ids_record, read_ids
from evaluation.experiment.chunk_table import ChunkPart, ChunkTable, CorpusFile, join_parts
from evaluation.experiment.file_chunks import cut_file, read_records


def part_of(sources: Iterable[SourceFile], chunker: Chunker) -> ChunkPart:
    """Return the chunks of some files."""
    files, records, ids = [], [], []
    for source in sources:
        tokens = functools.partial(ruler, source.data, "tokens")
        ((_, cut),) = cut_file(source, {"it": chunker}, tokens)
        if isinstance(cut, UsageError):
            raise cut
        files.append(CorpusFile(source.repo, source.path, source.language))
        records.append(cut.to_bytes())
        ids.append(ids_record(source, records[-1]))
    return ChunkPart(tuple(files), read_records(records), read_ids(ids))


def build_chunks(repositories: Sequence[Repository], chunker: Chunker) -> ChunkTable:
    """Return the table of all files, in one block for each repository."""
    ordered = sorted(repositories, key=lambda repository: repository.name)
    return join_parts([part_of(repository.files(), chunker) for repository in ordered])
