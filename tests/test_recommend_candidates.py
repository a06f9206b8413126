"""Who races by default: families at sizes that suit the code; and lists of specs that users write."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_recommend_sampling import Files

from chunkers.errors import UsageError
from chunkers.registry import CHUNKERS
from chunkers.size_matching import mean_size
from chunkers.sizes import ruler
from chunkers.types import SourceFile
from evaluation.recommend import candidates
from evaluation.recommend.candidates import FAMILIES, SIZES, Family, default_candidates, family_of, read_candidates
from ground_truth.types import Dataset


def _code(files: int, functions: int) -> Dataset:
    """Return a repository of small functions, about 60 characters each without whitespace."""
    body = "".join(
        f"def function_{k}(first, second):\n    return first + second * {k} - 17\n\n\n" for k in range(functions)
    )
    kept = [SourceFile(f"m{k:02}.py", f"# {k}\n{body}".encode(), "python", "r") for k in range(files)]
    return Dataset("own", (Files("r", tuple(kept)),), (), ())


def test_limits_bring_chunks_near_the_sizes_that_are_wanted() -> None:
    """Of every family, whatever its unit: the mean size is the one asked for, give or take a third."""
    dataset = _code(6, 300)
    (repository,) = dataset.repositories
    sources = list(repository.files())
    rulers = [ruler(source.data, "nws") for source in sources]
    found = default_candidates(dataset, seed=0)
    assert [each.spec for each in found[-2:]] == ["definitions:size=4000", "declarations:size=4000"]
    assert [each.family for each in found[-2:]] == ["definitions", "declarations"]
    for family in FAMILIES:
        specs = [each.spec for each in found if each.family == family.name]
        assert len(specs) == len(SIZES)
        reached = [mean_size(CHUNKERS.create(spec), sources, rulers) for spec in specs]
        assert reached == pytest.approx(SIZES, rel=0.34)
    plain, headed = ([each.spec for each in found if each.family == name] for name in ("cast", "cast, path as header"))
    assert headed == [f"{spec},header=path" for spec in plain]


def test_limits_have_two_significant_digits() -> None:
    """They are as easy to read as to change, and never below eight."""
    assert [candidates._rounded(value) for value in (3.0, 8.4, 43.6, 99.7, 123.4, 1987.0, 12_345.0)] == [
        *(8, 8, 44, 100, 120, 2000, 12_000),
    ]


def test_a_window_moves_by_half_of_itself() -> None:
    """And by a line at least."""
    window = Family("window", "w:window={n},step={half}")
    assert [window.at(limit) for limit in (1, 2, 9)] == ["w:window=1,step=1", "w:window=2,step=1", "w:window=9,step=4"]


def test_sizes_are_chosen_on_some_of_the_code_by_seed() -> None:
    """Enough files, none of them empty; another seed takes others, the same one the same."""
    dataset = _code(40, 200)
    total = sum(len(source.data) for source in dataset.repositories[0].files())
    taken = candidates._sample(dataset, 0)
    size = sum(len(source.data) for source in taken)
    assert candidates._SAMPLE <= size < candidates._SAMPLE + len(taken[-1].data) < total
    assert size - len(taken[-1].data) < candidates._SAMPLE
    assert candidates._sample(dataset, 0) == taken != candidates._sample(dataset, 1)
    even = [SourceFile(f"{k}.py", b"x" * 1000, "python", "r") for k in range(160)]
    assert len(candidates._sample(Dataset("own", (Files("r", tuple(even)),), (), ()), 0)) == 150
    blank = Dataset("own", (Files("r", (SourceFile("a.py", b" \n\n", "python", "r"),)),), (), ())
    assert candidates._sample(blank, 0) == []
    with pytest.raises(UsageError, match="no source file to cut"):
        default_candidates(blank, seed=0)


def test_a_family_is_a_spec_without_its_size() -> None:
    """Whatever else it says stays."""
    assert family_of("cast:size=600,header=path", "size") == "cast:header=path"
    assert family_of("cast:size=600", "size") == "cast"
    assert family_of("whole-file", None) == "whole-file"
    assert family_of("own:size=5,deep=size", "size") == "own:deep=size"


def test_lists_of_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file stands for its lines, a spec for itself even where a file has its name."""
    monkeypatch.chdir(tmp_path)
    listed = tmp_path / "list"
    listed.write_text("# mine\n  cast:size=300\n\n   # more\nfixed-lines\n")
    Path("cast").write_text("whole-file\n")
    assert read_candidates([str(listed), "cast"]) == ["cast:size=300", "fixed-lines", "cast"]
    assert read_candidates([]) == []
    listed.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_candidates([str(listed)])
    listed.write_text("# only a comment\n\n")
    with pytest.raises(UsageError, match="names no candidate"):
        read_candidates([str(listed)])
    listed.write_text("a\n" * 600_000)
    with pytest.raises(UsageError, match="too long"):
        read_candidates([str(listed)])
