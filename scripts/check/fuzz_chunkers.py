"""Every chunker over every grammar, on bytes that are not programs: nothing lost, nothing empty, nothing endless."""

from __future__ import annotations

import mmap
import os
import random
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from chunkers.contract import file_problems
from chunkers.languages import grammar, known_languages
from chunkers.registry import CHUNKERS
from chunkers.splitting import chunk_file
from chunkers.types import Chunker, SourceFile
from scripts.check.spoiling import spoiled

SECONDS_PER_MB = 10
LEAST_SECONDS = 5
"""Processor time that any case may take, however small: the first one of a grammar loads it."""

_QUICK = 0.2
_BEGUN = (b'abc "def' * 30, b"abc 'def\n" * 30, b'abc <<EOF\n|||\n/* `${ --[[ """' * 10)
"""Texts that end inside a construct."""

SPECS = (
    "cast:size=1",
    "cast:size=300",
    "cast:size=60,overlap=1,expansion=true",
    "code-chunk:size=200",
    "definitions:size=50",
    "declarations:size=50",
    "functions:size=80",
    "recursive:size=80",
    "fixed-nws:size=1",
    "fixed-tokens:tokens=8",
    "fixed-lines:lines=3,overlap=1",
    "sliding-window:window=5,step=2",
    "whole-file",
)


class Case(NamedTuple):
    """One file for one chunker, determined by its number alone."""

    number: int
    spec: str
    language: str


def cases(count: int, *, first: int = 0) -> list[Case]:
    """Return this many cases, such that every language meets every chunker equally often."""
    languages = sorted(known_languages())
    return [
        Case(number, SPECS[number // len(languages) % len(SPECS)], languages[number % len(languages)])
        for number in range(first, first + count)
    ]


def source_of(case: Case, *, seed: int, examples: Sequence[bytes]) -> SourceFile:
    """Return the case's file: noise, brackets, the grammar's own words, or a corrupted text of any language."""
    rng = random.Random(f"{seed} {case.number}")  # noqa: S311 - tests, not secrets
    way = rng.randrange(6)
    if way == 0:
        data = rng.randbytes(rng.choice((1, 10, 200, 2_000)))
    elif way == 1:
        data = "".join(rng.choices("(){}[]<>\"'`/*#\\;:,.=\n \tabc0é\u2028\0", k=rng.choice((5, 60, 800)))).encode()
    elif way == 2:
        data = rng.choice((b"(", b"{", b"[", b"<a>", b"/*", b'"', b"if x:\n ", b"#if\n", b"a.")) * rng.choice(
            (50, 1_500)
        )
    elif way == 3:
        data = _own_words(case.language, rng)
    else:
        data = spoiled(rng.choice(examples), rng)
        data = data[:20_000]
    return SourceFile(f"case.{case.language}", data, case.language)


def _own_words(language: str, rng: random.Random) -> bytes:
    """Return meaningless sequences of the language's words: they lead deeper into a grammar than noise."""
    known = grammar(language)
    fixed = [number for number in range(known.node_kind_count) if not known.node_kind_is_named(number)]
    words = [*filter(None, map(known.node_kind_for_id, fixed)), *"a0 \n\t\"'#/\\é(){}<>=\0"]
    few = rng.sample(words, min(rng.choice((3, 8, 60)), len(words)))
    return rng.choice(("", " ")).join(rng.choices(few, k=rng.choice((2, 5, 12, 40, 200)))).encode()


def run_cases(todo: Sequence[Case], *, seed: int, examples: Sequence[bytes]) -> Iterator[tuple[Case, str]]:
    """Yield each case that breaks a guarantee, takes too long or crashes its process, and what was seen.

    A C parser that does not return cannot be interrupted from inside, so cases run in a child that the system stops;
    the next child continues after the last case of the previous one.
    """
    place = mmap.mmap(-1, 8)
    done = 0
    while done < len(todo):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _serve(todo[done:], seed, examples, place, writing)
        os.close(writing)
        with open(reading, encoding="utf-8") as said:  # noqa: PTH123 - a descriptor, not a path
            for line in said:
                at, _, what = line.rstrip("\n").partition(" ")
                yield todo[done + int(at)], what
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        last = done + int.from_bytes(place[:8], "little")
        if code == 0:
            return
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        yield todo[last], "takes too long" if code in (-signal.SIGXCPU, -signal.SIGKILL) else f"ends with {name}"
        done = last + 1


def _serve(todo: Sequence[Case], seed: int, examples: Sequence[bytes], place: mmap.mmap, writing: int) -> None:
    code = 0
    try:
        for at, case in enumerate(todo):
            place[:8] = at.to_bytes(8, "little")
            source = source_of(case, seed=seed, examples=examples)
            allowed = LEAST_SECONDS + SECONDS_PER_MB * len(source.data) / 1e6
            resource.setrlimit(
                resource.RLIMIT_CPU, (int(time.process_time() + 4 * allowed) + 1, resource.RLIM_INFINITY)
            )
            began = time.process_time()
            what = _seen(case, source)
            if not what and time.process_time() - began > allowed:
                what = f"takes {time.process_time() - began:.1f} s for {len(source.data)} bytes"
            if what:
                os.write(writing, f"{at} {what}\n".encode("utf-8", "replace"))
    except BaseException:  # noqa: BLE001 - a fork must never continue as its parent
        code = 70
    finally:
        os._exit(code)


def _seen(case: Case, source: SourceFile) -> str:
    began = time.process_time()
    try:
        chunker = CHUNKERS.create(case.spec)
        problems = list(file_problems(chunker, source))
        if time.process_time() - began < _QUICK:
            problems += _remembering(chunker, source, _BEGUN[case.number % len(_BEGUN)])
    except Exception as error:  # noqa: BLE001 - any exception is what this looks for
        return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
    return " ".join("; ".join(problems).split())[:200]


def _remembering(chunker: Chunker, source: SourceFile, begun: bytes) -> Iterator[str]:
    """Yield files whose cuts depend on what was cut before: grammars share their variables with the whole process."""
    first = chunk_file(chunker, source)
    chunk_file(chunker, SourceFile(source.path, begun, source.language))
    if chunk_file(chunker, source) != first:
        yield f"cut elsewhere after {begun[:20]!r}"


def example_sources(folder: Path) -> list[bytes]:
    """Return the texts to corrupt: source files of several languages."""
    return [file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()]
