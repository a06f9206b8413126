"""Pins datasets at a git ref to tonight's commit: the branch may move during the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chunkers.errors import UsageError
from chunkers.plugins import Spec
from evaluation.results.types import Overall, Results
from evaluation.types import CellKey
from ground_truth.git import commits, is_git, resolve_ref, revisions
from ground_truth.git_fetch import fetch_clone

_SUBJECTS = 20


@dataclass(frozen=True)
class Pin:
    """A dataset as written in the experiment, and as loaded tonight."""

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
    """Commits in between; None if the clone cannot say (rewritten or shallow history)."""
    subjects: tuple[str, ...]


def pin(written: str, *, fetch: bool) -> Pin:
    """Return the dataset with its ref replaced by a commit; a folder without a ref is unchanged."""
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


def commits_between(root: Path, before: str, now: str) -> CommitRange:
    """Return the commits in tonight's snapshot but not in the earlier one, newest first."""
    try:
        between = revisions(root, now, without=before)
        subjects = [f"{commit.id[:9]} {commit.subject}" for commit in commits(root, between[:_SUBJECTS])]
    except UsageError:
        return CommitRange(before, now, None, ())
    return CommitRange(before, now, len(between), tuple(subjects))


def renamed(results: Results, names: dict[str, str]) -> Results:
    """Return the results with the datasets named as written instead of as pinned, so that nights can be paired."""

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
        best=tuple(dataclasses.replace(row, dataset=name(row.dataset)) for row in results.best),
        overall=None if results.overall is None else _renamed_overall(results.overall, name),
        queries=tuple(dataclasses.replace(query, dataset=name(query.dataset)) for query in results.queries),
        hidden={(name(dataset), chunk): parts for (dataset, chunk), parts in results.hidden.items()},
        files={key._replace(dataset=name(key.dataset)): file for key, file in results.files.items()},
        cuts={(chunker, key._replace(dataset=name(key.dataset))): cut for (chunker, key), cut in results.cuts.items()},
    )


def _renamed_overall(overall: Overall, name: Callable[[str], str]) -> Overall:
    """Return the statement over all settings with other dataset names."""

    def moved(key: CellKey) -> CellKey:
        return key._replace(dataset=name(key.dataset))

    one = overall.interaction
    return dataclasses.replace(
        overall,
        settings=tuple(dataclasses.replace(each, setting=moved(each.setting)) for each in overall.settings),
        interaction=one and dataclasses.replace(one, first=moved(one.first), second=moved(one.second)),
    )
