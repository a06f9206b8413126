"""Any sentence-transformers model, by hub id or folder, with its own prompts and a pinned revision."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from chunkers.errors import UsageError
from chunkers.network import check_download
from chunkers.plain_text import one_line
from chunkers.plugins import positive
from indexing.encoders.texts import Long, pool_windows, readable, unit_rows
from indexing.model_folder import ModelFolder, content_hash
from indexing.types import Vectors

# Files of a repository that are not needed beside the weights: the same model for other engines.
_OTHER_ENGINES = ["onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.gguf", "coreml/*"]
_PROMPT_NAMES = {"query": ("query",), "document": ("document", "passage", "corpus")}


@dataclass(frozen=True, kw_only=True)
class SentenceTransformerEncoder:
    """A model of the sentence-transformers library; prompts come from its configuration unless given."""

    version: ClassVar[str] = "1"
    local: ClassVar[bool] = True

    model: str
    """A folder, or an id on the Hugging Face hub."""
    revision: str | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    window: int | None = None
    """Tokens that the model reads; None means the limit in its configuration."""
    long: Long = "truncate"
    batch: int = 32
    device: str = "cpu"
    trust_remote_code: bool = False
    """Whether code from the model's repository may run: only if the user writes it."""

    def __post_init__(self) -> None:
        positive(self, "batch", *(["window"] if self.window is not None else []))

    @property
    def max_tokens(self) -> int | None:
        """The window at which long texts are cut, read from the model's files without loading it."""
        return self._window() if self.long == "truncate" else None

    def identity(self) -> Mapping[str, Any]:
        """Return what determines the vectors: for a folder its contents, for a hub model its commit."""
        where = Path(self.model).expanduser()
        folder = self._folder()
        pinned = {"files": content_hash(folder)} if where.is_dir() else {"commit": folder.path.name}
        return {
            "encoder": "st",
            "version": self.version,
            "model": Path(self.model).name if where.is_dir() else self.model,
            **pinned,
            "query_prompt": self.query_prompt,
            "document_prompt": self.document_prompt,
            "window": self.window,
            "long": self.long,
        }

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return one float32 unit row per text, computed with the prompt of its kind."""
        model = self._model()
        if not texts:
            return np.empty((0, model.get_embedding_dimension()), dtype=np.float32)
        prompt = self._prompt(kind)
        pieces, owners, weights = self._windows([readable(text) for text in texts], prompt)
        rows = model.encode(
            pieces, prompt=prompt, batch_size=self.batch, convert_to_numpy=True, show_progress_bar=False
        )
        if not np.isfinite(rows).all():
            raise UsageError(f"{self.model}: the model gave values that are not finite numbers")
        return pool_windows(unit_rows(rows), owners, weights, how=self.long)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the length of each text in the model's tokens, including special ones, without prompts."""
        return [len(ids) for ids in self._model().tokenizer([readable(text) for text in texts])["input_ids"]]

    def _windows(self, texts: list[str], prompt: str) -> tuple[list[str], list[int], list[int]]:
        """Return the slices of the texts that the model sees, the owner of each, and its tokens."""
        window = self._window()
        if self.long == "truncate" or window is None:
            return texts, list(range(len(texts))), [1] * len(texts)
        tokenizer = self._model().tokenizer
        step = window - len(tokenizer(prompt)["input_ids"])
        if step < 1:
            raise UsageError(f"{self.model}: its prompt fills the window of {window} tokens")
        pieces, owners, weights = [], [], []
        for owner, text in enumerate(texts):
            offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
            for start in range(0, max(len(offsets), 1), step):
                part = offsets[start : start + step]
                pieces.append(text[part[0][0] : part[-1][1]] if part else text)
                owners.append(owner)
                weights.append(max(len(part), 1))
        return pieces, owners, weights

    def _prompt(self, kind: str) -> str:
        given = self.query_prompt if kind == "query" else self.document_prompt
        if given is not None:
            return given
        model = self._model()
        known: Mapping[str, str] = model.prompts or {}
        names = (*_PROMPT_NAMES.get(kind, ()), model.default_prompt_name)
        return next((known[name] for name in names if name and known.get(name)), "")

    def _window(self) -> int | None:
        if self.window is not None:
            return self.window
        return _configured_window(self._folder())

    def _folder(self) -> ModelFolder:
        where = Path(self.model).expanduser()
        return ModelFolder.at(where if where.is_dir() else _snapshot(self.model, self.revision))

    def _model(self) -> Any:  # noqa: ANN401 - sentence_transformers is untyped
        """Return the model, which encoders with other windows share, with this one's window."""
        model, own = _load(self._folder(), self.device, self.trust_remote_code)
        window = own if (chosen := self._window()) is None else chosen
        if model.max_seq_length != window:
            try:
                model.max_seq_length = window
            except AttributeError:
                raise UsageError(f"{self.model}: the model reads all of a text: leave window= out") from None
        return model


class _Loaded(NamedTuple):
    model: Any
    window: float | None
    """Its window as loaded."""


@functools.lru_cache(maxsize=4)
def _load(folder: ModelFolder, device: str, trust: bool) -> _Loaded:  # noqa: FBT001 - a private cache key
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model = SentenceTransformer(str(folder.path), device=device, trust_remote_code=trust)
        return _Loaded(model, model.max_seq_length)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        hint = "" if trust or "trust_remote_code" not in str(error) else " Allow it with trust_remote_code=true."
        raise UsageError(f"{folder.path}: sentence-transformers cannot load this model: {reason}{hint}") from error


@functools.cache
def _snapshot(model: str, revision: str | None) -> Path:
    """Return the folder of the hub model: a local copy if there is one, else downloaded."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        try:
            return Path(snapshot_download(model, revision=revision, local_files_only=True))
        except LocalEntryNotFoundError:
            check_download(f"the model {model!r}")
            return Path(snapshot_download(model, revision=revision, ignore_patterns=_OTHER_ENGINES))
    except (OSError, HfHubHTTPError, HFValidationError) as error:
        reason = one_line(str(error), limit=200)
        raise UsageError(f"{model!r} is no folder here, and the hub does not give it: {reason}") from error


@functools.lru_cache(maxsize=16)
def _configured_window(folder: ModelFolder) -> int | None:
    """Return how many tokens the model reads, by the rules of sentence-transformers, from its files."""
    own = _json(folder.path / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(own, int):
        return own
    limits = (
        _json(folder.path / "tokenizer_config.json").get("model_max_length"),
        _json(folder.path / "config.json").get("max_position_embeddings"),
    )
    # Tokenizers without a limit have an absurdly large number there.
    known = [int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < 10**9]
    return min(known) if known else None


def _json(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    found = json.loads(path.read_text("utf-8"))
    return found if isinstance(found, dict) else {}
