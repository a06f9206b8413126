"""A gallery: many runs as one static site, an index that filters and sorts and a page for each run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from evaluation.atomic import replace_text
from evaluation.report.build import write_report
from evaluation.report.formats import plural, score, span, writable
from evaluation.report.glossary import Glossary
from evaluation.report.overall import overall_sentences
from evaluation.report.page import dressing, template
from evaluation.report.verdict import sentences
from evaluation.report.view import View, views
from evaluation.results.types import Results


class SiteRun(NamedTuple):
    """A run under the name of its folder."""

    name: str
    results: Results


class _Entry(NamedTuple):
    """One chunker in one setting of one run."""

    run: str
    folder: str
    section: int
    dataset: str
    embedder: str
    retriever: str
    chunker: str
    measure: str
    mean: str
    interval: str
    mark: str
    size: str


def write_site(runs: Sequence[SiteRun], out: Path) -> Path:
    """Write a page per run and the index, which comes last, and return the index."""
    check_site(out)
    folders = _folders([run.name for run in runs])
    for run, folder in zip(runs, folders, strict=True):
        write_report(run.results, out / folder)
    return replace_text(out / "index.html", writable(index_page(runs, folders)))


def check_site(out: Path) -> None:
    """Raise unless the folder is absent, empty, or an earlier site."""
    if out.is_file():
        raise UsageError(f"{out} is a file: name a folder with --site")
    if out.is_dir() and any(out.iterdir()) and not (out / "index.html").is_file():
        raise UsageError(f"{out} holds other files and no index.html: name an empty folder with --site")


def index_page(runs: Sequence[SiteRun], folders: Sequence[str]) -> str:
    """Return the index."""
    shown = [(run, folder, views(run.results)) for run, folder in zip(runs, folders, strict=True)]
    entries = [entry for run, folder, found in shown for entry in _entries(run.name, folder, found)]
    measures = list(dict.fromkeys(entry.measure for entry in entries))
    return template("site.html").render(
        **dressing("site.js"),
        glossary=Glossary.of(measures),
        runs=[_card(run, folder, found) for run, folder, found in shown],
        entries=entries,
        filters={
            name: list(dict.fromkeys(getattr(entry, name) for entry in entries))
            for name in ("run", "dataset", "embedder", "retriever", "measure")
        },
    )


def _card(run: SiteRun, folder: str, found: Sequence[View]) -> dict[str, object]:
    """Return what the list of runs says of one: what was compared, and the answer's first sentence."""
    results = run.results
    lead = overall_sentences(results, found)[0] if len(found) > 1 else sentences(found[0])[0] if found else ""
    counts = [
        plural(len(results.config.chunkers), "chunker"),
        plural(len(found), "setting"),
        plural(len(results.queries), "query"),
        plural(len({(query.dataset, query.cluster) for query in results.queries}), "repository"),
    ]
    datasets = ", ".join(dataset.name for dataset in results.datasets)
    return {"name": run.name, "folder": folder, "lead": lead, "counts": ", ".join(counts), "datasets": datasets}


def _entries(run: str, folder: str, found: Sequence[View]) -> list[_Entry]:
    return [
        _Entry(
            run,
            folder,
            section,
            *view.setting,
            row.chunker,
            view.headline,
            score(view.headline, row.mean(view.headline)),
            span(view.headline, row.part(view.headline, "low"), row.part(view.headline, "high")),
            row.mark,
            f"{row.cell.chunks.mean_nws:,.0f}" if row.cell.chunks.mean_nws else "–",
        )
        for section, view in enumerate(found, start=1)
        for row in view.rows
    ]


def _folders(names: Sequence[str]) -> list[str]:
    """Return a folder for each run, safe in any address; equal ones are numbered."""
    made: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80] or "run"
        number, folder = 1, plain
        while folder.lower() in {each.lower() for each in made} or folder == "index.html":
            number += 1
            folder = f"{plain}-{number}"
        made.append(folder)
    return made
