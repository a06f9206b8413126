"""A gallery: many runs as one static site, with a page for each run and an index to filter and sort."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.writable import valid_text
from evaluation.atomic import replace_text
from evaluation.report.build import write_report
from evaluation.report.figures.svg import icon
from evaluation.report.formats import number, plural, score, span
from evaluation.report.glossary import Glossary
from evaluation.report.overall import overall_sentences
from evaluation.report.page import dressing, is_page, template
from evaluation.report.verdict import sentences
from evaluation.report.view import Row, Setting, View, chunker_marks, views
from evaluation.results.types import Results
from evaluation.statistics.types import plain


class SiteRun(NamedTuple):
    """A run, named after its folder."""

    name: str
    results: Results


class _Entry(NamedTuple):
    """One chunker in one setting of one run."""

    run: str
    folder: str
    section: int
    setting: Setting
    row: Row
    measure: str

    @property
    def mean(self) -> str:
        """The mean, as displayed."""
        return score(self.measure, self.row.mean(self.measure))

    @property
    def interval(self) -> str:
        """Its interval, as displayed."""
        return span(self.measure, self.row.part(self.measure, "low"), self.row.part(self.measure, "high"))

    @property
    def size(self) -> str:
        """The mean size of a chunk, as displayed."""
        return number(self.row.cell.chunks.mean_nws or None, digits=0)

    @property
    def parts(self) -> dict[str, str]:
        """The fields by which the index is filtered."""
        return {"run": self.run, **self.setting._asdict(), "measure": self.measure}

    @property
    def values(self) -> list[Any]:
        """Its values in a saved file, in the order of `_FIELDS`."""
        means = {name: self.row.part(self.measure, name) for name in ("low", "high")}
        held = {"chunker": self.row.chunker, **self.parts, "mean": self.row.mean(self.measure), **means}
        found = plain({**held, "mark": self.row.mark, "mean_nws": self.row.cell.chunks.mean_nws or None})
        return [found[name] for name in _FIELDS]


_FIELDS = "chunker,run,dataset,embedder,retriever,measure,mean,low,high,mark,mean_nws".split(",")


def write_site(runs: Sequence[SiteRun], out: Path) -> Path:
    """Write a page per run and then the index, and return the index."""
    check_site(out)
    folders = _folders([run.name for run in runs])
    drawn = chunker_marks(*(run.results for run in runs))
    for run, folder in zip(runs, folders, strict=True):
        write_report(run.results, out / folder, drawn=drawn)
    return replace_text(out / "index.html", valid_text(index_page(runs, folders)))


def check_site(out: Path) -> None:
    """Raise unless the folder is absent, empty, or an earlier site."""
    if out.is_file():
        raise UsageError(f"{out} is a file: name a folder with --site")
    if out.is_dir() and any(out.iterdir()) and not is_page(out / "index.html"):
        raise UsageError(f"{out} holds other files and no index.html of ours: name an empty folder with --site")


def index_page(runs: Sequence[SiteRun], folders: Sequence[str]) -> str:
    """Return the index."""
    shown = [(run, folder, views(run.results)) for run, folder in zip(runs, folders, strict=True)]
    entries = [entry for run, folder, found in shown for entry in _entries(run.name, folder, found)]
    filters = {
        name: list(dict.fromkeys(entry.parts[name] for entry in entries))
        for name in ("run", "dataset", "embedder", "retriever", "measure")
    }
    # A column in which all rows are equal becomes a sentence.
    several = [name for name, values in filters.items() if name == "run" or len(values) > 1]
    return template("site.html").render(
        **dressing("site.js"),
        glossary=Glossary.of(filters["measure"]),
        icon=icon,
        marks=chunker_marks(*(run.results for run in runs)),
        fields=_FIELDS,
        runs=[_card(run, folder, found) for run, folder, found in shown],
        entries=entries,
        filters=filters,
        shown=several,
        same={name: values[0] for name, values in filters.items() if name not in several and values and values[0]},
    )


def _card(run: SiteRun, folder: str, found: Sequence[View]) -> dict[str, object]:
    """Return the list entry of a run: what was compared, and the answer's first sentence."""
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
        _Entry(run, folder, section, view.setting, row, view.headline)
        for section, view in enumerate(found, start=1)
        for row in view.rows
    ]


def _folders(names: Sequence[str]) -> list[str]:
    """Return a folder name for each run, safe in any URL; duplicates are numbered."""
    made: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80] or "run"
        number, folder = 1, plain
        while folder.lower() in {each.lower() for each in made} or folder == "index.html":
            number += 1
            folder = f"{plain}-{number}"
        made.append(folder)
    return made
