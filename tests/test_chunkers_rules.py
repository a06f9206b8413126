"""The contract that plug-in chunkers are checked against notices each breach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunkers.contract import check_chunker
from chunkers.types import Piece, SizeLimit, SourceFile


@dataclass(frozen=True, kw_only=True)
class Late:
    """Leaves out the first bytes."""

    skipped: int = 0
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit: ClassVar[SizeLimit | None] = None

    def split(self, source: SourceFile) -> list[Piece]:
        """Return one piece."""
        return [Piece(self.skipped, len(source.data))] if len(source.data) > self.skipped else []


class Nothing(Late):
    """Declares that a chunk may hold nothing."""

    limit = SizeLimit("nws", 0)


def _said(chunker: Late) -> str:
    return " ".join(str(finding) for finding in check_chunker(chunker))


def test_one_missing_byte_is_noticed() -> None:
    """At the very beginning, where nothing is before it."""
    assert "are in no piece" not in _said(Late())
    assert "bytes 0 to 1 are in no piece" in _said(Late(skipped=1))


def test_a_limit_of_nothing_is_no_limit() -> None:
    """It is above 0, or there is none."""
    assert "it is None or SizeLimit(unit, amount)" not in _said(Late())
    assert "it is None or SizeLimit(unit, amount)" in _said(Nothing())
