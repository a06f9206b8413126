"""Published files: a local path, or the hub if the spec says so."""

from __future__ import annotations

import re
from pathlib import Path

from chunkers.errors import UsageError
from chunkers.network import check_download
from chunkers.plain_text import one_line

_HUB = re.compile(r"hub:([\w.-]+/[\w.-]+)(?:@(\w+))?\Z")
_READABLE = {".jsonl", ".json", ".parquet"}


def local_files(path: str) -> list[Path]:
    """Return the data files of a path, a folder, or ``hub:OWNER/NAME@REVISION``, which is downloaded once."""
    match = _HUB.match(path)
    if match:
        return _in_folder(_download(match[1], match[2]), "test")
    place = Path(path).expanduser()
    if place.is_dir():
        return _in_folder(place, "")
    if not place.is_file():
        raise UsageError(f"{path} does not exist: give a file, a folder, or hub:OWNER/NAME@REVISION")
    return [place]


def _in_folder(folder: Path, split: str) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.suffix in _READABLE and path.is_file())
    of_split = [path for path in files if split in path.stem]
    if not files:
        raise UsageError(f"{folder} has no .jsonl, .json or .parquet file")
    return of_split or files


def _download(name: str, revision: str | None) -> Path:
    """Return the folder of a dataset of the hub at a pinned commit."""
    if revision is None or not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise UsageError(f"hub:{name} needs the dataset's commit: write hub:{name}@ and its 40 hexadecimal digits")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise UsageError("reading from the hub needs huggingface_hub: pip install huggingface_hub") from None
    try:
        try:
            return Path(snapshot_download(name, revision=revision, repo_type="dataset", local_files_only=True))
        except LocalEntryNotFoundError:
            check_download(f"hub:{name}@{revision[:12]}")
            return Path(snapshot_download(name, revision=revision, repo_type="dataset"))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise UsageError(
            f"hub:{name}@{revision[:12]} cannot be downloaded: {one_line(str(error), limit=200)}"
        ) from None
