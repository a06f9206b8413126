"""The terms of a report: each is explained where it occurs, and in one list at the end of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from chunkers import CHUNKERS
from chunkers.plugins import Registry
from evaluation.report.formats import is_published, lower_is_better, measure_of, unbroken
from evaluation.results.types import Results
from ground_truth.registry import DATASETS
from indexing.registry import ENCODERS, RETRIEVERS

TERMS = {
    "settings": "A setting is what is held equal while chunkers are compared: dataset, embedder and retriever.",
    "may be best": "Not shown to be behind any other chunker. With 95 % confidence the truly best one is among these.",
    "95 % interval": "A range made so that 95 of 100 such ranges hold the true value.",
    "practically the same": "The whole interval of the difference lies within the margin named before the run.",
    "undecided": "The data shows neither a difference nor that there is none; more repositories would help.",
    "mined queries": "Questions made from the code itself, of comments and documentation, rather than asked by people.",
    "counting once": "Means are taken over the queries of each repository first, then over the repositories.",
    "four times in five": "The power of the design: how often a true difference of this size would be shown (80 %).",
    "random ranking": "What shuffling the same chunks would score: the chance level.",
    "perfect ranking": "What the best possible order of the same chunks would score: the ceiling.",
    "nws": "Non-whitespace characters: a measure of size that indentation and blank lines do not change.",
    "mark": "● may be best; against a baseline ▲ better, ▼ worse, ≈ practically the same, ? undecided.",
    "gold text": "The lines of code that answer a question; all chunkers are judged by the same lines.",
    "chunk ids": "The chunks that hold some gold text: another set for each chunker.",
    "docstrings": "Queries made of a function's documentation, which is hidden from the index.",
    "comments": "Queries made of a comment above a few lines of code, which is hidden from the index.",
    "p95": "Time of one query asked by itself: 95 % of the queries take no longer.",
    "chunks": "How many chunks the corpus was cut into.",
    "mean size": "Mean non-whitespace characters of a chunk.",
    "p95 size": "Non-whitespace characters that 95 % of the chunks do not exceed.",
    "size": "Mean non-whitespace characters of a chunk.",
    "relevant per query": "How many chunks count as relevant to a query, on average.",
    "tokens behind 5": "Tokens that the first five results hold, on average.",
    "tokens behind 10": "Tokens that the first ten results hold, on average.",
    "uncovered": "Queries to which no chunk is relevant; they score 0.",
    "difference": "Mean of a minus mean of b.",
    "answer": "Better, practically the same, or undecided, corrected for all comparisons.",
    "p": "How often chance alone would give a difference at least this large, corrected for all comparisons.",
    "corrected p": "How often chance alone would give a difference at least this large, corrected for all comparisons.",
    "p alone": "The same for this comparison only, not corrected for the others.",
    "without one": "The range of the difference when any one repository is left out.",
    "can show": "A true difference of this size would be shown four times in five.",
    "wins": "Queries on which a scores more than b.",
    "losses": "Queries on which b scores more than a.",
    "ties": "Queries on which both score the same.",
    "unit": "What the test counts as one observation.",
    "files": "Files of the corpus.",
    "failed files": "Files on which the chunker raised an error: they have no chunks.",
    "fallbacks": "Files that were not cut the way the chunker's name promises, with the reason.",
    "lost nws": "Non-whitespace characters that are in no chunk.",
    "doubled nws": "Non-whitespace characters that are in more than one chunk.",
    "cut chunks": "Share of the chunks of which the embedder sees only the beginning.",
    "cut tokens": "Share of all tokens that the embedder does not see.",
    "seconds": "Time to chunk, embed, search and score, when it was first made.",
    "half read": "Median tokens read until half of the answer has been shown.",
    "80 % read": "Median tokens read until 80 % of the answer has been shown.",
    "reached": "Share of the queries that get there within the largest budget.",
    "index": "Postings, vectors and links of the index, without the texts.",
    "build": "Time to cut, embed and index the corpus, measured once.",
    "query p50": "Time of one query asked by itself: half of the queries take no longer.",
    "texts": "Distinct texts that a model reads.",
    "tokens": "Tokens of the distinct texts that a model reads.",
    "price": "Of embedding, at the price that was named with --price.",
    "queries": "Questions with known answers in the code.",
    "mean tokens": "Mean tokens of a chunk.",
    "median nws": "Median non-whitespace characters of a chunk.",
    "mean nws": "Mean non-whitespace characters of a chunk.",
    "p95 nws": "Non-whitespace characters that 95 % of the chunks do not exceed.",
}
"""Term → its meaning, in one or two sentences."""

_IN_SENTENCES = (
    "settings",
    "may be best",
    "practically the same",
    "undecided",
    "counting once",
    "mined queries",
    "four times in five",
    "random ranking",
    "perfect ranking",
    "gold text",
    "chunk ids",
)
"""Terms explained inside running text; the others are column headings."""


@dataclass(frozen=True)
class Glossary:
    """The terms of one report, including its measures."""

    terms: Mapping[str, str]

    @classmethod
    def of(cls, measures: Iterable[str], compared: Mapping[str, str] | None = None) -> Glossary:
        """Return the terms with these measures, each in its own words, and with what is compared."""
        return cls({**{name: measure_words(name) for name in measures}, **(compared or {}), **TERMS})

    def name(self, term: str) -> Markup:
        """Return a heading with its explanation, if known; a number in brackets after it is not part of the term."""
        words = Markup("<wbr>@").join(unbroken(term).split("@"))
        known = re.sub(r" \([\d,]+\)$", "", term)
        if known not in self.terms:
            return words
        return Markup('<a class="term" href="#{}">{}</a>').format(anchor(known), words)

    def sentence(self, text: str) -> Markup:
        """Return a sentence in which the first occurrence of each term is explained."""
        known = [term for term in self.terms if "@" in term or term in _IN_SENTENCES]
        if not known:
            return escape(unbroken(text))
        pattern = "|".join(re.escape(term) for term in sorted(known, key=len, reverse=True))
        seen: set[str] = set()
        parts = []
        for part in re.split(rf"(?<![\w@])({pattern})(?![\w@])", text):
            parts.append(self.name(part) if part in known and part not in seen else escape(unbroken(part)))
            seen.add(part)
        return Markup("").join(parts)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The anchor, the term and its meaning, in alphabetical order."""
        entries = sorted(self.terms.items(), key=lambda item: item[0])
        return [(anchor(term), unbroken(term), unbroken(words)) for term, words in entries]


def compared_words(results: Results) -> dict[str, str]:
    """Return chunker, embedder, retriever or dataset → a one-line description, if known."""
    config = results.config
    found: dict[str, str] = {}
    axes: list[tuple[Registry[Any], Sequence[str]]] = [
        (CHUNKERS, config.chunkers),
        (ENCODERS, config.embedders),
        (RETRIEVERS, config.retrievers),
        (DATASETS, config.datasets),
    ]
    for registry, specs in axes:
        known = registry.entries()
        names = dict.fromkeys(spec.partition(":")[0] for spec in specs)
        found |= {name: f"{registry.kind.capitalize()}: {known[name].summary}." for name in names if name in known}
    return found


def named(chunker: str, before: Markup | str = "") -> Markup:
    """Return a chunker's name that a narrow column breaks only after a colon or comma; ``before`` stays beside it."""
    parts = re.findall(r"[^:,]*[:,]|[^:,]+$", chunker) or [chunker]
    whole = [Markup('<span class="{}">{}</span>').format("part" if len(part) <= _PART else "", part) for part in parts]
    if before:
        whole[0] = Markup('<span class="part">{} {}</span>').format(before, whole[0])
    return Markup('<wbr class="soft">').join(whole)


_PART = 20
"""Characters of a part of a name that fit in a narrow column."""


def anchor(term: str) -> str:
    """Return the id of a term's entry."""
    return "term-" + re.sub(r"[^A-Za-z0-9]+", lambda found: f"-{ord(found[0][0]):x}-", term)


def measure_words(name: str) -> str:
    """Return what a measure means, which direction is better, and whether it compares chunkers."""
    measure = measure_of(name)
    words = measure.words or measure.definition
    better = " Less is better." if lower_is_better(measure) else ""
    apart = " Each chunker makes its own chunks, so this does not compare chunkers." if is_published(measure) else ""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}.{better}{apart}"
