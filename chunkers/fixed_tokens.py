"""`fixed-tokens`: blocks of n tokens of a named tokenizer."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import ClassVar

from chunkers.errors import UsageError
from chunkers.plugins import positive
from chunkers.tokens import check_tokenizer, token_starts
from chunkers.types import Piece, SizeLimit, SourceFile

_LONGEST_CHARACTER = 4
"""Bytes of a UTF-8 character, hence the most tokens it can have."""


@dataclass(frozen=True, kw_only=True)
class FixedTokens:
    """Cuts the whole file's tokenisation into runs of ``tokens`` tokens.

    A token may end inside a character (an emoji takes several); the cut is then moved back to the start of that
    character, so that chunks are valid text. A token belongs to the chunk that holds its first byte, and by that count
    no chunk exceeds the limit. A chunk tokenised by itself can differ by a few tokens, since its first and last word
    may be parts of longer ones. Each chunk but the first repeats the ``overlap`` tokens before it.
    """

    tokens: int = 512
    overlap: int = 0
    tokenizer: str = "cl100k_base"
    offset: int = 0
    """Tokens before the first cut; 0 cuts after a whole run. Where the first cut falls is arbitrary."""

    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    size_field: ClassVar[str] = "tokens"

    def __post_init__(self) -> None:
        positive(self, "tokens")
        if self.tokens < _LONGEST_CHARACTER:
            raise UsageError(f"tokens must be at least {_LONGEST_CHARACTER}, which one character can take")
        # Both ends of a step can move back by up to a character, and the step must still advance by one.
        most = max(0, self.tokens - 2 * _LONGEST_CHARACTER + 1)
        if not 0 <= self.overlap <= most:
            raise UsageError(f"overlap must be from 0 to {most} where tokens is {self.tokens}, not {self.overlap}")
        if not 0 <= self.offset < self.tokens - self.overlap:
            raise UsageError(f"offset must be from 0 to {self.tokens - self.overlap - 1}, not {self.offset}")
        check_tokenizer(self.tokenizer)

    @property
    def limit(self) -> SizeLimit | None:
        """No chunk has more tokens; sizes are counted in cl100k_base, so other tokenizers guarantee nothing."""
        return SizeLimit("tokens", self.tokens) if self.tokenizer == "cl100k_base" else None

    @property
    def period(self) -> int:
        """Number of tokens after which the cuts repeat: the number of different offsets."""
        return self.tokens - self.overlap

    def split(self, source: SourceFile) -> list[Piece]:
        """Return runs of tokens, moved to character boundaries."""
        data = source.data
        starts = token_starts(data, tokenizer=self.tokenizer).data
        pieces: list[Piece] = []
        first = 0
        while first < len(starts):
            begin = character_start(data, starts[first])
            first = bisect_left(starts, begin)
            length = self.offset + self.overlap if self.offset and not pieces else self.tokens
            if first + length >= len(starts):
                return [*pieces, Piece(begin, len(data))]
            end = character_start(data, starts[first + length])
            pieces.append(Piece(begin, end))
            first = bisect_left(starts, end) - self.overlap
        return pieces


def character_start(data: bytes, offset: int) -> int:
    """Return the start of the character that holds this byte; a byte that is not UTF-8 counts as a character."""
    for lead in range(offset, max(offset - _LONGEST_CHARACTER, -1), -1):
        if data[lead] & 0xC0 != 0x80:
            return lead if lead == offset or _is_character(data, lead, offset) else offset
    return offset


def _is_character(data: bytes, lead: int, offset: int) -> bool:
    width = 2 + (data[lead] >= 0xE0) + (data[lead] >= 0xF0)
    try:
        data[lead : lead + width].decode()
    except UnicodeDecodeError:
        return False
    return offset < lead + width
