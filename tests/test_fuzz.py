"""A short form of `python -m scripts.check.fuzz`, with a fixed seed, and what its long form has found."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Command

from chunkers.cast import Cast
from chunkers.errors import UsageError
from chunkers.languages import UNSAFE_GRAMMARS, known_languages, syntax_tree
from chunkers.types import SourceFile
from evaluation.config import load_config
from evaluation.trec import read_qrels, read_run
from ground_truth.annotations import read_rows
from ground_truth.jsonl import read_records
from ground_truth.patches import parse_patch
from indexing.encoders.precomputed import Precomputed
from scripts.check.fuzz import fuzz_chunkers, fuzz_inputs
from scripts.check.fuzz_chunkers import cases
from scripts.check.fuzz_inputs import ROW, quiet
from scripts.check.spoiling import spoiled

ROOT = Path(__file__).parents[1]
DIGITS = "9" * 5_000


def test_spoiled_inputs_are_answers_or_one_line() -> None:
    """Every format in turn; nothing but a UsageError comes out, and nothing changed is believed."""
    with quiet():
        read, finds = fuzz_inputs(700, seed=11)
    assert finds == []
    assert len(read) >= 30
    assert min(read.values()) >= 10


def test_chunkers_take_any_bytes_of_any_language() -> None:
    """The first languages of the alphabet; loading all grammars is what takes the time of the long form."""
    count, finds = fuzz_chunkers(40, seed=11)
    assert finds == []
    assert count == 40
    assert len(known_languages() | UNSAFE_GRAMMARS) >= 173


def test_cases_are_spread_evenly_and_the_seed_decides() -> None:
    """Every language meets every chunker; the same seed spoils in the same way."""
    many = cases(13 * len(known_languages()))
    assert len({(case.spec, case.language) for case in many}) == len(many)
    first, second = (spoiled(b'{"a": [1, 2]}', random.Random(5)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("rank", ["+-5", "--5", "+", "1_0", "٣x", DIGITS, "1.0", "-"])
def test_a_rank_that_is_no_number_is_named(tmp_path: Path, rank: str) -> None:
    """Signs, digits without end and fractions: the row and what was expected."""
    (tmp_path / "r").write_text(f"q Q0 d {rank} 1 t\n")
    with pytest.raises(UsageError, match=r"r:1: the rank is .* whole number") as caught:
        read_run(tmp_path / "r")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("grade", ["1e308", "-1e308", "1e10", DIGITS, "nan", "inf", "1_0"])
def test_a_grade_out_of_range_is_named(tmp_path: Path, grade: str) -> None:
    """Nobody grades by billions: the row says so before any measure overflows."""
    (tmp_path / "q").write_text(f"q 0 d {grade}\n")
    with pytest.raises(UsageError, match=r"q:1: the grade is"):
        read_qrels(tmp_path / "q")


@pytest.mark.parametrize("value", [DIGITS, "[" * 50_000, '{"a":' * 50_000, "1e999", "NaN"])
def test_depth_and_digits_are_refused_in_every_text_format(tmp_path: Path, value: str) -> None:
    """Annotations, records and experiments: one line each."""
    row = json.dumps(ROW).replace('"start_line": 1', f'"start_line": {value}')
    (tmp_path / "a.jsonl").write_text(row + "\n")
    (tmp_path / "b.json").write_text(f"[{row}]")
    (tmp_path / "c.toml").write_text(f"seed = {value}\n")
    with pytest.raises(UsageError, match=r"a\.jsonl"):
        read_rows(tmp_path / "a.jsonl")
    for name in ("a.jsonl", "b.json"):
        with pytest.raises(UsageError, match=name):
            [one.number("start_line") for one in read_records(tmp_path / name)]
    with pytest.raises(UsageError, match=r"c\.toml"):
        load_config(tmp_path / "c.toml")


def test_a_hunk_of_thousands_of_digits_is_no_hunk() -> None:
    """What is no row of numbers that lines can have is passed over as text."""
    assert parse_patch(f"--- a/x\n+++ b/x\n@@ -{DIGITS},1 +1 @@\n", where="x")[0].hunks == []


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"x" * 100, b"\x93NUMPY\x01\x00"])
def test_a_broken_npz_is_named_with_code_2(chunkbench: Command, tmp_path: Path, repository: Path, data: bytes) -> None:
    """An empty one once ended with "interrupted": numpy raises what a terminal raises at the end of input."""
    (tmp_path / "v.npz").write_bytes(data)
    with pytest.raises(UsageError, match=r"v\.npz: (is not an \.npz|holds \[\])"):
        Precomputed(path=str(tmp_path / "v.npz")).encode(["a"], kind="document")
    done = chunkbench("compare", repository, "--annotations", tmp_path / "gold.jsonl", "--engine", "serial",
                      "--embedder", f"precomputed:path={tmp_path}/v.npz", "--chunker", "fixed-lines",
                      "--chunker", "whole-file", "--out", tmp_path / "out")  # fmt: skip
    assert done.code in (1, 2)
    assert "v.npz" in done.err
    assert "Traceback" not in done.err


def test_a_sample_through_the_real_command(tmp_path: Path) -> None:
    """Spoiled files given to `chunkbench score` as a process of its own: code 0 or 2, never a traceback."""
    rng = random.Random(3)
    for number in range(6):
        (tmp_path / "q").write_bytes(spoiled(b"q1 0 d1 1\nq1 0 d2 0\n", rng))
        (tmp_path / "r").write_bytes(spoiled(b"q1 Q0 d1 1 0.9 t\n", rng))
        done = subprocess.run(
            [sys.executable, "-m", "scripts", "score", "--qrels", tmp_path / "q", "--run", tmp_path / "r"],
            cwd=ROOT, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
        assert done.returncode in (0, 2), (number, done.stderr)
        assert b"Traceback" not in done.stderr


def test_grammars_that_are_unsafe_are_not_used() -> None:
    """D's scanner ends the process on some bytes, COBOL's never returns: their files are cut by lines, and counted."""
    for language in sorted(UNSAFE_GRAMMARS):
        source = SourceFile("x", b"\xf5~3\x7f~\x04.\xa1" * 300, language)
        assert Cast(size=50).fallback(source) == f"no grammar for {language}"
        assert b"".join(source.data[piece.start : piece.end] for piece in Cast(size=50).split(source)) == source.data


def test_a_long_file_of_a_slow_grammar_is_cut_by_lines() -> None:
    """A hundred kB of open tags took minutes; now it is not parsed, which is counted, and a short one still is."""
    long, short = (SourceFile("x.svelte", b"<div \n" * count, "svelte") for count in (20_000, 100))
    assert "its grammar is slow" in (Cast(size=50).fallback(long) or "")
    assert Cast(size=50).fallback(short) is None
    began = time.process_time()
    pieces = Cast(size=50).split(long)
    assert time.process_time() - began < 10
    assert pieces[-1].end == len(long.data)


def test_a_text_that_a_grammar_does_not_get_through_is_cut_as_text() -> None:
    """Three kilobytes of comments that are opened took Swift's grammar ten seconds, thirty would take hours."""
    source = SourceFile("a.swift", b"/*" * 3_000, "swift")
    began = time.process_time()
    pieces = Cast(size=500).split(source)
    assert "takes too long" in (Cast(size=500).fallback(source) or "")
    assert Cast(size=500).split(source) == pieces
    assert sum(piece.end - piece.start for piece in pieces) == len(source.data)
    assert time.process_time() - began < 20  # hours without the limit


def test_a_comment_on_the_last_line_of_perl_is_no_endless_loop() -> None:
    """Its scanner looks for the end of that line and never for the end of the file; such a file is cut as text."""
    source = SourceFile("a.pl", b"my $x = 1;\ncall# now", "perl")
    assert "never leaves its last line" in (Cast(size=10).fallback(source) or "")
    assert b"".join(source.data[piece.start : piece.end] for piece in Cast(size=10).split(source)) == source.data
    for whole in (source.data + b"\n", b"# a\nmy $x = 1;"):
        assert Cast(size=10).fallback(SourceFile("a.pl", whole, "perl")) is None


def _blocks(count: int, step: bytes = b" ") -> bytes:
    """Return blocks of Python inside each other."""
    return b"".join(step * depth + b"if a:\n" for depth in range(count))


@pytest.mark.parametrize(
    ("language", "text", "sound"),
    [
        ("markdown", b"> " * 256, b"> " * 20),
        ("markdown", b"  +  1." * 256, b"  +  1." * 20 + b"\n" + b" " * 100 + b"a"),
        (
            "markdown",
            b"".join(b"  " * depth + b"- a\n" for depth in range(256)),
            b"-" * 300 + b"\n" + b" " * 100 + b"a",
        ),
        ("yaml", b"- " * 256, b"- " * 20),
        ("yaml", b"".join(b" " * depth + b"a:\n" for depth in range(256)), b"a: |\n" + b" " * 100 + b"b"),
        ("yaml", b"... " + b"- " * 256, b"... " + b"- " * 20),
        ("perl", b'"${' * 100, b"print @{$a->{b}};\n" * 300),
        ("perl", b'"}${' * 100, b"""print "${a} $b->{'c'}[0]" if $d{"e"};\n""" * 300),
        ("perl", b'"$a->{ # }\n' * 100, b"@a = map { $_->{b}{c} } @{ $d->{e} };\n" * 300),
        ("perl", b"$a =~ s{b}{c};\n" * 100, b"$a =~ s/b/c/;\n" * 300),
        ("python", _blocks(511) + b" " * 511 + b"x = 'a'\n", _blocks(100) + b"x = 'a'\n" * 300),
        ("python", _blocks(511, b" \\\n") + b" " * 511 + b"x = 'a'\n", _blocks(100, b" \\\n")),
        ("kotlin", b'"${' * 1_025, b'val a = "${b}"\n' * 300),
    ],
)
def test_a_nesting_that_ends_the_process_is_cut_as_text(language: str, text: bytes, sound: bytes) -> None:
    """A README of 5 kB ended every run on its folder: these grammars write beyond their memory, or give up."""
    source = SourceFile("a", text, language)
    assert "so deep a nesting" in (Cast(size=50).fallback(source) or "")
    assert b"".join(text[piece.start : piece.end] for piece in Cast(size=50).split(source)) == text
    assert syntax_tree(language, text) is None
    assert syntax_tree(language, sound) is not None


def test_a_long_line_of_scala_is_no_endless_search() -> None:
    """Its scanner reads the whole line from each of its quotes, and no limit in time ends that; it is cut as text."""
    source = SourceFile("a.scala", b"object A {}\n" + b"`" * 500_000, "scala")
    began = time.process_time()
    assert "its grammar is slow on long lines" in (Cast(size=500).fallback(source) or "")
    assert b"".join(source.data[piece.start : piece.end] for piece in Cast(size=500).split(source)) == source.data
    assert syntax_tree("scala", source.data) is None
    assert time.process_time() - began < 10  # ten minutes without the limit


def test_a_parser_that_was_stopped_by_the_clock_goes_on() -> None:
    """Only processor time counts, so that a busy machine cuts as an idle one does."""
    tree = syntax_tree("python", b"a = (1, 2)\n" * 20_000, seconds=30)
    assert tree is not None
    assert not tree.root_node.has_error
    assert syntax_tree("swift", b"/*" * 500, seconds=0.02) is None


def test_what_a_parser_saw_before_changes_nothing() -> None:
    """Jsonnet's scanner kept its state in the process; it is not used, and no other has such a state."""
    assert "jsonnet" in UNSAFE_GRAMMARS
    begun = (
        b'"abc',
        b"'abc\n",
        b"|||\n a",
        b"<<EOF\nabc",
        b"/* abc",
        b"`abc ${",
        b'R"x(abc',
        b"--[[ x",
        b'"""a',
        b"a=b",
    )
    text = b"a = 'b' + \"c\"\n# d\nif e { f(`g`) }\n"
    for language in (
        "bash",
        "c",
        "haskell",
        "lua",
        "markdown",
        "properties",
        "python",
        "ruby",
        "scala",
        "swift",
        "yaml",
    ):
        trees = set()
        for other in begun:
            syntax_tree(language, other)
            found = syntax_tree(language, text)
            assert found is not None
            trees.add(str(found.root_node))
        assert len(trees) == 1, language
