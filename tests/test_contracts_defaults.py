"""What a bare name means: the defaults of every retriever, embedder and reader, which results name and caches key."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from chunkers.plugins import Registry
from indexing.readers.registry import READERS
from indexing.registry import ENCODERS, RETRIEVERS

DEFAULTS: dict[str, dict[str, Any]] = {
    "dense": {"index": "flat", "links": 32, "effort": 64, "lists": None},
    "bm25": {"k1": 1.2, "b": 0.75},
    "hybrid": {"fusion": "rrf", "k": 60, "weight": 0.5, "pool": 100, "k1": 1.2, "b": 0.75},
    "mmr": {"pool": 100, "balance": 0.7},
    "dartboard": {"pool": 100, "sigma": 0.1},
    "rerank": {"model": "", "first": "bm25", "pool": 50, "batch": 32, "window": None},
    "minilm": {"long": "mean", "batch_tokens": 1024, "threads": None},
    "onnx": {"long": "truncate", "threads": None},
    "hashing": {"dimensions": 256},
    "precomputed": {"edges": "exact"},
    "st": {"revision": None, "query_prompt": None, "document_prompt": None, "window": None, "long": "truncate"}
    | {"batch": 32, "device": "cpu", "trust_remote_code": False},
    "openai": {"base_url": "https://api.openai.com/v1", "key_env": "OPENAI_API_KEY", "dimensions": None}
    | {"query_prompt": "", "document_prompt": "", "tokenizer": "cl100k_base", "window": 8191, "long": "truncate"}
    | {"batch": 64, "request_tokens": 250_000, "timeout": 60.0, "retries": 6, "backoff": 0.5},
    "chunk": {},
    "file": {},
    "definition": {},
    "neighbours": {"chunks": 1},
    "lines": {"around": 20},
    "merge": {"share": 0.5, "top": 20},
}
"""Name → parameters that need not be given. Another default is another version of the plug-in."""


GIVEN = {"st": ":model=m", "openai": ":model=m", "precomputed": ":path=p"}
"""What must be given."""
DECLARED: dict[str, dict[str, Any]] = {
    "dense": {"uses_vectors": True},
    "bm25": {"uses_vectors": False},
    "hybrid": {"uses_vectors": True},
    "mmr": {"uses_vectors": True},
    "dartboard": {"uses_vectors": True},
    "rerank": {"uses_vectors": False},
    "minilm": {"local": True},
    "st": {"local": True},
    "onnx": {"local": True},
    "openai": {},
    "precomputed": {"stored": True},
    "hashing": {"local": True, "zero_rows": True},
}
"""Name → what it says of itself: whether queries are timed, vectors cached, and rows of zeros allowed."""


@pytest.mark.parametrize("registry", [RETRIEVERS, ENCODERS], ids=lambda registry: registry.kind)
def test_each_declares_what_it_does(registry: Registry[Any]) -> None:
    """A model on this machine is timed, stored vectors are not cached again, and only hashed words may say nothing."""
    for name in registry.builtin:
        made = registry.create(name + GIVEN.get(name, ""))
        flags = {flag: getattr(made, flag, None) for flag in ("uses_vectors", "local", "stored", "zero_rows")}
        assert {flag: value for flag, value in flags.items() if value is not None} == DECLARED[name], name


@pytest.mark.parametrize("registry", [RETRIEVERS, ENCODERS, READERS], ids=lambda registry: registry.kind)
def test_a_bare_name_means_what_it_has_meant(registry: Registry[Any]) -> None:
    """A spec in an earlier result is run again with the same parameters, whatever was left out of it."""
    found = {}
    for name in registry.builtin:
        made = registry.create(name + GIVEN.get(name, ""))
        found[name] = {each.name: each.default for each in fields(made) if each.default is not MISSING}
    assert found == {name: DEFAULTS[name] for name in registry.builtin}
