"""Parts of an experiment: shards of its cells, what is made again and what is taken from the cache."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from small_corpora import WORDS, session_of, word_dataset
from test_experiment_run import BOTH, heard, scores

from chunkers.errors import UsageError
from chunkers.types import Piece, SizeLimit, SourceFile
from evaluation.experiment.executors import Serial
from evaluation.experiment.run import ExperimentShard, Overwrite, run_experiment
from evaluation.experiment.session import Session
from evaluation.experiment.span_writing import write_spans
from evaluation.results.merge import merge_results


@pytest.mark.parametrize("text", ["1/1", "1/3", "2/3", "3/3", "10/12"])
def test_a_shard_is_read_as_it_is_written(text: str) -> None:
    """Both numbers, and the same text again."""
    number, of = map(int, text.split("/"))
    assert ExperimentShard.parse(text) == (number, of)
    assert str(ExperimentShard.parse(text)) == text


@pytest.mark.parametrize("text", ["", "1", "/", "1/", "/2", "0/2", "3/2", "1/0", "-1/2", "1/-2", "a/2", "1/b", "1/2/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(UsageError, match="is not a shard"):
        ExperimentShard.parse(text)


def span_files(folder: Path) -> tuple[str, ...]:
    """Return two span runs as a config names them."""
    row = {"query_id": "one-apple", "rank": 1, "file": "apple.py", "start_line": 6, "end_line": 7}
    names = ("mine", "theirs")
    for name in names:
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    return tuple(f"{name}={folder / name}.jsonl" for name in names)


def test_shards_are_all_cells_once(tmp_path: Path) -> None:
    """Cells and span runs alike, dealt out in turn; each part says which one it is."""
    how: dict[str, Any] = {"chunkers": BOTH, "retrievers": ("bm25", "dense"), "spans": span_files(tmp_path)}
    whole = run_experiment(session_of(word_dataset(), tmp_path / "cache", **how), Serial())
    assert whole.shard is None
    parts = [
        run_experiment(session_of(word_dataset(), tmp_path / "cache", **how), Serial(), shard=ExperimentShard(n, 3))
        for n in (1, 2, 3)
    ]
    assert [part.shard for part in parts] == ["1/3", "2/3", "3/3"]
    keys = [cell.key for cell in whole.cells]
    assert [[keys.index(cell.key) for cell in part.cells] for part in parts] == [[0, 3, 4], [1, 5], [2]]
    assert {key: value for part in parts for key, value in scores(part).items()} == scores(whole)


def test_a_shard_runs_every_offset_of_its_chunkers(tmp_path: Path) -> None:
    """Their mean is that of the whole run, and merged shards are the whole run: no shard has a part of the offsets."""
    how: dict[str, Any] = {"chunkers": ("fixed-lines:lines=5", "whole-file", "fixed-lines:lines=3"), "offsets": 3}
    whole = run_experiment(session_of(word_dataset(), tmp_path / "cache", **how), Serial())
    parts = [
        run_experiment(session_of(word_dataset(), tmp_path / "cache", **how), Serial(), shard=ExperimentShard(n, 2))
        for n in (1, 2)
    ]
    assert [[cell.key.chunker for cell in part.cells] for part in parts] == [
        ["fixed-lines:lines=5", "fixed-lines:lines=3"],
        ["whole-file"],
    ]
    merged = merge_results(parts)
    assert scores(merged) == scores(whole)
    assert {cell.key: cell.offsets for cell in merged.cells} == {cell.key: cell.offsets for cell in whole.cells}


def test_the_rankings_of_a_shard_are_written_whatever_the_cache_holds(tmp_path: Path) -> None:
    """Not those of the other shards, which an earlier run has left there: together they are those of the whole run."""
    session = session_of(word_dataset(), tmp_path / "cache", chunkers=BOTH, offsets=2)
    run_experiment(session, Serial())
    assert write_spans(session, tmp_path / "whole.jsonl") == 3
    shards = [ExperimentShard(n, 2) for n in (1, 2)]
    assert [write_spans(session, tmp_path / f"{shard.number}.jsonl", shard=shard) for shard in shards] == [2, 1]
    assert "".join((tmp_path / f"{n}.jsonl").read_text() for n in (1, 2)) == (tmp_path / "whole.jsonl").read_text()


def stamp(session: Session) -> dict[str, int]:
    """Return when each entry of the stages of all cells was written."""
    keys = [key for cell in session.cells for key in session.stage_keys(cell).values()]
    return {f"{key.stage}/{key.digest}": (session.store.folder(key) / "manifest.json").stat().st_ino for key in keys}


def test_what_is_in_the_store_is_made_again_only_where_the_user_says_so(tmp_path: Path) -> None:
    """`always` writes every stage anew, and what is not said to be overwritten stays."""
    first = session_of(word_dataset(), tmp_path)
    made = run_experiment(first, Serial())
    before = stamp(first)
    again = session_of(word_dataset(), tmp_path)
    assert scores(run_experiment(again, Serial())) == scores(made)
    assert stamp(again) == before
    log = heard()
    assert scores(run_experiment(again, Serial(), overwrite="always", progress=log.progress)) == scores(made)
    assert {"score", "chunk"} <= dict(log.phases).keys()
    assert dict(log.phases)["score"] == 1


@dataclass(frozen=True, kw_only=True)
class LinesOutside:
    """Cuts a file every so many lines; another file, which is in no key, says how many."""

    file: str
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit: ClassVar[SizeLimit | None] = None

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces of the file."""
        lines = source.data.splitlines(keepends=True)
        size = int(Path(self.file).read_text())
        ends = list(itertools.accumulate(map(len, lines), initial=0))
        return [Piece(*edges) for edges in itertools.pairwise([*ends[:-1:size], ends[-1]])]


def test_all_is_made_again_where_a_chunker_cuts_otherwise_by_now(tmp_path: Path) -> None:
    """`always` gives what an empty cache gives, though chunks are also kept by file, and words and levels by chunks."""
    outside = tmp_path / "lines"
    made = []
    steps: list[tuple[str, str, Overwrite]] = [
        ("2", "used", "only-missing"),
        ("5", "used", "always"),
        ("5", "new", "only-missing"),
    ]
    for lines, cache, overwrite in steps:
        outside.write_text(lines)
        plugins = {"outside": LinesOutside(file=str(outside))}
        session = session_of(word_dataset(), tmp_path / cache, plugins=plugins, chunkers=("outside",))
        (cell,) = run_experiment(session, Serial(), overwrite=overwrite).cells
        made.append((cell.chunks.count, cell.run, cell.hits, cell.judgements.chance))
    first, again, anew = made
    assert again == anew
    assert all(before != after for before, after in zip(first, again, strict=True))


def test_a_run_from_the_cache_computes_nothing(tmp_path: Path) -> None:
    """What is not there whole fails with that reason, and what is there has its scores."""
    made = run_experiment(session_of(word_dataset(), tmp_path), Serial())
    both = session_of(word_dataset(), tmp_path, retrievers=("bm25", "dense"))
    log = heard()
    found = run_experiment(both, Serial(), overwrite="only-cache", progress=log.progress)
    words, vectors = found.cells
    assert (words.status, vectors.status) == ("ok", "failed")
    assert vectors.reason == "not in the cache, and --overwrite only-cache computes nothing"
    assert scores(found) == scores(made)
    assert [name for name, count in log.phases if count] == []
    (cell, _) = both.cells
    both.store.drop(both.retrieve_key(cell))
    third = session_of(word_dataset(), tmp_path)
    assert run_experiment(third, Serial(), overwrite="only-cache").cells[0].status == "failed"


def test_results_hold_the_text_of_what_they_show(tmp_path: Path) -> None:
    """Every hit that is shown, of cells and of span runs, has its text; a failed cell has no scores."""
    session = session_of(word_dataset(), tmp_path, spans=span_files(tmp_path), chunkers=("whole-file",))
    results = run_experiment(session, Serial())
    shown = {hit.chunk_id for cell in results.cells for hits in cell.hits.values() for hit in hits}
    assert shown == set(results.texts)
    assert {cell.key.chunker for cell in results.cells} == {"whole-file", "mine", "theirs"}
    assert len(results.queries) == len(WORDS)
    assert all(np.isfinite(values).all() for cell in results.cells for values in cell.scores.values())
