"""A real browser opens the report of a real run, without a network: it works, and what it shows stays text."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from report_case import simulated_results

from evaluation.report.build import write_report
from evaluation.report.page import page
from evaluation.results.types import HiddenPart

selenium = pytest.importorskip("selenium", reason="the browser test needs the dev extra's selenium")

_BROWSER, _DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (_BROWSER and _DRIVER),
    reason="no chromium and chromedriver here (Debian: apt install chromium chromium-driver)",
)

_BOMB = "<img src=x onerror=document.title='hacked'>"
# "</script>" holds a slash, so as a path it is a folder called "<" and a file called "script>…".
_HOSTILE_PATH = f"</script>{_BOMB}.py"
_HOSTILE_CODE = f'''"""</script>{_BOMB}"""


def greet(name):
    note = "</script>{_BOMB}"
    return note + name


def part(name):
    return "<b>bye</b>" + name
'''


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a headless Chromium with an empty profile and no network."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(_BROWSER)
    flags = "headless no-sandbox disable-gpu no-first-run disable-background-networking disable-component-update"
    for flag in [*flags.split(), "disable-sync", f"user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(_DRIVER)))
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


def _open(browser: Any, page: Path) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(page.as_uri())
    _until(lambda: browser.execute_script("return document.querySelectorAll('#x-list [role=option]').length") > 0)


def _until(done: Callable[[], bool], *, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "the page did not get there"
        time.sleep(0.05)


def _are_saved(folder: Path, form: str, count: int) -> bool:
    # The browser makes an empty file of the name first, and renames what it has received to it.
    return sum(path.stat().st_size > 0 for path in folder.glob(f"*.{form}")) == count


def _find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def _texts(browser: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    found: list[str] = browser.execute_script(script, selector)
    return found


def _requests(browser: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="module")
def simulated_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of simulated results, with a chunker that failed."""
    folder = tmp_path_factory.mktemp("simulated")
    write_report(simulated_results(failed={"bad": "it broke"}), folder)
    return folder / "report.html"


def test_a_real_run_with_a_hostile_repository_shows_text_only(browser: Any, tmp_path: Path) -> None:
    """The report of `chunkbench compare` on a hostile repository opens offline without an error, and runs nothing."""
    repository = tmp_path / "repository"
    hostile = repository / _HOSTILE_PATH
    hostile.parent.mkdir(parents=True)
    hostile.write_text(_HOSTILE_CODE, "utf-8")
    (repository / "plain.py").write_text("def add(a, b):\n    return a + b\n\n\ndef less(a, b):\n    return a - b\n")
    gold = [(f"greet </script>{_BOMB}", _HOSTILE_PATH, 4, 6), ("add two numbers", "plain.py", 1, 2)]
    rows = [
        {"query_id": f"q{k}", "query": text, "file": path, "start_line": start, "end_line": end}
        for k, (text, path, start, end) in enumerate(gold)
    ]
    annotations = tmp_path / "gold.jsonl"
    annotations.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    out = tmp_path / "out"
    words = f"compare {repository} --annotations {annotations} --out {out} --retriever bm25 --engine serial"
    chunkers = "--chunker fixed-lines:lines=3 --chunker fixed-lines:lines=50"
    run = subprocess.run(
        [sys.executable, "-m", "scripts", *words.split(), *chunkers.split()],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CHUNKBENCH_CACHE": str(tmp_path / "cache")},
        cwd=Path(__file__).parent.parent,
    )
    assert run.returncode == 0, run.stderr
    _open(browser, out / "report.html")
    place = next(k for k, text in enumerate(_texts(browser, "#x-list .q")) if text.startswith("greet"))
    browser.find_elements("css selector", "#x-list [role=option]")[place].click()
    assert _texts(browser, "#x-detail .question") == [f"greet </script>{_BOMB}"]
    assert any(_HOSTILE_PATH in head for head in _texts(browser, ".hit .head"))
    assert f'    note = "</script>{_BOMB}"' in _texts(browser, ".code .gold")
    assert browser.execute_script("return document.querySelectorAll('main img, main script, main b b').length") == 0
    assert browser.title == "chunkbench report"
    assert browser.get_log("browser") == []
    assert set(_requests(browser)) == {(out / "report.html").as_uri()}


def test_the_explorer_filters_and_marks_gold_lines(browser: Any, simulated_page: Path) -> None:
    """Queries are sorted by difference; search and filters narrow them; gold lines are the query's own."""
    _open(browser, simulated_page)
    differences = [abs(float(d.replace("−", "-"))) for d in _texts(browser, "#x-list .d")]
    assert len(differences) == 64
    assert differences == sorted(differences, reverse=True)
    assert _texts(browser, ".code .gold")
    _find(browser, "#x-search").send_keys("number value_1_5_94")
    _until(lambda: _texts(browser, "#x-list .q") == ["where is value number 41 computed? value_1_5_94"])
    answer = _texts(browser, "#x-detail .where")[0]
    assert "answer: src/module_1_5.py:94–100" in answer
    numbers = browser.execute_script("return [...document.querySelectorAll('.code .gold')].map(e => +e.dataset.n)")
    assert numbers
    assert all(94 <= number <= 100 for number in numbers)
    _find(browser, "#x-search").clear()
    _find(browser, "#x-search").send_keys("no such words")
    _until(lambda: _texts(browser, "#x-detail .caption") == ["No query matches."])
    browser.execute_script(
        "const s = document.getElementById('x-search'); s.value=''; s.dispatchEvent(new Event('input'))"
    )
    _find(browser, "#x-won option[value=b]").click()
    _until(lambda: {d[0] for d in _texts(browser, "#x-list .d")} == {"−"})
    _find(browser, "#x-repo option[value=repo3]").click()
    _until(lambda: {r.split()[0] for r in _texts(browser, "#x-list .r")} == {"repo3"})
    _find(browser, "#x-language option[value=python]").click()
    _until(lambda: "python" in _texts(browser, "#x-detail .where")[0])
    _find(browser, "#x-won option[value=all]").click()
    _find(browser, "#x-b option[value='3']").click()
    _until(lambda: any("sliding" in title for title in _texts(browser, ".side h3")))
    assert browser.get_log("browser") == []


def test_what_the_index_did_not_show_is_greyed(browser: Any, tmp_path: Path) -> None:
    """Hidden characters stay in the text, in an element of their own that says what they are."""
    results = simulated_results(names=("a", "b"), edges=(0.1, 0.0))
    texts = results.texts
    hidden = {("simulated", key): (HiddenPart(2, text.index("\n") + 3),) for key, text in texts.items()}
    write_report(dataclasses.replace(results, hidden=hidden), tmp_path)
    _open(browser, tmp_path / "report.html")
    line, part = _texts(browser, ".hit .code .l")[0], _texts(browser, ".hit .code .unindexed")[0]
    assert line[2:] == part
    assert _texts(browser, ".hit .code .unindexed")[1] == _texts(browser, ".hit .code .l")[1][:2]
    assert _find(browser, ".hit .code .unindexed").get_attribute("title") == "hidden from the index"
    assert browser.get_log("browser") == []


def test_the_explorer_works_by_keyboard(browser: Any, simulated_page: Path) -> None:
    """Arrows move the choice and the detail follows; a slash goes to the search."""
    from selenium.webdriver.common.keys import Keys

    _open(browser, simulated_page)
    queries = _texts(browser, "#x-list .q")
    listbox = _find(browser, "#x-list")
    listbox.send_keys(Keys.ARROW_DOWN)
    listbox.send_keys(Keys.ARROW_DOWN)
    assert _texts(browser, "#x-detail .question") == [queries[2]]
    assert browser.execute_script("return document.querySelector('[aria-selected=true]').id") == "x-option-2"
    assert listbox.get_attribute("aria-activedescendant") == "x-option-2"
    listbox.send_keys(Keys.END)
    assert _texts(browser, "#x-detail .question") == [queries[-1]]
    listbox.send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "x-search"


def test_a_link_opens_its_query_in_its_setting_with_its_chunkers(browser: Any, tmp_path: Path) -> None:
    """The address that the page shows leads back to the same query, setting and chunkers; three can be compared."""
    write_report(simulated_results(retrievers=("dense", "bm25")), tmp_path)
    page = tmp_path / "report.html"
    _open(browser, page)
    _find(browser, "#x-setting option[value='1']").click()
    _find(browser, "#x-a option[value='2']").click()
    _find(browser, "#x-c option[value='1']").click()
    browser.find_elements("css selector", "#x-list [role=option]")[7].click()
    asked, sides, link = _texts(browser, "#x-detail .question"), _texts(browser, ".side h3"), browser.current_url
    assert len(sides) == 3
    assert "setting=simulated+" in link
    browser.get("about:blank")
    browser.get(link)
    _until(lambda: _texts(browser, "#x-detail .question") == asked)
    assert _texts(browser, ".side h3") == sides
    browser.get("about:blank")
    browser.get(page.as_uri() + "#query=gone")
    _until(lambda: "not in this page" in _texts(browser, "#x-count")[0])
    assert browser.get_log("browser") == []


def test_the_file_view_shows_where_each_chunker_cuts(browser: Any, simulated_page: Path) -> None:
    """By keyboard alone: f opens the file with the answer, bars begin where chunks do, Escape closes it."""
    from selenium.webdriver.common.keys import Keys

    _open(browser, simulated_page)
    _find(browser, "#x-list").send_keys("f")
    _until(lambda: browser.execute_script("return document.getElementById('x-file').open"))
    lines = _texts(browser, "#x-file .l .t")
    assert len(lines) == 120
    gold = browser.execute_script("return [...document.querySelectorAll('#x-file .gold')].map(e => +e.dataset.n)")
    assert len(gold) == 7
    starts = "return [...document.querySelectorAll('#x-file .bars span:nth-child(1).begins')].length"
    assert browser.execute_script(starts) > 1
    assert _texts(browser, "#x-file .l .number")
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    _until(lambda: not browser.execute_script("return document.getElementById('x-file').open"))
    assert browser.get_log("browser") == []


def test_tables_sort_and_the_overview_filters(browser: Any, tmp_path: Path) -> None:
    """A heading's button orders the rows by number; choices hide columns and rows; a number leads to its section."""
    write_report(simulated_results(retrievers=("dense", "bm25", "hybrid")), tmp_path)
    _open(browser, tmp_path / "report.html")
    seen = "return [...document.querySelectorAll('#o-table thead th')].filter(e => !e.hidden).length"
    assert browser.execute_script(seen) == 4
    _find(browser, "#o-controls select[data-part=group] option[value='*']").click()
    assert browser.execute_script(seen) == 10
    _find(browser, "#o-controls select[data-part=retriever] option[value=bm25]").click()
    assert browser.execute_script(seen) == 4
    _find(browser, "#o-search").send_keys("fixed")
    rows = "return [...document.querySelectorAll('#o-table tbody tr')].filter(e => !e.hidden).length"
    assert browser.execute_script(rows) == 1
    _find(browser, "#o-search").clear()
    button = "#o-table th:nth-child(5) button.sort"
    for order in ("descending", "ascending"):
        browser.execute_script("document.querySelector(arguments[0]).click()", button)
        values = [float(text.split()[0]) for text in _texts(browser, "#o-table td:nth-child(5)")]
        assert values == sorted(values, reverse=order == "descending")
        assert _find(browser, "#o-table th:nth-child(5)").get_attribute("aria-sort") == order
    browser.execute_script("document.querySelector('#o-table td:nth-child(5) a').click()")
    _until(lambda: browser.execute_script("return document.querySelector('#setting-2 details.fold').open"))
    assert browser.get_log("browser") == []


def test_a_term_is_explained_on_focus(browser: Any, simulated_page: Path) -> None:
    """A term that is reached with the keyboard shows its meaning, and Escape takes it away."""
    from selenium.webdriver.common.keys import Keys

    _open(browser, simulated_page)
    browser.execute_script("document.querySelector('.verdict a.term').focus()")
    _until(lambda: _find(browser, "#tip").is_displayed())
    assert len(_find(browser, "#tip").text) > 20
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not _find(browser, "#tip").is_displayed()


def test_tables_and_figures_are_saved_as_files(browser: Any, simulated_page: Path, tmp_path: Path) -> None:
    """CSV, JSON, LaTeX and SVG of a figure arrive whole, under the page's own policy."""
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    _open(browser, simulated_page)
    for form in ("csv", "json", "tex", "svg"):
        browser.execute_script("document.querySelector(`figure .take [data-as=${arguments[0]}]`).click()", form)
        _until(partial(_are_saved, tmp_path, form, 1))
    table, drawing = (next(tmp_path.glob(f"*.{form}")) for form in ("csv", "svg"))
    rows = list(csv.reader(table.read_text("utf-8").splitlines()))
    found = json.loads(next(tmp_path.glob("*.json")).read_text("utf-8"))
    assert [list(row) for row in found] == [rows[0]] * len(found)
    for row, cells in zip(found, rows[1:], strict=True):
        read = [
            float(cell) if isinstance(row[name], int | float) else cell for name, cell in zip(row, cells, strict=True)
        ]
        assert read == ["" if value is None else value for value in row.values()]
    assert r"\bottomrule" in next(tmp_path.glob("*.tex")).read_text("utf-8")
    root = ET.fromstring(drawing.read_text("utf-8"))  # noqa: S314 - our own drawing
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in drawing.read_text("utf-8")
    assert browser.get_log("browser") == []


_CLICK_TEN = """
const [buttons, first] = arguments;
[...document.querySelectorAll(buttons)].slice(first, first + 10).forEach(e => e.click());
"""


def test_saved_files_hold_plain_numbers_and_name_their_setting(browser: Any, tmp_path: Path) -> None:
    """Every table of every setting has a file of its own, with the scores as they are and marks in their own column."""
    results = simulated_results(retrievers=("dense", "bm25"))
    write_report(results, tmp_path / "report")
    files = tmp_path / "files"
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(files)})
    takes = page(results).count('class="take"')
    for form in ("csv", "json", "tex"):
        # A page may start ten downloads unless somebody clicks.
        for first in range(0, takes, 10):
            _open(browser, tmp_path / "report" / "report.html")
            browser.execute_script(_CLICK_TEN, f".take [data-as={form}]", first)
            wanted = min(takes, first + 10)
            _until(partial(_are_saved, files, form, wanted))
    assert not list(files.glob("* (1).*")), "two tables have one name"
    shown = re.compile(r"[★●]|^[+−]?\d{1,3}(,\d{3})+|^[\d.]+ (…|%|MB|kB|ms|s)|^–$|^−")
    for file in files.glob("*.csv"):
        texts = [text for row in list(csv.reader(file.read_text("utf-8").splitlines()))[1:] for text in row]
        assert [text for text in texts if text != "●" and shown.search(text)] == []
    (ranking,) = files.glob("*Measures-on-gold*bm25.json")
    cells = {cell.key.chunker: cell for cell in results.cells if cell.key.retriever == "bm25"}
    for row in json.loads(ranking.read_text("utf-8")):
        cell = cells[row["chunker"]]
        assert (row["dataset"], row["retriever"]) == ("simulated", "bm25")
        assert row["naurc@4000tok"] == cell.measures["naurc@4000tok"].mean
        assert row["naurc@4000tok low"] == cell.measures["naurc@4000tok"].low
        assert row["chunks"] == cell.chunks.count
        assert row["mark"] in ("", "●")
    (overview,) = files.glob("*overview*.json")
    found = [row for row in json.loads(overview.read_text("utf-8")) if row["group"] == "all queries"]
    means = {(row["chunker"], row["retriever"]): row["mean"] for row in found}
    assert means["functions", "bm25"] == cells["functions"].measures["naurc@4000tok"].mean
    labels = [re.findall(r"\\label\{.*\}", file.read_text("utf-8")) for file in files.glob("*.tex")]
    assert len({label for (label,) in labels}) == len(labels)
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("kind", ["figure .for-wide", "figure .panels"])
def test_a_figure_saved_from_a_dark_page_can_be_read_on_white(
    browser: Any, simulated_page: Path, tmp_path: Path, kind: str
) -> None:
    """It has the light colours and a white background of its own; the page itself stays dark."""
    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    try:
        _open(browser, simulated_page)
        script = "document.querySelector(arguments[0]).closest('figure').querySelector('[data-as=svg]').click()"
        browser.execute_script(script, kind)
        _until(lambda: len(list(tmp_path.glob("*.svg"))) == 1)
        assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 22)"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    root = ET.fromstring(next(tmp_path.glob("*.svg")).read_text("utf-8"))  # noqa: S314 - our own drawing
    assert root[0].tag.endswith("rect")
    assert (root[0].get("fill"), root[0].get("width")) == ("#ffffff", root.get("viewBox", "").split()[2])
    inks = {node.get("fill", "") for node in root.iter("{http://www.w3.org/2000/svg}text")}
    on_white = {ink for ink in inks if ink != "rgb(255, 255, 255)"}  # numbers on filled marks
    assert on_white
    for ink in on_white - {"#1b1f24"}:
        assert max(map(int, re.findall(r"\d+", ink)[:3])) < 240
        assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 3 * 130


_TORN = (
    "return [...document.querySelectorAll('.part')].filter(e => e.getClientRects().length > 1).map(e => e.textContent)"
)
"""Parts of names that stand on two lines."""
_OUTSIDE = """
return [...document.querySelectorAll('svg.figure text')].filter(e => {
  if (!e.getClientRects().length) return false;
  const [box, edge] = [e.getBBox(), e.ownerSVGElement.viewBox.baseVal];
  return box.x < -0.5 || box.x + box.width > edge.width + 0.5 || box.y + box.height > edge.height + 0.5;
}).map(e => e.textContent)
"""
"""Words of a figure that its edge cuts off."""


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_nothing_overflows_on_a_phone_or_a_desk(browser: Any, simulated_page: Path, width: int) -> None:
    """The page is never wider than the screen, and exactly one drawing of each figure is shown."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        _open(browser, simulated_page)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        shown = "return [...document.querySelectorAll('.for-wide, .for-narrow')].filter(e => e.offsetHeight).length"
        assert browser.execute_script(shown) == browser.execute_script(
            "return document.querySelectorAll('.for-wide').length"
        )
        assert browser.execute_script(shown) >= 5
        assert browser.execute_script(_TORN) == []
        assert browser.execute_script(_OUTSIDE) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_and_light_follow_the_system_and_the_button(browser: Any, simulated_page: Path) -> None:
    """The system's choice is the default, and the button turns it round."""
    background = "return getComputedStyle(document.body).backgroundColor"
    dark, light = "rgb(15, 18, 22)", "rgb(253, 253, 252)"
    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        _open(browser, simulated_page)
        assert browser.execute_script(background) == dark
        _find(browser, "#theme").click()
        assert browser.execute_script(background) == light
        assert _find(browser, "#theme").text == "Dark"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_long_list_grows_on_demand(browser: Any, tmp_path: Path) -> None:
    """Of many queries the first 200 are listed, and the button adds the next ones."""
    write_report(simulated_results(names=("a", "b"), edges=(0.1, 0.0), queries=450), tmp_path)
    _open(browser, tmp_path / "report.html")
    assert len(_texts(browser, "#x-list .q")) == 200
    _find(browser, "#x-more").click()
    assert len(_texts(browser, "#x-list .q")) == 400
    assert _find(browser, "#x-more").text == "Show 50 more"
    _find(browser, "#x-more").click()
    assert len(_texts(browser, "#x-list .q")) == 450
    assert not _find(browser, "#x-more").is_displayed()
