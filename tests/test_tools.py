"""Tools that are asked every query: what they answer is scored, and what goes wrong is theirs alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import time
from pathlib import Path

import pytest
from conftest import Command

import chunkbench as cb
from chunkers.errors import UsageError
from chunkers.sources import walk
from evaluation.experiment.loaded_dataset import load_dataset
from evaluation.experiment.tool_runs import run_tool
from evaluation.tools.process import CommandTool
from evaluation.tools.registry import make_tool
from ground_truth.datasets.in_memory import InMemory
from ground_truth.types import Annotation, Dataset, HiddenSpan, Query

GUIDE = Path(__file__).parents[1] / "evaluation" / "README.md"
MEASURES = ("--measure", "naurc@400tok", "--headline", "naurc@400tok", "--measure", "file_rr")

BAD = {
    "hangs": "import time\ninput()\nprint('[]', flush=True)\ntime.sleep(600)\n",
    "crashes": """
        import sys
        for n, line in enumerate(sys.stdin, start=1):
            if n == 7:
                sys.exit("out of ideas")
            print("[]", flush=True)
        """,
    "garbage": "for line in open(0):\n    print('<html>', flush=True)\n",
    "missing": "for line in open(0):\n    print('[[\"nowhere.py\", 1, 2]]', flush=True)\n",
    "beyond": "for line in open(0):\n    print('[[\"apple.py\", 1, 2000]]', flush=True)\n",
    "silent": "",
    "early": "print('[]', flush=True)\nfor line in open(0):\n    print('[]', flush=True)\n",
    "twice": "for line in open(0):\n    print('[]\\n[]', flush=True)\n",
    "many": """
        import json
        for line in open(0):
            print(json.dumps([["apple.py", 1, 2]] * 100_000), flush=True)
        """,
}
REASONS = {
    "hangs": r"query 'apple1': no answer within 4 seconds",
    "crashes": r"query 'drum0' \(number 7\): it ended with code 1: out of ideas",
    "garbage": r"query 'apple0': the answer is not JSON \('<html>'\)",
    "missing": r"query 'apple0', place 1: 'nowhere.py' is not a file of 'code' in this corpus",
    "beyond": r"query 'apple0', place 1: apple.py has 23 lines; lines 1-2000 are not in it",
    "silent": r"query 'apple0' \(number 1\): it ended with code 0",
    "early": r"it wrote more than one line per question",
    "twice": r"it wrote more than one line per question",
}


def python(path: Path, code: str) -> str:
    """Write a program and return the command that runs it."""
    path.write_text(textwrap.dedent(code))
    return f"{sys.executable} {path}"


def test_a_tool_that_fails_fails_alone(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Hanging, crashing, garbage, a missing file, too many places: one line each, and the others finish."""
    gold = tmp_path / "gold.jsonl"
    tools = [f"{name}={python(tmp_path / f'{name}.py', code)}" for name, code in BAD.items()]
    done = chunkbench(
        *("compare", "--dataset", f"annotations:path={gold},root={repository}", "--chunker", "fixed-lines:lines=6"),
        *("--retriever", "bm25", "--embedder", "hashing", "--engine", "serial", "--out", tmp_path / "out", *MEASURES),
        *(part for tool in tools for part in ("--tool", tool)),
        *("--tool", "grep-read", "--tool-timeout", "4", "--json"),
    )
    assert done.code == 1
    cells = {cell["chunker"]: cell for cell in done.json["cells"]}
    for name, reason in REASONS.items():
        assert cells[name]["status"] == "failed"
        assert re.search(reason, cells[name]["reason"]), cells[name]["reason"]
        assert "\n" not in cells[name]["reason"]
    for name in ("fixed-lines:lines=6", "grep-read", "many"):
        assert cells[name]["status"] == "ok", cells[name]["reason"]
    assert cells["many"]["chunks"]["answers_cut_off"] == 16
    assert cells["many"]["chunks"]["places_cut_off"] == 16 * 99_000
    assert len([line for line in done.err.splitlines() if " failed: " in line]) == len(REASONS)


def test_what_a_tool_started_ends_with_it(repository: Path, tmp_path: Path) -> None:
    """A child that a tool leaves behind is ended when the tool is."""
    code = f"""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(tmp_path / "child")!r}, "w").write(str(child.pid))
        for line in sys.stdin:
            print("[]", flush=True)
        """
    dataset = Dataset("d", (walk(repository, name="code"),), (Query("q", "apple", "code"),), ())
    loaded = load_dataset("d", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
    run_tool(CommandTool("t", python(tmp_path / "t.py", code)), loaded, depth=10)
    child = int((tmp_path / "child").read_text())
    for _ in range(200):
        try:
            os.kill(child, 0)
            if Path(f"/proc/{child}/stat").read_text().split(")")[1].split()[0] == "Z":
                break
        except (ProcessLookupError, FileNotFoundError):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child still runs")


def test_the_tools_of_the_guide_work(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """The shell tool and the Python tool of the documentation, as they are printed there, find something."""
    text = GUIDE.read_text()
    shell, code = (
        re.search(rf"```{kind}\n(.*?)```", text.partition("## Score any")[2], re.DOTALL) for kind in ("sh", "python")
    )
    assert shell is not None
    assert code is not None
    (tmp_path / "tool.sh").write_text(shell[1])
    (tmp_path / "tool.py").write_text(code[1])
    assert len(shell[1].splitlines()) <= 10
    done = chunkbench(
        *("compare", repository, "--annotations", tmp_path / "gold.jsonl", "--chunker", "fixed-lines:lines=6"),
        *("--retriever", "bm25", "--embedder", "hashing", "--engine", "serial", "--out", tmp_path / "out", *MEASURES),
        *("--tool", f"shell=sh {tmp_path / 'tool.sh'}", "--tool", f"python={sys.executable} {tmp_path / 'tool.py'}"),
        "--json",
    )
    assert done.code == 0, done.err
    for cell in done.json["cells"]:
        assert cell["measures"]["naurc@400tok"]["mean"] > 0
    assert any({"shell", "python"} == {row["a"], row["b"]} for row in done.json["comparisons"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "shell" in page


def test_tools_do_not_see_what_is_hidden(tmp_path: Path) -> None:
    """Hidden bytes are blank in the tool's copy, and every line and byte is where it was."""
    root = tmp_path / "r"
    root.mkdir()
    (root / "a.py").write_bytes(b"x = 1\n# secret\r\ny = 2\n")
    hidden = (HiddenSpan("r", "a.py", 6, 15),)
    dataset = Dataset(
        "d", (walk(root, name="r"),), (Query("q", "secret", "r"),), (Annotation("q", "r", "a.py", 3, 3),), hidden=hidden
    )
    loaded = load_dataset("d", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
    code = f"""
        import json, pathlib, sys
        for line in sys.stdin:
            pathlib.Path({str(tmp_path / "seen")!r}).write_bytes(pathlib.Path("a.py").read_bytes())
            print(json.dumps([[str(pathlib.Path("a.py").resolve()), 3, 3]]), flush=True)
        """
    run = run_tool(CommandTool("t", python(tmp_path / "t.py", code)), loaded, depth=10)
    assert (tmp_path / "seen").read_bytes() == b"x = 1\n        \r\ny = 2\n"
    assert [(place.start, place.end) for place in run.places["q"]] == [(16, 22)]
    assert run_tool(make_tool("grep-read", timeout=9), loaded, depth=10).places["q"] == []


@pytest.mark.parametrize("name", ["ripgrep", "grep-read"])
def test_ready_tools_give_the_same_answer_every_time(repository: Path, name: str) -> None:
    """Two runs agree place by place, and the words of the query lead to the file that has them."""
    if name == "ripgrep" and shutil.which("rg") is None:
        pytest.skip("rg is not installed")
    queries = tuple(Query(f"q{n}", f"how many {word}s are heavy?", "code") for n, word in enumerate(("bolt", "glove")))
    dataset = Dataset("d", (walk(repository, name="code"),), queries, ())
    loaded = load_dataset("d", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
    first, second = (run_tool(make_tool(name, timeout=60), loaded, depth=1000).places for _ in range(2))
    assert first == second
    assert [first[query][0].file.path for query in ("q0", "q1")] == ["bolt.py", "glove.py"]


def test_ripgrep_that_is_missing_is_named_with_its_remedy(
    chunkbench: Command, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 4, before anything is computed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    done = chunkbench(
        "compare", repository, "--annotations", tmp_path / "gold.jsonl", "--tool", "ripgrep", "--chunker", "cast"
    )
    assert done.code == 4
    assert "rg is not installed: apt install ripgrep" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tool", "ripgrp"), "no ready tool 'ripgrp'"),
        (("--tool", "a="), "tool 'a' has no command"),
        (("--tool", "a='"), "is not a command"),
        (("--tool", "grep-read", "--tool", "grep-read=true"), "two span runs or tools are called 'grep-read'"),
        (("--tool", "cast=true"), "'cast' is a chunker of this comparison"),
        (("--tool", "grep-read", "--headline", "ndcg@5"), "choose a headline on text"),
    ],
)
def test_a_tool_that_cannot_be_asked_is_refused(
    chunkbench: Command, repository: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    """One line and exit code 2, before anything is computed."""
    done = chunkbench("compare", repository, "--annotations", tmp_path / "gold.jsonl", "--chunker", "cast", *options)
    assert done.code == 2
    assert said in done.err


def test_a_program_that_cannot_be_started_fails_its_cell(repository: Path) -> None:
    """The reason names the program."""
    dataset = Dataset("d", (walk(repository, name="code"),), (Query("q", "apple", "code"),), ())
    loaded = load_dataset("d", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
    with pytest.raises(Exception, match="'/no/such/program' cannot be started"):
        run_tool(CommandTool("t", "/no/such/program"), loaded, depth=10)


def test_queries_that_search_everything_see_every_repository(tmp_path: Path) -> None:
    """Where the scope is all, each repository is a folder, and a place may be named through it."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(f"{name} = 1\n")
    repositories = tuple(walk(tmp_path / name, name=name) for name in ("one", "two"))
    dataset = Dataset("d", repositories, (Query("q", "two of them", "one"),), (), scope="all")
    loaded = load_dataset("d", InMemory(dataset=dataset), duplicates="keep", limit=None, seed=0)
    run = run_tool(make_tool("grep-read", timeout=9), loaded, depth=10)
    assert [place.file[:2] for place in run.places["q"]] == [("two", "a.py")]


def test_a_function_may_return_places(repository: Path, tmp_path: Path) -> None:
    """Tuples, mappings and a span run of the same places have the same scores."""
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"

    def tuples(query: str) -> list[tuple[str, int, int]]:
        word = next(part for part in query.split() if (repository / f"{part.rstrip('s')}.py").exists()).rstrip("s")
        return [(f"{word}.py", 6, 10)]

    values = cb.benchmark(tuples, gold)
    keys = ("file", "start_line", "end_line")
    mappings = cb.benchmark(lambda query: [dict(zip(keys, each, strict=True)) for each in tuples(query)], gold)
    assert values == pytest.approx(mappings, rel=0, abs=0, nan_ok=True)
    assert values["file_rr"] == 1.0
    assert values["recall@4000tok"] == 0.5
    assert values.per_query[0]["recall@4000tok"] == 1.0
    assert json.dumps(values["naurc@4000tok"])
    with pytest.raises(UsageError, match=r"place 1: 'pear.py' is not a file"):
        cb.benchmark(lambda query: [("pear.py", 1, len(query))], gold)


def test_a_function_that_finds_nothing_scores_nothing(repository: Path, tmp_path: Path) -> None:
    """Measures on places need no place, and those of ids no id: nothing scores 0, for one query and for all."""
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    assert cb.benchmark(lambda _query: [], gold, measures=["recall@400tok", "file_rr"])["recall@400tok"] == 0
    assert cb.benchmark(lambda _query: [], gold)["ndcg@10"] == 0


def test_places_that_contradict_their_scores_are_refused(repository: Path, tmp_path: Path) -> None:
    """The order of a list is the ranking; where scores say another one, neither is believed."""
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"

    def scored(*scores: float) -> list[dict[str, object]]:
        names = ("apple.py", "bolt.py", "candle.py")
        shared = {"start_line": 1, "end_line": 9}
        return [{"file": name, "score": score, **shared} for name, score in zip(names, scores, strict=False)]

    assert cb.benchmark(lambda _query: scored(2, 2, 1.5), gold, measures=["file_rr"])["file_rr"] > 0
    for wrong in (scored(1, 2), scored(3, 1, 2), scored(float("nan"))):
        with pytest.raises(UsageError, match=r"place \d: its score .* best first"):
            cb.benchmark(lambda _query, wrong=wrong: wrong, gold, measures=["file_rr"])


@pytest.mark.parametrize("answer", [7, "apple.py", None, {"file": "apple.py"}])
def test_a_function_that_returns_no_list_is_told_so(repository: Path, tmp_path: Path, answer: object) -> None:
    """One line that says what to return; a generator is as good as a list."""
    gold = f"annotations:path={tmp_path / 'gold.jsonl'},root={repository}"
    with pytest.raises(UsageError, match="return a list of ids, or of places"):
        cb.benchmark(lambda _query: answer, gold)  # type: ignore[arg-type,return-value] # on purpose
    lines = [("apple.py", 1, 9), ("bolt.py", 1, 9)]
    asked = (lambda _query: lines, lambda _query: (place for place in lines))
    listed, yielded = (cb.benchmark(function, gold, measures=["file_rr"]) for function in asked)  # type: ignore[arg-type] # as above
    assert listed == yielded
    assert listed["file_rr"] > 0
