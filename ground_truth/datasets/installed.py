"""The default dataset: packages that are installed anyway, each one a repository, with mined queries."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Folder, fingerprint, walk
from ground_truth.masking import mask_docstrings
from ground_truth.miners.docstrings import mine_docstrings
from ground_truth.types import Dataset

DEFAULT_PACKAGES = (
    "click,requests,tqdm,pathspec,markdown_it,bm25s,charset_normalizer,tiktoken,typing_inspection,safetensors"
)


@dataclass(frozen=True, kw_only=True)
class Installed:
    """Installed pure-Python packages; a query is a function's docstring, which is masked from the index."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "nothing: the packages come with chunkbench"

    packages: str = DEFAULT_PACKAGES
    """Import names, separated by commas."""
    queries: int = 40
    """At most this many per package."""
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self, "queries")
        if not self.packages.replace(",", "").strip():
            raise UsageError("packages names none: write import names separated by commas")

    def load(self) -> Dataset:
        """Return the dataset; no package is imported."""
        names = list(dict.fromkeys(name.strip() for name in self.packages.split(",") if name.strip()))
        folders = [_folder(name) for name in names]
        mined = [mine_docstrings(folder, limit=self.queries, seed=self.seed) for folder in folders]
        dropped = sum((Counter(one.dropped) for one in mined), Counter[str]())
        masked = tuple(dataclasses.replace(folder, transform=mask_docstrings) for folder in folders)
        return Dataset(
            name="installed",
            repositories=masked,
            queries=tuple(query for one in mined for query in one.queries),
            annotations=tuple(note for one in mined for note in one.annotations),
            mined=True,
            details={
                "packages": {
                    folder.name: {
                        "version": _version(folder.name, folder.root),
                        "files": len(folder.paths),
                        "fingerprint": fingerprint(folder)[:16],
                        "queries": len(one.queries),
                    }
                    for folder, one in zip(folders, mined, strict=True)
                },
                "dropped": dict(sorted(dropped.items())),
                "masked": "docstrings",
            },
        )


def _folder(name: str) -> Folder:
    """Return the package's Python files, found without importing it."""
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise UsageError(f"package {name!r} is not installed: pip install it, or leave it out of packages=")
    folder = walk(Path(places[0]), name=name, languages=("python",))
    if not folder.paths:
        raise UsageError(f"package {name!r} has no Python files: choose a pure-Python package")
    return folder


def _version(name: str, root: Path) -> str:
    """Return the version of the distribution that the package belongs to."""
    try:
        return version(name)
    except PackageNotFoundError:  # a distribution of another name
        owner = next((info for info in sorted(root.parent.glob("*.dist-info")) if _holds(info, root.name)), None)
        return Distribution.at(owner).version if owner else "unknown"


def _holds(info: Path, package: str) -> bool:
    """Return whether the distribution's list of files has the package; asking the library takes half a second."""
    record = info / "RECORD"
    return record.is_file() and f"\n{package}/__init__.py," in "\n" + record.read_text("utf-8")
