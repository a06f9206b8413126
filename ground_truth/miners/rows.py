"""Mined queries as rows of an annotation file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from chunkers.languages import language_of
from chunkers.sources import walk
from ground_truth.annotations import AnnotationRow, Mask
from ground_truth.git import is_named_bare, resolve_ref
from ground_truth.git_snapshot import take_snapshot
from ground_truth.miners.commits import mine_commits
from ground_truth.miners.docstrings import mine_docstrings
from ground_truth.miners.types import Mined


def mined_docstring_rows(repository: Path, *, limit: int, seed: int) -> tuple[list[AnnotationRow], Mined]:
    """Return the documentation queries of a folder, or of the newest commit of a bare mirror named ``*.git``.

    The rows ask for the documentation to be masked.
    """
    if not is_named_bare(repository):
        mined = mine_docstrings(walk(repository), limit=limit, seed=seed)
        return _rows(mined, mask="docstrings"), mined
    head = resolve_ref(repository, "HEAD")
    found = take_snapshot(repository, head, name=repository.resolve().name.removesuffix(".git"))
    mined = mine_docstrings(found, limit=limit, seed=seed)
    mined = dataclasses.replace(mined, commits={query.id: head for query in mined.queries})
    return _rows(mined, mask="docstrings"), mined


def mined_commit_rows(repository: Path, *, limit: int, seed: int, max_files: int) -> tuple[list[AnnotationRow], Mined]:
    """Return the commit queries of a clone; each row names the parent commit that is searched."""
    mined = mine_commits(
        repository, name=repository.resolve().name.removesuffix(".git"), limit=limit, seed=seed, max_files=max_files
    )
    return _rows(mined, mask=None), mined


def _rows(mined: Mined, *, mask: Mask | None) -> list[AnnotationRow]:
    queries = {query.id: query for query in mined.queries}
    return [
        AnnotationRow(
            query_id=note.query_id,
            query=queries[note.query_id].text,
            repo=queries[note.query_id].cluster,
            file=note.path,
            start_line=note.start_line,
            end_line=note.end_line,
            relevance=note.grade,
            commit=mined.commits.get(note.query_id),
            language=language_of(note.path),
            mask=mask,
        )
        for note in mined.annotations
    ]
