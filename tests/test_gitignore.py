"""`.gitignore` rules mean what they mean to git, and cost no more than the length of a path."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkers.errors import UsageError
from chunkers.gitignore import LARGEST, MOST_RULES, read_rules
from chunkers.sources import walk

FILES = ("a.py", "ab.py", "b.py", "[a].py", "a b.py", "x/a.py", "x/y/a.py", "x/y/b.py", "x/ab/b.py", "y/x/b.py",
         "y/-.py", "z/!a.py", "z/a^.py", "z/#.py", "x/y/z/ab.py")  # fmt: skip
SIGNS = [
    "a",
    "b",
    "x",
    "y",
    "z",
    "*",
    "**",
    "/",
    "/",
    "?",
    "!",
    "\\",
    "[",
    "]",
    "^",
    "-",
    ".py",
    " ",
    "#",
    "[!a]",
    "[a-b]",
]
SIGNS += ["[z-a]", "[[:alpha:]]", "[[:nope:]]", "[]a]", "/**/", "**/", "\r", "\t"]


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """Return a repository of files whose names try every sign of a rule."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for file in FILES:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("a = 1\n")
        _git(root, "init", "-q")
        yield root


def _git(root: Path, *arguments: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape")


# Of two stars beside another sign git's answer depends on where the rule lies in memory.
UNDEFINED = re.compile(r"[^/]\*\*|\*\*[^/]|\*\*\*")
RULE = (
    st.lists(st.sampled_from(SIGNS), min_size=1, max_size=7)
    .map("".join)
    .filter(lambda rule: not UNDEFINED.search(rule))
)


@settings(max_examples=300, deadline=None)
@given(st.lists(RULE, min_size=1, max_size=4), st.lists(RULE, max_size=2))
@example(["!"], [])
@example(["\\"], [])
@example(["[z-a]"], [])
@example(["a.py\\ ", "x/**"], ["!a.py"])
@example(["*", "!*/", "!b.py"], [])
@example(["y\\/**/x"], [])
@example(["[/**/x[!a]"], [])
def test_what_is_left_out_is_what_git_leaves_out(tree: Path, top: list[str], inner: list[str]) -> None:
    """Random rules at the top and in a folder: git's list of files that are not ignored is the walk's."""
    (tree / ".gitignore").write_text("\n".join(top))
    (tree / "x" / ".gitignore").write_text("\n".join(inner))
    expected = {name for name in _git(tree, "ls-files", "-o", "--exclude-standard", "-z").split("\0") if name}
    assert set(walk(tree).paths) == {name for name in expected if name.endswith(".py")}


@pytest.mark.parametrize("rule", ["*a" * 30 + "*b", "**/a/" * 30 + "b", "/x/" + "**/a*a*/" * 10 + "b", "?*" * 50 + "b"])
def test_no_rule_takes_exponential_time(tmp_path: Path, rule: str) -> None:
    """Stars that could share a name of 200 letters in more ways than there are atoms are matched at once."""
    (tmp_path / ".gitignore").write_text(rule + "\n")
    folder = tmp_path.joinpath("x", *["a"] * 40)
    folder.mkdir(parents=True)
    (folder / ("a" * 200 + ".py")).write_text("a = 1\n")
    began = time.process_time()
    assert len(walk(tmp_path).paths) == 1
    assert time.process_time() - began < 10


def test_a_file_of_too_many_rules_is_refused_by_name(tmp_path: Path) -> None:
    """The time of a walk is rules times files, so neither is without bound."""
    (tmp_path / ".gitignore").write_text("a\n" * (MOST_RULES + 1))
    with pytest.raises(UsageError, match="gitignore has over"):
        walk(tmp_path)


def test_folders_may_be_nested_deeper_than_python_recurses(tmp_path: Path) -> None:
    """1,500 folders inside each other are walked; the path that the system cannot name is left out with a reason."""
    home = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("a", dir_fd=home)
        inner = os.open("a", os.O_RDONLY, dir_fd=home)
        os.close(home)
        home = inner
    file = os.open("deep.py", os.O_WRONLY | os.O_CREAT, dir_fd=home)
    os.write(file, b"a = 1\n")
    os.close(file)
    os.close(home)
    try:
        found = walk(tmp_path)
        assert found.paths == ("a/" * 1_500 + "deep.py",)
        assert next(iter(found.files())).data == b"a = 1\n"
    finally:
        # Python's own rmtree, which clears the folder of the test, recurses.
        subprocess.run(["rm", "-rf", str(tmp_path / "a")], check=True)


def test_a_file_of_the_largest_size_and_of_most_rules_is_still_read(tmp_path: Path) -> None:
    """The limits are what is allowed, not what is refused."""
    file = tmp_path / ".gitignore"
    file.write_text("#" * (LARGEST - 2) + "\na")
    read = read_rules(file, prefix="")
    assert read is not None
    assert len(read.rules) == 1
    file.write_text("a\n" * MOST_RULES)
    read = read_rules(file, prefix="")
    assert read is not None
    assert len(read.rules) == MOST_RULES
    file.write_text("#" * (LARGEST - 1) + "\na")
    with pytest.raises(UsageError, match="shorten it"):
        read_rules(file, prefix="")
