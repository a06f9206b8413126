"""Datasets at a git ref, fixed to the commit it names tonight: the branch may move while the run goes on."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from evaluation.results.types import Results
from ground_truth.git import is_git, resolve_ref, run_git

_SUBJECTS = 20


@dataclass(frozen=True)
class Pin:
    """A dataset as written in the experiment, and as it is loaded tonight."""

    written: str
    spec: str
    root: Path | None = None
    """The clone, for a dataset that names a ref."""
    ref: str | None = None
    commit: str | None = None


@dataclass(frozen=True)
class CommitRange:
    """What happened in a clone between two runs."""

    before: str
    now: str
    count: int | None
    """Commits in between; None where the clone cannot say (rewritten or shallow history)."""
    subjects: tuple[str, ...]


def pin(written: str, *, fetch: bool) -> Pin:
    """Return the dataset with its ref replaced by a commit; a folder without a ref is taken as it is."""
    spec = Spec.parse(written)
    params = dict(spec.params)
    root, ref = Path(params.get("root", ".")).expanduser(), params.get("ref")
    if ref is None:
        return Pin(written, written)
    if not is_git(root):
        raise UsageError(f"{root} is not a git clone, but dataset {written!r} names the ref {ref!r}")
    if fetch:
        fetch_clone(root)
    commit = resolve_ref(root, ref)
    fixed = Spec(spec.name, tuple({**params, "ref": commit}.items()))
    return Pin(written, str(fixed), root, ref, commit)


def fetch_clone(root: Path) -> None:
    """Fetch the clone's remotes; a password is never asked for, because nobody is there at night."""
    program = shutil.which("git")
    if program is None:
        raise UsageError("git is not installed: install git to fetch clones")
    done = subprocess.run(  # noqa: S603 - a fixed program, arguments passed as a list
        [program, "-C", str(root), "fetch", "--quiet", "--all"],
        capture_output=True,
        check=False,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        # Advice follows what is wrong.
        wrong = [line for line in said if line.startswith(("fatal: ", "error: "))] or said[-1:]
        why = wrong[0].rstrip(".") if wrong else f"exit {done.returncode}"
        raise UsageError(f"{root}: git fetch failed: {why}. Correct the remote, or set fetch = false")


def commits_between(root: Path, before: str, now: str) -> CommitRange:
    """Return the commits that tonight's snapshot has and the earlier one has not, newest first."""
    try:
        out = run_git(root, "log", "--format=%h %s", "--end-of-options", f"{before}..{now}", "--")
    except UsageError:
        return CommitRange(before, now, None, ())
    subjects = out.decode("utf-8", "replace").splitlines()
    return CommitRange(before, now, len(subjects), tuple(subjects[:_SUBJECTS]))


def renamed(results: Results, names: dict[str, str]) -> Results:
    """Return the results under other dataset names: as written instead of as pinned, so that nights pair up."""

    def name(dataset: str) -> str:
        return names.get(dataset, dataset)

    return dataclasses.replace(
        results,
        config=results.config.model_copy(update={"datasets": tuple(map(name, results.config.datasets))}),
        datasets=tuple(dataclasses.replace(each, name=name(each.name)) for each in results.datasets),
        cells=tuple(
            dataclasses.replace(cell, key=cell.key._replace(dataset=name(cell.key.dataset))) for cell in results.cells
        ),
        comparisons=tuple(dataclasses.replace(row, dataset=name(row.dataset)) for row in results.comparisons),
        queries=tuple(dataclasses.replace(query, dataset=name(query.dataset)) for query in results.queries),
    )
