"""An experiment from Python: what stands for a spec, what is an object, and where an object can go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_corpora import word_dataset

import chunkbench as cb
from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.plugins import Spelled
from chunkers.registry import CHUNKERS
from chunkers.types import Chunker
from evaluation.experiment.in_python import Axis, axis_of, check_local, datasets_of
from ground_truth.datasets.in_memory import InMemory


class Own(FixedLines):
    """A chunker of one's own."""


def test_an_axis_has_specs_and_the_objects_among_them() -> None:
    """In the order given; one spec by itself is an axis of one, and nothing is an axis of nothing."""
    own = Own(lines=3)
    axis = axis_of(CHUNKERS, ["cast", own, FixedLines(lines=7)])
    assert axis.specs[0] == "cast"
    assert [each.plugin for each in axis.objects] == [own, FixedLines(lines=7)]
    assert axis.specs[1:] == tuple(each.spec for each in axis.objects)
    assert axis_of(CHUNKERS, "cast") == Axis(("cast",), ())
    assert axis_of(CHUNKERS, ()) == Axis((), ())


def test_a_source_is_a_folder_folders_a_spec_or_an_object(tmp_path: Path) -> None:
    """Each becomes the spec that the command line would have; only objects come with a loader."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    one, two = map(str, folders)
    assert datasets_of(None, None) == Axis((), ())
    assert datasets_of(folders[0], None) == datasets_of(one, None) == Axis((f"mined:root={one}",), ())
    assert datasets_of(one, "gold.jsonl") == Axis((f"annotations:path=gold.jsonl,root={one}",), ())
    assert datasets_of(folders, None) == datasets_of((one, two), None) == Axis((f"mined:root={one};{two}",), ())
    assert datasets_of(iter(folders), None) == datasets_of(np.array([one, two]), None) == datasets_of(folders, None)
    assert datasets_of("installed", None) == Axis(("installed",), ())
    mixed = Axis(("installed", f"mined:root={one}"), ())
    assert datasets_of(["installed", one], None) == datasets_of(iter(["installed", one]), None) == mixed
    assert datasets_of([one, two], "g").specs == (f"annotations:path=g,root={one}", f"annotations:path=g,root={two}")
    dataset = word_dataset()
    axis = datasets_of([dataset, "installed"], None)
    assert axis.specs == ("words", "installed")
    (held,) = axis.objects
    assert held.plugin == InMemory(dataset=dataset)
    assert held.only_here == "the dataset 'words' is an object of this process: give its loader"


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    """Annotations need a folder, and a path must be one; a text is a folder, or a spec of a known dataset."""
    with pytest.raises(UsageError, match="annotations need the folder they are about"):
        datasets_of(None, "gold.jsonl")
    rows: Any = pd.DataFrame({"query_id": ["q"]})
    with pytest.raises(UsageError, match="give the path of a JSON Lines file"):
        datasets_of(tmp_path, rows)
    with pytest.raises(UsageError, match="is not a folder"):
        datasets_of(tmp_path / "nowhere", None)
    with pytest.raises(UsageError, match="'nowhere' is neither a folder nor a known dataset"):
        datasets_of("nowhere", None)
    assert datasets_of("repoeval:gold=body", None).specs == ("repoeval:gold=body",)


def test_an_object_of_this_process_stays_here() -> None:
    """Other engines would have to make it; one that can be made anywhere goes anywhere."""
    local, anywhere = Spelled("a", object(), "a is defined in this session"), Spelled("b", object(), "")
    check_local([anywhere], "processes")
    check_local([local, anywhere], "serial")
    check_local([], "ray")
    with pytest.raises(UsageError, match="engine='ray' cannot be used: a is defined in this session, or use engine="):
        check_local([anywhere, local], "ray")


def test_objects_are_compared_as_specs_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunkers, the baseline and the dataset as objects give the scores of their specs, matched to one size."""
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "cache"))
    how: dict[str, Any] = {
        "embedders": ["hashing"],
        "retrievers": ["bm25"],
        "measures": ["recall@1000tok"],
        "flips": 100,
    }
    dataset = word_dataset()
    chunkers: list[str | Chunker] = [FixedLines(lines=3), "whole-file"]
    found = cb.compare(dataset, chunkers=chunkers, baseline=FixedLines(lines=3), headline="recall@1000tok", **how)
    plain = cb.compare(
        dataset, chunkers=["fixed-lines:lines=3", "whole-file"], baseline="fixed-lines:lines=3",
        headline="recall@1000tok", **how,
    )  # fmt: skip
    assert found.config.baseline == found.config.chunkers[0]
    assert [cell.scores["recall@1000tok"].tolist() for cell in found.cells] == [
        cell.scores["recall@1000tok"].tolist() for cell in plain.cells
    ]
    matched = cb.compare(
        dataset, chunkers=[FixedLines(lines=3)], match_size="lines=5", headline="recall@1000tok", **how
    )
    assert matched.config.chunkers[0].endswith("lines=5")
    assert matched.matched_size == "5 lines"


@pytest.mark.parametrize("name", ["whole-file", "bm25", "hashing", "ndcg@5"])
def test_a_dataset_may_have_the_name_of_anything_else(name: str) -> None:
    """Of a chunker, a retriever, an embedder or a measure of the same comparison."""
    how: dict[str, Any] = {"embedders": ["hashing"], "retrievers": ["bm25"], "measures": ["ndcg@5", "recall@1000tok"]}
    results = cb.compare(
        replace(word_dataset(), name=name), chunkers=["whole-file"], headline="recall@1000tok", flips=100, **how
    )
    assert [(*cell.key[:2], cell.status) for cell in results.cells] == [(name, "whole-file", "ok")]


def test_what_applies_of_a_run_is_taken_and_the_rest_refused() -> None:
    """Prices do; where the command writes, and what it prints, is no business of a function."""
    how: dict[str, Any] = {"embedders": ["hashing"], "retrievers": ["dense"], "measures": ["recall@1000tok"]}
    how |= {"headline": "recall@1000tok", "flips": 100}
    (cell,) = cb.compare(word_dataset(), chunkers=["whole-file"], run={"price": ["1000000"]}, **how).cells
    assert cell.cost.price == cell.cost.tokens_embedded
    for wrong, words in (({"out": "x"}, "run.out is for the command line"), ("fast", "run is 'fast': give a mapping")):
        with pytest.raises(UsageError, match=words):
            cb.compare(word_dataset(), run=wrong, **how)
