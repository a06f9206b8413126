"""Nights on a real git repository, run by the real command: a small version of scripts/check/nightly.py."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chunkers.errors import UsageError
from evaluation.config import load_config, make_config
from evaluation.experiment.executors import Serial
from evaluation.experiment.progress import Progress
from evaluation.history.comparison import Night
from evaluation.history.folder import History
from evaluation.history.night import run_night
from evaluation.history.night_results import Workplace
from evaluation.history.pins import commits_between, pin
from evaluation.history.trend import by_setting, trends
from evaluation.types import NO_STAGE
from ground_truth.registry import DATASETS
from scripts.check.nightly import trouble, week
from scripts.check.nightly_lab import CHUNKER, Lab

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


def test_a_short_week(tmp_path: Path) -> None:
    """Ordinary commits and a refactoring are quiet, a spoiled chunker is named, new versions are not comparable."""
    lab = Lab(tmp_path, queries=100, chunkers=(CHUNKER,))
    lab.set_up("jinja2")
    checks = list(week(lab, nights=3, spoiled_after=3))
    assert [what for what, holds, _ in checks if not holds] == []
    assert len(checks) == 6
    page = (lab.history / "trend.html").read_text("utf-8")
    assert "regression: lab:lines=20" in page
    runs = lab.run("history", "list", "--history", str(lab.experiment), "--json").summary["runs"]
    assert [run["exit_code"] for run in runs] == [0, 0, 0, 3, 0, 0]
    assert [run["baseline"] for run in runs] == [True, *[False] * 5]


def test_trouble(tmp_path: Path) -> None:
    """A second run, a kill, damage by hand and a clock that goes back leave the history whole and in order."""
    lab = Lab(tmp_path, queries=20, chunkers=(CHUNKER, "fixed-lines:lines=50"))
    lab.set_up("click")
    checks = list(trouble(lab))
    assert [(what, figures) for what, holds, figures in checks if not holds] == []
    assert len(checks) == 5


def test_quiet_prints_nothing_and_the_summary_is_written(tmp_path: Path) -> None:
    """A scheduler hears nothing of a night without news, and a webhook gets its JSON all the same."""
    lab = Lab(tmp_path, queries=10, chunkers=("fixed-lines:lines=50",))
    lab.set_up("packaging")
    out = tmp_path / "night.json"
    ran = lab.run("nightly", str(lab.experiment), "--engine", "serial", "--quiet", "--summary", str(out))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert json.loads(out.read_text("utf-8"))["headline"] == "first run"


def test_a_folder_as_it_is(tmp_path: Path) -> None:
    """An unchanged folder gives an unchanged run without work; a change is compared on the queries that stayed."""
    lab = Lab(tmp_path, queries=40)
    lab.set_up("packaging")
    spec = f"mined:root={lab.clone},queries=40"
    config = make_config(
        {"datasets": spec, "chunkers": "fixed-lines:lines=50", "embedders": "hashing", "measures": ["ndcg@10"]}
        | {"retrievers": "dense"}
        | {"headline": "ndcg@10", "flips": 1000, "nightly": {"keep": 3}}
    )
    history, phases = History(lab.history), list[str]()
    place = Workplace(lab.root / "cache", Serial(), Progress(phase=lambda name, _count: phases.append(name)))
    run_night(config, history, place, now=NOON)
    assert "chunk" in phases
    phases.clear()
    same = run_night(config, history, place, now=NOON)
    assert phases == []
    assert [each.verdict for each in same.findings] == ["no change"]
    lab.edit(2)
    moved = run_night(config, history, place, now=NOON)
    assert "chunk" in phases
    assert moved.queries[spec].shared >= 20
    assert moved.record.key != same.record.key
    run_night(config, history, place, now=NOON)
    run_night(config, history, place, now=NOON)
    assert history.numbers() == [1, 3, 4, 5]


def _ranked(*lines: int) -> str:
    """Return a span run that shows these lines for every question."""
    rows = [
        {"query_id": f"q{query}", "rank": rank, "file": "box.py", "start_line": line, "end_line": line}
        for query in range(8)
        for rank, line in enumerate(lines, start=1)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def nights(tmp_path: Path) -> Callable[..., Night]:
    """Return a night on eight questions about one file; what it is given is added to its experiment."""
    root = tmp_path / "code"
    root.mkdir()
    (root / "box.py").write_text("".join(f"def part_{n}():\n    return {n}\n\n\n" for n in range(8)))
    gold = [
        {"query_id": f"q{n}", "query": f"part {n}", "file": "box.py", "start_line": 4 * n + 1, "end_line": 4 * n + 2}
        for n in range(8)
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    place = Workplace(tmp_path / "cache", Serial(), Progress())

    def night(**more: object) -> Night:
        config = make_config(
            {"datasets": f"annotations:path={tmp_path / 'gold.jsonl'},root={root}", "chunkers": "fixed-lines:lines=4"}
            | {"retrievers": "bm25", "embedders": "hashing", "measures": ["recall@100tok"], "headline": "recall@100tok"}
            | {"flips": 1000, "nightly": {}, **more}
        )
        return run_night(config, History(tmp_path / "history"), place, now=NOON)

    return night


def test_a_span_run_that_changed_is_scored_again(tmp_path: Path, nights: Callable[..., Night]) -> None:
    """It is part of a night beside the chunkers, and compared with its own past."""
    file = tmp_path / "run.jsonl"
    file.write_text(_ranked(1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22, 25, 26, 29, 30))
    assert nights(spans=[f"mine={file}"]).failed == []
    assert {each.verdict for each in nights(spans=[f"mine={file}"]).findings} == {"no change"}
    file.write_text(_ranked(3))
    moved = {each.key.chunker: each for each in nights(spans=[f"mine={file}"]).findings}
    assert [moved[name].verdict for name in ("fixed-lines:lines=4", "mine")] == ["no change", "regression"]
    assert moved["mine"].now == 0
    page = (tmp_path / "history" / "trend.html").read_text("utf-8")
    assert "gold.jsonl" in page
    assert NO_STAGE not in next(iter(by_setting(trends(History(tmp_path / "history"), ["recall@100tok"]).series[-1:])))
    file.unlink()
    with pytest.raises(UsageError, match=r"run\.jsonl cannot be read"):
        nights(spans=[f"mine={file}"])


def test_a_tool_is_asked_every_night(tmp_path: Path, nights: Callable[..., Night]) -> None:
    """It may answer differently though nothing that is known of it has changed."""
    tool = tmp_path / "tool.py"
    text = "import sys\nfor _ in sys.stdin:\n    print('[[\"box.py\", LINE, LINE]]', flush=True)\n"
    shown = []
    for line in (1, 3):
        tool.write_text(text.replace("LINE", str(line)))
        night = nights(tools=[f"mine={sys.executable} {tool}"])
        (mine,) = (cell for cell in History(tmp_path / "history").results(night.record).cells if cell.key.is_span_run)
        shown.append(float(mine.scores["recall@100tok"].sum()))
    assert shown[0] > 0 == shown[1]
    assert [each.key.chunker for each in night.findings] == ["fixed-lines:lines=4", "mine"]


def test_a_reader_that_changed_reads_again(tmp_path: Path, nights: Callable[..., Night]) -> None:
    """Its code is named as what changed; the ranking that it reads is the chunker's."""
    file = tmp_path / "reader.py"
    text = """
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True, kw_only=True)
class Mine:
    version: ClassVar[str] = "1"

    def read(self, hits, corpus):
        return list(hits)[:MOST]
"""
    for most in (8, 0):
        file.write_text(text.replace("MOST", str(most)))
        night = nights(readers=["chunk", f"{file}:Mine"])
    moved = {each.key.chunker: each.verdict for each in night.findings}
    assert moved == {"fixed-lines:lines=4": "no change", f"fixed-lines:lines=4 + {file}:Mine": "regression"}
    assert [each.kind for each in night.differences] == ["reader code"]


def test_a_night_does_not_match_sizes(nights: Callable[..., Night]) -> None:
    """Limits that follow the code would make every night's chunkers others: they are named instead."""
    with pytest.raises(UsageError, match="match_size would choose other limits"):
        nights(match_size="nws=20")


def test_a_ref_is_fixed_to_its_commit(tmp_path: Path) -> None:
    """The branch may move while a run goes on: the dataset is loaded at the commit that was found first."""
    lab = Lab(tmp_path, queries=30)
    lab.set_up("packaging")
    written = f"mined:root={lab.clone},ref=main,queries=30"
    first = pin(written, fetch=False)
    lab.edit(2)
    second = pin(written, fetch=False)
    assert first.commit
    assert second.commit
    assert first.commit != second.commit
    assert commits_between(lab.clone, first.commit, second.commit).count == 1
    old, new = DATASETS.create(first.spec).load(), DATASETS.create(second.spec).load()
    assert (old.details["commit"], new.details["commit"]) == (first.commit, second.commit)
    assert pin("installed", fetch=False).spec == "installed"


def test_query_ids_stay_when_lines_move(tmp_path: Path) -> None:
    """A note above a function moves its lines and keeps its question: nearly all queries are shared over nights."""
    lab = Lab(tmp_path, queries=60)
    lab.set_up("packaging")
    spec = f"mined:root={lab.clone},queries=60"
    before = {query.id for query in DATASETS.create(spec).load().queries}
    lab.edit(2, share=1.0)
    after = {query.id for query in DATASETS.create(spec).load().queries}
    assert len(before & after) >= 0.6 * len(before)


def test_an_unknown_ref_and_a_folder_without_history_are_told(tmp_path: Path) -> None:
    """The error names the ref, or says that there is no clone."""
    lab = Lab(tmp_path, queries=10)
    lab.set_up("packaging")
    with pytest.raises(UsageError, match="has no ref 'nowhere'"):
        pin(f"mined:root={lab.clone},ref=nowhere", fetch=False)
    with pytest.raises(UsageError, match="is not a git clone"):
        pin(f"mined:root={lab.root / 'plugins'},ref=main", fetch=False)
    lab.git("remote", "add", "origin", str(tmp_path / "gone"))
    with pytest.raises(UsageError, match="git fetch failed"):
        pin(f"mined:root={lab.clone},ref=main", fetch=True)


def test_the_nightly_table_is_checked(tmp_path: Path) -> None:
    """A misspelt key is named with the nearest; a gated measure is measured."""
    file = tmp_path / "n.toml"
    file.write_text('[nightly]\nhistroy = "x"\n')
    with pytest.raises(UsageError, match=r"unknown key 'nightly.histroy'. Did you mean 'history'"):
        load_config(file)
    config = make_config({"measures": ["ndcg@10"], "headline": "ndcg@10", "nightly": {"measures": ["mrr@10"]}})
    assert config.measures == ("ndcg@10", "mrr@10")
