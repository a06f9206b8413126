"""The declared properties of a report's measures, which `chunkbench audit` checks."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.measures.audit import PROPERTIES
from evaluation.measures.registry import parse_measure
from evaluation.report.tables import Table


def property_table(measures: Iterable[str]) -> Table:
    """Return the properties as rows and the measures as columns; cutoffs of one measure share a column."""
    declared = {parse_measure(name).pattern: parse_measure(name).properties for name in measures}
    promised = {name: words for name, words in PROPERTIES.items() if any(name in has for has in declared.values())}
    rows = [[words, *("✓" if name in has else "·" for has in declared.values())] for name, words in promised.items()]
    data = [
        {"property": name, "meaning": words, **{measure: name in has for measure, has in declared.items()}}
        for name, words in promised.items()
    ]
    return Table("What the measures promise", ["property", *declared], rows, data)
