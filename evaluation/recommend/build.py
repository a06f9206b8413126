"""Writes a recommendation into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from evaluation.atomic import replace_text
from evaluation.recommend.document import to_json
from evaluation.recommend.types import Recommendation


def write_recommendation(made: Recommendation, folder: Path) -> list[Path]:
    """Write recommend.json and return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "recommend.json"
    replace_text(path, json.dumps(to_json(made), indent=1, ensure_ascii=False) + "\n")
    return [path]
