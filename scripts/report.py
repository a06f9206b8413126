"""`chunkbench report`: rebuilds the report, from one results folder or from several as one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evaluation.results.types import Results

_EXAMPLES = """\b
Examples:
  chunkbench report results/embedded-1a2b3c4d
  chunkbench report results/monday results/tuesday --out results/both
  chunkbench report results/monday --weight query --margin 1 --out results/by-query
  chunkbench report results/monday --baseline fixed-lines:lines=50 --test sign-flip --out results/flips
  chunkbench report results/* --site public                                    a static site of many runs
  chunkbench report results/monday --columns 2 --out results/paper
  chunkbench report --schema > evaluation/results/results.schema.json
"""
TESTS = ("t", "sign-flip")
"""`evaluation.statistics.types.TestName`, written out so that --help imports nothing heavy."""
WEIGHTS = ("repository", "query")
"""`evaluation.statistics.types.Weight`, for the same reason."""


@click.command(epilog=_EXAMPLES)
@click.argument("folders", nargs=-1, metavar="DIR…", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; needed for several runs [DIR].")
@click.option("--site", type=click.Path(path_type=Path), help="Make a static site: an index, and a page for each run.")
@click.option("--baseline", metavar="SPEC", help="Compare all chunkers with this one instead of all pairs.")
@click.option("--test", type=click.Choice(TESTS), help="Compute the comparisons again with this test.")
@click.option("--weight", type=click.Choice(WEIGHTS), help="Compute them again with this counting once in a mean.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    help="Compute them again: differences within this are practically the same, in points or per cent of the mean.",
)
@click.option(
    "--columns",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="Columns of the paper that tables.tex fits.",
)
@click.option("--wide", is_flag=True, help="All measures, as far as they fit.")
@click.option("--json", "as_json", is_flag=True, help="Print results.json of what the report is made from.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of results.json.")
def command(
    *,
    folders: tuple[Path, ...],
    out: Path | None,
    site: Path | None,
    baseline: str | None,
    test: str | None,
    weight: str | None,
    margin: float | None,
    columns: int,
    wide: bool,
    as_json: bool,
    schema: bool,
) -> None:
    """Build report.html, summary.md, tables.tex and the CSV files again; several folders become one run, or a site."""
    from chunkers.errors import UsageError
    from evaluation.report.build import check_report, write_report
    from evaluation.report.terminal import render_screen
    from evaluation.results.document import results_schema, to_json
    from evaluation.results.folder import check_output, read_results, write_results
    from evaluation.results.merge import merge_results

    if schema:
        click.echo(json.dumps(results_schema(), indent=2, ensure_ascii=False))
        return
    if not folders:
        raise UsageError("name a folder that `chunkbench compare` wrote, or several of them with --out DIR")
    if site is not None and (out is not None or as_json):
        raise UsageError("--site makes a site of many runs: leave --out and --json away")
    if len(folders) > 1 and out is None and site is None:
        raise UsageError(
            f"{len(folders)} runs become one: say where to write it with --out DIR; or many pages: --site DIR"
        )
    asked = {"baseline": baseline, "test": test, "weight": weight, "margin": margin}
    asked = {name: value for name, value in asked.items() if value is not None}
    if site is not None:
        _make_site(folders, site, asked)
        return
    parts = [read_results(folder, rankings=len(folders) > 1) for folder in folders]
    results = parts[0] if len(parts) == 1 else merge_results(parts)
    results = _as_asked(results, asked, again=len(parts) > 1)
    target = out or folders[0]
    if len(parts) == 1 and (target / "results.json").exists() and not target.samefile(folders[0]):
        raise UsageError(f"{target} holds the results of another run: name another folder with --out")
    if not (target / "results.json").exists():
        check_report(target)
    if len(parts) > 1:
        check_output(target, config=results.config)
        write_results(results, target)
    made = write_report(results, target, columns=columns)
    if as_json:
        click.echo(json.dumps(to_json(results), indent=1, ensure_ascii=False))
        return
    from scripts.console import console

    output = console(200 if wide else 100)
    output.print(render_screen(results, wide=wide))
    click.echo(f"\n{target}/{' · '.join(path.name for path in made)}")


def _as_asked(results: Results, asked: dict[str, Any], *, again: bool = False) -> Results:
    """Return the results, with comparisons recomputed if another baseline, test, weight or margin is named.

    Those of several parts are always recomputed: a part does not know the other parts' chunkers.
    """
    from chunkers.errors import UsageError
    from chunkers.plugins import nearest
    from evaluation.results.comparisons import with_statistics, without_fixed_means

    baseline, names = asked.get("baseline"), sorted({cell.key.chunker for cell in results.cells})
    if baseline is not None and baseline not in names:
        raise UsageError(
            f"no run has the baseline {baseline!r}.{nearest(baseline, names)} There are: {', '.join(names)}."
        )
    if not asked and not again:
        return results
    if asked.get("weight", results.config.weight) != results.config.weight:
        results = without_fixed_means(results)
    return with_statistics(replace(results, config=results.config.model_copy(update=asked)))


def _make_site(folders: tuple[Path, ...], site: Path, asked: dict[str, Any]) -> None:
    from evaluation.report.site import SiteRun, check_site, write_site
    from evaluation.results.folder import read_results
    from scripts.verbosity import note

    check_site(site)
    # `results/*` also names folders that `report --out` wrote, which hold a page and no results.
    chosen = [folder for folder in folders if not folder.is_dir() or (folder / "results.json").exists()] or folders
    for folder in folders:
        if folder not in chosen:
            note(f"{folder} holds no results.json: left out")
    runs = [SiteRun(folder.resolve().name, _as_asked(read_results(folder), asked)) for folder in chosen]
    click.echo(write_site(runs, site))
