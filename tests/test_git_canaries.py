"""Nothing of a repository runs: a canary behind every setting, hook and shape, under every command that reads one."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import Command

from chunkers.errors import UsageError
from ground_truth.git import changes, commits, list_tree, read_blobs, resolve_ref, revisions
from ground_truth.git_fetch import fetch_clone
from ground_truth.git_snapshot import take_snapshot

SOURCE = '''"""Words."""


def spell_out(number, language):
    """Return the number as words of the language."""
    spelled = []
    while number > 0:
        number, digit = divmod(number, 10)
        spelled.append(language.words[digit])
    return " ".join(reversed(spelled))


def count_words(text, separator):
    """Return how many words the text has between separators."""
    count = 0
    for part in text.split(separator):
        if part and not part.isspace():
            count += 1
    return count
'''
KEYS = (
    "core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor", "core.askPass",
    "core.alternateRefsCommand", "core.hooksPath", "diff.external", "diff.x.command", "diff.x.textconv",
    "filter.x.smudge", "filter.x.clean", "filter.x.process", "merge.x.driver", "gpg.program",
    "gpg.ssh.program", "gpg.x509.program",
    "gpg.ssh.defaultKeyCommand", "credential.helper", "uploadpack.packObjectsHook", "sequence.editor", "trailer.x.cmd",
    "trailer.x.command", "interactive.diffFilter", "pager.log", "pager.show", "pager.diff-tree", "alias.log",
    "alias.cat-file", "alias.rev-list", "alias.rev-parse", "remote.origin.uploadpack", "remote.origin.vcs",
    "remote.origin.proxy", "log.x.program", "sendemail.smtpServer", "browser.x.cmd", "difftool.x.cmd",
)  # fmt: skip
"""Settings that name a program; the canary stands in all of them at once."""
FACTS = (
    ("log.showSignature", "true"), ("protocol.allow", "always"), ("protocol.ext.allow", "always"),
    ("protocol.file.allow", "always"), ("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"),
    ("remote.origin.partialclonefilter", "blob:none"), ("core.untrackedCache", "true"), ("safe.directory", "*"),
    ("submodule.recurse", "true"), ("maintenance.auto", "true"), ("gc.auto", "1"), ("core.bare", "false"),
)  # fmt: skip
"""Settings that make git use such a program."""
HOOKS = ("reference-transaction", "post-checkout", "pre-auto-gc", "post-index-change", "fsmonitor-watchman",
         "post-merge", "update", "post-update", "pre-receive", "post-rewrite", "sendemail-validate")  # fmt: skip


class Trap(NamedTuple):
    """A repository, and the file that exists when something of it has run."""

    root: Path
    sprung: Path
    head: str


def git(folder: Path, *arguments: str, **extra: str) -> str:
    """Run git without any configuration of the machine."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b.c", **extra,
    }  # fmt: skip
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def history(work: Path) -> None:
    """Make a clone of three commits, the last one with a signature that nobody can check."""
    work.mkdir(parents=True)
    git(work, "init", "-q", "-b", "main")
    (work / ".gitattributes").write_text("*.py diff=x filter=x merge=x\n")
    (work / "words.py").write_text(SOURCE)
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Write the words of every language down")
    (work / "words.py").write_text(SOURCE.replace("language.words[digit]", "language.spelling[digit]"))
    git(work, "commit", "-qam", "Look numbers up in the spelling of the language")
    (work / "words.py").write_text(SOURCE.replace("text.split(separator)", "text.strip().split(separator)"))
    git(work, "commit", "-qam", "Count the words of a text without its edges")
    body = git(work, "cat-file", "commit", "HEAD")
    head, _, message = body.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----\n\n{message}\n"
    (work.parent / "signed").write_text(signed)
    made = git(work, "hash-object", "-t", "commit", "-w", str(work.parent / "signed"))
    git(work, "update-ref", "refs/heads/main", made)


def settings(rows: list[tuple[str, str]]) -> str:
    """Return rows of keys and values as a git configuration."""
    text = ""
    for key, value in rows:
        section, _, rest = key.partition(".")
        name, _, field = rest.rpartition(".")
        text += f'[{section} "{name}"]\n' if name else f"[{section}]\n"
        text += f'\t{field} = "{value}"\n'
    return text


def arm(private: Path, sprung: Path, *, remote: str) -> None:
    """Write the canary into the configuration, the included one, and the hooks."""
    canary = private / "canary.sh"
    canary.write_text(f'#!/bin/sh\necho "$0 $*" >> {sprung}\n')
    canary.chmod(canary.stat().st_mode | stat.S_IXUSR)
    included = private / "more"
    programs = [(key, f"!{canary}" if key.startswith("alias.") else str(canary)) for key in KEYS]
    included.write_text(settings(programs))
    links = [("include.path", str(included)), ("includeIf.gitdir:/**.path", str(included))]
    remotes = [
        ("remote.origin.url", remote.format(canary=canary)),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        (f"url.ext::{canary}.insteadOf", "https://"),
    ]
    shape = [("core.hooksPath", str(private / "hooks")), ("core.repositoryFormatVersion", "1")]
    config = (private / "config").read_text().partition("[remote")[0]
    (private / "config").write_text(config + settings([*programs, *FACTS, *links, *remotes, *shape]))
    (private / "hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        shutil.copy(canary, private / "hooks" / hook)
    (private / "info").mkdir(exist_ok=True)
    (private / "info" / "attributes").write_text("* diff=x filter=x merge=x\n")


def _clone(home: Path) -> tuple[Path, Path]:
    history(home / "work")
    return home / "work", home / "work" / ".git"


def _bare(home: Path) -> tuple[Path, Path]:
    history(home / "work")
    git(home, "clone", "-q", "--bare", "work", "project.git")
    return home / "project.git", home / "project.git"


def _disguised(home: Path) -> tuple[Path, Path]:
    """Make a folder of sources with HEAD, objects, refs and config at its top."""
    history(home / "work")
    git(home, "clone", "-q", "--bare", "work", "project")
    shutil.copy(home / "work" / "words.py", home / "project")
    return home / "project", home / "project"


def _worktree(home: Path) -> tuple[Path, Path]:
    history(home / "work")
    git(home / "work", "worktree", "add", "-q", str(home / "tree"), "-b", "side")
    return home / "tree", home / "work" / ".git"


def _borrowing(home: Path) -> tuple[Path, Path]:
    """Make a clone that borrows its objects from another repository, which is armed too."""
    history(home / "work")
    git(home, "clone", "-q", "--shared", "work", "shared")
    return home / "shared", home / "shared" / ".git"


def _partial(home: Path) -> tuple[Path, Path]:
    """Make a clone that lacks a file and names a program that would bring it."""
    history(home / "work")
    lost = git(home / "work", "rev-parse", "HEAD:words.py")
    (home / "work" / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    return home / "work", home / "work" / ".git"


SHAPES = {"clone": _clone, "bare": _bare, "disguised": _disguised, "worktree": _worktree, "borrowing": _borrowing,
          "partial": _partial}  # fmt: skip


@pytest.fixture(params=SHAPES)
def trap(request: pytest.FixtureRequest, tmp_path: Path) -> Trap:
    """Return an armed repository of each shape."""
    return armed(request.param, tmp_path / "home", remote="ext::{canary} %S")


def armed(shape: str, home: Path, *, remote: str) -> Trap:
    """Make a repository of the shape, with the canary in all its places, and in those of the one it borrows from."""
    home.mkdir()
    root, private = SHAPES[shape](home)
    sprung = home / "sprung"
    head = git(root, "rev-parse", "HEAD")
    for place in {private, *([home / "work" / ".git"] if (home / "work").exists() else [])}:
        arm(place, sprung, remote=remote)
    return Trap(root, sprung, head)


def test_the_traps_are_sharp(tmp_path: Path) -> None:
    """Git itself, asked what this tool once asked it, springs them: the canaries below are not silent by accident."""
    trap = armed("partial", tmp_path / "home", remote="ext::{canary} %S")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for arguments in (("log", "-1"), ("cat-file", "blob", "HEAD:words.py"), ("status",), ("diff-tree", "-p", "HEAD")):
        trap.sprung.unlink(missing_ok=True)
        subprocess.run(["git", *arguments], cwd=trap.root, env=environment, check=False, capture_output=True)
        assert trap.sprung.exists(), arguments


def _library(trap: Trap) -> None:
    """Use every function that asks for objects, and the fetch that a user may ask for."""

    def each() -> Iterator[Callable[[], object]]:
        names = revisions(trap.root, trap.head)
        yield lambda: list(commits(trap.root, names))
        yield lambda: changes(trap.root, names[1], names[0])
        yield lambda: list(read_blobs(trap.root, [blob.object_id for blob in list_tree(trap.root, trap.head)]))
        yield lambda: list(take_snapshot(trap.root, trap.head, name="r").files())
        yield lambda: resolve_ref(trap.root, "HEAD~1")
        yield lambda: resolve_ref(trap.root, "main^{commit}")
        yield lambda: fetch_clone(trap.root)

    for call in each():
        with contextlib.suppress(UsageError):
            call()


def test_no_library_function_runs_anything(trap: Trap) -> None:
    """Reading and fetching, of every shape: at worst one line that says why not."""
    _library(trap)
    assert not trap.sprung.exists(), trap.sprung.read_text()


def test_no_command_runs_anything(
    request: pytest.FixtureRequest, trap: Trap, chunkbench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that reads a repository: as a folder, at a ref and by history, with and without a fetch."""
    root, out = trap.root, tmp_path / "out"
    monkeypatch.chdir(root)  # where a user most likely is
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        f'{{"query_id": "1", "query": "spell numbers out", "repo": "{root.name}", "file": "words.py", '
        f'"start_line": 4, "end_line": 6, "commit": "{trap.head}"}}\n'
    )
    short = ("--chunker", "fixed-lines", "--chunker", "whole-file", "--retriever", "bm25", "--measure", "hit@5",
             "--headline", "hit@5", "--flips", "100", "--engine", "serial", "--embedder", "hashing")  # fmt: skip
    datasets = [f"mined:root={root}", f"mined:root={root},ref=HEAD", f"mined:root={root},ref=HEAD,kind=commits"]
    datasets += [f"annotations:path={rows},root={root}"]
    runs: list[tuple[object, ...]] = []
    for dataset in datasets:
        runs.append(("compare", "--dataset", dataset, *short, "--out", out / str(len(runs))))
    runs.append(("compare", root, *short, "--out", out / str(len(runs))))
    runs.append(("qrels", "--dataset", datasets[3], "--chunker", "fixed-lines"))
    runs += [("mine", root, "--kind", kind, "--out", tmp_path / f"{kind}.jsonl") for kind in ("commits", "docstrings")]
    runs.append(("chunk", root, "--stats"))
    places, asked = tmp_path / "places.jsonl", tmp_path / "asked.txt"
    places.write_text('{"query_id": "1", "rank": 1, "file": "words.py", "start_line": 4, "end_line": 6}\n')
    asked.write_text("where are numbers spelled out?\n")
    runs += [("score", "--spans", places, "--dataset", dataset, "-m", "file_rr") for dataset in datasets[3:]]
    runs += [("annotate", asked, root, "--json"), ("annotate", "--check", rows, root)]
    candidates = ("--candidates", "fixed-lines:lines=5", "--candidates", "whole-file", "--engine", "serial")
    runs += [("recommend", root, *candidates), ("recommend", "--dataset", datasets[3], *candidates)]
    runs += [("plan", root, *short[:6], "--embedder", "hashing"), ("plan", root, "--annotations", rows, *short[:6])]
    runs += [("compare", root, *short, "--tool", "grep-read", "--headline", "recall@400tok", "--out", out / "tools")]
    runs += [("report", out / "0", *where) for where in (("--out", tmp_path / "again"), ("--site", tmp_path / "site"))]
    for fetch in ("false", "true"):
        config = tmp_path / f"fetch-{fetch}.toml"
        config.write_text(
            f'datasets = ["{datasets[1]}"]\nchunkers = ["fixed-lines", "whole-file"]\nretrievers = ["bm25"]\n'
            f'embedders = ["hashing"]\nmeasures = ["hit@5"]\nheadline = "hit@5"\nflips = 100\n'
            f"[nightly]\nfetch = {fetch}\n"
        )
        runs += [("nightly", config, "--history", tmp_path / "history"), ("plan", config)]
    if "clone" in request.node.callspec.id:
        runs.append(("audit",))  # reads no repository, and takes seconds
    kept = ("--history", tmp_path / "history")
    runs += [("history", "list", *kept), ("history", "verify", *kept), ("history", "trend", *kept)]
    codes = []
    for arguments in runs:
        done = chunkbench(*arguments)
        assert not trap.sprung.exists(), (arguments, trap.sprung.read_text())
        assert "Traceback" not in done.err
        codes.append((done.code, arguments, done.err))
    nightly_with_fetch = next(each for each in codes if "fetch-true" in str(each[1]))
    assert nightly_with_fetch[0] == 2, nightly_with_fetch
    if "partial" not in request.node.callspec.id:
        assert [each for each in codes if each[0] and each is not nightly_with_fetch] == []
        assert "only https, ssh and local paths" in nightly_with_fetch[2]
