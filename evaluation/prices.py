"""The user's price of a million embedded tokens: NUMBER for all embedders, EMBEDDER=NUMBER for one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.plugins import nearest


class Price(NamedTuple):
    """The price of a million tokens."""

    embedder: str
    """Empty if it applies to all."""
    number: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """Parse a price; an embedder's spec may itself contain an equals sign."""
        name, _, written = text.rpartition("=")
        try:
            number = float(written)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise UsageError(f"{text!r} is not a price: write a number such as 0.02, or EMBEDDER=0.02")
        return cls(name, number)


def price_of(prices: Sequence[str], embedder: str) -> float | None:
    """Return the embedder's own price, else the one for all; None if there is neither."""
    found = dict(map(Price.parse, prices))
    return found.get(embedder, found.get(""))


def check_prices(prices: Sequence[str], embedders: Collection[str]) -> None:
    """Raise unless every price is for one of the embedders, with at most one for each."""
    names = [Price.parse(text).embedder for text in prices]
    for name in names:
        if name and name not in embedders:
            raise UsageError(f"--price {name}=…: {name!r} is no embedder of this comparison.{nearest(name, embedders)}")
        if names.count(name) > 1:
            raise UsageError(f"--price is given twice for {name or 'all embedders'}: leave one out")
