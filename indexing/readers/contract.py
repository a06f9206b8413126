"""The contract of readers, for `chunkbench check-plugin` and for our own tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chunkers.findings import Check, Finding, examine
from chunkers.types import SourceFile
from indexing.readers.types import Reader, Stretch

_CODE = (
    b"import os\n\n\ndef first(a):\n    b = a + 1\n    return b\n\n\nclass Box:\n    size = 3\n\n"
    b"    def put(self, each):\n        self.held.append(each)\n        return len(self.held)\n\n\nLAST = first(1)\n"
)
_WORLDS = 40


@dataclass(frozen=True)
class _Files:
    """Three files in windows of lines that overlap by one; the second has CRLF, the third no grammar."""

    window: int

    def source(self, file: int) -> SourceFile:
        """Return a file."""
        data = (_CODE, _CODE.rstrip().replace(b"\n", b"\r\n"), "größe 漢字\n".encode() * 9)[file]
        return SourceFile(f"{file}.py", data, ("python", "python", None)[file], "r")

    def chunks(self, file: int) -> np.ndarray:
        """Return its chunks."""
        data = self.source(file).data
        starts = [0, *(place + 1 for place, byte in enumerate(data) if byte == ord("\n") and place + 1 < len(data))]
        ends = [*starts[1:], len(data)]
        firsts = range(0, len(starts), max(1, self.window - 1))
        return np.array([(starts[k], ends[min(k + self.window, len(ends)) - 1]) for k in firsts])


def check_reader(reader: Reader) -> list[Finding]:
    """Return each rule with its violations."""
    return examine(reader, _RULES)


def _worlds() -> Iterator[tuple[list[Stretch], _Files]]:
    random_ = random.Random(7)  # noqa: S311 - examples, not secrets
    for number in range(_WORLDS):
        files = _Files(1 + number % 4)
        every = [Stretch(file, int(start), int(end), 0) for file in range(3) for start, end in files.chunks(file)]
        found = random_.sample(every, random_.randint(0, len(every)))
        yield [each._replace(hit=rank) for rank, each in enumerate(found)], files


def _inside(reader: Reader) -> Iterator[str]:
    for hits, files in _worlds():
        for each in reader.read(hits, files):
            if not 0 <= each.hit < len(hits) or each.file != hits[each.hit].file:
                yield f"{each} is not in the file of a hit"
            elif not 0 <= each.start < each.end <= len(files.source(each.file).data):
                yield f"{each} is empty, or not in a file of {len(files.source(each.file).data)} bytes"


def _covers(reader: Reader) -> Iterator[str]:
    for hits, files in _worlds():
        read = reader.read(hits, files)
        for hit in hits:
            earlier = [each for each in read if each.hit <= hit.hit and each.file == hit.file]
            if not any(each.start <= hit.start and hit.end <= each.end for each in earlier):
                yield f"{hit} is not read at its rank or before"


def _in_order(reader: Reader) -> Iterator[str]:
    for hits, files in _worlds():
        ranks = [each.hit for each in reader.read(hits, files)]
        if ranks != sorted(ranks):
            yield f"hits are read in the order {ranks}"


def _same(reader: Reader) -> Iterator[str]:
    for hits, files in _worlds():
        if reader.read(hits, files) != reader.read(list(hits), files):
            yield "the same hits are read in two ways"


_RULES: dict[str, Check[Reader]] = {
    "what is read lies in the file of its hit": _inside,
    "every hit is read at its rank or before": _covers,
    "hits are read in their order": _in_order,
    "the same hits are read in the same way": _same,
}
