"""Writes every form of the report beside the results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunkers.errors import UsageError
from chunkers.writable import valid_text
from evaluation.atomic import replace_text
from evaluation.report.documents import comparisons_csv, csv_text, markdown
from evaluation.report.figures.marks import Mark
from evaluation.report.latex import latex
from evaluation.report.page import is_page, page
from evaluation.report.view import views
from evaluation.results.types import Results

_NAMES = ("report.html", "summary.md", "tables.tex", "table.csv", "comparisons.csv")


def check_report(out_dir: Path) -> None:
    """Raise where the folder holds files of these names that are no report of ours."""
    if not is_page(out_dir / "report.html") and (strange := [name for name in _NAMES if (out_dir / name).exists()]):
        raise UsageError(f"{out_dir / strange[0]} is no report of chunkbench: name another folder with --out")


def write_report(
    results: Results, out_dir: Path, *, columns: int = 1, drawn: Mapping[str, Mark] | None = None
) -> list[Path]:
    """Write report.html, summary.md, tables.tex, table.csv and comparisons.csv, and return their paths.

    ``columns`` is the number of columns per page of the paper that tables.tex is for; ``drawn`` assigns marks to
    chunkers where other runs are shown beside this one.
    """
    found = views(results)
    made = {
        "report.html": page(results, drawn=drawn),
        "summary.md": markdown(results, found),
        "tables.tex": latex(results, found, columns=columns),
        "table.csv": csv_text(found),
        "comparisons.csv": comparisons_csv(found),
    }
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        return [replace_text(out_dir / name, valid_text(text)) for name, text in made.items()]
    except OSError as error:
        raise UsageError(
            f"{out_dir}: the report cannot be written ({error.strerror}): choose another folder, or free some space, "
            "then chunkbench report DIR --out FOLDER; the results themselves are kept"
        ) from error
