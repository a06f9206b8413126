"""Which paths are source code, and which are tests."""

from __future__ import annotations

import re

from chunkers.languages import DATA_LANGUAGES, language_of

_TEST_WORDS = frozenset({"test", "tests", "testing"})
# Words of a folder's name: unit-tests, __tests__, test_utils, androidTest, FooTests, test.support.
_TEST_FOLDERS = _TEST_WORDS | frozenset(
    "testsuite testsuites testcase testcases unittest unittests spec specs testdata testutil testutils testlib fixture"
    " regress regression regressions fixtures mock mocks e2e gtest googletest".split()
)
_TEST_NAME = re.compile(
    r"^(?:test|tests|conftest)\.\w+$|^(?:test|tests)[_-]|[._-](?:test|tests|spec|specs|unittest|e2e|bench)\."
    r"|[a-z0-9](?:Test|Tests|TestCase|IT)\.[a-z]+$|^Test[A-Z]\w*\.[a-z]+$|Spec\.(?:scala|groovy|hs|php|swift)$|\.bats$"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^A-Za-z0-9]+")
_PROSE_AND_SETTINGS = frozenset(
    "markdown rst org latex typst mermaid toml yaml ini properties html css scss make cmake dockerfile gomod".split()
)


def is_source(path: str) -> bool:
    """Return whether a path is source code: neither prose, data nor settings."""
    language = language_of(path)
    return language is not None and is_source_language(language)


def is_source_language(language: str) -> bool:
    """Return whether a language is a programming language: neither prose, data nor settings."""
    return language not in DATA_LANGUAGES | _PROSE_AND_SETTINGS


def is_test_file(path: str) -> bool:
    """Return whether a file is a test, by its folder or by the usual naming conventions."""
    *folders, name = path.split("/")
    words = (word for folder in folders for word in _WORD.split(_CAMEL.sub(" ", folder).lower()))
    return not _TEST_FOLDERS.isdisjoint(words) or bool(_TEST_NAME.search(name))


def has_test_word(path: str) -> bool:
    """Return whether a word of the path is test, tests or testing: the rule of SWE-bench's gold."""
    return bool(_TEST_WORDS.intersection(_WORD.split(path.lower())))
