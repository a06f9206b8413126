"""Which paths are source code, and which are tests."""

from __future__ import annotations

import re

from chunkers.languages import DATA_LANGUAGES, language_of

_TEST_WORDS = frozenset({"test", "tests", "testing"})
_TEST_FOLDERS = _TEST_WORDS | frozenset("spec specs __tests__ testdata fixtures".split())
_TEST_NAME = re.compile(r"(^test_|_test\.|_spec\.|\.test\.|\.spec\.|^conftest\.|Tests?\.[a-z]+$)")
_WORD = re.compile(r"[^A-Za-z0-9]+")
_PROSE_AND_SETTINGS = frozenset(
    "markdown rst org latex typst mermaid toml yaml ini properties html css scss make cmake dockerfile gomod".split()
)


def is_source(path: str) -> bool:
    """Return whether a path is that of a program's source: neither prose, data nor settings."""
    language = language_of(path)
    return language is not None and is_source_language(language)


def is_source_language(language: str) -> bool:
    """Return whether a language is that of programs: neither of prose, data nor settings."""
    return language not in DATA_LANGUAGES | _PROSE_AND_SETTINGS


def is_test_file(path: str) -> bool:
    """Return whether a file is a test by its folder or by the usual ways of naming it."""
    *folders, name = path.split("/")
    return bool(_TEST_FOLDERS.intersection(folder.lower() for folder in folders) or _TEST_NAME.search(name))


def has_test_word(path: str) -> bool:
    """Return whether a word of the path is test, tests or testing: the rule of SWE-bench's gold."""
    return bool(_TEST_WORDS.intersection(_WORD.split(path.lower())))
