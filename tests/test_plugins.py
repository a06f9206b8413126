"""Specs, registries, and chunkers that other distributions bring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import MissingExtraError, UsageError
from chunkers.plugins import Entry, Registry, Spec, identity, nearest, positive
from chunkers.registry import CHUNKERS

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A plug-in with a parameter of every kind."""

    path: str
    count: int = 1
    share: float | None = 0.5
    loud: bool = False
    mode: Literal["fast", "slow"] = "fast"

    def __post_init__(self) -> None:
        """Refuse a count that counts nothing."""
        positive(self, "count")


@dataclass(frozen=True, kw_only=True)
class Stubborn:
    """A plug-in of somebody who does not know UsageError."""

    def __post_init__(self) -> None:
        """Refuse."""
        raise ValueError("never")


SAMPLES: Registry[Sample] = Registry(
    kind="sample",
    group="chunkbench.no-such-group",
    builtin={
        "sample": Entry(f"{__name__}:Sample", "all kinds of parameters"),
        "absent": Entry("no_such_module_at_all:X", "needs an extra", extra="peers"),
        "broken": Entry("no_such_module_at_all:X", "needs no extra"),
    },
)


def test_values_get_the_types_of_their_fields() -> None:
    """A comma belongs to a value unless a key follows it."""
    made = SAMPLES.create("sample:path=a,b,count=3,share=none,loud=yes,mode=slow")
    assert made == Sample(path="a,b", count=3, share=None, loud=True, mode="slow")


@given(
    name=st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True),
    params=st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True),
        st.from_regex(r"[a-z0-9./]{1,8}", fullmatch=True),
        max_size=3,
    ),
)
def test_specs_are_read_as_they_are_written(name: str, params: dict[str, str]) -> None:
    """Writing and reading a spec gives the same spec."""
    spec = Spec(name, tuple(params.items()))
    assert Spec.parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "is not a spec"),
        ("sample:count", "'count' in 'sample:count' is not key=value"),
        ("sample:count=1,count=2", "'count' is given twice"),
        ("sample", "sample 'sample' needs path: write sample:path=…"),
        ("sample:path=x,cuont=3", "has no parameter 'cuont'. Did you mean 'count'?"),
        ("sample:path=x,count=1.5", "it must be a whole number"),
        ("sample:path=x,loud=maybe", "it must be true or false"),
        ("sample:path=x,mode=medium", "it must be one of fast, slow"),
        ("smaple", "unknown sample 'smaple'. Did you mean 'sample'?"),
        ("zzz", "Known: absent, broken, sample."),
        ("broken", "cannot be loaded"),
        ("sample:path=a\udcffb", "is not UTF-8"),
        ("sample:path=x,count=0", "sample:path=x,count=0: count must be above 0, not 0"),
    ],
)
def test_wrong_specs_say_what_is_wrong(spec: str, message: str) -> None:
    """Each mistake has its own sentence, with a suggestion where one is near."""
    with pytest.raises(UsageError) as raised:
        SAMPLES.create(spec)
    assert message in str(raised.value)


def test_a_missing_extra_is_named() -> None:
    """The message says what to install, and the exit code is 4."""
    with pytest.raises(MissingExtraError, match=r"pip install 'chunkbench\[peers\]'") as raised:
        SAMPLES.create("absent")
    assert raised.value.exit_code == 4


def test_identity_holds_class_version_and_parameters() -> None:
    """Everything that decides the output is in it, as plain values."""
    found = identity(CHUNKERS.create("fixed-lines:lines=7"))
    cuts = {"lines": 7, "overlap": 0, "offset": 0}
    assert found == {"class": "chunkers.fixed_lines:FixedLines", "version": "1", **cuts}
    json.dumps(found)


def test_nothing_near_is_no_suggestion() -> None:
    """A word like no other gets no hint."""
    assert nearest("qqqq", ["cast", "recursive"]) == ""


def test_every_chunker_has_a_line_and_loads_or_names_its_extra() -> None:
    """No entry of the registry points nowhere."""
    for name, entry in CHUNKERS.entries().items():
        assert entry.summary
        try:
            chunker = CHUNKERS.create(name)
        except MissingExtraError:
            assert entry.extra
            continue
        assert chunker.version
        # Our own lose nothing; an adapted library may.
        assert chunker.lossless is not type(chunker).__module__.startswith("chunkers.peers.")


PACKAGE = {
    "pyproject.toml": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"

        [project]
        name = "paragraph-chunker"
        version = "1.0"

        [project.entry-points."chunkbench.chunkers"]
        paragraphs = "paragraph_chunker:Paragraphs"
        cast = "paragraph_chunker:Paragraphs"
        """,
    "paragraph_chunker.py": """
        import re
        from dataclasses import dataclass
        from typing import ClassVar

        from chunkers.types import Piece, SourceFile


        @dataclass(frozen=True, kw_only=True)
        class Paragraphs:
            blank: int = 1

            version: ClassVar[str] = "1"
            lossless: ClassVar[bool] = True
            limit = None

            def split(self, source: SourceFile) -> list[Piece]:
                ends = [m.end() for m in re.finditer(rb"\\n{%d,}" % (self.blank + 1), source.data)]
                cuts = sorted({0, *ends, len(source.data)})
                return list(map(Piece, cuts, cuts[1:]))
        """,
}


def test_a_chunker_of_another_distribution_joins_by_its_entry_point(tmp_path: Path) -> None:
    """Installed beside us it is listed, takes its parameters, and cannot take over a name of ours."""
    project, target = tmp_path / "project", tmp_path / "installed"
    project.mkdir()
    for name, text in PACKAGE.items():
        (project / name).write_text(textwrap.dedent(text))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    options = ["--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([*pip, *options, str(project)], check=True, capture_output=True)
    (tmp_path / "a.py").write_text("a = 1\n\nb = 2\n\n\nc = 3\n")
    environment = {**os.environ, "PYTHONPATH": f"{target}{os.pathsep}{ROOT}"}

    def chunks(spec: str) -> list[str]:
        command = [sys.executable, "-m", "scripts", "chunk", str(tmp_path / "a.py"), "--json", "--chunker", spec]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
        return [json.loads(line)["text"] for line in done.stdout.splitlines()]

    assert chunks("paragraphs") == ["a = 1\n\n", "b = 2\n\n\n", "c = 3\n"]
    assert chunks("paragraphs:blank=2") == ["a = 1\n\nb = 2\n\n\n", "c = 3\n"]
    assert chunks("cast") == ["a = 1\n\nb = 2\n\n\nc = 3\n"]


def test_a_plugin_that_is_not_what_it_should_be_is_one_line() -> None:
    """A missing attribute, something that is no dataclass, a value it refuses, a number beyond all bounds."""
    wrong = Registry[Sample](
        kind="sample",
        group="chunkbench.no-such-group",
        builtin={
            "gone": Entry(f"{__name__}:Gone", "not there"),
            "plain": Entry("builtins:object", "no dataclass"),
            "sample": Entry(f"{__name__}:Sample", "refuses some numbers"),
            "stubborn": Entry(f"{__name__}:Stubborn", "refuses all values"),
        },
    )
    for spec, told in (
        ("gone", "cannot be loaded: .* has no Gone. It has: Sample, Stubborn."),
        ("plain", "is not a dataclass"),
        ("stubborn", "stubborn: never"),
        ("sample:path=x,count=99999999999999999999", "at most 1,000,000,000,000"),
    ):
        with pytest.raises(UsageError, match=told):
            wrong.create(spec)
