"""SWE-bench (Lite, Verified, full): the issue is the query, the lines changed by the gold patch are the answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.sources import Repository
from ground_truth.clones import open_commit, read_gold
from ground_truth.generated_code import is_generated
from ground_truth.git_snapshot import GitSnapshot
from ground_truth.hub import local_files
from ground_truth.jsonl import Record, read_records
from ground_truth.lines import FileLines
from ground_truth.patches import FilePatch, fit, merged, parse_patch
from ground_truth.problems import Policy, RowProblemError, Skips
from ground_truth.selection import choose_rows
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
        """The changed source files that are not tests and exist before the change; some may be generated."""
        return [patch for patch in self.patches if not _no_gold(patch)]


@dataclass(frozen=True, kw_only=True)
class SweBench:
    """SWE-bench from its published file, with the repositories at their base commits from local clones."""

    version: ClassVar[str] = "2"
    needs: ClassVar[str] = "path= its file (or hub:OWNER/NAME@REVISION), repos= a folder with clones"

    path: str
    """The .jsonl, .json or .parquet file, a folder of them, or hub:OWNER/NAME@REVISION."""
    repos: str
    """The folder with clones or bare mirrors, named owner/name, owner__name or name."""
    gold: Literal["lines", "file"] = "lines"
    repositories: str = "all"
    """`all`, or names separated by commas."""
    problems: Policy = "error"
    """Whether an instance that cannot be used (no clone, no commit, a patch that does not apply) stops the loading."""
    limit: int | None = None
    """At most this many instances per repository, in file order."""

    def __post_init__(self) -> None:
        if self.limit is not None:
            positive(self, "limit")

    def load(self) -> Dataset:
        """Return the dataset; each patch's removed and context lines are compared with the file at the base commit."""
        instances = choose_rows(read_instances(self.path), self.repositories, limit=self.limit, path=self.path)
        skips = Skips(self.problems)
        without_gold = 0
        not_gold: Counter[str] = Counter()
        repositories: dict[str, Repository] = {}
        queries: dict[str, Query] = {}
        notes: list[Annotation] = []
        for instance in instances:
            not_gold.update(filter(None, map(_no_gold, instance.patches)))
            if not instance.gold:
                without_gold += 1
                continue
            with skips.row():
                if instance.id in queries:
                    raise RowProblemError(instance.where, "duplicate row", f"{instance.id} is there twice: remove one")
                snapshot = self._snapshot(instance)
                gold = self._annotations(instance, snapshot, not_gold)
                repositories.setdefault(snapshot.name, snapshot)
                queries[instance.id] = Query(instance.id, instance.issue, instance.name, group=instance.repo)
                notes += gold
        skipped = skips.counts
        if without_gold:
            skipped["the patch changes no source line of the base commit outside tests"] = without_gold
        if not queries:
            raise UsageError(f"{self.path}: none of {len(instances)} instances can be used: {skips}")
        return Dataset(
            name=f"{Path(self.path).stem}-{self.gold}",
            repositories=tuple(repositories.values()),
            queries=tuple(queries.values()),
            annotations=tuple(notes),
            details={
                "rows": len(instances),
                "used": len(queries),
                "skipped": skipped,
                "gold": self.gold,
                "changed_files_that_are_not_gold": dict(sorted(not_gold.items())),
            },
        )

    def _snapshot(self, instance: Instance) -> GitSnapshot:
        keep = {patch.old_path or "" for patch in instance.gold}
        root = Path(self.repos).expanduser()
        where = instance.where
        return open_commit(root, instance.repo, instance.commit, where=where, keep=keep, problems=self.problems)

    def _annotations(self, instance: Instance, snapshot: GitSnapshot, not_gold: Counter[str]) -> list[Annotation]:
        """Return the gold of an instance; generated files are only counted, since their source is gold."""
        notes: list[Annotation] = []
        paths = {blob.path for blob in snapshot.blobs}
        for patch in instance.gold:
            path = patch.old_path or ""
            source = read_gold(snapshot, path, where=instance.where)
            if is_generated(path, source.data, paths):
                not_gold["generated file"] += 1
                continue
            fitted = fit(patch, source.data)
            if fitted is None:
                found = f"{path} at {instance.commit[:12]} does not have the lines that it changes"
                raise RowProblemError(instance.where, "the patch does not apply", found)
            count = FileLines.of(source.data).count
            ranges = [(1, count)] if self.gold == "file" else list(merged(fitted.changed))
            notes += [Annotation(instance.id, instance.name, path, first, min(last, count)) for first, last in ranges]
        if not notes:
            names = ", ".join(patch.old_path or "" for patch in instance.gold)
            raise RowProblemError(instance.where, "the patch changes generated files only", names)
        return notes


def _no_gold(patch: FilePatch) -> str:
    """Return why a changed file is not gold, as far as its path shows, or nothing."""
    path = patch.old_path
    if path is None:
        return "new file"
    if has_test_word(path):
        return "test file"
    if not is_source(path):
        return "no source file (documentation, settings, data)"
    return "" if patch.changed else "no line of the base commit changed"


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
