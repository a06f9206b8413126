"""The documentation: its figures are what commands printed, its links lead somewhere, and the first page is short."""

from __future__ import annotations

import re

import pytest

from scripts.check.figures import PAGES, ROOT, blocks, disagreements

LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES)
def test_figures_are_what_their_commands_printed(page: str) -> None:
    """A page and its file of figures agree."""
    assert disagreements(page) == []


def test_a_figure_that_was_changed_by_hand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail."""
    page = next(page for page in PAGES if blocks(page))
    name = blocks(page)[0].name
    monkeypatch.setattr("scripts.check.figures.stored", lambda _page: {name: {"command": "true", "output": "1"}})
    assert disagreements(page)


@pytest.mark.parametrize("page", PAGES)
def test_links_inside_the_repository_lead_somewhere(page: str) -> None:
    """No page points at a file that is not there."""
    text = (ROOT / page).read_text("utf-8")
    folder = (ROOT / page).parent
    assert [link for link, _ in LINK.findall(text) if not (folder / link).exists()] == []


def test_the_first_page_is_for_the_first_hour() -> None:
    """The README stays within 200 lines."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200
