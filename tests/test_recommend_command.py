"""`chunkbench recommend` from end to end: the answer, its limits, and the sentences of small and broken input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from conftest import Command

import chunkbench as cb
from indexing.encoders.hashing import Hashing
from indexing.types import Vectors

FOUR = ["fixed-lines:lines=5", "fixed-lines:lines=9", "cast:size=200", "whole-file"]
EIGHT = [*FOUR, "fixed-lines:lines=3", "fixed-lines:lines=13", "recursive:size=150", "fixed-tokens:tokens=40"]
FAILING = """
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Failing:
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = None

    def split(self, source):
        raise RuntimeError("cannot cut")
"""


def _arguments(repository: Path, *candidates: str) -> list[object]:
    gold = repository.parent / "gold.jsonl"
    named = [part for spec in candidates for part in ("--candidates", spec)]
    return ["recommend", repository, "--annotations", gold, "--retriever", "bm25", "--engine", "serial", *named]


def test_the_answer_and_how_it_was_found(chunkbench: Command, repository: Path) -> None:
    """All candidates are in the document, the recommended one may be best, and the same command says the same again."""
    done = chunkbench(*_arguments(repository, *EIGHT), "--json")
    assert done.code == 0, done.err
    found = done.json
    assert found["recommended"] in found["may_be_best"]
    assert [each["spec"] for each in found["candidates"]] == EIGHT
    assert 0 <= found["risk"] <= 100
    assert 0 < found["embedded_texts"] <= found["grid_texts"]
    assert found["rounds"][-1]["share"] == 1.0
    asked, final = (each["queries"] for each in found["rounds"])
    assert final == 16
    assert 0 < len(found["finalists"]) < 8
    assert 0 < asked <= 10
    assert all(each["queries"] == final - 10 for each in found["finalists"]), "two thirds choose"
    kept = [each["spec"] for each in found["candidates"] if each["may_be_best"]]
    assert sorted(kept) == sorted(found["may_be_best"])
    bounds = [each["better_by_at_most"] for each in found["candidates"] if each["spec"] in found["may_be_best"]]
    assert found["risk"] >= max([0.0, *(bound for bound in bounds if bound is not None)])
    assert 0 <= found["likely_loss"] <= found["risk"]
    again = chunkbench(*_arguments(repository, *EIGHT), "--json").json
    assert {**again, "seconds": 0, "finalists": 0} == {**found, "seconds": 0, "finalists": 0}
    shown = chunkbench(*_arguments(repository, *EIGHT), "--current", "fixed-lines:lines=4")
    assert shown.code == 0
    assert found["recommended"] in shown.out
    assert "too little data" in " ".join(shown.out.split())
    assert "Changing from fixed-lines:lines=4" in " ".join(shown.out.split())


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_finalists_fit_the_terminal(
    chunkbench: Command, repository: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Columns are whole or not there, and those that are not are named."""
    monkeypatch.setenv("COLUMNS", str(width))
    out = chunkbench(*_arguments(repository, *FOUR)).out
    head, row = out[out.index("\nfinalist  ") :].splitlines()[1:3]
    names = ["all", "unseen", "95 %", "best?", "risk", "chunks", "nws", "tokens", "MB", "ms p50", "p95"]
    there = [name for name in names if f" {name} " in f"{head} "]
    assert there == names[: len(there)]
    assert len(head) <= width
    assert len(row.replace(" … ", "…").replace(" ←", "").split()) == 1 + len(there)
    assert ("for want of width: " + ", ".join(names[len(there) :]) in " ".join(out.split())) is (there != names)
    assert (there == names) is (width == 200)


def test_processes_say_the_same(chunkbench: Command, repository: Path) -> None:
    """Rounds run in other processes, which load the same part of the data."""
    one = chunkbench(*_arguments(repository, *EIGHT), "--json").json
    two = chunkbench(
        *_arguments(repository, *EIGHT)[:-16],
        "--engine",
        "processes",
        "--jobs",
        2,
        *_arguments(repository, *EIGHT)[-16:],
        "--json",
    ).json
    assert two["recommended"] == one["recommended"]
    assert [each["rounds"] for each in two["candidates"]] == [each["rounds"] for each in one["candidates"]]


def test_default_candidates_cover_families_and_sizes(chunkbench: Command, repository: Path) -> None:
    """At least six families are there; on files this small many cut alike, and that is said."""
    done = chunkbench(*_arguments(repository), "--json")
    assert done.code == 0, done.err
    families = {each["family"] for each in done.json["candidates"]}
    assert len(families) >= 6
    same = [each for each in done.json["candidates"] if each["fate"] == "same chunks"]
    assert same
    assert all("exactly as" in each["reason"] for each in same)


def test_candidates_from_a_file(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """One spec per line; comments and empty lines are none."""
    listed = tmp_path / "candidates.txt"
    listed.write_text("# mine\nfixed-lines:lines=5\n\ncast:size=300\n")
    found = chunkbench(*_arguments(repository, str(listed)), "--json").json
    assert [each["spec"] for each in found["candidates"]] == ["fixed-lines:lines=5", "cast:size=300"]
    listed.write_text("# nothing\n")
    empty = chunkbench(*_arguments(repository, str(listed)))
    assert (empty.code, empty.out) == (2, "")
    assert "names no candidate" in empty.err


def test_limits(chunkbench: Command, repository: Path) -> None:
    """Who is over a limit does not race; where all are, the error names the nearest; a budget needs a price."""
    found = chunkbench(*_arguments(repository, *FOUR), "--max-chunks", 20, "--json").json
    over = [each["spec"] for each in found["candidates"] if each["fate"] == "over the limit"]
    assert "fixed-lines:lines=5" in over
    assert found["recommended"] not in over
    impossible = chunkbench(*_arguments(repository, *FOUR), "--max-chunks", 3)
    assert (impossible.code, impossible.out) == (2, "")
    assert "fewest chunks is whole-file: 8 chunks, and the limit is 3" in impossible.err
    assert chunkbench(*_arguments(repository, *FOUR), "--max-index-mb", 0.000001).code == 2
    assert chunkbench(*_arguments(repository, *FOUR), "--budget", 1).code == 2
    priced = chunkbench(*_arguments(repository, *FOUR), "--price", 10, "--budget", 1, "--json").json
    assert all(each["cost"]["price"] == each["cost"]["tokens"] / 100_000 for each in priced["finalists"])
    dearest = max(priced["finalists"], key=lambda each: each["cost"]["price"])
    exactly = ("--price", 10, "--budget", repr(dearest["cost"]["price"]), "--json")
    fates = {
        each["spec"]: each["fate"] for each in chunkbench(*_arguments(repository, *FOUR), *exactly).json["candidates"]
    }
    assert fates[dearest["spec"]] != "over the limit"


def test_two_that_meet_have_their_caveats(chunkbench: Command, repository: Path) -> None:
    """What is said of one repository is said of it alone; one candidate is compared with nobody."""
    two, one = (chunkbench(*_arguments(repository, *FOUR[:count]), "--json").json for count in (2, 1))
    assert any("repository" in caveat for caveat in two["caveats"])
    assert one["caveats"] == []


@dataclass(frozen=True, kw_only=True)
class Listening(Hashing):
    """An encoder that keeps what it was given to embed."""

    embedded: ClassVar[set[str]] = set()

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return the vectors."""
        if kind != "query":
            self.embedded.update(texts)
        return super().encode(texts, kind=kind)


def test_no_more_is_embedded_than_is_said(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts that scouts, round and final give to an encoder are as many as are counted, and fewer than all."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "empty"))
    Listening.embedded.clear()
    gold = repository.parent / "gold.jsonl"
    made = cb.recommend(repository, annotations=gold, embedder=Listening(), retriever="dense", candidates=EIGHT)
    assert len(made.rounds) == 2
    assert len(Listening.embedded) == made.embedded_texts < made.grid_texts


def test_few_candidates_meet_at_once(chunkbench: Command, repository: Path) -> None:
    """Where all can meet in the final there are no rounds, and all queries are asked."""
    found = chunkbench(*_arguments(repository, *FOUR), "--json").json
    assert [each["queries"] for each in found["rounds"]] == [16]
    assert {each["fate"] for each in found["candidates"]} == {"finalist"}


def test_one_candidate(chunkbench: Command, repository: Path) -> None:
    """There is nothing to choose, and it says so."""
    found = chunkbench(*_arguments(repository, "cast:size=300"), "--json").json
    assert (found["recommended"], found["risk"]) == ("cast:size=300", 0.0)
    assert "only candidate" in found["sentences"][0]


def test_one_file_and_no_queries(chunkbench: Command, tmp_path: Path, repository: Path) -> None:
    """One file has an answer, and a folder without any question or source is refused."""
    quick = ("--retriever", "bm25", "--engine", "serial")
    (tmp_path / "one").mkdir()
    rows = [json.loads(row) for row in (tmp_path / "gold.jsonl").read_text().splitlines()]
    (tmp_path / "one" / "apple.py").write_text((repository / "apple.py").read_text())
    kept = [{**row, "repo": "one"} for row in rows if row["file"] == "apple.py"]
    (tmp_path / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    done = chunkbench("recommend", tmp_path / "one", "--annotations", tmp_path / "two.jsonl", *quick)
    assert done.code == 0, done.err
    assert "too little data" in " ".join(done.out.split())
    (tmp_path / "none").mkdir()
    assert chunkbench("recommend", tmp_path / "none", *quick).code == 2
    assert chunkbench("recommend", tmp_path / "gone").code == 2


def test_failing_candidates_are_counted(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """One that raises is named with its reason, exit code 1; where all do, nothing is recommended."""
    (tmp_path / "failing.py").write_text(FAILING)
    failing = f"{tmp_path / 'failing.py'}:Failing"
    done = chunkbench(*_arguments(repository, "cast:size=300", failing, "whole-file"), "--json")
    assert done.code == 1
    assert "RuntimeError: cannot cut" in done.json["failed"][failing]
    assert done.json["recommended"] in ("cast:size=300", "whole-file")
    assert "failed" in done.err
    nobody = chunkbench(*_arguments(repository, failing))
    assert (nobody.code, nobody.out) == (1, "")
    assert "cannot cut" in nobody.err


def test_wrong_input_is_one_line(chunkbench: Command, repository: Path) -> None:
    """Unknown specs, two corpora, options that do not exist in Python."""
    for arguments in (
        ["--candidates", "casst"],
        ["--dataset", "installed"],
        ["--current", "no-such"],
        ["--retriever", "bn25"],
    ):
        done = chunkbench("recommend", repository, *arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), arguments
    with pytest.raises(cb.UsageError, match="seed"):
        cb.recommend(repository, seeds=1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("bm25", "")),
        ({"retriever": "bm25:k1=0.9"}, ("bm25:k1=0.9", "")),
        ({"embedder": "hashing:dimensions=16"}, ("hybrid", "hashing:dimensions=16")),
        ({"embedder": "hashing:dimensions=16", "retriever": "dense"}, ("dense", "hashing:dimensions=16")),
    ],
)
def test_what_is_named_searches(
    monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path, given: dict[str, str], expected: tuple[str, str]
) -> None:
    """Words alone without an embedder, both with one, or what is named; queries take some milliseconds."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    made = cb.recommend(repository, annotations=tmp_path / "gold.jsonl", candidates=FOUR[:2], **given)
    assert (made.retriever, made.embedder) == expected
    for each in made.finalists:
        assert each.cost.query_p50_ms is not None
        assert 0 < each.cost.query_p50_ms < 60_000


def test_an_index_of_vectors_has_their_size(monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path) -> None:
    """Four bytes for each of 16 numbers of a chunk: whoever has more chunks than fit is over the limit."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    how = {"annotations": tmp_path / "gold.jsonl", "embedder": "hashing:dimensions=16", "retriever": "dense"}
    plain = cb.recommend(repository, candidates=FOUR, **how)
    chunks = {each.spec: each.chunks for each in plain.candidates if each.chunks}
    limit = sorted(set(chunks.values()))[-2] * 64 / 1e6
    limited = cb.recommend(repository, candidates=FOUR, max_index_mb=limit, **how)
    over = {each.spec for each in limited.candidates if each.fate == "over the limit"}
    assert over == {spec for spec, count in chunks.items() if count * 64 / 1e6 > limit} != set()


def test_from_python(monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path) -> None:
    """A recommendation prints itself, is plain values, and can be saved."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    gold = tmp_path / "gold.jsonl"
    made = cb.recommend(repository, annotations=gold, retriever="bm25", candidates=FOUR, current="whole-file", seed=3)
    assert made.recommended in str(made)
    assert made.to_json()["seed"] == 3
    saved = json.loads((made.save(tmp_path / "out") / "recommend.json").read_text())
    assert saved["recommended"] == made.recommended
