"""report.html: one self-contained file in which only its own script can run."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.input_files import open_input
from chunkers.writable import valid_text
from evaluation.report.cautions import cautions
from evaluation.report.cost_figures import cost_figures
from evaluation.report.costs import cost_legend, cost_table, index_sentences
from evaluation.report.documents import WHY_NOT_COMPARABLE
from evaluation.report.explorer import Packed, pack
from evaluation.report.figures.marks import Mark
from evaluation.report.figures.svg import icon
from evaluation.report.formats import plural
from evaluation.report.glance import facts, overall_facts
from evaluation.report.glossary import Glossary, compared_words, named
from evaluation.report.latex import without_paths
from evaluation.report.legend import legend
from evaluation.report.measure_properties import property_table
from evaluation.report.other_axes import axis_sentences, axis_summary
from evaluation.report.overall import marks_legend, overall_sentences
from evaluation.report.overview import overview
from evaluation.report.sections import (
    curve_figure,
    family_figure,
    forest_figure,
    group_panels,
    size_figure,
)
from evaluation.report.tables import comparison_table, group_tables, health_table, published_table, ranking_table
from evaluation.report.verdict import sentences
from evaluation.report.view import View, chunker_marks, views
from evaluation.results.document import config_json, environment_json
from evaluation.results.facts import DatasetRecord
from evaluation.results.types import Results

if TYPE_CHECKING:
    from jinja2 import Template

_LARGEST, _LEAST = 4_900_000, 500_000
"""Maximum bytes of a page, and minimum for the explorer's data."""
_BRAND, _HEAD = b'<p class="brand">chunkbench</p>', 2**20
"""How every page begins, after its styles, and within how many bytes."""
_TEMPLATES = "evaluation.report", "templates"
_UNROUNDED = "unrounded, shares from 0 to 1, marks in columns of their own"
"""What a saved CSV or JSON file holds."""


def page(results: Results, *, drawn: Mapping[str, Mark] | None = None) -> str:
    """Return the page; ``drawn`` assigns marks to chunkers where other runs are shown beside this one."""
    drawn = drawn or chunker_marks(results)
    found = views(results, drawn=drawn)
    measures = list(dict.fromkeys(name for view in found for name in view.measures))
    made = functools.partial(
        template("report.html").render,
        **dressing("code_view.js", "file_view.js", "explorer.js"),
        glossary=Glossary.of(measures, compared_words(results)),
        icon=icon,
        marks=drawn,
        sections=[_section(view, results) for view in found],
        overall=_overall(results, found),
        overall_facts=overall_facts(results, found),
        overview=overview(results, found),
        overview_legend=[line for view in found[:1] for line in marks_legend(results, view)],
        axes=[*axis_sentences(results), *index_sentences(found)],
        cautions=cautions(results, found),
        datasets=[{"name": dataset.name, "words": _facts(dataset, results)} for dataset in results.datasets],
        has_queries=any(row.cell.hits for view in found for row in view.rows),
        has_hidden=bool(results.hidden),
        promises=property_table(measures),
        why=WHY_NOT_COMPARABLE,
        config=_pretty(config_json(results.config, results.shard)),
        environment=_pretty(environment_json(results.environment)),
    )
    # The explorer gets the room that everything else leaves.
    rest = len(valid_text(made(explorer=Packed("", ""))).encode())
    return made(explorer=pack(results, found, limit=max(_LEAST, _LARGEST - rest)))


def _overall(results: Results, found: Sequence[View]) -> list[str]:
    """Return the statements about all settings, the note on their correction last."""
    if len(found) < 2:
        return []
    said = overall_sentences(results, found)
    note = [said.pop()] if said[-1].startswith("(") else []
    return [*said, *axis_summary(results), *note]


def _section(view: View, results: Results) -> dict[str, Any]:
    """Return what the template shows of one setting."""
    if not view.rows:
        return {"view": view, "sentences": sentences(view), "facts": [], "figures": [], "panels": [], "ranking": None}
    figures = [
        ("Differences", forest_figure(view)),
        ("Answer read against text read", curve_figure(view, results)),
        ("Score against chunk size", family_figure(view)),
        ("Chunk sizes", size_figure(view)),
    ]
    panels = [
        group_panels(view, [query.cluster for query in view.queries], title="repository"),
        group_panels(view, [query.language or "unknown" for query in view.queries], title="language"),
        group_panels(view, [query.kind or "other" for query in view.queries], title="kind"),
        group_panels(view, [query.category or "other" for query in view.queries], title="category"),
    ]
    return {
        "view": view,
        "sentences": sentences(view, power=False),
        "facts": facts(view),
        "ranking": ranking_table(view),
        "legend": legend(view),
        "groups": group_tables(view),
        "cost": cost_table(view),
        "cost_legend": cost_legend(view),
        "figures": [*((title, figure) for title, figure in figures if figure is not None), *cost_figures(view)],
        "panels": [one for one in panels if one is not None],
        "published": published_table(view) if view.published else None,
        "comparisons": comparison_table(view),
        "health": health_table(view),
    }


def _facts(dataset: DatasetRecord, results: Results) -> str:
    queries = results.queries_of(dataset.name)
    words = f"{plural(len(queries), 'query')} in {plural(len({query.cluster for query in queries}), 'repository')}"
    mined = ", mined from the code itself rather than asked by people" if dataset.mined else ""
    skipped = ", ".join(f"{reason} ({count:,})" for reason, count in dataset.skipped.items())
    rows = ", ".join(f"{reason} ({count:,})" for reason, count in _rows_left_out(dataset).items())
    return (
        words
        + mined
        + (f"; files skipped: {skipped}" if skipped else "")
        + (f"; rows left out: {rows}" if rows else "")
        + _lines_followed(dataset)
    )


def _rows_left_out(dataset: DatasetRecord) -> Mapping[str, int]:
    """Return reason → unusable rows of the published file."""
    return dataset.counts("skipped")


def _lines_followed(dataset: DatasetRecord) -> str:
    """Return what became of annotated lines that were found again by their text, with those to review."""
    fates, to_check = dataset.counts("followed"), dataset.details.get("to_check")
    if not fates:
        return ""
    told = ", ".join(f"{count:,} {fate}" for fate, count in fates.items() if count)
    rows = "; ".join(map(str, to_check)) if isinstance(to_check, Sequence) else ""
    return f"; annotated lines: {told}" + (f" (check {rows})" if rows else "")


def dressing(*scripts: str) -> dict[str, str]:
    """Return style, script and policy of a page: files of this package, not data, so they are not escaped."""
    style = asset("figures.css") + asset("explorer.css") + asset("style.css")
    parts = [asset(name) for name in ("dom.js", "page.js", "tables.js", *scripts)]
    script = '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
    return {"style": style, "script": script, "policy": policy(style, script)}


def policy(style: str, script: str) -> str:
    """Return a policy that allows only this style and this script, and no requests."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def is_page(file: Path) -> bool:
    """Return whether a file is a page that was made here, of any kind."""
    if not file.is_file():
        return False
    with open_input(file) as opened:
        return _BRAND in opened.read(_HEAD)


def template(name: str, *packages: str) -> Template:
    """Return a template of these packages or of the report, with escaping on and undefined names an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, _TEMPLATES[0])]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(named=named, without_paths=without_paths, unrounded=_UNROUNDED)
    return environment.get_template(name)


def asset(name: str) -> str:
    """Return the text of a template file."""
    return resources.files(_TEMPLATES[0]).joinpath(_TEMPLATES[1], name).read_text("utf-8")


def _pretty(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False, default=str, sort_keys=True)
