"""`chunkbench recommend` from end to end: the answer, its limits, and the sentences of small and broken input."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conftest import Command

import chunkbench as cb
from ground_truth.datasets.mined import MinedRepository
from indexing.encoders.hashing import Hashing
from indexing.types import Vectors

FOUR = ["fixed-lines:lines=5", "fixed-lines:lines=9", "cast:size=200", "whole-file"]
EIGHT = [*FOUR, "fixed-lines:lines=3", "fixed-lines:lines=13", "recursive:size=150", "fixed-tokens:tokens=40"]
FAILING = """
from dataclasses import dataclass
from typing import ClassVar

from chunkers.types import Piece


@dataclass(frozen=True, kw_only=True)
class Failing:
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = None

    def split(self, source):
        raise RuntimeError("cannot cut")


class Nothing(Failing):
    def split(self, source):
        return []


class Some(Failing):
    def split(self, source):
        if source.path == "apple.py":
            raise RuntimeError("cannot cut")
        return [Piece(0, len(source.data))]
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
    out = chunkbench(*_arguments(repository, *EIGHT)).out
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
    assert "the nearest is whole-file with 8 chunks (the limit is 3). Raise the limit, or name larger" in impossible.err
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
    (record,) = [each for each in done.json["candidates"] if each["spec"] == failing]
    nothing = ("chunks", "mean_nws", "tokens", "texts", "round", "may_be_best")
    assert not any(record[name] for name in nothing), "nothing is known of it"
    nobody = chunkbench(*_arguments(repository, failing))
    assert (nobody.code, nobody.out) == (1, "")
    assert "cannot cut" in nobody.err


def test_without_chunks_nothing_can_be_found(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """A chunker that makes none has failed, whoever names it and however many others there are."""
    (tmp_path / "failing.py").write_text(FAILING)
    nothing, failing = (f"{tmp_path / 'failing.py'}:{name}" for name in ("Nothing", "Failing"))
    reason = "it makes no chunks of 8 files, so that nothing can be found with it"
    alone = chunkbench(*_arguments(repository, nothing))
    assert (alone.code, alone.out) == (1, "")
    assert alone.err == f"chunkbench: the only candidate failed; {nothing}: {reason}\n"
    both = chunkbench(*_arguments(repository, nothing, failing))
    assert (both.code, both.out) == (1, "")
    assert both.err.startswith("chunkbench: both candidates failed; ")
    found = chunkbench(*_arguments(repository, nothing, "cast:size=300"), "--json")
    assert found.code == 1
    assert (found.json["recommended"], found.json["failed"]) == ("cast:size=300", {nothing: reason})
    assert "the only one left of 2 candidates" in found.json["sentences"][0]
    used = chunkbench(*_arguments(repository, *FOUR[:2]), "--current", nothing, "--json")
    assert (used.code, used.json["failed"], used.json["current"]["failed"]) == (1, {}, reason)


def test_a_current_chunker_that_fails_is_no_candidate(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Its reason is said once, and the exit code is that of a failure."""
    (tmp_path / "failing.py").write_text(FAILING)
    done = chunkbench(*_arguments(repository, *FOUR[:2]), "--current", f"{tmp_path / 'failing.py'}:Failing")
    assert done.code == 1
    assert (done.out + done.err).count("cannot cut") == 1
    assert "candidate failed" not in " ".join(done.out.split())


def test_files_that_cannot_be_cut_are_named(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """In a caution where their chunker is recommended, and beside every candidate that failed on some."""
    (tmp_path / "failing.py").write_text(FAILING)
    some = f"{tmp_path / 'failing.py'}:Some"
    words = "failed on 1 file: code/apple.py (RuntimeError: cannot cut)"
    alone = chunkbench(*_arguments(repository, some), "--json")
    assert alone.code == 0
    assert f"Caution: it {words}; nothing can be found there." in alone.json["sentences"]
    found = chunkbench(*_arguments(repository, some, "fixed-lines:lines=5"), "--json").json
    reasons = {each["spec"]: each["reason"] for each in found["candidates"]}
    assert reasons == {some: f"measured on all text; {words}", "fixed-lines:lines=5": "measured on all text"}


def test_files_cut_some_other_way_are_counted(chunkbench: Command, repository: Path) -> None:
    """A recommended chunker that does not know the language of many files says so, as ``compare`` does."""
    (repository / "main.dart").write_text("void main() {}\n")
    found = chunkbench(*_arguments(repository, "recursive:size=300"), "--json").json
    caution = "Caution: it cut 1 of 9 files some other way (no separators for dart)."
    assert caution in found["sentences"]
    other = chunkbench(*_arguments(repository, "fixed-lines:lines=5"), "--json").json
    assert not any("some other way" in sentence for sentence in other["sentences"])


def test_a_current_chunker_that_cuts_alike_changes_nothing(chunkbench: Command, repository: Path) -> None:
    """Another name for the same chunks gains and loses nothing."""
    found = chunkbench(*_arguments(repository, "fixed-lines:lines=9000"), "--current", "whole-file", "--json").json
    said = "Changing from whole-file changes nothing: it cuts this code exactly as fixed-lines:lines=9000 does."
    assert said in found["sentences"]
    assert found["current"]["gain"] is None
    assert found["current"]["mean"] is not None


def test_what_helps_depends_on_the_limit(chunkbench: Command, repository: Path) -> None:
    """Larger chunks for fewer of them; for a budget they hardly help. Small amounts are told apart."""
    chunks = chunkbench(*_arguments(repository, *FOUR), "--max-chunks", 3).err
    index = chunkbench(*_arguments(repository, *FOUR), "--max-index-mb", 0.000001).err
    price = chunkbench(*_arguments(repository, *FOUR), "--price", 0.02, "--budget", 0.00001).err
    assert all("larger chunks" in err and "cheaper" not in err for err in (chunks, index))
    assert "(the limit is 0.000001)" in index
    assert "cheaper embedder" in price
    assert "larger chunks" not in price
    assert "(the limit is 0.00001)" in price
    every = chunkbench(
        *_arguments(repository, *FOUR), "--max-chunks", 3, "--price", 0.02, "--budget", 0.00001, "--max-index-mb", 1e-6
    ).err
    assert every.count("the limit is") == 3
    assert "Raise the limits, or name larger chunks with --candidates; take a cheaper embedder" in every
    assert every.count("larger chunks") == every.count("\n") == 1


def test_a_history_is_advised_where_there_is_one(repository: Path, tmp_path: Path) -> None:
    """Not for a folder that is no clone, nor for one without a second commit, nor where commits ask already."""

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(repository), *who, *arguments], check=True, capture_output=True)

    mined = MinedRepository(root=str(repository))
    assert not mined.has_more_history()
    git("init", "-q")
    assert not mined.has_more_history()
    git("add", ".")
    git("commit", "-qm", "First")
    assert not mined.has_more_history()
    git("commit", "-qm", "Second", "--allow-empty")
    assert mined.has_more_history()
    assert not replace(mined, kind="commits").has_more_history()
    (tmp_path / "plain").mkdir()
    assert not replace(mined, root=f"{repository};{tmp_path / 'plain'}").has_more_history()


def test_a_larger_limit_is_advised_where_there_is_one(chunkbench: Command, repository: Path) -> None:
    """Queries that the user left out are the cheapest to have."""
    for more, advised in ((("--limit", 2), True), ((), False)):
        found = chunkbench(*_arguments(repository, *FOUR), *more, "--json").json
        (said,) = [said for said in found["sentences"] if said.startswith("There is too little data")]
        assert ("a larger --limit" in said) is advised


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
    monkeypatch: pytest.MonkeyPatch, repository: Path, tmp_path: Path, given: dict[str, Any], expected: tuple[str, str]
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
    how: dict[str, Any] = {
        "annotations": tmp_path / "gold.jsonl",
        "embedder": "hashing:dimensions=16",
        "retriever": "dense",
    }
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
