"""A commit is what its hash says, read from any kind of clone; what cannot be believed is refused in one line."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest
from test_git_canaries import SOURCE, git, history

from chunkers.errors import UsageError
from ground_truth import git_program
from ground_truth.datasets.mined import MinedRepository
from ground_truth.git import (
    blob_sizes,
    changes,
    commits,
    is_git,
    is_named_bare,
    list_tree,
    resolve_commit,
    resolve_ref,
    revisions,
)
from ground_truth.git_fetch import fetch_clone
from ground_truth.git_layout import locate
from ground_truth.git_program import read_git
from ground_truth.git_snapshot import take_snapshot
from ground_truth.miners.commits import mine_commits


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a clone of three commits."""
    history(tmp_path / "work")
    return tmp_path / "work"


def write_object(objects: Path, kind: str, data: bytes, *, name: str = "") -> str:
    """Write a loose object, under its own name or under a false one."""
    whole = f"{kind} {len(data)}\0".encode() + data
    name = name or hashlib.sha1(whole).hexdigest()  # noqa: S324 - git's own names
    (objects / name[:2]).mkdir(exist_ok=True)
    (objects / name[:2] / name[2:]).unlink(missing_ok=True)
    (objects / name[:2] / name[2:]).write_bytes(zlib.compress(whole))
    return name


def write_commit(objects: Path, tree: str) -> str:
    """Write a commit of a tree."""
    return write_object(objects, "commit", f"tree {tree}\nauthor A <a@b.c> 0 +0000\n\nAll\n".encode())


def contents(clone: Path, ref: str) -> dict[str, bytes]:
    """Return the files of a commit."""
    return {one.path: one.data for one in take_snapshot(clone, resolve_ref(clone, ref), name="r").files()}


@pytest.mark.parametrize("ref", ["HEAD", "@", "main", "heads/main", "refs/heads/main", "v1", "v1^{}", "v1^{commit}"])
def test_refs_are_found_as_git_finds_them(work: Path, ref: str) -> None:
    """Branches, tags and spellings, loose and packed, from the clone and from a bare mirror of it."""
    git(work, "tag", "-am", "one", "v1")
    head = git(work, "rev-parse", "HEAD")
    assert resolve_ref(work, ref) == head
    git(work, "pack-refs", "--all")
    assert resolve_ref(work, ref) == head
    git(work.parent, "clone", "-q", "--mirror", "work", "mirror")
    assert resolve_ref(work.parent / "mirror", ref) == head


def test_revisions_and_abbreviations(work: Path) -> None:
    """Steps back and the head of a hash; a remote's branch by its short name."""
    names = git(work, "rev-list", "HEAD").split()
    assert [resolve_ref(work, ref) for ref in ("HEAD~1", "main~2", "HEAD^", names[2][:8])] == [
        names[1], names[2], names[1], names[2],
    ]  # fmt: skip
    assert revisions(work, names[0]) == names
    assert revisions(work, names[0], without=names[2]) == names[:2]
    git(work.parent, "clone", "-q", "work", "copy")
    assert resolve_ref(work.parent / "copy", "origin/main") == resolve_ref(work.parent / "copy", "origin") == names[0]
    assert resolve_commit(work, "0" * 40) is None


@pytest.mark.parametrize(
    "ref",
    [
        "nope",
        "HEAD@{1}",
        "main..HEAD",
        "--all",
        "-x",
        "../../etc/passwd",
        "config",
        "a b",
        "HEAD:words.py",
        "\n",
        ":/Look",
    ],
)
def test_what_is_no_ref_is_refused(work: Path, ref: str) -> None:
    """Options, paths and expressions that name no commit are not handed to git."""
    with pytest.raises(UsageError, match="has no ref"):
        resolve_ref(work, ref)


def test_the_environment_does_not_choose_the_repository(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside a hook, git's variables name another repository; the one that the user named is read."""
    history(tmp_path / "other" / "o")
    other = tmp_path / "other" / "o"
    (other / "words.py").write_text(SOURCE * 2)
    git(other, "commit", "-qam", "Say everything twice in this one")
    head = git(work, "rev-parse", "HEAD")
    before = contents(work, "HEAD")
    for name, value in {
        "GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / ".git" / "index",
        "GIT_OBJECT_DIRECTORY": other / ".git" / "objects", "GIT_COMMON_DIR": other / ".git", "GIT_NAMESPACE": "x",
        "GIT_CONFIG_PARAMETERS": "'log.showSignature=true'", "GIT_CONFIG_COUNT": "x", "GIT_TRACE": tmp_path / "trace",
        "GIT_CEILING_DIRECTORIES": "/", "GIT_EXEC_PATH": tmp_path, "GIT_REPLACE_REF_BASE": "refs/heads/",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))
    assert resolve_ref(work, "HEAD") == head
    assert contents(work, "HEAD") == before
    assert not (tmp_path / "trace").exists()


def test_replace_refs_grafts_and_commit_graphs_change_nothing(work: Path) -> None:
    """A clone that says that a commit is another one is not believed."""
    names = git(work, "rev-list", "HEAD").split()
    before = contents(work, names[1])
    git(work, "commit-graph", "write", "--reachable")
    graph = work / ".git" / "objects" / "info" / "commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes().replace(bytes.fromhex(names[1]), bytes.fromhex(names[2])))
    git(work, "replace", names[1], names[2])
    (work / ".git" / "info" / "grafts").write_text(f"{names[0]} {names[2]}\n")
    assert contents(work, names[1]) == before
    assert revisions(work, names[0]) == names
    assert [one.parents for one in commits(work, names)] == [(names[1],), (names[2],), ()]


@pytest.mark.parametrize("kind", ["commit", "tree", "blob"])
def test_an_object_that_is_not_its_hash_is_refused(work: Path, kind: str) -> None:
    """A commit, a folder or a file that lies under the name of another one is found."""
    spelled = {"commit": "HEAD", "tree": "HEAD^{tree}", "blob": "HEAD:words.py"}[kind]
    old = {"commit": "HEAD~1", "tree": "HEAD~1^{tree}", "blob": "HEAD~1:words.py"}[kind]
    objects = work / ".git" / "objects"
    other = git(work, "rev-parse", old)
    data = zlib.decompress((objects / other[:2] / other[2:]).read_bytes()).partition(b"\0")[2]
    data = data.replace(b"count", b"amount") if kind == "blob" else data
    write_object(objects, kind, data, name=git(work, "rev-parse", spelled))
    head = (work / ".git" / "refs" / "heads" / "main").read_text().strip()
    words = "not what its hash says|is damaged|git \\S+ failed|has no ref"
    with pytest.raises(UsageError, match=words):
        contents(work, head)
    if kind == "blob":
        with pytest.raises(UsageError, match=words):
            changes(work, git(work, "rev-parse", "HEAD~1"), head)


def test_a_tree_that_names_files_without_end_is_refused(work: Path) -> None:
    """Ten folders of ten times the folder below are ten thousand million files in two kilobytes."""
    objects = work / ".git" / "objects"
    inner = write_object(objects, "blob", b"a = 1\n")
    mode = b"100644"
    for _ in range(10):
        entries = b"".join(b"%s f%d\0%s" % (mode, number, bytes.fromhex(inner)) for number in range(10))
        inner, mode = write_object(objects, "tree", entries), b"40000"
    commit = write_commit(objects, inner)
    with pytest.raises(UsageError, match="over 2,000,000 files"):
        list_tree(work, commit)


def test_a_tree_nested_without_end_is_refused(work: Path) -> None:
    """Five thousand folders inside each other have no path on any disk."""
    objects = work / ".git" / "objects"
    inner, mode = write_object(objects, "blob", b"a = 1\n"), b"100644"
    for _ in range(5_000):
        inner, mode = write_object(objects, "tree", mode + b" a\0" + bytes.fromhex(inner)), b"40000"
    with pytest.raises(UsageError, match="a path of over"):
        list_tree(work, write_commit(objects, inner))


@pytest.mark.parametrize("name", [b"..", b".", b"a/../../b", b"", b"a"])
def test_names_that_no_folder_can_hold_are_refused(work: Path, name: bytes) -> None:
    """A file is no way out of its folder, and a name stands for one file."""
    objects = work / ".git" / "objects"
    blob = bytes.fromhex(write_object(objects, "blob", b"a = 1\n"))
    tree = write_object(objects, "tree", b"100644 a\0" + blob + b"100644 " + name + b"\0" + blob)
    with pytest.raises(UsageError, match="malformed"):
        list_tree(work, write_commit(objects, tree))


def test_a_commit_that_names_options_is_refused(work: Path) -> None:
    """What stands where a hash should is never an argument of git."""
    objects = work / ".git" / "objects"
    bad = write_object(objects, "commit", b"tree --output=x\nparent --help\nauthor A <a@b.c> 0 +0000\n\nAll\n")
    with pytest.raises(UsageError, match="malformed"):
        list_tree(work, bad)


def test_a_huge_file_is_left_out_without_being_unpacked(work: Path) -> None:
    """300 MB in 300 kB of clone: a snapshot takes the memory of a small repository, and says what it left out."""
    with (work / "huge.py").open("wb") as file:
        file.truncate(300_000_000)
    git(work, "add", "huge.py")
    git(work, "commit", "-qm", "Add a file that is huge but small")
    (work / "huge.py").unlink()
    head = git(work, "rev-parse", "HEAD")
    code = (
        "import resource, sys; from pathlib import Path; from ground_truth.git_snapshot import take_snapshot\n"
        f"found = take_snapshot(Path({str(work)!r}), {head!r}, name='r', keep=KEEP)\n"
        "print(sorted(one.path for one in found.files()), dict(found.skipped)['huge.py'], found.read('huge.py'))\n"
        "own = Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0]\n"
        "print(max(int(own), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))\n"
    )
    for keep, reason in (("()", "over 1000 kB"), ("{'huge.py'}", "over 268435 kB")):
        done = subprocess.run(
            [sys.executable, "-c", code.replace("KEEP", keep)],
            capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1],
        )  # fmt: skip
        said, memory = done.stdout.splitlines()
        assert said == f"['words.py'] {reason} None"
        assert int(memory) < 250_000
    assert mine_commits(work, name="r").queries


def test_sizes_are_those_of_the_contents(work: Path) -> None:
    """One number per object, in order; an object that is not there is named."""
    blobs = list_tree(work, git(work, "rev-parse", "HEAD"))
    sizes = blob_sizes(work, [blob.object_id for blob in blobs])
    assert sizes == [len((work / blob.path).read_bytes()) for blob in blobs]
    with pytest.raises(UsageError, match="lacks object"):
        blob_sizes(work, ["1" * 40])


def test_a_bare_looking_folder_is_a_folder(work: Path) -> None:
    """Only a name that ends in .git, or a ref, makes a folder with HEAD and objects a repository."""
    git(work.parent, "clone", "-q", "--bare", "work", "plain")
    git(work.parent, "clone", "-q", "--bare", "work", "named.git")
    plain = work.parent / "plain"
    (plain / "more.py").write_text(SOURCE)
    assert is_git(plain)
    assert not is_named_bare(plain)
    assert is_named_bare(work.parent / "named.git")
    loaded = {ref: MinedRepository(root=str(plain), ref=ref).load() for ref in (None, "HEAD")}
    assert {ref: [one.path for one in found.repositories[0].files()] for ref, found in loaded.items()} == {
        None: ["more.py"], "HEAD": ["words.py"],
    }  # fmt: skip
    assert MinedRepository(root=str(work.parent / "named.git")).load().details["commit"] == resolve_ref(work, "HEAD")


def test_work_trees_and_submodules_are_read_where_they_are_kept(work: Path) -> None:
    """The link is followed when the other end knows of it."""
    git(work, "worktree", "add", "-q", str(work.parent / "tree"), "HEAD~1")
    assert resolve_ref(work.parent / "tree", "HEAD") == resolve_ref(work, "HEAD~1")
    top = work.parent / "top"
    top.mkdir()
    git(top, "init", "-q")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(work), "part")
    assert resolve_ref(top / "part", "HEAD") == resolve_ref(work, "HEAD")


@pytest.mark.parametrize("how", ["file", "back", "link", "commondir"])
def test_a_folder_that_points_at_somebody_elses_repository_is_refused(work: Path, how: str) -> None:
    """Otherwise a folder of strangers could have any repository of the disk read in its name."""
    folder = work.parent / "strange"
    folder.mkdir()
    if how == "file":
        (folder / ".git").write_text(f"gitdir: {work / '.git'}\n")
    elif how == "back":
        git(work, "worktree", "add", "-q", str(work.parent / "tree"), "HEAD")
        (folder / ".git").write_bytes((work.parent / "tree" / ".git").read_bytes())
    elif how == "link":
        (folder / ".git").symlink_to(work / ".git")
    else:
        (folder / ".git").mkdir()
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git" / "commondir").write_text(f"{work / '.git'}\n")
    with pytest.raises(UsageError, match=r"give th(e|at)"):
        resolve_ref(folder, "HEAD")


def test_shallow_clones_and_sha256_repositories_are_read(work: Path) -> None:
    """History ends where the clone ends; objects may have either kind of name."""
    git(work.parent, "clone", "-q", "--depth", "2", f"file://{work}", "shallow")
    shallow = work.parent / "shallow"
    assert len(revisions(shallow, resolve_ref(shallow, "HEAD"))) == 2
    assert mine_commits(shallow, name="r").dropped["first commit"] == 1
    long = work.parent / "long"
    long.mkdir()
    git(long, "init", "-q", "-b", "main", "--object-format=sha256")
    (long / "words.py").write_text(SOURCE)
    git(long, "add", "-A")
    git(long, "commit", "-qm", "All")
    assert len(resolve_ref(long, "main")) == 64
    assert contents(long, "main") == {"words.py": SOURCE.encode()}


def test_a_fetch_brings_new_commits_over_a_path(work: Path) -> None:
    """Clones, mirrors and relative remotes; nothing but refs and objects is written."""
    git(work.parent, "clone", "-q", "work", "copy")
    git(work.parent, "clone", "-q", "--mirror", "work", "mirror.git")
    git(work.parent / "copy", "config", "remote.origin.url", "../work")
    git(work.parent / "mirror.git", "pack-refs", "--all")
    (work / "words.py").write_text(SOURCE * 2)
    git(work, "commit", "-qam", "Say everything twice")
    git(work, "tag", "v2")
    head = git(work, "rev-parse", "HEAD")
    for name, ref in (("copy", "origin/main"), ("mirror.git", "main"), ("copy", "v2")):
        fetch_clone(work.parent / name)
        assert resolve_ref(work.parent / name, ref) == head == git(work.parent / name, "rev-parse", ref)
        git(work.parent / name, "fsck", "--strict")
    assert git(work.parent / "copy", "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "url", ["ext::sh -c 'touch x'", "http://h/x", "git://h/x", "fd::7", "-oProxyCommand=x", "foo::bar", "ftp://a/b", ""]
)
def test_other_protocols_are_not_fetched(work: Path, url: str) -> None:
    """Only https, ssh and local paths; a name for a helper program is neither."""
    (work / ".git" / "config").write_text(f'[remote "origin"]\n\turl = "{url}"\n')
    with pytest.raises(UsageError, match="only https, ssh and local paths"):
        fetch_clone(work)


def test_a_password_in_an_address_is_not_repeated(work: Path) -> None:
    """The line that says what failed has the address without it."""
    url = "https://user:hunter2@127.0.0.1:9/x.git"
    (work / ".git" / "config").write_text(
        f'[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/o/*\n'
    )
    with pytest.raises(UsageError, match="git fetch failed") as caught:
        fetch_clone(work)
    assert "hunter2" not in str(caught.value)


def test_refs_that_lead_out_of_the_clone_are_not_written(work: Path, tmp_path: Path) -> None:
    """A link among the refs would have a fetch write files elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    (work / ".git" / "refs" / "remotes").symlink_to(tmp_path / "elsewhere")
    git(work, "config", "remote.origin.url", str(work))
    with pytest.raises(UsageError, match="symbolic link"):
        fetch_clone(work)


def test_a_program_called_git_in_the_corpus_is_not_run(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search path with a relative folder, in a corpus that has such a program."""
    (work / "git").write_text("#!/bin/sh\ntouch sprung\n")
    (work / "git").chmod(0o755)
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    from ground_truth.git_program import _program

    _program.cache_clear()
    assert resolve_ref(work, "HEAD")
    assert not (work / "sprung").exists()


def test_messages_are_read_as_git_prints_them(work: Path) -> None:
    """Subject, body, author and the coding of old commits, against git's own output."""
    (work / "words.py").write_text(SOURCE + "\n")
    git(
        work,
        "-c",
        "i18n.commitEncoding=latin1",
        "commit",
        "-qam",
        "Zähle Wörter\nund mehr\n\nErster Absatz\n\nZweiter\n",
    )
    head = git(work, "rev-parse", "HEAD")
    (commit,) = commits(work, [head])
    assert commit.subject == git(work, "log", "-1", "--format=%s")
    assert commit.body.strip() == git(work, "log", "-1", "--format=%b")
    assert commit.author == git(work, "log", "-1", "--format=%an <%ae>")


def test_a_pipe_in_the_place_of_a_file_is_no_reason_to_wait(work: Path) -> None:
    """Whoever opens a pipe that nobody writes to waits for ever."""
    (work / ".git" / "objects" / "info").mkdir(exist_ok=True)
    os.mkfifo(work / ".git" / "objects" / "info" / "alternates")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        resolve_ref(work, "HEAD")
    (work / ".git" / "objects" / "info" / "alternates").unlink()
    (work / ".git" / "HEAD").unlink()
    os.mkfifo(work / ".git" / "HEAD")
    with pytest.raises(UsageError, match="has no ref"):
        resolve_ref(work, "HEAD")


def test_git_that_does_not_end_is_stopped(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call has its time, also while it prints nothing: here git waits for a pipe that came after the look."""
    layout = locate(work)
    head = git(work, "rev-parse", "HEAD")
    place = work / ".git" / "objects" / head[:2] / head[2:]
    place.unlink()
    os.mkfifo(place)
    monkeypatch.setattr(git_program, "_SECONDS", 1)
    with pytest.raises(UsageError, match="took over"):
        read_git(layout, "cat-file", "commit", head)


@pytest.mark.parametrize("name", ["loose", "pack/multi-pack-index", "pack/pack-0.idx", "pack/pack-0.pack", "info/x"])
@pytest.mark.parametrize("behind", ["itself", "a link", "a borrowed folder"])
def test_a_pipe_among_the_objects_is_named_at_once(work: Path, name: str, behind: str) -> None:
    """Git waited for ever, in the repository or in one that it borrows from."""
    head = git(work, "rev-parse", "HEAD")
    objects = work / ".git" / "objects"
    if behind == "a borrowed folder":
        (objects / "info").mkdir(exist_ok=True)
        (objects / "info" / "alternates").write_text("# a comment\n../../../other/objects\n")
        objects = work.parent / "other" / "objects"
    place = objects / (f"{head[:2]}/{head[2:]}" if name == "loose" else name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if behind == "a link":
        os.mkfifo(work.parent / "pipe")
        place.symlink_to(work.parent / "pipe")
    else:
        os.mkfifo(place)
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        resolve_ref(work, "main")


def test_a_commit_that_changes_more_than_anybody_writes_is_counted(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte of diff was held, twice, to find that it is no query."""
    monkeypatch.setattr("ground_truth.git.LARGEST_CHANGE", 200)
    mined = mine_commits(work, name="work")
    assert mined.queries == ()
    assert mined.dropped["changes too much to be read"] >= 1


def test_a_file_whose_name_says_nothing_is_looked_into(tmp_path: Path) -> None:
    """A script without an ending is source where no language was asked for; where one was, names decide."""
    (tmp_path / "deploy").write_text("#!/usr/bin/env python3\nprint(1)\n")
    (tmp_path / "a.py").write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    head = resolve_ref(tmp_path, "HEAD")
    assert [one.path for one in take_snapshot(tmp_path, head, name="r").files()] == ["a.py", "deploy"]
    only = take_snapshot(tmp_path, head, name="r", languages={"python"})
    assert [one.path for one in only.files()] == ["a.py"]


def test_ctrl_c_while_git_starts_leaves_nothing_to_wait_for(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock that bounds git's time ends with the call, wherever an interrupt comes, and holds no exit up."""
    clocks: list[threading.Timer] = []
    start = threading.Timer.start

    def interrupted(clock: threading.Timer) -> None:
        start(clock)
        clocks.append(clock)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Timer, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_git(locate(work), "cat-file", "-t", "HEAD")
    (clock,) = clocks
    clock.join(60)
    assert not clock.is_alive()
    assert clock.daemon
