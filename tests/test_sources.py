"""Walking a folder: what is kept, what is left out and why, and in which order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from chunkers.file_facts import fingerprint
from chunkers.languages import DATA_LANGUAGES, known_languages, language_of
from chunkers.listing import unfit_path
from chunkers.sources import MAX_BYTES, unfit_content, unfit_size, walk


def write(root: Path, files: dict[str, bytes | str]) -> None:
    """Make the files, and the folders they are in."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_files_come_in_path_order_with_languages(tmp_path: Path) -> None:
    """The order is that of the paths, whatever the file system's."""
    write(tmp_path, {"b.py": "", "a/z.go": "package z\n", "a.rs": "", "Makefile": "all:\n"})
    found = [(source.path, source.language) for source in walk(tmp_path).files()]
    assert found == [("Makefile", "make"), ("a.rs", "rust"), ("a/z.go", "go"), ("b.py", "python")]


def test_a_file_that_goes_after_the_walk_is_none_or_named(tmp_path: Path) -> None:
    """Asked for alone it is not there; among all files it is an error in words."""
    write(tmp_path, {"a.py": "x = 1\n", "b/c.py": "y = 2\n"})
    folder = walk(tmp_path, name="code")
    shutil.rmtree(tmp_path / "b")
    assert folder.read("b/c.py") is None
    with pytest.raises(UsageError, match=r"code/b/c\.py has gone since its folder was walked: run again"):
        list(folder.files())


def test_each_file_left_out_has_a_reason(tmp_path: Path) -> None:
    """Binary, minified, large, data, unknown, hidden, vendored and linked files are named."""
    write(
        tmp_path,
        {
            "kept.py": "x = 1\n",
            "binary.py": b"\0\1\2",
            "app.min.js": "x",
            "bundle.js": "x" * 6000,
            "large.py": b"#" * (MAX_BYTES + 1),
            "data.json": "{}",
            "photo.jpeg": b"\xff",
            ".hidden/a.py": "",
            "node_modules/a.js": "",
            "build/a.py": "",
        },
    )
    (tmp_path / "link.py").symlink_to(tmp_path / "kept.py")
    folder = walk(tmp_path)
    assert folder.paths == ("kept.py",)
    assert dict(folder.skipped) == {
        "binary.py": "binary",
        "app.min.js": "minified",
        "bundle.js": "minified",
        "large.py": "over 1000 kB",
        "data.json": "data file",
        "photo.jpeg": "no known language",
        ".hidden/": "hidden folder",
        "node_modules/": "vendored or built",
        "build/": "vendored or built",
        "link.py": "symbolic link",
    }


def test_a_name_that_is_not_utf8_is_left_out(tmp_path: Path) -> None:
    """No result file could hold such a path: it is skipped and counted, and its neighbours stay."""
    write(tmp_path, {"kept.py": "x = 1\n", "bad\udcff.py": "x = 1\n", "bad\udcff/a.py": "x = 1\n"})
    folder = walk(tmp_path)
    assert folder.paths == ("kept.py",)
    assert {skipped.reason for skipped in folder.skipped} == {"name is not UTF-8"}
    assert unfit_path("bad\udcff/a.py") == "name is not UTF-8"


def test_ignore_files_are_read_as_git_reads_them(tmp_path: Path) -> None:
    """What git would not track is left out: nested files, negation and folders included."""
    write(
        tmp_path,
        {
            ".gitignore": "*.gen.py\nout/\n/top.py\n!keep.gen.py\n",
            "a.gen.py": "",
            "keep.gen.py": "",
            "top.py": "",
            "sub/top.py": "",
            "sub/out/x.py": "",
            "sub/.gitignore": "local.py\n",
            "sub/local.py": "",
            "local.py": "",
        },
    )
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "*.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert list(walk(tmp_path).paths) == sorted(listed.stdout.split())


def test_wanted_files_are_kept_unless_they_are_binary(tmp_path: Path) -> None:
    """A path that an annotation names is in the corpus whatever its name, size or ignore rule."""
    write(tmp_path, {".gitignore": "a.py\n", "a.py": "x\n", "notes.odd": "x\n", "b.bin": b"\0"})
    assert walk(tmp_path, keep={"a.py", "notes.odd", "b.bin"}).paths == ("a.py", "notes.odd")


def test_languages_restrict_the_walk(tmp_path: Path) -> None:
    """Other languages are left out with that reason."""
    write(tmp_path, {"a.py": "", "b.go": ""})
    folder = walk(tmp_path, languages={"go"})
    assert folder.paths == ("b.go",)
    assert dict(folder.skipped) == {"a.py": "other language"}


def test_one_file_can_be_walked(tmp_path: Path) -> None:
    """A file is a folder of one, and nothing else can be read from it."""
    write(tmp_path, {"a.py": "x = 1\n", "b.py": ""})
    folder = walk(tmp_path / "a.py")
    assert [source.data for source in folder.files()] == [b"x = 1\n"]
    assert folder.read("b.py") is None


def test_a_missing_folder_is_a_usage_error(tmp_path: Path) -> None:
    """The message names what was looked for."""
    with pytest.raises(UsageError, match="does not exist"):
        walk(tmp_path / "missing")


def test_a_fingerprint_changes_with_any_byte_or_name(tmp_path: Path) -> None:
    """Two repositories with the same print are the same for every stage."""
    write(tmp_path, {"one/a.py": "x = 1\n", "two/a.py": "x = 1\n", "three/a.py": "x = 2\n", "four/b.py": "x = 1\n"})
    prints = [fingerprint(walk(tmp_path / name)) for name in ("one", "two", "three", "four")]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_every_language_that_a_file_name_gives_has_a_grammar() -> None:
    """No file name leads to a grammar that is not in the pack."""
    from chunkers import languages

    named = {*languages._BY_EXTENSION.values(), *languages._BY_NAME.values()}
    assert named <= known_languages() | languages.UNSAFE_GRAMMARS
    assert known_languages() >= DATA_LANGUAGES


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/B.PY", "python"),
        ("x.tsx", "tsx"),
        ("Dockerfile", "dockerfile"),
        (".py", None),
        ("README", None),
        ("a.", None),
    ],
)
def test_languages_by_file_name(path: str, language: str | None) -> None:
    """Case does not matter; a name without an extension tells nothing unless it is a known one."""
    assert language_of(path) == language


def test_what_is_no_file_is_left_out_with_a_reason(tmp_path: Path) -> None:
    """A pipe is named, not opened; as a path of its own it is refused."""
    write(tmp_path, {"a.py": "x = 1\n"})
    os.mkfifo(tmp_path / "pipe.py")
    folder = walk(tmp_path)
    assert folder.paths == ("a.py",)
    assert dict(folder.skipped) == {"pipe.py": "not a file"}
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        walk(tmp_path / "pipe.py")


def test_a_file_or_a_line_that_is_just_within_the_limit_is_kept() -> None:
    """One byte more is too large, or minified."""
    assert (unfit_size(MAX_BYTES), unfit_size(MAX_BYTES + 1)) == ("", "over 1000 kB")
    assert unfit_size(MAX_BYTES + 1, wanted=True) == ""
    assert (unfit_content("a.js", b"x" * 5000 + b"\n"), unfit_content("a.js", b"x" * 5001)) == ("", "minified")


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may read anything")
def test_a_folder_that_cannot_be_read_is_left_out_with_a_reason() -> None:
    """One closed folder does not end the walk."""
    script = (
        "import sys; from pathlib import Path; from chunkers.sources import walk; found = walk(Path(sys.argv[1])); "
        "print(found.paths, dict(found.skipped))"
    )
    nobody = ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    # Not in tmp_path, whose parents nobody else may enter.
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write(root, {"a.py": "x = 1\n", "closed/b.py": "y = 1\n"})
        root.chmod(0o755)
        (root / "closed").chmod(0)
        command = [*nobody, sys.executable, "-c", script, str(root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
        (root / "closed").chmod(0o755)
    assert done.stdout == "('a.py',) {'closed/': 'cannot be read (Permission denied)'}\n", done.stderr


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_has_taken_a_files_place_since_the_walk_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    """A pipe without a writer never ends; the file counts as gone."""
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    folder = walk(tmp_path)
    file.unlink()
    os.mkfifo(file) if kind == "pipe" else file.mkdir()
    assert folder.read("a.py") is None
    with pytest.raises(UsageError, match=r"a\.py has gone since its folder was walked"):
        list(folder.files())
