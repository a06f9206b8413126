"""SWE-bench (Lite, Verified, full): the issue asks, the lines that the gold patch changes answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.sources import Repository
from ground_truth.git import find_clone
from ground_truth.git_snapshot import GitSnapshot, take_snapshot
from ground_truth.hub import local_files
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.patches import FilePatch, fit, merged, parse_patch
from ground_truth.source_paths import has_test_word, is_source
from ground_truth.types import Annotation, Dataset, Query


class Instance(NamedTuple):
    """One issue and the old-side changes of its patch."""

    id: str
    where: str
    repo: str
    commit: str
    issue: str
    patches: tuple[FilePatch, ...]

    @property
    def name(self) -> str:
        """The name of the snapshot that is searched."""
        return f"{self.repo}@{self.commit[:12]}"

    @property
    def gold(self) -> list[FilePatch]:
        """The changed source files that are not tests and that exist before the change."""
        return [
            patch
            for patch in self.patches
            if patch.old_path and patch.changed and is_source(patch.old_path) and not has_test_word(patch.old_path)
        ]


class _Skip(Exception):  # noqa: N818 - not an error: a reason that is counted
    """Why an instance is left out."""


@dataclass(frozen=True, kw_only=True)
class SweBench:
    """SWE-bench from its published file, with the repositories at their base commits from local clones."""

    version: ClassVar[str] = "1"
    needs: ClassVar[str] = "path= its file (or hub:OWNER/NAME@REVISION), repos= a folder with clones"

    path: str
    """The .jsonl, .json or .parquet file, a folder of them, or hub:OWNER/NAME@REVISION."""
    repos: str
    """The folder with clones or bare mirrors, named owner/name, owner__name or name."""
    gold: Literal["lines", "file"] = "lines"
    repositories: str = "all"
    """`all`, or names separated by commas."""
    problems: Literal["error", "skip"] = "error"
    """Whether an instance that cannot be used (no clone, no commit, a patch that does not apply) stops the loading."""
    limit: int | None = None
    """At most this many instances per repository, in file order."""

    def load(self) -> Dataset:
        """Return the dataset; each patch's removed and context lines are compared with the file at the base commit."""
        instances = self._chosen(read_instances(self.path))
        skipped: Counter[str] = Counter()
        repositories: dict[str, Repository] = {}
        queries: list[Query] = []
        notes: list[Annotation] = []
        for instance in instances:
            try:
                snapshot = self._snapshot(instance)
                gold = self._annotations(instance, snapshot)
            except _Skip as reason:
                skipped[str(reason)] += 1
                continue
            except UsageError as error:
                if self.problems == "error":
                    raise UsageError(f"{error} (or write problems=skip to leave such instances out, counted)") from None
                skipped[_kind(str(error))] += 1
                continue
            repositories.setdefault(snapshot.name, snapshot)
            queries.append(Query(instance.id, instance.issue, instance.name, group=instance.repo))
            notes += gold
        if not queries:
            raise UsageError(f"{self.path}: no instance can be used: {dict(skipped)}")
        return Dataset(
            name=f"{Path(self.path).stem}-{self.gold}",
            repositories=tuple(repositories.values()),
            queries=tuple(queries),
            annotations=tuple(notes),
            details={"instances": len(instances), "skipped": dict(skipped), "gold": self.gold},
        )

    def _chosen(self, instances: Sequence[Instance]) -> list[Instance]:
        known = {instance.repo for instance in instances}
        wanted = known if self.repositories == "all" else {name.strip() for name in self.repositories.split(",")}
        if unknown := sorted(wanted - known):
            raise UsageError(f"{self.path} has no instance of {unknown[0]!r}. It has: {', '.join(sorted(known))}")
        taken: Counter[str] = Counter()
        chosen = []
        for instance in instances:
            taken[instance.repo] += 1
            if instance.repo in wanted and (self.limit is None or taken[instance.repo] <= self.limit):
                chosen.append(instance)
        return chosen

    def _snapshot(self, instance: Instance) -> GitSnapshot:
        gold = instance.gold
        if not gold:
            raise _Skip("the patch changes no source line of the base commit outside tests")
        root = Path(self.repos).expanduser()
        clone = find_clone(root, instance.repo)
        if clone is None:
            raise UsageError(f"{instance.where}: no clone of {instance.repo} below {root}: clone it there")
        keep = {patch.old_path or "" for patch in gold}
        return take_snapshot(clone, instance.commit, name=instance.name, keep=keep)

    def _annotations(self, instance: Instance, snapshot: GitSnapshot) -> list[Annotation]:
        notes: list[Annotation] = []
        for patch in instance.gold:
            path = patch.old_path or ""
            source = snapshot.read(path)
            if source is None:
                raise UsageError(f"{instance.where}: {path} is not in {instance.name}: the patch does not apply")
            fitted = fit(patch, source.data)
            if fitted is None:
                raise UsageError(f"{instance.where}: the patch does not apply to {path} at {instance.commit[:12]}")
            count = FileLines.of(source.data).count
            ranges = [(1, count)] if self.gold == "file" else list(merged(fitted.changed))
            notes += [Annotation(instance.id, instance.name, path, first, min(last, count)) for first, last in ranges]
        return notes


def read_instances(path: str) -> list[Instance]:
    """Return the instances of a published file with their patches parsed; no clone is needed."""
    return [_instance(record) for file in local_files(path) for record in read_records(file)]


def _instance(record: Record) -> Instance:
    name = record.text("instance_id")
    patches = parse_patch(record.text("patch"), where=f"{record.where} ({name})")
    if not patches:
        raise UsageError(f"{record.where}: the patch of {name} names no file: a unified diff was expected")
    return Instance(
        name,
        record.where,
        record.text("repo"),
        record.text("base_commit"),
        record.text("problem_statement"),
        tuple(patches),
    )


def _kind(message: str) -> str:
    for kind in ("no clone", "has no commit", "does not apply"):
        if kind in message:
            return kind
    return message
