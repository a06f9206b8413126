"""Writes a recommendation into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from evaluation.atomic import replace_text
from evaluation.recommend.document import to_json
from evaluation.recommend.page import recommendation_page
from evaluation.recommend.types import Recommendation


def write_recommendation(made: Recommendation, folder: Path) -> list[Path]:
    """Write recommend.json and recommend.html and return where they are."""
    page = recommendation_page(made)
    written = json.dumps(to_json(made), indent=1, ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    return [replace_text(folder / "recommend.json", written), replace_text(folder / "recommend.html", page)]
