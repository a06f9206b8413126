"""A moving repository, a third-party chunker that can be degraded, and nights run by the real command."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

CHUNKER = "lab:lines=20"
_GOOD = '''\
"""A chunker of a third party: windows of lines."""
import os, time
from dataclasses import dataclass
from typing import ClassVar
from chunkers.line_windows import line_windows

@dataclass(frozen=True, kw_only=True)
class Lab:
    """Windows of lines."""
    lines: int = 20
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = False
    limit = None

    def split(self, source):
        """Return the windows."""
        time.sleep(float(os.environ.get("LAB_SECONDS", "0")))
        found = line_windows(source.data, window=self.lines, step=self.lines)
        return found
'''
_SPOILED = _GOOD.replace("return found", "return found[::2]")
_REFACTORED = _GOOD.replace("found = line", "pieces = line").replace("return found", "return list(pieces)")
VERSIONS = {"good": _GOOD, "spoiled": _SPOILED, "refactored": _REFACTORED}


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        """The JSON that it printed."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass(frozen=True)
class Lab:
    """A folder with a clone, plug-ins, a cache and a history."""

    root: Path
    embedder: str = "hashing:dimensions=2048"
    retriever: str = "dense"
    queries: int = 120
    chunkers: tuple[str, ...] = (CHUNKER, "fixed-lines:lines=50")

    @property
    def clone(self) -> Path:
        """The repository that changes."""
        return self.root / "project"

    @property
    def history(self) -> Path:
        """The folder of the runs."""
        return self.root / "history"

    @property
    def experiment(self) -> Path:
        """The experiment file."""
        return self.root / "nightly.toml"

    def set_up(self, package: str) -> None:
        """Create a repository from an installed package's source, and install the chunker beside it."""
        found = importlib.util.find_spec(package)
        places = list(found.submodule_search_locations or ()) if found else []
        shutil.copytree(places[0], self.clone / package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit(f"Import {package}")
        self.install("good")
        self.configure()

    def configure(self, *, embedder: str | None = None, chunkers: Sequence[str] = (), extra: str = "") -> None:
        """Write the experiment file."""
        dataset = f"mined:root={self.clone},ref=main,queries={self.queries}"
        text = f"""\
            datasets = {json.dumps([dataset])}
            chunkers = {json.dumps(list(chunkers or self.chunkers))}
            embedders = {json.dumps([embedder or self.embedder])}
            retrievers = {json.dumps([self.retriever])}
            measures = ["naurc@4000tok", "ndcg@10"]
            flips = 10000
            [nightly]
            history = "history"
            measures = ["naurc@4000tok", "ndcg@10"]
            {extra}
            """
        self.experiment.write_text(textwrap.dedent(text), "utf-8")

    def install(self, version: str) -> None:
        """Install a version of the chunker's code; its version string stays the same."""
        home = self.root / "plugins"
        self._distribution(home, "chunkbench-lab", "1.0", "[chunkbench.chunkers]\nlab = chunkbench_lab:Lab\n")
        (home / "chunkbench_lab.py").write_text(VERSIONS[version], "utf-8")

    def upgrade_grammars(self, version: str) -> Path:
        """Return a folder that, when on the path, makes the grammar pack report another version."""
        home = self.root / "grammars"
        self._distribution(home, "tree_sitter_language_pack", version, "")
        return home

    def _distribution(self, home: Path, name: str, version: str, entry_points: str) -> None:
        facts = home / f"{name.replace('-', '_')}-{version}.dist-info"
        facts.mkdir(parents=True, exist_ok=True)
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
        (facts / "entry_points.txt").write_text(entry_points, "utf-8")

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "--all")
        who = ("-c", "user.name=Lab", "-c", "user.email=lab@example.org", "-c", "commit.gpgsign=false")
        self.git(*who, "commit", "--quiet", "--allow-empty", "--message", message)

    def git(self, *arguments: str) -> None:
        """Run git in the clone."""
        program = shutil.which("git") or "git"
        subprocess.run([program, "-C", str(self.clone), *arguments], check=True, capture_output=True)  # noqa: S603 - a fixed program

    def sources(self) -> list[Path]:
        """Return the repository's Python files in order."""
        return sorted(self.clone.rglob("*.py"))

    def edit(self, night: int, *, share: float = 0.0) -> None:
        """Do a day's ordinary work on a few files, or on a share of them, and commit it."""
        files = [file for file in self.sources() if file.stat().st_size > 400]
        count = max(2, round(share * len(files)))
        for place in range(count):
            file = files[(7 * night + 3 * place) % len(files)]
            lines = file.read_text("utf-8").splitlines(keepends=True)
            # A note on top moves every line below it; a helper at the end is new code with a new query.
            lines.insert(_after_future(lines), f"# Reviewed on day {night}.\n")
            lines.append(_helper(night, place))
            file.write_text("".join(lines), "utf-8")
        self.commit(f"Day {night}: notes and small helpers")

    def environment(self, *, path: Sequence[Path] = (), more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a night."""
        here = Path(__file__).resolve().parents[2]
        places = [*path, self.root / "plugins", here]
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "CHUNKBENCH_CACHE": str(self.root / "cache"),
            **(more or {}),
        }

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of a chunkbench verb."""
        return [sys.executable, "-m", "scripts", *arguments]

    def run(self, *arguments: str, path: Sequence[Path] = ()) -> Ran:
        """Run a verb to completion."""
        done = subprocess.run(  # noqa: S603 - our own command
            self.command(*arguments), capture_output=True, text=True, check=False, env=self.environment(path=path)
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def night(self, *, path: Sequence[Path] = ()) -> Ran:
        """Run a night, which prints its JSON summary."""
        return self.run("nightly", str(self.experiment), "--engine", "serial", "--json", path=path)

    def start_night(self, *, seconds_per_file: float) -> subprocess.Popen[bytes]:
        """Start a night that takes a while."""
        return subprocess.Popen(  # noqa: S603 - our own command
            self.command("nightly", str(self.experiment), "--engine", "serial"),
            env=self.environment(more={"LAB_SECONDS": str(seconds_per_file)}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _after_future(lines: Sequence[str]) -> int:
    """Return a place after the imports from __future__, which must come first."""
    found = [number for number, line in enumerate(lines) if line.startswith("from __future__")]
    return found[-1] + 1 if found else 0


def _helper(night: int, place: int) -> str:
    return (
        f"\n\ndef _day_{night}_{place}(values):\n"
        f'    """Return the values of day {night} that are above step {place}, in order."""\n'
        "    kept = [value for value in values if value is not None]\n"
        f"    kept = [value for value in kept if value > {place}]\n"
        "    return sorted(kept)\n"
    )
