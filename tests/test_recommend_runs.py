"""Recommendations from end to end, as Python gets them: what is recorded of a run agrees with what was measured."""

from __future__ import annotations

import bisect
import difflib
import fnmatch
import heapq
import itertools
import json
import re
import shlex
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from test_recommend_command import EIGHT, FOUR

import chunkbench as cb
from chunkers.registry import CHUNKERS
from evaluation.config import make_config
from evaluation.experiment import stages
from evaluation.experiment.executors import make_executor
from evaluation.experiment.progress import Progress
from evaluation.experiment.run import make_scores
from evaluation.experiment.session import Session
from evaluation.recommend import scouting
from evaluation.recommend.front import Engine, recommend_for
from evaluation.recommend.types import Limits, Recommendation
from indexing.dense import Dense
from indexing.encoders.hashing import Hashing
from indexing.types import Hit, QueryBatch, SearchSpace, Vectors


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def documented(tmp_path: Path) -> Path:
    """Return a folder of code that says what it does."""
    root = tmp_path / "documented"
    root.mkdir()
    for module in (bisect, fnmatch, heapq, shlex, textwrap):
        shutil.copy(str(module.__file__), root)
    return root


def _recommend(repository: Path, **more: Any) -> Recommendation:
    how = {"annotations": repository.parent / "gold.jsonl", "retriever": "bm25", "candidates": FOUR, **more}
    return cb.recommend(repository, **how)


def test_folders_are_mined_for_many_queries(documented: Path, repository: Path) -> None:
    """Of a folder, or of several; annotated ones are not, and a dataset is what it is called."""
    two = ["fixed-lines:lines=5", "whole-file"]
    made = cb.recommend(documented, candidates=two)
    assert made.dataset == f"mined:root={documented},queries=600"
    assert made.mined
    assert (made.history, made.limited) == (False, False)
    assert 0 < made.docstring_queries < made.queries
    assert made.repositories == 1
    text = "".join(path.read_text() for path in documented.iterdir())
    assert made.code.language == "python"
    assert made.code.characters_per_nws == pytest.approx(len(text) / len(re.sub(r"\s", "", text)))
    named = cb.recommend(f"mined:root={documented},queries=3", candidates=two)
    assert named.dataset == f"mined:root={documented},queries=3"
    assert named.queries <= 3
    other = documented.parent / "other"
    other.mkdir()
    shutil.copy(str(difflib.__file__), other)
    both = cb.recommend([documented, other], candidates=two)
    assert both.dataset == f"mined:root={documented};{other},queries=600"
    assert both.repositories == 2
    annotated = _recommend(repository)
    assert annotated.dataset.startswith("annotations:")
    assert "queries" not in annotated.dataset
    assert not annotated.mined
    with pytest.raises(cb.UsageError, match="one dataset"):
        cb.recommend([f"mined:root={documented}", "installed"], candidates=two)
    with pytest.raises(cb.UsageError, match="more tokens_behind@5 is neither better nor worse: choose a headline"):
        cb.recommend(documented, candidates=two, headline="tokens_behind@5")


def test_records_agree_with_one_another(repository: Path) -> None:
    """Finalists, candidates, rounds and the current chunker of a race with a round."""
    made = _recommend(repository, candidates=EIGHT, current="fixed-lines:lines=4")
    assert len(made.rounds) == 2
    assert made.margin == pytest.approx(0.02)
    assert 0 < made.seconds < 600
    assert made.detectable is not None
    assert made.queries == 16
    records = {each.spec: each for each in made.candidates}
    final = {each.spec: each for each in made.finalists}
    for spec, record in records.items():
        assert record.may_be_best is (spec in made.may_be_best)
        assert (record.fate == "finalist") is (spec in final)
        assert len(record.rounds) == record.round == (2 if spec in final else 1)
        assert (record.better_by is None) is (spec == made.recommended)
        assert record.chunks > 0
        assert record.texts > 0
        assert record.tokens > 0
        if spec in final:
            assert record.rounds[-1] == final[spec].mean
            assert (record.behind, record.rival) == (None, "")
            assert final[spec].may_be_best is record.may_be_best
        else:
            assert record.rival in records
            assert record.behind is not None
            said = "may still be best" if record.may_be_best else "shown to be worse"
            assert said in record.reason
    means = [each.mean_of_all for each in made.finalists]
    assert means == sorted(means, reverse=True)
    assert made.leader == made.finalists[0].spec
    first, last = made.rounds
    assert (first.candidates, last.candidates) == (len(EIGHT), len(final))
    assert (last.files, last.share, last.repositories) == (8, 1.0, 1)
    assert 0 < first.share <= 0.4
    assert 0 < first.files <= 8
    used = made.current
    assert used is not None
    assert used.mean is not None
    assert used.change is not None
    assert used.change.difference == pytest.approx(made.best.mean.mean - used.mean.mean)


def test_alone_there_is_no_difference_to_detect(repository: Path) -> None:
    """One candidate is compared with nobody, and is in no round."""
    made = _recommend(repository, candidates=["cast:size=300"], current="cast:size=300")
    assert made.detectable is None
    assert made.current is not None
    assert made.current.change is None
    assert [each.share for each in made.rounds] == [1.0]


def test_a_current_chunker_is_compared_with_the_recommended_one(repository: Path) -> None:
    """Also where it is another finalist: the gain is the difference of their means."""
    made = _recommend(repository, current="whole-file")
    assert made.current is not None
    assert made.current.mean is not None
    other = next(each for each in made.finalists if each.spec == "whole-file")
    if made.recommended == "whole-file":
        assert made.current.change is None
        return
    assert made.current.change is not None
    assert made.current.change.difference == pytest.approx(made.best.mean.mean - other.mean.mean)
    assert made.current.mean == other.mean


@dataclass(frozen=True, kw_only=True)
class Short(Hashing):
    """An encoder that takes no long text."""

    longest: int

    def encode(self, texts: Sequence[str], *, kind: str) -> Vectors:
        """Return the vectors, or raise."""
        if kind != "query" and max(map(len, texts), default=0) > self.longest:
            raise ValueError("too long")
        return super().encode(texts, kind=kind)


def test_candidates_may_fail_when_they_are_searched(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scouts too: others take their place, and the risk is about those that are left."""
    encoder = Short(longest=400)
    made = _recommend(repository, candidates=EIGHT, embedder=encoder, retriever="dense", current="whole-file")
    assert "whole-file" in made.failed
    assert all("too long" in reason for reason in made.failed.values())
    assert {each.spec for each in made.candidates if each.fate == "failed"} == set(made.failed)
    assert made.recommended not in made.failed
    assert not set(made.may_be_best) & set(made.failed)
    assert made.current is not None
    assert "too long" in made.current.failed
    more = [*EIGHT, "fixed-lines:lines=7", "fixed-lines:lines=11"]
    left = _recommend(repository, candidates=more, embedder=Short(longest=500), retriever="dense")
    assert set(left.failed) == {"whole-file"}
    assert len(left.rounds) == 2, "nine are left, and others scout"
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "without vectors"))
    with pytest.raises(cb.UsageError, match=r"^all 8 candidates failed; .*: ValueError: too long") as failure:
        _recommend(repository, candidates=EIGHT, embedder=Short(longest=1), retriever="dense")
    assert failure.value.exit_code == 1
    same = ["whole-file", "fixed-lines:lines=9000", "fixed-lines:lines=5"]
    with pytest.raises(cb.UsageError, match=r"^none of the 3 candidates could be measured: 2 failed; "):
        _recommend(repository, candidates=same, embedder=Short(longest=1), retriever="dense")


def test_seven_race_and_six_meet_at_once(repository: Path) -> None:
    """A round is for those that cannot all meet in the final."""
    assert [len(_recommend(repository, candidates=EIGHT[:count]).rounds) for count in (6, 7)] == [1, 2]


def test_without_a_price_chunks_decide_and_with_one_tokens(repository: Path) -> None:
    """Of two that score alike: overlap makes tokens, and a smaller size makes chunks."""
    gold = [json.loads(row) for row in (repository.parent / "gold.jsonl").read_text().splitlines()]
    asked = "".join(json.dumps({**row, "query": "zzz"}) + "\n" for row in gold)
    (repository.parent / "nothing.jsonl").write_text(asked)
    pair = ["sliding-window:window=20,step=15", "fixed-lines:lines=10"]
    how = {"annotations": repository.parent / "nothing.jsonl", "candidates": pair}
    plain, priced = _recommend(repository, **how), _recommend(repository, **how, price=1.0)
    cost = {each.spec: each.cost for each in plain.finalists}
    assert cost[pair[0]].chunks < cost[pair[1]].chunks
    assert cost[pair[0]].tokens > cost[pair[1]].tokens
    assert (plain.recommended, priced.recommended) == (pair[0], pair[1])


def test_costs_are_of_what_searched(repository: Path) -> None:
    """Four bytes for each of a vector's numbers; minutes and megabytes where they apply, a price where there is one."""
    encoder = "hashing:dimensions=16"
    dense = _recommend(repository, embedder=encoder, retriever="dense", price=3.0)
    for each in dense.finalists:
        assert each.cost.index_mb is not None
        assert each.cost.index_mb >= each.cost.chunks * 64 / 1e6
        assert each.cost.index_mb < 1
        assert each.cost.embed_minutes is not None
        assert 0 <= each.cost.embed_minutes < 1
        assert each.cost.price == pytest.approx(each.cost.tokens * 3e-6)
        assert each.cost.query_p95_ms is not None
        assert each.cost.query_p50_ms is not None
        assert 0 < each.cost.query_p50_ms <= each.cost.query_p95_ms < 10_000
    words = _recommend(repository, price=None)
    for each in words.finalists:
        assert (each.cost.embed_minutes, each.cost.price) == (None, None)
        assert each.cost.index_mb is not None
        assert 0 < each.cost.index_mb < 1
    assert (words.embedder, dense.embedder) == ("", encoder)


@dataclass(frozen=True, kw_only=True)
class Plain:
    """A retriever by vectors that prepares no index."""

    version: ClassVar[str] = "1"
    uses_vectors: ClassVar[bool] = True

    def search(self, space: SearchSpace, queries: QueryBatch, *, depth: int) -> list[list[Hit]]:
        """Return the nearest vectors."""
        return Dense().search(space, queries, depth=depth)


def test_an_index_that_nobody_prepares_has_the_size_of_its_vectors(repository: Path) -> None:
    """Four bytes for each number of each chunk, in what is said and in what is limited."""
    how = {"embedder": "hashing:dimensions=16", "retriever": Plain()}
    made = _recommend(repository, **how)
    assert all(each.cost.index_mb == pytest.approx(each.cost.chunks * 64 / 1e6) for each in made.finalists)
    chunks = sorted({each.cost.chunks for each in made.finalists})
    limited = _recommend(repository, **how, max_index_mb=chunks[-1] * 64 / 1e6 - 1e-9)
    assert {each.chunks for each in limited.candidates if each.fate == "over the limit"} == {chunks[-1]}


def test_progress_is_heard_and_the_cache_is_the_one_given(repository: Path, tmp_path: Path) -> None:
    """Phases of the work, what is measured in words, and a folder that is used."""
    phases: list[str] = []
    said: list[str] = []
    progress = Progress(lambda phase, _count: phases.append(phase))
    cache = tmp_path / "elsewhere"

    def run(candidates: Sequence[str], **more: Any) -> Recommendation:
        return recommend_for(
            repository,
            candidates,
            annotations=repository.parent / "gold.jsonl",
            **{"embedder": None, "retriever": None, "current": None, "limits": Limits(), "options": {}, **more},
            engine=Engine(progress=progress, say=said.append, cache=cache),
        )

    run(FOUR)
    assert "score" in phases
    assert said == ["all text: 4 candidates, 16 queries"]
    assert any(cache.iterdir())
    said.clear()
    made = run(EIGHT)
    scouts, first, passages, *waves = said
    assert re.fullmatch(r"[123] candidates? search(es)? everything, to see what competes for each query", scouts)
    assert re.fullmatch(r"all text: [123] candidates?, 16 queries", first)
    assert re.fullmatch(r"passages: 8 candidates, \d+ quer(y|ies)", passages)
    assert all(wave.startswith("all text: ") for wave in waves)
    assert len(made.rounds) == 2
    said.clear()
    run(FOUR[:1], options={"limit": 1})
    assert said == ["all text: 1 candidate, 1 query"]
    run(FOUR, limits=Limits(price=1.0))
    run(FOUR, limits=Limits(price=1.0, budget=9.0))


@pytest.mark.parametrize("limit", ["max_chunks", "max_index_mb", "price", "budget"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_a_number_above_0(limit: str, value: float) -> None:
    """Anything else is refused by its name, before anything is cut; only a price may be 0."""
    given: dict[str, Any] = {limit: value, **({"price": 1.0} if limit == "budget" else {})}
    if limit == "price" and value == 0:
        assert Limits(**given).price == 0
        return
    with pytest.raises(cb.UsageError, match=f"^{limit.replace('_', ' ')} must be a number"):
        Limits(**given)


def test_a_budget_needs_a_price() -> None:
    """It is said in words that fit the command and Python."""
    with pytest.raises(cb.UsageError, match="a budget needs a price: name what embedding a million tokens costs"):
        cb.recommend(budget=1.0)


def test_a_candidate_races_once(repository: Path) -> None:
    """However often it is named, as a spec or as an object."""
    made = _recommend(repository, candidates=[FOUR[0], FOUR[0], CHUNKERS.create(FOUR[0])])
    assert [each.spec for each in made.candidates] == [FOUR[0]]
    assert "the only candidate" in str(made)


def test_the_best_of_passages_and_of_all_text_are_those_of_the_whole_grid(repository: Path) -> None:
    """What the race measures on all text is what a comparison measures."""
    made = _recommend(repository, candidates=EIGHT)
    gold = repository.parent / "gold.jsonl"
    results = cb.compare(repository, annotations=gold, chunkers=EIGHT, retrievers=["bm25"], measures=["naurc@4000tok"])
    means = {row["chunker"]: row["mean"] for row in results.to_pandas().to_dict("records")}
    assert {each.spec: each.mean_of_all for each in made.finalists} == pytest.approx(
        {each.spec: means[each.spec] for each in made.finalists}
    )


def test_saved_files_are_the_document_and_the_page(repository: Path, tmp_path: Path) -> None:
    """Two files, of which one can be read by a program."""
    made = _recommend(repository)
    folder = tmp_path / "a" / "b"
    made.save(folder)  # type: ignore[attr-defined]
    assert sorted(path.name for path in folder.iterdir()) == ["recommend.html", "recommend.json"]
    saved = json.loads((folder / "recommend.json").read_text())
    assert saved["sentences"] == str(made).splitlines()
    assert repr(made).startswith(f"<Recommendation: {made.recommended}: ")


def test_what_competes_is_what_scouts_read_first(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunk by chunk in turn, as long as fewer tokens than the depth have been read before."""
    specs = ("fixed-lines:lines=5", "whole-file")
    config = make_config(
        {
            "datasets": (f"annotations:path={repository.parent / 'gold.jsonl'},root={repository}",),
            "chunkers": specs,
            "embedders": ("minilm",),
            "retrievers": ("bm25",),
            "measures": ("naurc@4000tok",),
        }
    )
    session = Session.resolve(config, tmp_path / "cache")
    make_scores(session, session.cells, make_executor("serial", None), Progress())
    small, whole = session.cells
    read = {}
    for cell in session.cells:
        table = stages.chunk(session, cell.dataset, cell.chunker)
        for name, hits in stages.retrieve(session, cell).ranking.items():
            rows = [hit.position for hit in hits]
            ends = np.cumsum([int(table.columns["tokens"][row]) for row in rows]).tolist()
            places = [(int(table.columns["start"][row]), int(table.columns["end"][row])) for row in rows]
            read[cell, name] = list(zip(places, [0, *ends], strict=False))
    name = "apple0"
    depth = read[small, name][2][1]
    monkeypatch.setattr(scouting, "_DEPTH", depth)
    found = scouting.competing(session, [small, whole])
    assert set(found) == {each for _, each in read}
    kept = [[place for place, before in read[cell, name] if before < depth] for cell in (small, whole)]
    assert len(kept[0]) == 2
    turns = [place for pair in itertools.zip_longest(*kept) for place in pair if place is not None]
    assert [(passage.start, passage.end) for passage in found[name]] == turns
    assert {passage.file[0] for passage in found[name]} == {"code"}
    alone = scouting.competing(session, [small])
    assert [(passage.start, passage.end) for passage in alone[name]] == kept[0]


def test_headers_are_tokens_to_index(repository: Path) -> None:
    """As many as the path has, above each chunk."""
    plain, headed = ["cast:size=300", "cast:size=300,header=path"]
    made = _recommend(repository, candidates=[plain, headed])
    tokens = {each.spec: each.cost.tokens for each in made.finalists}
    chunks = cb.chunk(repository / "apple.py", plain)
    assert tokens[headed] - tokens[plain] >= made.best.cost.chunks >= len(chunks)
    assert {each.spec: each.tokens for each in made.candidates} == tokens
