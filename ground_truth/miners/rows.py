"""Mined queries as rows of an annotation file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from chunkers.errors import UsageError
from chunkers.languages import language_of
from chunkers.sources import Repository, walk
from chunkers.writable import is_writable
from ground_truth.annotations import AnnotationRow, Mask
from ground_truth.git import is_named_bare, resolve_ref
from ground_truth.git_snapshot import take_snapshot
from ground_truth.miners.comments import mine_comments
from ground_truth.miners.commits import mine_commits
from ground_truth.miners.docstrings import mine_docstrings
from ground_truth.miners.types import Mined

Kind = Literal["docstrings", "comments", "commits"]
_CODE_MINERS: Mapping[Kind, Callable[..., Mined]] = {"docstrings": mine_docstrings, "comments": mine_comments}


def mined_rows(
    repository: Path, kinds: Sequence[Kind], *, limit: int, seed: int, max_files: int
) -> tuple[list[AnnotationRow], dict[Kind, Mined]]:
    """Return the queries of some kinds, at most ``limit`` of each, and what each kind kept and dropped.

    The source is a folder, or the newest commit of a bare mirror named ``*.git``. Rows of documentation ask for
    documentation to be hidden, those of comments for comments too: all of them search one corpus. A commit's rows name
    its parent.
    """
    if not is_writable(repository.resolve().name):
        raise UsageError(f"{str(repository)!r} is not UTF-8, so no row could name it: rename the folder")
    found: dict[Kind, Mined] = {}
    code: tuple[Repository, str | None] | None = None
    for kind in kinds:
        if kind == "commits":
            name = repository.resolve().name.removesuffix(".git")
            found[kind] = mine_commits(repository, name=name, limit=limit, seed=seed, max_files=max_files)
            continue
        code = code or _code(repository)
        mined = _CODE_MINERS[kind](code[0], limit=limit, seed=seed)
        commits = dict.fromkeys((query.id for query in mined.queries), code[1]) if code[1] else {}
        found[kind] = dataclasses.replace(mined, commits=commits)
    mask: Mask = "comments" if "comments" in found else "docstrings"
    rows = [row for kind, mined in found.items() for row in _rows(mined, mask=None if kind == "commits" else mask)]
    return rows, found


def _code(repository: Path) -> tuple[Repository, str | None]:
    """Return the files to read, and their commit if they come from a bare mirror."""
    if not is_named_bare(repository):
        return walk(repository), None
    head = resolve_ref(repository, "HEAD")
    return take_snapshot(repository, head, name=repository.resolve().name.removesuffix(".git")), head


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
            alternative=note.alternative,
            kind=queries[note.query_id].kind,
            commit=mined.commits.get(note.query_id),
            language=queries[note.query_id].language or language_of(note.path),
            mask=mask,
        )
        for note in mined.annotations
    ]
