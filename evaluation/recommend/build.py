"""Writes a recommendation into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from chunkers.errors import UsageError
from evaluation.atomic import replace_text
from evaluation.recommend.document import to_json
from evaluation.recommend.page import recommendation_page
from evaluation.recommend.types import Recommendation
from evaluation.report.page import is_page

_PAGE, _DATA = "recommend.html", "recommend.json"


def check_recommendation(folder: Path) -> None:
    """Raise where the folder cannot be one, or holds files of these names that are none of ours."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name a folder with --out")
    if not is_page(folder / _PAGE) and (strange := [name for name in (_DATA, _PAGE) if (folder / name).exists()]):
        raise UsageError(f"{folder / strange[0]} is no recommendation of chunkbench: name another folder with --out")


def write_recommendation(made: Recommendation, folder: Path) -> list[Path]:
    """Write recommend.json and recommend.html and return where they are."""
    page = recommendation_page(made)
    written = json.dumps(to_json(made), indent=1, ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    return [replace_text(folder / _DATA, written), replace_text(folder / _PAGE, page)]
