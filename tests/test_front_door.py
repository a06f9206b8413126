"""`import chunkbench`: comparing with objects, scoring, and standing beside packages of the same names."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
import textwrap
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conftest import MODULE

import chunkbench as cb
from chunkers.cast import Cast
from chunkers.fixed_lines import FixedLines
from evaluation.measures.recall import Recall
from evaluation.results.folder import read_results
from ground_truth.datasets.annotations import Annotations
from indexing.bm25 import BM25
from indexing.encoders.hashing import Hashing

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))


@dataclass(frozen=True, kw_only=True)
class Halves:
    """A chunker of this file: equal parts."""

    parts: int = 2
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = None

    def split(self, source: cb.SourceFile) -> list[cb.Piece]:
        """Return the parts."""
        size = -(-len(source.data) // self.parts) or 1
        return [cb.Piece(at, min(at + size, len(source.data))) for at in range(0, len(source.data), size)]


def test_its_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example of the module's own documentation."""
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(cb)
    assert (found.failed, found.attempted > 6) == (0, True)


def test_objects_are_compared_like_specs(repository: Path) -> None:
    """Objects of every kind go where specs go, and give the same numbers."""
    gold = repository.parent / "gold.jsonl"
    by_object = cb.compare(
        Annotations(path=str(gold), root=str(repository)),
        chunkers=[FixedLines(lines=5), Cast(size=200)],
        embedders=[Hashing(dimensions=64)],
        retrievers=[BM25()],
        measures=[Recall(cutoff=3), "naurc@4000tok"],
    )
    by_spec = cb.compare(
        repository,
        annotations=gold,
        chunkers=["fixed-lines:lines=5", "cast:size=200"],
        embedders=["hashing:dimensions=64"],
        retrievers=["bm25"],
        measures=["recall@3"],
    )
    assert [cell.key for cell in by_object.cells] == [cell.key for cell in by_spec.cells]
    for one, two in zip(by_object.cells, by_spec.cells, strict=True):
        assert one.status == "ok"
        assert {name: list(values) for name, values in one.scores.items()} == {
            name: list(values) for name, values in two.scores.items()
        }


def test_results_print_save_and_become_frames(repository: Path, tmp_path: Path) -> None:
    """The table and the verdict by print, in a notebook and as words; files that are read back; tidy frames."""
    results = cb.compare(
        repository,
        annotations=repository.parent / "gold.jsonl",
        chunkers=[Halves(parts=3), "fixed-lines:lines=5"],
        embedders=["hashing"],
        retrievers=["dense"],
    )
    printed = str(results)
    assert f"{__name__}:Halves" in printed
    assert "".join(results.verdict.split()) in "".join(printed.split())
    assert "<pre" in results._repr_html_()
    assert "fixed-lines:lines=5" in results._repr_html_()
    assert repr(results) == "<Results: 2 chunkers, 16 queries, 2 cells>"
    assert {record.measure for record in results.comparisons} >= {"naurc@4000tok"}
    frame = results.to_pandas()
    assert set(frame["chunker"]) == {"fixed-lines:lines=5", f"{__name__}:Halves,parts=3"}
    assert len(results.to_pandas(per_query=True)) == 16 * len(frame)
    folder = results.save(tmp_path / "out")
    assert (folder / "report.html").exists()
    assert [cell.key for cell in read_results(folder).cells] == [cell.key for cell in results.cells]


def test_a_plugin_that_only_this_process_has_works_serially(repository: Path) -> None:
    """A local class is compared; processes cannot be used, and one line says why."""

    @dataclass(frozen=True, kw_only=True)
    class Inner(Halves):
        """Not to be imported."""

    arguments: dict[str, Any] = {
        "annotations": repository.parent / "gold.jsonl",
        "embedders": ["hashing"],
        "retrievers": ["dense"],
    }
    results = cb.compare(repository, chunkers=[Inner(), "fixed-lines:lines=5"], **arguments)
    assert [cell.status for cell in results.cells] == ["ok", "ok"]
    with pytest.raises(cb.UsageError, match=r"engine='processes' cannot be used: .*Inner is defined inside a function"):
        cb.compare(repository, chunkers=[Inner()], engine="processes", **arguments)


def test_a_dataset_object_is_compared_under_its_name(repository: Path) -> None:
    """A `Dataset` needs no loader."""
    loaded = Annotations(path=str(repository.parent / "gold.jsonl"), root=str(repository)).load()
    results = cb.compare(loaded, chunkers=["fixed-lines:lines=5"], embedders=["hashing"])
    assert {cell.key.dataset for cell in results.cells} == {loaded.name}


def test_several_folders_are_one_dataset_of_several_repositories(tmp_path: Path) -> None:
    """As `chunkbench compare A B` makes it; two datasets stay two."""
    code = 'def {0}(x):\n    """Turn the {0} knob of the machine."""\n    y = x\n    y += 1\n    return y\n\n\n'
    for name, words in (("one", ("left", "right", "upper")), ("two", ("inner", "outer", "lower"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text("".join(map(code.format, words)))
    how: dict[str, Any] = {"chunkers": ["fixed-lines:lines=5"], "embedders": ["hashing"], "retrievers": ["bm25"]}
    together = cb.compare([tmp_path / "one", str(tmp_path / "two")], **how)
    assert [len(each.repositories) for each in together.datasets] == [2]
    apart = cb.compare([f"mined:root={tmp_path / name}" for name in ("one", "two")], **how)
    assert [len(each.repositories) for each in apart.datasets] == [1, 1]


OWN = """
    from dataclasses import dataclass
    from typing import ClassVar

    import numpy as np

    from evaluation.measures.batch import Batch
    from evaluation.measures.measure import RankedMeasure


    @dataclass(frozen=True, kw_only=True)
    class Found(RankedMeasure):
        label: ClassVar[str] = "found"
        pattern: ClassVar[str] = "found@k"
        definition: ClassVar[str] = "number of relevant results among the first k, plus one"
        citation: ClassVar[str] = "none"
        comparable: ClassVar[bool] = True

        def score(self, batch: Batch) -> np.ndarray:
            return (batch.gains[:, : self.cutoff] > 0).sum(axis=1) + 1.0
    """


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_a_measure_of_a_file_is_computed_compared_and_printed(repository: Path, tmp_path: Path, engine: str) -> None:
    """From its file, in this process and in others; its values are plain numbers, not points."""
    (tmp_path / "own.py").write_text(textwrap.dedent(OWN))
    command = [sys.executable, "-m", "chunkbench", "compare", str(repository), "--engine", engine, "--jobs", "2"]
    options = [
        "--annotations",
        str(repository.parent / "gold.jsonl"),
        "--embedder",
        "hashing",
        "--retriever",
        "dense",
        "--json",
    ]
    chunkers = ["--chunker", "fixed-lines:lines=5", "--chunker", "fixed-lines:lines=9"]
    measures = ["--measure", f"{tmp_path}/own.py:Found,cutoff=5", "--headline", f"{tmp_path}/own.py:Found,cutoff=5"]
    done = subprocess.run(
        [*command, *options, *chunkers, *measures, "--out", str(tmp_path / "out")],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["config"]["headline"] == "found@5"
    assert all(1 <= cell["measures"]["found@5"]["mean"] <= 6 for cell in found["cells"])


@pytest.mark.parametrize("engine", ["processes"])
def test_a_chunker_of_a_file_works_in_worker_processes(repository: Path, tmp_path: Path, engine: str) -> None:
    """A fresh interpreter makes it from its spec."""
    source = Path(__file__).read_text("utf-8")
    body = source[source.index("@dataclass(frozen=True, kw_only=True)\nclass Halves") : source.index("def test_its_ex")]
    head = "from dataclasses import dataclass\nfrom typing import ClassVar\nimport chunkbench as cb\n\n"
    (tmp_path / "own.py").write_text("from __future__ import annotations\n" + head + body)
    command = [sys.executable, "-m", "chunkbench", "compare", str(repository), "--engine", engine, "--jobs", "2"]
    options = [
        "--annotations",
        str(repository.parent / "gold.jsonl"),
        "--embedder",
        "hashing",
        "--retriever",
        "dense",
        "--json",
    ]
    chunkers = ["--chunker", "own.py:Halves,parts=3", "--chunker", "own:Halves", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, *options, *chunkers],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert [cell["status"] for cell in json.loads(done.stdout)["cells"]] == ["ok", "ok"]


def test_runs_are_scored_by_their_judgements() -> None:
    """Scores or orders, ids or grades; a missing query counts, an unjudged one is refused."""
    scores = cb.evaluate(
        {"a": {"x": 0.2, "y": 0.9}, "b": ["z"]}, {"a": {"y": 2, "x": 1}, "b": set(), "c": ["w"]}, ["mrr"]
    )
    assert scores["mrr"] == pytest.approx(1 / 3)
    assert [row["mrr"] for row in scores.per_query] == [1, 0, 0]
    with pytest.raises(cb.UsageError, match="query 'z' is in the run and not judged"):
        cb.evaluate({"z": []}, {}, ["mrr"])


def test_a_function_is_benchmarked_on_a_dataset(repository: Path) -> None:
    """Relevant are the files that hold gold; a spec, a loader and a dataset say the same."""
    spec = f"annotations:path={repository.parent / 'gold.jsonl'},root={repository}"
    loader = Annotations(path=str(repository.parent / "gold.jsonl"), root=str(repository))
    asked: list[str] = []

    def first_word(query: str) -> list[str]:
        asked.append(query)
        return [f"{word}.py" for word in ("apple", "bolt") if word in query]

    for dataset in (spec, loader, loader.load()):
        scores = cb.benchmark(first_word, dataset)
        assert scores["hit@1"] == pytest.approx(2 / 8)
        assert scores.details["hit@1"].total == 16
    assert len(asked) == 48


def test_names_that_are_not_there_are_attribute_errors() -> None:
    """Tab completion and typing errors work as in any module."""
    assert cb.SourceFile("a", b"").path == "a"
    with pytest.raises(AttributeError, match="no attribute 'chunkify'"):
        cb.chunkify  # noqa: B018 - the access is the test
    with pytest.raises(cb.UsageError, match="Did you mean 'chunker'"):
        cb.plugins("chunkers")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of commands of an environment that holds our wheel, and our dependencies where they are."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = ["wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    subprocess.run([*pip, *wheel], check=True, capture_output=True)
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    place = next((folder / "env" / "lib").glob("python*/site-packages"))
    here = [path for path in sys.path if path.endswith("site-packages")]
    (place / "dependencies.pth").write_text("\n".join(here) + "\n")
    install = ["--python", str(python), "install", "--no-deps", "--no-index", *map(str, folder.glob("*.whl"))]
    subprocess.run([*pip, *install], check=True, capture_output=True)
    return python.parent


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """Return a project with packages of our names, and code to compare chunkers on."""
    project = tmp_path / "project"
    for name in ("scripts", "evaluation", "indexing", "chunkers"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text(f"raise RuntimeError('the foreign {name}')\n")
    (project / "code").mkdir()
    for word in ("apple", "bolt", "candle"):
        (project / "code" / f"{word}.py").write_text(MODULE.format(word=word, title=word.title()))
    row = {"query_id": "1", "query": "make an apple", "file": "apple.py", "start_line": 6, "end_line": 10}
    (project / "gold.jsonl").write_text(json.dumps({**row, "repo": "code", "relevance": 1}) + "\n")
    return project


def test_the_command_works_beside_foreign_packages(installed: Path, crowded: Path) -> None:
    """Installed from the wheel, started in the project and with it on PYTHONPATH, worker processes included."""
    environment = {**os.environ, "PYTHONPATH": str(crowded), "CHUNKBENCH_CACHE": str(crowded / "cache")}
    compare = [
        "compare",
        "code",
        "--annotations",
        "gold.jsonl",
        "--embedder",
        "hashing",
        "--retriever",
        "dense",
        "--json",
    ]
    chunkers = [
        "--chunker",
        "fixed-lines:lines=5",
        "--chunker",
        "cast:size=200",
        "--engine",
        "processes",
        "--jobs",
        "2",
    ]
    for start in ([installed / "chunkbench"], [installed / "python", "-m", "chunkbench"]):
        for arguments in (["--version"], ["list", "chunkers"], [*compare, *chunkers, "--overwrite", "always"]):
            done = subprocess.run(
                [*start, *arguments], check=False, capture_output=True, text=True, cwd=crowded, env=environment
            )
            assert done.returncode == 0, done.stderr
            assert "foreign" not in done.stdout + done.stderr
        assert [cell["status"] for cell in json.loads(done.stdout)["cells"]] == ["ok", "ok"]


def test_the_library_says_what_hides_it(installed: Path, crowded: Path) -> None:
    """One line with both places; elsewhere the same import works."""
    script: list[str | Path] = [
        installed / "python",
        "-c",
        "import chunkbench; print(chunkbench.measure('ndcg@5').name)",
    ]
    hidden = subprocess.run(script, check=False, capture_output=True, text=True, cwd=crowded)
    assert hidden.returncode == 1
    said = hidden.stderr.strip().splitlines()[-1]
    assert said.startswith("ImportError: chunkbench needs its own package 'chunkers' in ")
    assert f"{crowded / 'chunkers' / '__init__.py'} comes first on sys.path" in said
    plain = subprocess.run(script, check=False, capture_output=True, text=True, cwd=crowded.parent)
    assert plain.stdout == "ndcg@5\n", plain.stderr


def test_what_needs_a_checkout_is_not_in_the_wheel(installed: Path) -> None:
    """Benchmarks, checks, reproductions and tests stay behind; the door and the schemas are there."""
    place = next((installed.parent / "lib").glob("python*/site-packages"))
    assert (place / "chunkbench.py").exists()
    assert not any((place / "scripts" / name).exists() for name in ("bench", "check", "reproduce"))
    assert not (place / "tests").exists()
