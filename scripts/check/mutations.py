"""Mutates the code one place at a time and reports what the tests detect (python -m scripts.check.mutations --room X).

A fault is a flipped comparison, an off-by-one, a swapped operator or a negated condition. It is made in a copy of the
tree, and only the tests that reach its line are run. Faults without any visible effect are listed, each with its
reason, in equivalent_mutations.jsonl, and are not counted.
"""

from __future__ import annotations

import ast
import compileall
import copy
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

ROOT = Path(__file__).resolve().parents[2]
_RUNNER = Path(__file__).with_name("mutation_runner.py")
_EQUIVALENT = Path(__file__).with_name("equivalent_mutations.jsonl")
_WANTED = 0.9
_SLOWER = 5.0
"""A run that takes this many times as long as without the fault is stopped, and the fault counts as detected."""


class Room(NamedTuple):
    """A part of the code, and the tests for it."""

    code: str
    tests: str
    without: str = ""
    """Words in the names of tests that take too long to be run for every fault."""


ROOMS = {
    "chunkers": Room(
        "chunkers/*.py",
        "chunkers_[cost]* chunkers_headers sources gitignore languages* plugin* contracts",
        "our_embedders our_retrievers our_measures",
    ),
    "indexing": Room(
        "indexing/**/*.py",
        "retrievers_* embedding_cache* encoders_* readers* rerank cache_* contracts* row_places key_index postings "
        "search_shards shards plugin_targets",
        "same_as_sentence [minilm] [onnx] two_processes it_keeps_the_contract",
    ),
    "ground_truth": Room(
        "ground_truth/**/*.py",
        "ground_truth_* datasets_* miners_* overlap git git_canaries qrels_command mine_command annotate_command "
        "hidden_text hostile_ground contracts",
        "our_embedders our_retrievers our_measures our_chunkers",
    ),
    "statistics": Room("evaluation/statistics/*.py", "statistics_*", "simulations"),
    "measures": Room(
        "evaluation/measures/*.py",
        "measures_* audit* score trec plugin_targets contracts",
        "broken_plugin our_embedders our_chunkers our_retrievers",
    ),
    "experiment": Room(
        "evaluation/experiment/*.py",
        "experiment_[bcfims]* experiment_run executors offsets file_memory chunk_table ranking_depth store session "
        "plan_* compare stage_keys span_* tools row_places cost file_chunks search_* spread_work query_records "
        "hidden_text packs ray_engine loaded_dataset",
    ),
    "results": Room("evaluation/results/*.py", "results_* report_command compare history_folder chunk_table"),
    "report": Room("evaluation/report/**/*.py", "report_* cost hostile_text", "thousand_queries"),
    "recommend": Room("evaluation/recommend/*.py", "recommend_*"),
    "history": Room("evaluation/history/*.py", "history_* nightly_runs", "short_week trouble"),
}
"""Room → its source files, and the names of its test files without test_ and .py."""


@dataclass(frozen=True)
class Fault:
    """One small change of one file."""

    file: str
    line: int
    end_line: int
    was: str
    becomes: str
    diff: str
    text: str
    """The whole file with the fault in it."""


def _diff(before: str, after: str) -> str:
    """Return the changed lines."""
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in found if not line.startswith(("---", "+++", "@@")))


_PAIRS: list[tuple[type[ast.cmpop], type[ast.cmpop]]] = [
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot))
]
_COMPARISONS = dict(_PAIRS) | {other: one for one, other in _PAIRS}
_SWAPS: list[tuple[type[ast.operator], type[ast.operator]]] = [
    *((ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Div), (ast.Div, ast.Mult), (ast.FloorDiv, ast.Mult)),
    *((ast.Mod, ast.FloorDiv), (ast.BitOr, ast.BitAnd), (ast.BitAnd, ast.BitOr), (ast.Pow, ast.Mult)),
]
_OPERATORS = dict(_SWAPS)
_LARGEST = 10
"""A larger constant is a size of blocks or caches rather than one that can be off by one."""


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the faults of one expression."""
    made: Any = copy.deepcopy(node)
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            made = copy.deepcopy(node)
            made.ops[place] = _COMPARISONS[type(operator)]()
            yield made
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        made.op = _OPERATORS[type(node.op)]()
        yield made
    elif isinstance(node, ast.BoolOp):
        made.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield made
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield made.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value <= _LARGEST:
        yield ast.Constant(node.value + 1)


def faults(file: str, source: bytes) -> Iterator[Fault]:
    """Yield every fault of a file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, negate in _places(ast.parse(source)):
        first, last = starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 0) - 1] + _end(node)
        for made in [ast.UnaryOp(ast.Not(), node)] if negate else changed(node):
            becomes = f"({ast.unparse(made)})"
            text = (source[:first] + becomes.encode() + source[last:]).decode()
            was, last_line = source[first:last].decode(), node.end_lineno or node.lineno
            yield Fault(file, node.lineno, last_line, was, becomes, _diff(source.decode(), text), text)


def _end(node: ast.expr) -> int:
    return node.end_col_offset or 0


def _places(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield each expression to mutate, and whether it is a condition to negate."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_ignores"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.JoinedStr, ast.Raise, ast.Assert)):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(node, ast.Module) and isinstance(child, (ast.Assign, ast.AnnAssign)):
                continue  # tables and limits, which tests of behaviour do not repeat
            if isinstance(child, ast.keyword) and isinstance(child.value, ast.Constant):
                continue  # strict=True, indent=1: how, not what
            if isinstance(child, ast.expr):
                if name in {"test", "ifs"} and isinstance(child, (ast.Name, ast.Call, ast.Attribute, ast.BoolOp)):
                    yield child, True
                yield child, False
            yield from _places(child)


@contextmanager
def runner(tree: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """Yield a function that runs tests of the tree and returns the exit code and how each test ended."""
    with subprocess.Popen(  # noqa: S603 - this interpreter and our own file
        [sys.executable, "-P", str(_RUNNER), str(tree)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(arguments: Sequence[str], *, tests: Sequence[str] | None = None, seconds: float) -> dict[str, Any]:
            order = {"arguments": [*_PYTEST, *arguments], "tests": tests, "seconds": seconds}
            if process.stdin is None or process.stdout is None:
                raise RuntimeError("the runner has no pipes")
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            found: dict[str, Any] = json.loads(process.stdout.readline())
            return found

        yield run
        process.stdin.close() if process.stdin else None


_PYTEST = ("-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=no", "--no-header", "--basetemp=.tmp")


class Reach(NamedTuple):
    """Which tests pass, how long each takes, and which of them reach a line."""

    seconds: Mapping[str, float]
    lines: Mapping[str, Mapping[int, Sequence[str]]]

    def tests(self, fault: Fault) -> list[str]:
        """Return the tests that reach the fault, fastest first; all of them if an import reaches it."""
        found: set[str] = set()
        for line in range(fault.line, fault.end_line + 1):
            for context in self.lines.get(fault.file, {}).get(line, ()):
                if not context:
                    return self._fastest(self.seconds)
                found.add(context.rpartition("|")[0])
        return self._fastest(found & self.seconds.keys())

    def beside(self, tests: Sequence[str]) -> list[str]:
        """Return the other tests of the same files: the first of them pays for a shared fixture."""
        files = {_file_of(name) for name in tests}
        return self._fastest({name for name in self.seconds if _file_of(name) in files} - set(tests))

    def _fastest(self, names: Iterable[str]) -> list[str]:
        """Sort tests by duration, file by file: a fixture of a whole file is then created once."""
        chosen = sorted(names)
        files: dict[str, float] = defaultdict(float)
        for name in chosen:
            files[_file_of(name)] += self.seconds[name]
        return sorted(chosen, key=lambda name: (files[_file_of(name)], _file_of(name), self.seconds[name]))


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def reach(
    run: Callable[..., dict[str, Any]], tree: Path, files: Sequence[str], tests: Sequence[str], *, without: str = ""
) -> Reach:
    """Run a room's tests once without a fault, recording which lines each one reaches."""
    from coverage import CoverageData

    sources = sorted({f"--cov={Path(file).parent}" for file in files})
    chosen = ["-k", f"not ({' or '.join(without.split())})"] if without else []
    found = run([*tests, *chosen, *sources, "--cov-context=test", "--cov-report="], seconds=3600)
    passing = {name: seconds for name, (passed, seconds) in found["ended"].items() if passed}
    broken = sorted(found["ended"].keys() - passing.keys())
    if broken:
        click.echo(f"left out, since they fail without any fault: {', '.join(broken)}", err=True)
    if not passing:
        log = (tree / ".pytest.log").read_text("utf-8")
        raise SystemExit(f"the tests do not run:\n{log[-2000:]}")
    data = CoverageData(str(tree / ".coverage"))
    data.read()
    lines = {file: data.contexts_by_lineno(str(tree / file)) for file in files}
    return Reach(passing, lines)


def notices(run: Callable[..., dict[str, Any]], tree: Path, fault: Fault, known: Reach) -> bool:
    """Return whether a test fails with the fault in place."""
    reaching = known.tests(fault)
    place = tree / fault.file
    before = place.stat()
    sound = place.read_bytes()
    place.write_text(fault.text, "utf-8")
    # A modification time other than the compiled file's, so that this one is recompiled; restored afterwards.
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns + 10**12))
    try:
        return any(_fails(run, known, tests) for tests in (reaching, known.beside(reaching)) if tests)
    finally:
        place.write_bytes(sound)
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def _fails(run: Callable[..., dict[str, Any]], known: Reach, tests: Sequence[str]) -> bool:
    limit = 120 + _SLOWER * sum(known.seconds[name] for name in tests)
    return bool(run([*sorted(set(map(_file_of, tests))), "-x"], tests=tests, seconds=limit)["code"] != 0)


def equivalent() -> set[tuple[str, str]]:
    """Return the faults that no test can detect, as file and changed lines."""
    rows = [json.loads(line) for line in _EQUIVALENT.read_text("utf-8").splitlines()]
    return {(row["file"], row["diff"]) for row in rows}


@contextmanager
def copied() -> Iterator[Path]:
    """Yield a compiled copy of the tree."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        ignored = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", ".ruff_cache", ".hypothesis", "__pycache__")
        shutil.copytree(ROOT, tree, ignore=ignored)
        for package in ("chunkers", "indexing", "ground_truth", "evaluation", "scripts"):
            compileall.compile_dir(tree / package, quiet=2)
        yield tree


def _files(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern) if path.name != "__init__.py")


@click.command()
@click.option("--room", type=click.Choice(list(ROOMS)), required=True)
@click.option("--count", default=20, show_default=True, help="Faults to make.")
@click.option("--seed", default=0, show_default=True)
@click.option("--only", metavar="FILE", help="Only faults of this file.")
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON.")
def command(*, room: str, count: int, seed: int, only: str | None, as_json: bool) -> None:
    """Make faults at random places of a room; exit 1 if the tests detect fewer than nine of ten."""
    files = [file for file in _files(ROOMS[room].code) if only in (None, file)]
    tests = sorted({file for word in ROOMS[room].tests.split() for file in _files(f"tests/test_{word}.py")})
    known_equal = equivalent()
    everything = [
        fault
        for file in files
        for fault in faults(file, (ROOT / file).read_bytes())
        if (file, fault.diff) not in known_equal
    ]
    sample = random.Random(seed).sample(everything, min(count, len(everything)))  # noqa: S311 - a sample, not a secret
    rows = []
    with copied() as tree, runner(tree) as run:
        known = reach(run, tree, files, tests, without=ROOMS[room].without)
        for fault in sample:
            noticed = notices(run, tree, fault, known)
            row = {**asdict(fault), "reached_by": len(known.tests(fault)), "noticed": noticed}
            rows.append({name: value for name, value in row.items() if name != "text"})
            if not as_json:
                words = "noticed " if noticed else "SURVIVED"
                click.echo(f"{words} {fault.file}:{fault.line} ({row['reached_by']} tests)")
                click.echo("" if noticed else fault.diff, nl=not noticed)
    share = sum(row["noticed"] for row in rows) / max(len(rows), 1)
    if as_json:
        click.echo(json.dumps({"room": room, "of": len(everything), "noticed": share, "faults": rows}, indent=1))
    else:
        click.echo(f"{room}: {sum(row['noticed'] for row in rows)} of {len(rows)} faults noticed ({share:.0%})")
    raise SystemExit(0 if share >= _WANTED else 1)


if __name__ == "__main__":
    command()
