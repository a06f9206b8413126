"""semble's benchmark in its two forms, and its own nDCG."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Literal

import pytest
from test_datasets_from_clones import git, published

from chunkers.errors import UsageError
from evaluation.measures.semble_ndcg import SembleNdcg
from evaluation.types import TextCase, TextSpan
from ground_truth.datasets.semble import Semble
from ground_truth.types import Dataset

QUESTIONS: list[dict[str, Any]] = [
    {"query": "how is a thing added", "category": "semantic", "relevant": ["core/add.py"], "secondary": ["util.py"]},
    {"query": "Thing", "category": "symbol", "relevant": [{"path": "core/add.py", "start_line": 2, "end_line": 3}]},
]


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """Return upstream's layout: annotations, repos.json, and a clone that has moved on since the pinned commit."""
    home = tmp_path / "benchmarks"
    clone = home / "checkouts" / "things"
    for name, text in {
        "src/core/add.py": "1\n2\n3\n",
        "src/util.py": "u = 1\n",
        "src/x.pyx": "x\n",
        "other.py": "o\n",
    }.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    git(clone, "init", "-q", "-b", "main")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "pinned")
    repos = [
        {
            "name": "things",
            "language": "python",
            "url": "https://example.org/things.git",
            "revision": git(clone, "rev-parse", "HEAD"),
            "benchmark_root": "src",
        }
    ]
    git(clone, "rm", "-q", "src/util.py")
    git(clone, "commit", "-qm", "later")
    (home / "repos.json").write_text(json.dumps(repos))
    (home / "annotations").mkdir()
    (home / "annotations" / "things.json").write_text(json.dumps(QUESTIONS))
    return home


def places(dataset: Dataset) -> list[tuple[str, str, int, int, float]]:
    """Return the gold."""
    return [(note.query_id, note.path, note.start_line, note.end_line, note.grade) for note in dataset.annotations]


def test_upstream_layout_is_read_at_the_pinned_commit_below_its_root(benchmark: Path) -> None:
    """Paths fit by their end; a target without lines is its whole file; categories stay with the queries."""
    dataset = Semble(path=str(benchmark), repos=str(benchmark / "checkouts"), secondary="lower").load()
    assert places(dataset) == [
        ("things-1", "src/core/add.py", 1, 3, 1.0),
        ("things-1", "src/util.py", 1, 1, 0.5),
        ("things-2", "src/core/add.py", 2, 3, 1.0),
    ]
    others: dict[Literal["same", "none"], list[float]] = {"same": [1.0, 1.0, 1.0], "none": [1.0, 1.0]}
    for secondary, grades in others.items():
        again = Semble(path=str(benchmark), repos=str(benchmark / "checkouts"), secondary=secondary).load()
        assert [grade for *_, grade in places(again)] == grades
        assert sum(again.details["targets"].values()) == len(grades)
    assert [query.category for query in dataset.queries] == ["semantic", "symbol"]
    (repository,) = dataset.repositories
    assert [source.path for source in repository.files()] == ["src/core/add.py", "src/util.py", "src/x.pyx"]
    assert dict(repository.skipped)["other.py"] == "outside the benchmark's root"


def test_the_corpus_of_the_published_figures_leaves_out_what_semble_did_not_index(benchmark: Path) -> None:
    """``corpus=semble`` drops its missing extensions, with a reason."""
    (repository,) = Semble(path=str(benchmark), repos=str(benchmark / "checkouts"), corpus="semble").load().repositories
    assert [source.path for source in repository.files()] == ["src/core/add.py", "src/util.py"]
    assert dict(repository.skipped)["src/x.pyx"] == "not indexed by semble"


def test_resolved_questions_with_plain_folders_are_read_alike(tmp_path: Path) -> None:
    """queries.jsonl names repository and id in each row; the repositories lie beside it."""
    home = tmp_path / "resolved"
    (home / "repositories" / "things").mkdir(parents=True)
    (home / "repositories" / "things" / "a.py").write_text("1\n2\n")
    row = {"query_id": "things-1", "repo": "things", "language": "python", "category": "architecture", "query": "q"}
    (home / "queries.jsonl").write_text(json.dumps({**row, "relevant": [{"path": "a.py"}], "secondary": []}) + "\n")
    assert places(Semble(path=str(home)).load()) == [("things-1", "a.py", 1, 2, 1.0)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"relevant": ["gone.py"]}, "target not in the repository: gone.py"),
        ({"relevant": [{"path": "util.py", "start_line": 1, "end_line": 9}]}, "lines outside the file"),
    ],
)
def test_targets_that_are_not_there_are_refused_or_counted(benchmark: Path, changes: dict, words: str) -> None:
    """File and row are named; with problems=skip the question is left out and counted."""
    rows = [QUESTIONS[0], {**QUESTIONS[0], **changes}]
    (benchmark / "annotations" / "things.json").write_text(json.dumps(rows))
    with pytest.raises(UsageError, match=rf"things\.json:2: {words}"):
        Semble(path=str(benchmark), repos=str(benchmark / "checkouts")).load()
    dataset = Semble(path=str(benchmark), repos=str(benchmark / "checkouts"), problems="skip").load()
    assert (dataset.details["used"], sum(dataset.details["skipped"].values())) == (1, 1)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**QUESTIONS[0], "category": "vague"}, "semantic, architecture, symbol were expected"),
        ({**QUESTIONS[0], "relevant": []}, "at least one path was expected"),
        ({**QUESTIONS[0], "relevant": "a.py"}, "a list of paths was expected"),
        ({**QUESTIONS[0], "relevant": [3]}, "path is 3: a text was expected"),
    ],
)
def test_malformed_questions_are_refused_whatever_the_policy(benchmark: Path, row: dict, words: str) -> None:
    """One line that names file and row."""
    (benchmark / "annotations" / "things.json").write_text(json.dumps([row]))
    with pytest.raises(UsageError, match=words):
        Semble(path=str(benchmark), repos=str(benchmark / "checkouts"), problems="skip").load()


def test_all_published_questions_load() -> None:
    """809 questions with 966 targets in 41 repositories, of three categories."""
    dataset = Semble(path=str(published("semble"))).load()
    assert (len(dataset.queries), len(dataset.annotations), len(dataset.repositories)) == (809, 966, 41)
    assert dataset.details["categories"] == {"semantic": 467, "architecture": 215, "symbol": 127}
    assert dataset.details["skipped"] == {}


def test_semble_ndcg_counts_each_target_once_at_its_first_chunk() -> None:
    """Three targets; two are first shown by the same chunk at rank 2; a second chunk of a file adds nothing."""
    gold = [TextSpan(0, 0, 100), TextSpan(1, 0, 10), TextSpan(1, 20, 30)]
    results = [TextSpan(2, 0, 50), TextSpan(1, 5, 25), TextSpan(1, 25, 40), TextSpan(0, 90, 200)]
    case = TextCase(results, gold, {})
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert SembleNdcg(cutoff=10)._one(case) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert SembleNdcg(cutoff=3)._one(case) == pytest.approx((1 / math.log2(3)) / ideal)
    assert SembleNdcg(cutoff=10)._one(TextCase(results, [], {})) == 0
