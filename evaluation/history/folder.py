"""The history folder: numbered runs that are written atomically, never changed, and verified when read."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from chunkers.errors import UsageError
from chunkers.input_files import read_text_input
from evaluation.atomic import checksum, sync
from evaluation.history.record import RunRecord
from evaluation.results.folder import read_results
from evaluation.results.types import Results

_NUMBER = re.compile(r"\d{5,}\Z")
_DRAFT = ".draft-"
_DRAFT_NAME = re.compile(r"\.draft-(?:[a-z0-9_]{8}|\d{5,})\Z")
_MARKS = ("run.json", "results.json")
"""Files of a run; one that is damaged may have lost the first."""


class DamagedRunError(UsageError):
    """A stored run differs from what was written; the message names the file."""


class Records(NamedTuple):
    """The readable runs in order, and a line for each unreadable one."""

    runs: list[RunRecord]
    damaged: list[str]


@dataclass(frozen=True)
class History:
    """A folder of runs with many readers and one writer."""

    root: Path

    def folder(self, number: int) -> Path:
        """Return the folder of a run, whether or not it exists."""
        return self.root / "runs" / f"{number:05}"

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock; raise at once if another run holds it."""
        from filelock import FileLock, Timeout

        self.check_links()
        self._make(self.root / "runs")
        try:
            with FileLock(self.root / ".lock", timeout=0):
                yield
        except Timeout:
            raise UsageError(f"another run is going in {self.root}: wait until it has finished") from None

    def check_links(self) -> None:
        """Raise if a link stands where runs are written and removed: what it leads to is not part of the history."""
        for name in ("runs", "accepted.jsonl"):
            if (self.root / name).is_symlink():
                raise UsageError(f"{self.root / name} is a link: put what it leads to in its place")

    def numbers(self) -> list[int]:
        """Return the numbers of all runs, readable or not, oldest first."""
        place = self.root / "runs"
        found = [entry.name for entry in place.iterdir() if entry.is_dir()] if place.is_dir() else []
        return sorted(int(name) for name in found if _NUMBER.match(name))

    def is_run(self, number: int) -> bool:
        """Return whether the folder of this number was written as a run, damaged or not; no other is removed."""
        folder = self.folder(number)
        return not folder.is_symlink() and any((folder / name).is_file() for name in _MARKS)

    def record(self, number: int) -> RunRecord:
        """Return the record of a run."""
        file = self.folder(number) / "run.json"
        if not self.folder(number).is_dir():
            known = ", ".join(map(str, self.numbers()[-8:])) or "none"
            raise UsageError(f"{self.root} has no run {number}; the newest are: {known}")
        try:
            found = RunRecord.from_json(read_text_input(file))
        except (OSError, ValueError, UsageError) as error:
            raise DamagedRunError(f"{file} is damaged and run {number} is skipped: {error}") from None
        if found.number != number:
            raise DamagedRunError(f"{file} is damaged and run {number} is skipped: it says that it is {found.number}")
        return found

    def records(self) -> Records:
        """Return all runs; a damaged one is reported and does not stop the others."""
        runs, damaged = [], []
        for number in self.numbers():
            try:
                runs.append(self.record(number))
            except DamagedRunError as error:
                damaged.append(str(error))
        return Records(runs, damaged)

    def check(self, record: RunRecord, *names: str) -> None:
        """Raise unless the named files of a run, or all of them, are as they were written."""
        folder = self.folder(record.number)
        for name in names or record.files:
            try:
                same = checksum(folder / name) == record.files.get(name)
            except (OSError, UsageError) as error:
                raise DamagedRunError(f"{folder / name} is gone: run {record.number} is skipped ({error})") from None
            if not same:
                raise DamagedRunError(f"{folder / name} is damaged: run {record.number} is skipped")

    def results(self, record: RunRecord) -> Results:
        """Return a run's results with its per-query scores, after verifying every file."""
        self.check(record)
        return read_results(self.folder(record.number))

    def means(self, record: RunRecord) -> list[dict[str, Any]]:
        """Return the cells of results.json: means and intervals, without the per-query tables."""
        self.check(record, "results.json")
        text = (self.folder(record.number) / "results.json").read_text("utf-8")
        cells: list[dict[str, Any]] = json.loads(text)["cells"]
        return cells

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Yield a folder to write a run in; drafts that are not stored are removed, including those of killed runs."""
        home = self.root / "runs"
        for left in filter(_is_draft, home.glob(f"{_DRAFT}*")):
            shutil.rmtree(left, ignore_errors=True)
        made = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=home))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def store(self, record: RunRecord, draft: Path) -> RunRecord:
        """Make the draft the run of that number: it is flushed to disk before it gets its name."""
        names = sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file())
        whole = dataclasses.replace(record, files={name: checksum(draft / name) for name in names})
        (draft / "run.json").write_text(whole.to_json(), "utf-8")
        for path in [*draft.rglob("*"), draft]:
            sync(path)
        # mkdtemp gives access to the owner only; a history is for reading.
        draft.chmod(0o755)
        draft.rename(self.folder(record.number))
        sync(self.root / "runs")
        return whole

    def remove(self, number: int) -> None:
        """Remove a run atomically."""
        gone = self.root / "runs" / f"{_DRAFT}{number:05}"
        self.folder(number).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write to the history in {self.root}: {error.strerror}") from None


def _is_draft(path: Path) -> bool:
    """Return whether it is named as `History` names its drafts; `rmtree` refuses a link."""
    return bool(_DRAFT_NAME.match(path.name))
