"""One hash that says which data a result was made from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple

from chunkers.sources import fingerprint
from ground_truth.types import Dataset


def dataset_fingerprint(dataset: Dataset) -> str:
    """Return a hash of the files, the queries, the annotations, what is hidden and the scope."""
    digest = hashlib.sha256()
    for repository in sorted(dataset.repositories, key=lambda repository: repository.name):
        _update(digest, [repository.name, fingerprint(repository)])
    for query in dataset.queries:
        _update(digest, list(astuple(query)))
    for note in dataset.annotations:
        _update(digest, list(astuple(note)))
    for span in dataset.hidden:
        _update(digest, ["hidden", *span])
    _update(digest, [dataset.scope])
    return digest.hexdigest()


def _update(digest: hashlib._Hash, row: list[object]) -> None:
    digest.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
