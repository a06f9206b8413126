"""The default dataset: packages that are installed anyway, each as a repository with mined queries."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from chunkers.errors import UsageError
from chunkers.file_facts import fingerprint
from chunkers.plugins import positive
from chunkers.sizes import ruler
from chunkers.sources import Folder, Skipped, walk
from ground_truth.hidden import HiddenText, documentation, inside
from ground_truth.miners.mixed import CodeKind, mine_code
from ground_truth.miners.types import Mined
from ground_truth.source_paths import is_test_file
from ground_truth.types import Dataset

DEFAULT_PACKAGES = (
    "anyio,bm25s,click,filelock,fsspec,httpcore2,httpx2,huggingface_hub,jinja2,joblib,markdown_it,mpmath,networkx,pathspec,"
    "pyarrow,requests,scipy.sparse,sentence_transformers,sklearn.utils,sympy.solvers,torch.utils,"
    "transformers.utils,typer,urllib3"
)
_KINDS: tuple[CodeKind, ...] = ("docstrings", "comments")
_LARGEST_FILE = 6_000
"""Tokens; a longer file would make up most of its repository."""


class _Sample(NamedTuple):
    """Some files of a package, and the queries mined from them."""

    folder: Folder
    mined: Mined
    tokens: int
    """Visible tokens."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """Installed pure-Python packages; docstrings ask for definitions, comments for blocks, and both are hidden."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "nothing: the packages come with chunkbench"

    packages: str = DEFAULT_PACKAGES
    """Import names, separated by commas; for a large package, a part such as numpy.lib."""
    queries: int = 12
    """Per package, half from docstrings and half from comments; a package with fewer is left out."""
    tokens: int = 21_000
    """Visible text per package: files are taken in path order, from a start chosen by the seed, up to this."""
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self, "queries", "tokens")
        if self.queries % len(_KINDS):
            raise UsageError(f"queries is {self.queries}: write an even number, half of each kind")
        if not self.packages.replace(",", "").strip():
            raise UsageError("packages names none: write import names separated by commas")

    def load(self) -> Dataset:
        """Return the dataset; no package is imported."""
        names = list(dict.fromkeys(name.strip() for name in self.packages.split(",") if name.strip()))
        samples = [_sample(_folder(name), self) for name in names]
        kept = [each for each in samples if _is_balanced(each.mined, self.queries)]
        if not kept:
            raise UsageError(f"no package gives {self.queries} queries, half of each kind: ask for fewer with queries=")
        dropped = sum((Counter(each.mined.dropped) for each in kept), Counter[str]())
        return Dataset(
            name="installed",
            repositories=tuple(each.folder for each in kept),
            queries=tuple(query for each in kept for query in each.mined.queries),
            annotations=tuple(note for each in kept for note in each.mined.annotations),
            mined=True,
            hidden=documentation([each.folder for each in kept], comments=True),
            details={
                "packages": {each.folder.name: _facts(each) for each in kept},
                "left_out": {
                    each.folder.name: f"has fewer than {self.queries // len(_KINDS)} queries of one kind"
                    for each in samples
                    if each not in kept
                },
                "dropped": dict(sorted(dropped.items())),
                "hidden": "docstrings and comments",
            },
        )


def _facts(sample: _Sample) -> dict[str, Any]:
    folder = sample.folder
    return {
        "version": _version(folder.name),
        "files": len(folder.paths),
        "tokens": sample.tokens,
        "fingerprint": fingerprint(folder)[:16],
        "queries": len(sample.mined.queries),
    }


def _sample(whole: Folder, how: Installed) -> _Sample:
    """Return neighbouring files that together have the requested text and queries."""
    chosen: list[str] = []
    tokens = 0
    sample = _mined(whole, chosen, tokens, how)
    for path, size in _neighbours(whole, how.seed):
        chosen.append(path)
        tokens += size
        if tokens >= how.tokens:
            sample = _mined(whole, chosen, tokens, how)
            if _is_balanced(sample.mined, how.queries):
                return sample
    return _mined(whole, chosen, tokens, how)


def _is_balanced(mined: Mined, queries: int) -> bool:
    """Return whether the queries are of all kinds in equal parts."""
    counts = Counter(query.kind for query in mined.queries)
    return all(counts[kind] == queries // len(_KINDS) for kind in _KINDS)


def _neighbours(whole: Folder, seed: int) -> Iterator[tuple[str, int]]:
    """Yield files and their visible tokens in path order, starting where the seed decides and wrapping around."""
    start = int.from_bytes(hashlib.sha256(f"{seed}\0{whole.name}".encode()).digest()[:8]) % max(len(whole.paths), 1)
    for path in (*whole.paths[start:], *whole.paths[:start]):
        if is_test_file(path):
            continue
        source = whole.read(path)
        data = source.data if source else b""
        # A token has at least one byte and rarely more than eight: most files that are too long need no counting.
        if not data.strip() or len(data) > 8 * _LARGEST_FILE:
            continue
        starts = ruler(data, "tokens").starts
        single = dataclasses.replace(whole, paths=(path,))
        hidden = HiddenText(documentation([single], comments=True)).ranges(whole.name, path)
        size = len(starts) - int(inside(hidden, starts).sum())
        if size <= _LARGEST_FILE:
            yield path, size


def _mined(whole: Folder, chosen: list[str], tokens: int, how: Installed) -> _Sample:
    paths = tuple(sorted(chosen))
    others = [Skipped(path, "not in the sample") for path in whole.paths if path not in set(paths)]
    folder = dataclasses.replace(whole, paths=paths, skipped=tuple(sorted([*whole.skipped, *others])))
    return _Sample(folder, mine_code(folder, _KINDS, limit=how.queries, seed=how.seed), tokens)


def _folder(name: str) -> Folder:
    """Return the package's Python files, located without importing it."""
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top) if top.isidentifier() else None
    places = list(spec.submodule_search_locations or ()) if spec else []
    root = Path(places[0]).joinpath(*inner) if places else None
    if root is None or not root.is_dir():
        raise UsageError(f"package {name!r} is not installed: pip install it, or leave it out of packages=")
    folder = walk(root, name=name, languages=("python",))
    if not folder.paths:
        raise UsageError(f"package {name!r} has no Python files: choose a pure-Python package")
    return folder


def _version(name: str) -> str:
    """Return the version of the package's distribution."""
    top = name.partition(".")[0]
    try:
        return version(top)
    except PackageNotFoundError:  # a distribution of another name
        spec = importlib.util.find_spec(top)
        site = Path(str(spec.origin)).parent.parent if spec else Path()
        owner = next((info for info in sorted(site.glob("*.dist-info")) if _holds(info, top)), None)
        return Distribution.at(owner).version if owner else "unknown"


def _holds(info: Path, package: str) -> bool:
    """Return whether the distribution's file list has the package; asking importlib takes half a second."""
    record = info / "RECORD"
    return record.is_file() and f"\n{package}/__init__.py," in "\n" + record.read_text("utf-8")
