"""Any endpoint with OpenAI's embeddings protocol; the key comes from the environment and is sent nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.tokens import encoding
from indexing.encoders.remote import Endpoint, post
from indexing.encoders.texts import Long, pool_windows, readable, unit_rows
from indexing.types import Vectors
from indexing.vector_checks import unreadable

_DEFAULT = "https://api.openai.com/v1"
_BYTES_PER_TEXT = 16_384 * 32
"""More than any model's dimensions, each written out in full."""


@dataclass(frozen=True, kw_only=True)
class OpenAI:
    """A model behind ``POST {base_url}/embeddings``."""

    version: ClassVar[str] = "1"

    model: str
    base_url: str = _DEFAULT
    key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the key; a local server may need none."""
    dimensions: int | None = None
    """Request shortened vectors, if the model supports it."""
    query_prompt: str = ""
    document_prompt: str = ""
    tokenizer: str = "cl100k_base"
    window: int = 8191
    long: Long = "truncate"
    batch: int = 64
    request_tokens: int = 250_000
    """Maximum tokens per request: services limit these too."""
    timeout: float = 60.0
    """Time limit of a request in seconds, including its whole reply."""
    retries: int = 6
    backoff: float = 0.5
    """Seconds before the first retry, doubled each time unless the server says how long to wait."""

    def __post_init__(self) -> None:
        positive(self, "window", "batch", "request_tokens", "timeout", "backoff")
        if self.retries < 0:
            raise UsageError(f"retries must be 0 or more, not {self.retries}")
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise UsageError(f"base_url is {self.base_url!r}; it must be an address such as {_DEFAULT}")
        if address.query or address.fragment:
            raise UsageError(f"base_url is {self.base_url.partition('?')[0]!r} and more; it must end with its path")
        if address.username or address.password:
            raise UsageError("base_url must hold no user name or password: put the key into the environment (key_env)")

    @property
    def max_tokens(self) -> int | None:
        """The window at which long texts are cut, in tokens of ``tokenizer``."""
        return self.window if self.long == "truncate" else None

    def identity(self) -> Mapping[str, Any]:
        """Return what determines the vectors; never the key."""
        return {
            "encoder": "openai",
            "version": self.version,
            "model": self.model,
            "base_url": self.base_url.rstrip("/"),
            "dimensions": self.dimensions,
            "query_prompt": self.query_prompt,
            "document_prompt": self.document_prompt,
            "window": self.window,
            "tokenizer": self.tokenizer,
            "long": self.long,
        }

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return one float32 unit row per text; waits and retries if the server is busy."""
        prompt = self.query_prompt if kind == "query" else self.document_prompt
        pieces, owners, weights = self._windows(texts, prompt)
        rows: list[np.ndarray] = []
        for batch in self._batches(pieces, weights):
            rows.append(self._request(batch))
            if rows[-1].shape[1] != rows[0].shape[1]:
                raise UsageError(
                    f"{self._endpoint.url}: vectors of {rows[0].shape[1]} and then of {rows[-1].shape[1]} dimensions"
                )
        if not rows:
            return np.empty((0, self.dimensions or 0), dtype=np.float32)
        return pool_windows(np.concatenate(rows), owners, weights, how=self.long)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the length of each text in tokens of ``tokenizer``."""
        rows = encoding(self.tokenizer).encode_ordinary_batch([readable(text) for text in texts])
        return [len(row) for row in rows]

    def _windows(self, texts: Sequence[str], prompt: str) -> tuple[list[str], list[int], list[int]]:
        """Return the texts to send, the owner of each, and its tokens."""
        coder = encoding(self.tokenizer)
        pieces, owners, weights = [], [], []
        for owner, text in enumerate(map(readable, texts)):
            ids = coder.encode_ordinary(text)
            stop = self.window if self.long == "truncate" else max(len(ids), 1)
            for start in range(0, stop, self.window):
                part = ids[start : start + self.window]
                whole = start == 0 and len(part) == len(ids)
                # A cut may fall inside a character; the rest of it is dropped.
                piece = text if whole else coder.decode_bytes(part).decode("utf-8", "ignore")
                # Endpoints reject empty texts.
                pieces.append(prompt + piece or " ")
                owners.append(owner)
                weights.append(max(len(part), 1))
        return pieces, owners, weights

    def _batches(self, pieces: Sequence[str], weights: Sequence[int]) -> Iterator[list[str]]:
        batch: list[str] = []
        tokens = 0
        for piece, weight in zip(pieces, weights, strict=True):
            if batch and (len(batch) == self.batch or tokens + weight > self.request_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(piece)
            tokens += weight
        if batch:
            yield batch

    @property
    def _endpoint(self) -> Endpoint:
        return Endpoint(
            url=self.base_url.rstrip("/") + "/embeddings",
            key=os.environ.get(self.key_env, ""),
            key_env=self.key_env,
            timeout=self.timeout,
            retries=self.retries,
            backoff=self.backoff,
            largest=2**20 + self.batch * _BYTES_PER_TEXT,
        )

    def _request(self, batch: list[str]) -> Vectors:
        body: dict[str, Any] = {"model": self.model, "input": batch, "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        rows = post(self._endpoint, body, read=lambda reply: _rows(reply, len(batch)))
        if self.dimensions is not None and rows.shape[1] != self.dimensions:
            raise UsageError(f"{self._endpoint.url}: asked for {self.dimensions} dimensions, got {rows.shape[1]}")
        return unit_rows(rows)


def _rows(reply: Any, expected: int) -> np.ndarray:  # noqa: ANN401 - any JSON that the server sent
    """Return the reply's vectors in the order of the texts; a ValueError says what is wrong with it."""
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or len(data) != expected:
        found = len(data) if isinstance(data, list) else type(data).__name__
        raise ValueError(f"expected {expected} vectors under 'data', got {found}")
    try:
        ordered = sorted(data, key=lambda item: item["index"])
        indexes = [item["index"] for item in ordered]
        rows = np.array([item["embedding"] for item in ordered], dtype=np.float64)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"an item of 'data' is not an index and an embedding of one length ({error})") from error
    if indexes != list(range(expected)):
        raise ValueError(f"indexes are {indexes[:3]}…, not 0 to {expected - 1}")
    if rows.ndim != 2 or not rows.shape[1]:
        raise ValueError("an embedding is not a list of numbers")
    if wrong := unreadable(rows, zeros=False):
        raise ValueError(f"embeddings cannot be used: {wrong}")
    return rows
