"""Size of a report and time to first paint in a browser: python -m scripts.bench.page."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from chunkers.tokens import usable_cache
from evaluation.config import make_config
from evaluation.experiment.executors import make_executor
from evaluation.experiment.run import run_experiment
from evaluation.experiment.session import Session
from evaluation.report.build import write_report
from evaluation.report.view import views
from evaluation.results.folder import read_results
from evaluation.results.types import Results

_SIZES = (500, 1000, 1500, 2000, 2500)
_FAMILIES = ("cast", "recursive", "fixed-nws", "code-chunk")
_PACKAGES = ("anyio", "click", "fsspec", "jinja2", "joblib", "markdown_it", "rich", "urllib3")
"""Installed with chunkbench, and large enough for a thousand queries from their own code."""
_RETRIEVERS = ("bm25", "bm25:k1=0.9,b=0.4", "bm25:k1=2.0,b=0.9")
"""Three settings that need no vectors."""
_TO_OPEN = "return performance.getEntriesByType('paint').map(e => [e.name, e.startTime])"


@click.command()
@click.argument("folders", nargs=-1, metavar="[DIR]…", type=click.Path(path_type=Path, exists=True))
@click.option("--chunkers", multiple=True, type=click.IntRange(2, 20), default=(4, 10, 20), show_default=True)
@click.option("--queries", default=1000, show_default=True, help="About so many, of 8 installed packages.")
@click.option("--settings", type=click.IntRange(1, 3), default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def command(
    folders: tuple[Path, ...],
    *,
    chunkers: tuple[int, ...],
    queries: int,
    settings: int,
    as_json: bool,
) -> None:
    """Write the report of each DIR, or of comparisons made for it, and open it offline in Chromium."""
    sources = map(read_results, folders) if folders else (_compared(count, queries, settings) for count in chunkers)
    found = []
    for results in sources:
        found.append(_measured(results))
        if not as_json:
            click.echo(", ".join(f"{name} {value}" for name, value in found[-1].items()))
    if as_json:
        click.echo(json.dumps(found))


def _compared(count: int, queries: int, settings: int) -> Results:
    """Return families at several sizes on queries mined from installed packages."""
    found = filter(None, map(importlib.util.find_spec, _PACKAGES))
    roots = ";".join(place for each in found for place in each.submodule_search_locations or ())
    names = [f"{family}:size={size}" for size, family in itertools.product(_SIZES, _FAMILIES)]
    config = make_config(
        {
            # The smallest of them yield fewer than their share.
            "datasets": [f"mined:root={roots},queries={-(-queries // (len(_PACKAGES) - 1))}"],
            "chunkers": names[:count],
            "retrievers": _RETRIEVERS[:settings],
        }
    )
    return run_experiment(Session.resolve(config, usable_cache()), make_executor(config.run.engine, config.run.jobs))


def _measured(results: Results) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        write_report(results, Path(folder))
        page = Path(folder) / "report.html"
        return {
            "chunkers": len(results.config.chunkers),
            "queries": len(results.queries),
            "settings": len(views(results)),
            "megabytes": round(page.stat().st_size / 1e6, 2),
            "seconds_to_write": round(time.perf_counter() - start, 1),
            **_painted(page),
        }


def _painted(page: Path) -> dict[str, Any]:
    """Return the milliseconds to the first paint in a headless Chromium, the median of five, and its errors."""
    browser, driver_file = shutil.which("chromium"), shutil.which("chromedriver")
    if not (browser and driver_file):
        return {"first_paint_ms": None}
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory() as profile:
        options = Options()
        options.binary_location = browser
        flags = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-sync"
        for flag in [*flags.split(), "disable-component-update", f"user-data-dir={profile}"]:
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(driver_file))
        try:
            times = []
            for _ in range(5):
                driver.get("about:blank")
                driver.get(page.as_uri())
                times.append(dict(driver.execute_script(_TO_OPEN))["first-contentful-paint"])
            errors = len(driver.get_log("browser"))  # type: ignore[no-untyped-call] # selenium is untyped
        finally:
            driver.quit()
    return {"first_paint_ms": round(sorted(times)[2]), "console_errors": errors}


if __name__ == "__main__":
    command()
