"""Fair sizes on the corpus at hand: what is measured, what is kept, and what cannot be matched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
from small_corpora import Elsewhere, repository, session_of, word_dataset

from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.types import Piece, SourceFile
from evaluation.experiment import file_sizes
from evaluation.experiment.blocks import Division
from evaluation.experiment.executors import Outcome, Serial
from evaluation.experiment.file_sizes import Sample
from evaluation.experiment.matching import match_sizes
from evaluation.experiment.session import Session
from ground_truth.types import Dataset, Query

LINES = {"b": {"x.py": "a\nb\nc\nd\n", "y.py": "a\nb\n"}, "a": {"z.py": "a\nb\nc\nd\ne\nf\n", "empty.py": ""}}


def lines_dataset() -> Dataset:
    """Return two repositories, in no order, with files of four, two, six and no lines."""
    held = tuple(repository(name, texts) for name, texts in LINES.items())
    return Dataset("words", held, (Query("q", "a", "a"),), ())


@dataclass(frozen=True, kw_only=True)
class Noted(FixedLines):
    """Writes down which files it cuts; some sizes it refuses, and some files."""

    seen: ClassVar[list[tuple[str, int]]] = []

    def __post_init__(self) -> None:
        """Refuse a size."""
        if self.lines == 13:
            raise UsageError("thirteen lines are unlucky")

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the pieces; fail on one file at one size."""
        self.seen.append((source.path, self.lines))
        if (source.path, self.lines) == ("y.py", 3):
            raise UsageError("not y by three")
        if (source.path, self.lines) == ("y.py", 5):
            raise ZeroDivisionError("not y by five")
        return super().split(source)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    Noted.seen.clear()


def noted(cache: Path, **config: Any) -> Session:
    """Return a session of the chunker that writes down what it cuts."""
    return session_of(lines_dataset(), cache, plugins={"noted": Noted(lines=2)}, chunkers=("noted",), **config)


def sample_of(session: Session, executor: Any = None) -> Sample:
    """Return the sample of a session's corpus."""
    return Sample(session, executor or Serial(), ExitStack())


def test_a_mean_is_over_all_chunks_of_all_files(tmp_path: Path) -> None:
    """Not over files; a file without chunks adds nothing, and without any chunk the mean is 0."""
    means = sample_of(noted(tmp_path)).means("noted", "lines", (None, 1, 2, 4, 100))
    assert means == {None: 2.0, 1: 1.0, 2: 2.0, 4: 12 / 4, 100: 12 / 3}
    assert sample_of(noted(tmp_path)).mean("noted", "lines") == 2.0
    empty = Dataset("words", (repository("a", {"x.py": ""}),), (Query("q", "a", "a"),), ())
    session = session_of(empty, tmp_path / "empty", chunkers=("whole-file",))
    assert sample_of(session).mean("whole-file", "nws") == 0.0


def test_sizes_are_measured_once_for_each_limit_and_file(tmp_path: Path) -> None:
    """A later session, and a corpus with one more file, measure only what is new; a file is read once for all."""
    files = ["empty.py", "x.py", "y.py", "z.py"]
    sample_of(noted(tmp_path)).means("noted", "lines", (1, 2))
    assert sorted(Noted.seen) == sorted((path, lines) for path in files for lines in (1, 2))
    Noted.seen.clear()
    assert sample_of(noted(tmp_path)).means("noted", "lines", (2,)) == {2: 2.0}
    assert Noted.seen == []
    sample_of(noted(tmp_path)).means("noted", "lines", (2, 4))
    assert {path for path, _ in Noted.seen} == set(files)
    Noted.seen.clear()
    assert sample_of(noted(tmp_path)).means("noted", "tokens", (2,))[2] != 2.0
    assert len(Noted.seen) == 4


def test_what_stands_against_a_limit_is_its_own_answer(tmp_path: Path) -> None:
    """A size that is refused; the others have their means, of the files that can be cut, and what was cut is kept."""
    found = sample_of(noted(tmp_path)).means("noted", "lines", (2, 3, 13, 5, 4))
    assert (found[2], found[4]) == (2.0, 3.0)
    assert str(found[13]) == "thirteen lines are unlucky"
    assert isinstance(found[3], UsageError)
    assert str(found[3]) == "not y by three"
    assert found[5] == 10 / 3
    Noted.seen.clear()
    assert sample_of(noted(tmp_path)).means("noted", "lines", (2, 4)) == {2: 2.0, 4: 3.0}
    assert Noted.seen == []
    broken = session_of(lines_dataset(), tmp_path, plugins={"noted": Noted(lines=3)}, chunkers=("noted",))
    with pytest.raises(UsageError, match="not y by three"):
        sample_of(broken).mean("noted", "lines")


def test_blocks_are_put_together_whichever_ends_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file each, the last one first: means are the same, and of several errors the first file's is told."""
    monkeypatch.setattr("evaluation.experiment.blocks.SOURCE", Division(64, 1, 1))
    engine = Elsewhere()
    sample = Sample(noted(tmp_path), engine, ExitStack())
    assert sample.means("noted", "lines", (2, 4)) == {2: 2.0, 4: 3.0}
    assert len(engine.done) > 2
    assert str(sample.means("noted", "lines", (3,))[3]) == "not y by three"


@dataclass
class Losing(Elsewhere):
    """An engine that loses every task."""

    said: list[str] = field(default_factory=list)

    def map(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome[Any, Any]]:
        """Yield failures."""
        del work
        return (Outcome(task, None, "lost", outside="lost") for task in tasks)


def test_a_file_that_cannot_be_cut_is_tried_again(tmp_path: Path) -> None:
    """Its failure is not kept; where no file can be cut, the mean is a reason that names the first."""
    sample_of(noted(tmp_path)).means("noted", "lines", (5,))
    Noted.seen.clear()
    assert sample_of(noted(tmp_path)).means("noted", "lines", (5,)) == {5: 10 / 3}
    assert Noted.seen == [("y.py", 5)]
    only = Dataset("words", (repository("b", {"y.py": "a\nb\n"}),), (Query("q", "a", "b"),), ())
    session = session_of(only, tmp_path, plugins={"noted": Noted(lines=5)}, chunkers=("noted",))
    reason = "failed on the only file; on b/y.py: ZeroDivisionError: not y by five"
    assert str(sample_of(session).means("noted", "lines", (5,))[5]) == reason
    with pytest.raises(UsageError, match=f"noted {reason}"):
        sample_of(session).mean("noted", "lines")


def test_a_block_that_is_lost_ends_the_matching(tmp_path: Path) -> None:
    """A mean of some of the files would be another mean."""
    session = noted(tmp_path)
    session.dataset("words")
    with pytest.raises(UsageError, match="lost"):
        sample_of(session, Losing()).means("noted", "lines", (2,))


@pytest.mark.parametrize(("room", "files"), [(1, 1), (8, 1), (9, 2), (12, 2), (13, 4), (1_000, 4)])
def test_a_sample_is_the_first_files_of_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, files: int
) -> None:
    """In the order of the dataset's repositories, until the bytes are reached; the file that reaches them counts."""
    monkeypatch.setattr(file_sizes, "_SAMPLE", room)
    sample_of(noted(tmp_path)).means("noted", "lines", (2,))
    assert [path for path, _ in Noted.seen] == ["x.py", "y.py", "empty.py", "z.py"][:files]


def test_a_target_is_a_number_or_the_mean_of_a_chunker(tmp_path: Path) -> None:
    """In its own unit, or in characters without white space, rounded; never 0."""
    plain = match_sizes(noted(tmp_path))
    assert (plain.target, plain.chosen, plain.session.matched_size) == ("", (), "")
    by_number = match_sizes(noted(tmp_path, match_size="lines=3"))
    assert by_number.target == by_number.session.matched_size == "3 lines"
    assert by_number.session.config.chunkers == ("noted:lines=4",)
    assert [(each.spec, each.mean) for each in by_number.chosen] == [("noted:lines=4", 3.0)]
    dataset = word_dataset()
    other = match_sizes(
        session_of(dataset, tmp_path, chunkers=("fixed-lines:lines=9",), match_size="fixed-lines:lines=5")
    )
    assert other.session.config.chunkers == ("fixed-lines:lines=5",)
    assert other.target.endswith(" nws")
    empty = Dataset("words", (repository("a", {"x.py": ""}),), (Query("q", "a", "a"),), ())
    with pytest.raises(UsageError, match="cannot reach a mean of 1 nws"):
        match_sizes(session_of(empty, tmp_path / "empty", match_size="whole-file"))


def test_what_cannot_be_matched_is_left_out_with_its_reason(tmp_path: Path) -> None:
    """The others go on; the baseline is renamed with its chunker; where none is left, that is an error."""
    how: dict[str, Any] = {"match_size": "lines=5", "baseline": "fixed-lines:lines=2"}
    session = session_of(word_dataset(), tmp_path, chunkers=("fixed-lines:lines=2", "whole-file"), **how)
    made = match_sizes(session)
    assert made.session.config.chunkers == ("fixed-lines:lines=5",)
    assert made.session.config.baseline == "fixed-lines:lines=5"
    assert list(made.session.left_out) == ["whole-file"]
    assert "has no size to match" in made.session.left_out["whole-file"]
    assert [(bool(each.problem), each.mean) for each in made.chosen] == [(False, 5.0), (True, 0.0)]
    with pytest.raises(UsageError, match="whole-file has no size to match"):
        match_sizes(session_of(word_dataset(), tmp_path, chunkers=("whole-file",), match_size="lines=5"))
    kept = session_of(word_dataset(), tmp_path, chunkers=("fixed-lines:lines=2",), match_size="lines=5")
    assert match_sizes(kept).session.config.baseline is None


def test_two_specs_that_become_one_are_compared_once(tmp_path: Path) -> None:
    """Sizes are all that told them apart."""
    session = session_of(
        word_dataset(), tmp_path, chunkers=("fixed-lines:lines=2", "fixed-lines:lines=7"), match_size="lines=5"
    )
    made = match_sizes(session)
    assert made.session.config.chunkers == ("fixed-lines:lines=5",)
    assert len(made.chosen) == 2


def test_what_was_matched_before_is_not_measured_again(tmp_path: Path) -> None:
    """On the same files; neither the mean of the target nor the choice, nor that there is none."""
    how: dict[str, Any] = {"plugins": {"noted": Noted(lines=2)}, "chunkers": ("noted", "whole-file")}
    first = match_sizes(session_of(lines_dataset(), tmp_path, match_size="noted", **how))
    assert Noted.seen
    Noted.seen.clear()
    second = match_sizes(session_of(lines_dataset(), tmp_path, match_size="noted", **how))
    assert (first.target, first.chosen) == (second.target, second.chosen)
    assert Noted.seen == []
