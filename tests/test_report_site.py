"""A site of many runs: every run has its page, the index leads to all of them and stays text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Command
from report_case import simulated_results

from chunkers.errors import UsageError
from evaluation.report.page import dressing, template
from evaluation.report.site import SiteRun, check_site, write_site
from evaluation.results.folder import write_results


def test_the_index_leads_to_every_run_and_setting(tmp_path: Path) -> None:
    """Runs of one name have folders of their own; what they are called stays text."""
    one = simulated_results(queries=12)
    two = simulated_results(queries=12, retrievers=("dense", "bm25"))
    names = ["night", "night", "<img src=x>", "..", "index.html"]
    index = write_site([SiteRun(name, one if k else two) for k, name in enumerate(names)], tmp_path / "site")
    text = index.read_text("utf-8")
    assert "<img" not in text
    pages = set(re.findall(r'href="([^"#]+/report\.html)', text))
    assert len(pages) == len(names)
    assert all((index.parent / page).is_file() for page in pages)
    assert all("/" not in page.removesuffix("/report.html") for page in pages)
    assert text.count("<tr data-run=") == 4 * 4 + 8
    assert 'report.html#setting-2"' in text
    assert 'content="default-src &#39;none&#39;' in text


def test_a_chunker_has_one_mark_in_every_run_of_a_site(tmp_path: Path) -> None:
    """Whatever the order of each experiment is, the index and all pages draw it alike; others are drawn otherwise."""
    names = ["cast:size=2000", "fixed-lines:lines=50", "functions"]
    runs = [
        SiteRun("one", simulated_results(queries=12, names=names[:2], edges=(0.1, 0.0))),
        SiteRun("two", simulated_results(queries=12, names=names[::-1], edges=(0.1, 0.0, 0.0))),
    ]
    index = write_site(runs, tmp_path / "site")
    drawn: dict[str, set[str]] = {}
    for file in (index, *(index.parent / run.name / "report.html" for run in runs)):
        for icon, name in re.findall(
            r'<th scope="row"><span class="part">(<svg.*?</svg>) (.*?)</th>', file.read_text("utf-8")
        ):
            drawn.setdefault(re.sub(r"<.*?>", "", name), set()).add(icon)
    assert set(drawn) == set(names)
    assert [len(icons) for icons in drawn.values()] == [1, 1, 1]
    assert len(set.union(*drawn.values())) == 3


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    """Nothing is written beside somebody's files; an earlier site is made again."""
    (tmp_path / "thesis.tex").write_text("x", "utf-8")
    with pytest.raises(UsageError, match="holds other files"):
        check_site(tmp_path)
    (tmp_path / "index.html").write_text("<p>My own page, with <p class='brand'>my name</p>", "utf-8")
    with pytest.raises(UsageError, match="holds other files"):
        check_site(tmp_path)
    (tmp_path / "index.html").write_text(template("base.html").render(**dressing()), "utf-8")
    check_site(tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        check_site(tmp_path / "thesis.tex")


def test_the_command_makes_the_site(chunkbench: Command, tmp_path: Path) -> None:
    """One page per folder, under the folder's name; --out beside it is refused before anything is written."""
    write_results(simulated_results(queries=12), tmp_path / "monday")
    refused = chunkbench("report", tmp_path / "monday", "--site", tmp_path / "site", "--out", tmp_path / "out")
    assert refused.code == 2
    assert not (tmp_path / "site").exists()
    done = chunkbench("report", tmp_path / "monday", tmp_path / "monday", "--site", tmp_path / "site")
    assert done.code == 0
    assert (tmp_path / "site" / "monday-2" / "report.html").is_file()
    assert "monday" in (tmp_path / "site" / "index.html").read_text("utf-8")
