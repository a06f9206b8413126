"""Every measure: one line each; and parsing of a measure's name in any of its spellings."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple, cast

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from chunkers.plugins import Entry, Registry, Spec, nearest
from chunkers.types import SizeUnit
from evaluation.measures.measure import Measure

MEASURES: Registry[Measure] = Registry(
    kind="measure",
    group="chunkbench.measures",
    members=("version", "label", "name", "needs", "range", "direction", "score"),
    builtin={
        "ndcg": Entry("evaluation.measures.ndcg:Ndcg", "discounted gain over the ideal of the full judgements"),
        "precision": Entry("evaluation.measures.precision:Precision", "relevant among the first k, over k"),
        "recall": Entry("evaluation.measures.recall:Recall", "relevant among the first k, over all relevant"),
        "mrr": Entry("evaluation.measures.mrr:Mrr", "one over the rank of the first relevant result"),
        "map": Entry("evaluation.measures.average_precision:AveragePrecision", "mean of precision at relevant results"),
        "hit": Entry("evaluation.measures.hit:HitRate", "whether any of the first k is relevant"),
        "ndcg_exp": Entry("evaluation.measures.ndcg_exp:NdcgExp", "nDCG with gain 2^grade - 1"),
        "ndcg_retrieved": Entry(
            "evaluation.measures.ndcg_retrieved:NdcgRetrieved", "nDCG whose ideal is of the retrieved only"
        ),
        "precision_returned": Entry(
            "evaluation.measures.precision_returned:PrecisionReturned",
            "relevant among the first k, over those returned",
        ),
        "ap_capped": Entry("evaluation.measures.ap_capped:ApCapped", "average precision over min(relevant, k)"),
        "kendall_tau": Entry("evaluation.measures.kendall_tau:KendallTau", "rank correlation with a reference ranking"),
        "kendall_tau_grades": Entry(
            "evaluation.measures.kendall_tau:KendallTauGrades", "rank correlation with the grades"
        ),
        "rbo": Entry("evaluation.measures.rbo:Rbo", "overlap with a reference ranking, weighted to the top"),
        "ild": Entry("evaluation.measures.ild:Ild", "mean cosine distance of the first k"),
        "alpha_ndcg": Entry(
            "evaluation.measures.alpha_ndcg:AlphaNdcg", "nDCG of gold regions, repeated ones worth less"
        ),
        "novelty_ndcg": Entry("evaluation.measures.novelty_ndcg:NoveltyNdcg", "nDCG with gains reduced by resemblance"),
        "redundancy": Entry("evaluation.measures.redundancy:Redundancy", "lines of the first k shown before"),
        "file_recall": Entry("evaluation.measures.file_rank:FileRecall", "files with gold among the first k files"),
        "file_rr": Entry("evaluation.measures.file_rank:FileRr", "one over the rank of the first file with gold"),
        "semble_ndcg": Entry(
            "evaluation.measures.semble_ndcg:SembleNdcg", "nDCG of gold regions, each at its first result"
        ),
        "chroma_recall": Entry("evaluation.measures.chroma:ChromaRecall", "gold bytes shown by the first k"),
        "chroma_precision": Entry(
            "evaluation.measures.chroma:ChromaPrecision", "share of the first k's bytes that is gold"
        ),
        "chroma_iou": Entry("evaluation.measures.chroma:ChromaIou", "gold shown over bytes sent and gold missed"),
        "precision_omega": Entry("evaluation.measures.chroma:PrecisionOmega", "the precision that the chunking allows"),
        "split_rate": Entry("evaluation.measures.split_rate:SplitRate", "gold regions that no chunk holds whole"),
        "tokens_to_recall": Entry(
            "evaluation.measures.to_recall:TokensToRecall", "tokens read until a share of the gold is seen"
        ),
        "nws_to_recall": Entry(
            "evaluation.measures.to_recall:NwsToRecall", "characters read until a share of the gold is seen"
        ),
        "lines_to_recall": Entry(
            "evaluation.measures.to_recall:LinesToRecall", "lines read until a share of the gold is seen"
        ),
        "tokens_behind": Entry("evaluation.measures.context:TokensBehind", "tokens in the first k results"),
        "nws_behind": Entry("evaluation.measures.context:NwsBehind", "characters in the first k results"),
        "lines_behind": Entry("evaluation.measures.context:LinesBehind", "lines in the first k results"),
        "relevant": Entry("evaluation.measures.context:Relevant", "number of relevant chunks"),
        "recall@B": Entry("evaluation.measures.budget_recall:BudgetRecall", "gold text read within a budget"),
        "naurc@B": Entry("evaluation.measures.naurc:Naurc", "area under gold read against text read"),
        "precision@B": Entry(
            "evaluation.measures.budget_precision:BudgetPrecision",
            "share of the text read within a budget that is gold",
        ),
        "iou@B": Entry("evaluation.measures.budget_iou:BudgetIou", "gold read over text read or gold"),
        "ndcg_text@B": Entry(
            "evaluation.measures.ndcg_text:NdcgText", "gold read, discounted by the reading before it"
        ),
        "region_success@B": Entry(
            "evaluation.measures.region_success:RegionSuccess", "gold regions seen within a budget"
        ),
        "redundancy@B": Entry("evaluation.measures.redundancy:BudgetRedundancy", "text sent again within a budget"),
    },
)
"""A name ending in @B takes a budget with its unit; the same name without it takes a number of results."""

_ALIASES = {
    "p": "precision",
    "r": "recall",
    "rr": "mrr",
    "recip_rank": "mrr",
    "reciprocal_rank": "mrr",
    "mean_reciprocal_rank": "mrr",
    "ap": "map",
    "average_precision": "map",
    "mean_average_precision": "map",
    "success": "hit",
    "hit_rate": "hit",
    "map_capped": "ap_capped",
    "alphandcg": "alpha_ndcg",
    "tau": "kendall_tau",
    "kendalls_tau": "kendall_tau",
    "intra_list_diversity": "ild",
    "num_rel": "relevant",
}

_UNITS: dict[str, SizeUnit] = {
    "tok": "tokens",
    "token": "tokens",
    "tokens": "tokens",
    "nws": "nws",
    "line": "lines",
    "lines": "lines",
}

_SHAPE = re.compile(r"(?P<label>[^@(:]+)(?:@(?P<cut>[^(:]+))?(?:\((?P<inside>.*)\)|:(?P<after>.*))?\Z")
_LEVEL = re.compile(r"\s*(?P<level>chance|ceiling|normali[sz]ed)\s*\((?P<of>.+)\)\s*\Z", re.IGNORECASE)
_CUT = re.compile(r"(?P<number>\d+)(?P<kilo>k?)_?(?P<unit>[a-z]*)\Z")
# ndcg_at_5 and trec_eval's ndcg_cut_5 and P_5, where no @ is written.
_UNDERSCORE = re.compile(r"_(?:at_|cut_)?(?=\d+k?_?[a-z]*(?:[(:]|\Z))")


class Description(NamedTuple):
    """A measure as `chunkbench list measures` shows it."""

    key: str
    """Its key in the registry."""
    pattern: str
    definition: str
    citation: str
    needs: tuple[str, ...]
    properties: tuple[str, ...]
    unit: str
    direction: str
    range: tuple[float, float]
    comparable: bool
    """Whether values of different chunkers may be compared."""
    aliases: tuple[str, ...]


def parse_measure(name: str) -> Measure:
    """Return the measure with this name, in any spelling: ndcg@5, ndcg_at_5, nDCG@5, precision@5(rel>=2).

    A custom measure is written as my_measures.py:Class,cutoff=5 or as my_measures:Class,cutoff=5.
    """
    given: object = name
    if not isinstance(given, str):
        said = one_line(repr(given), limit=80)
        raise UsageError(f"{said} is no name of a measure: write ndcg@5, recall@4000tok or precision@5(rel>=2)")
    return _level(name) or _own_measure(name) or _remembered.get(name) or _registered(name)


_remembered: dict[str, Measure] = {}
"""Custom measures known to this process, by name: tables and verdicts know them by name alone."""


def remember_measure(measure: Measure) -> None:
    """Let `parse_measure` find an unregistered measure by its name; the last one of a name wins.

    Results know the meaning of their own names, and declare it before they are compared or shown (`declared.recall`).
    """
    if not is_registered(measure):
        _remembered[measure.name] = measure


def remembered_measure(name: str) -> Measure | None:
    """Return the custom measure that currently has this name."""
    return _remembered.get(name)


def is_registered(measure: Measure) -> bool:
    """Return whether any process can find the measure by its name."""
    if measure.parts:
        return all(is_registered(part) for part in measure.parts)
    return measure.label in measure_names() or f"{measure.label}@B" in measure_names()


def _own_measure(name: str) -> Measure | None:
    """Return the measure of the class that the name points to, or None if it is a registered name."""
    where, colon, _ = name.partition(":")
    if not colon or _label_of(where) in measure_names():
        return None
    try:
        spec = Spec.parse(name)
    except UsageError:
        return None
    if not spec.is_target:
        return None
    measure = MEASURES.create(spec)
    if measure.label in measure_names() and type(measure) is not measure_class(measure.label):
        raise UsageError(f"{spec} is called {measure.label}, as a registered measure is: give it a label of its own")
    return measure


def _label_of(text: str) -> str:
    label = text.partition("@")[0].strip().lower().replace("-", "_")
    return _ALIASES.get(label, label)


def _level(name: str) -> Measure | None:
    """Return a level around a measure; for one known only from results, its stored facts."""
    level = _LEVEL.match(name)
    if level is None:
        return None
    if _LEVEL.match(level["of"]):
        raise UsageError(f"{one_line(name, limit=80)!r}: write {level['level'].lower()}(...) around a measure itself")
    from evaluation.measures.levels import LEVELS  # imported here: levels score through evaluate, which parses nothing

    try:
        return LEVELS[level["level"].lower().replace("z", "s")](of=parse_measure(level["of"]))
    except UsageError:
        if name in _remembered:
            return None
        raise


# Finding the entry points of other distributions reads every installed package: do it once per name.
@functools.lru_cache(maxsize=4096)
def _registered(name: str) -> Measure:
    text = name.strip().lower().replace("-", "_").replace("α", "alpha").replace(" ", "")
    if "@" not in text:
        text = _UNDERSCORE.sub("@", text, count=1)
    shape = _SHAPE.match(text)
    if not shape:
        raise UsageError(f"{name!r} is not a measure: write it as ndcg@5, recall@4000tok or precision@5(rel>=2)")
    cut = _cut(shape["cut"], name) if shape["cut"] else []
    label = _label(shape["label"], has_unit=any(key == "budget_unit" for key, _ in cut), name=name)
    options = _options(shape["inside"] or shape["after"] or "", label)
    return MEASURES.create(Spec(label, (*cut, *options)))


def describe_measures() -> list[Description]:
    """Return a description of each measure, in registry order; one that cannot be loaded is left out."""
    return [_described(key, cls) for key, cls in measure_classes().items()]


def describe_levels() -> list[Description]:
    """Return the same for the levels around a measure, as in chance(naurc@4000tok)."""
    from evaluation.measures.levels import LEVELS

    return [_described(key, cls) for key, cls in LEVELS.items()]


def _described(key: str, cls: type[Measure]) -> Description:
    return Description(
        key=key,
        pattern=cls.pattern,
        definition=cls.definition,
        citation=cls.citation,
        needs=tuple(sorted(cls.needs)),
        properties=tuple(sorted(cls.properties)),
        unit=cls.unit,
        direction=cls.direction,
        range=cls.range,
        comparable=cls.comparable,
        aliases=tuple(sorted(alias for alias, label in _ALIASES.items() if label == key)),
    )


@functools.cache
def measure_classes() -> dict[str, type[Measure]]:
    """Return the class behind each registry entry; `Registry.listed` names those that cannot be loaded."""
    return {each.name: measure_class(each.name) for each in MEASURES.listed() if not each.broken}


def measure_class(key: str) -> type[Measure]:
    """Return the class behind one registry entry."""
    return cast("type[Measure]", MEASURES.load(key))


@functools.cache
def measure_names() -> tuple[str, ...]:
    """Return the keys of the registry, including those of other distributions."""
    return tuple(MEASURES.entries())


def _cut(text: str, name: str) -> list[tuple[str, str]]:
    match = _CUT.match(text)
    if not match:
        raise UsageError(
            f"what follows the @ of {name!r} is not a cutoff: write 5 for results, 4000tok, 9000nws or 200lines"
        )
    unit, number = match["unit"], match["number"] + ("000" if match["kilo"] else "")
    if not unit:
        return [("cutoff", number)]
    if unit not in _UNITS:
        raise UsageError(f"unknown unit {unit!r} in {name!r}.{nearest(unit, _UNITS) or ' Known: tok, nws, lines.'}")
    return [("budget", number), ("budget_unit", _UNITS[unit])]


def _label(label: str, *, has_unit: bool, name: str) -> str:
    label = _ALIASES.get(label, label)
    known = measure_names()
    wanted = f"{label}@B" if has_unit else label
    if wanted in known:
        return wanted
    other = label if has_unit else f"{label}@B"
    if other in known:
        how = f"a number of results, as in {label}@10" if has_unit else f"a budget with its unit, as in {label}@4000tok"
        raise UsageError(f"measure {name!r}: {label} takes {how}")
    names = [*(key.removesuffix("@B") for key in known), *_ALIASES]
    raise UsageError(f"unknown measure {name!r}.{nearest(label, names) or ' See: chunkbench list measures.'}")


def _options(text: str, label: str) -> list[tuple[str, str]]:
    """Parse ``rel>=2,alpha=0.5`` and, for a measure with a main option, a bare value."""
    cls: Any = measure_class(label) if text else None
    options = []
    for item in filter(None, text.split(",")):
        if item.startswith("rel>"):
            options.append(("rel", item.removeprefix("rel")))
            continue
        key, equals, value = item.partition("=")
        if not equals:
            flag = key in cls.__dataclass_fields__ or not cls.positional
            key, value = (key, "true") if flag else (cls.positional, key)
        options.append((key, value))
    return options
