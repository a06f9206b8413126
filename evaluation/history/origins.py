"""Differences between the inputs of two runs, and which of them make scores incomparable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evaluation.flat import flat
from evaluation.history.record import CellOrigin, RunRecord
from evaluation.results.document import environment_json
from evaluation.types import CellKey

_KINDS = (
    # The first matching prefix decides; unmatched inputs are the moving corpus, which is expected to change.
    ("chunk.versions.grammars", "grammar pack", True),
    ("chunk.versions.tree-sitter", "parser", True),
    ("chunk.versions.tiktoken", "tokenizer", True),
    ("chunk.chunker.code", "chunker code", False),
    ("chunk.chunker.", "chunker", False),
    ("retrieve.embedder", "model", True),
    ("score.embedder", "model", True),
    ("retrieve.retriever.code", "retriever code", False),
    ("retrieve.retriever.", "retriever", True),
    ("retrieve.depth", "depth", True),
    ("retrieve.budgets", "budgets", False),
    ("retrieve.versions.", "library", False),
    ("read.reader.code", "reader code", False),
    ("read.reader.", "reader", True),
    ("score.rule", "relevance rule", True),
    ("score.code", "scoring code", False),
    ("score.measures.", "measure code", False),
    ("chunk.code", "chunk table code", False),
    ("retrieve.code", "search code", False),
)


class Difference(NamedTuple):
    """One input that changed."""

    kind: str
    """Grammar pack, parser, tokenizer, chunker, chunker code, model, retriever, library, dataset …"""
    name: str
    """Which one of its kind: a chunker's spec, a package, a parameter."""
    before: str
    now: str
    blocks: bool
    """Whether scores before and after it are incomparable."""

    @property
    def words(self) -> str:
        """The difference as a phrase."""
        what = f"{self.kind} {self.name}".strip()
        return f"{what} was {self.before or 'absent'} and is {self.now or 'absent'}"


class Match(NamedTuple):
    """The baseline cell for a cell of tonight, and why the two cannot be compared, if so."""

    before: CellKey | None
    reasons: tuple[str, ...]


def match_cells(now: RunRecord, before: RunRecord) -> dict[CellKey, Match]:
    """Pair tonight's cells with the baseline's."""
    known = {cell.key: cell for cell in before.cells}
    return {cell.key: _match(cell, known, now, before) for cell in now.cells}


def _match(cell: CellOrigin, known: Mapping[CellKey, CellOrigin], now: RunRecord, before: RunRecord) -> Match:
    if cell.status != "ok":
        return Match(None, (f"it failed tonight: {cell.reason}",))
    same = known.get(cell.key)
    if same is None:
        return _nearest(cell.key, known)
    if same.status != "ok":
        return Match(None, (f"it had failed in the baseline: {same.reason}",))
    found = [*differences(cell, same), *_dataset_differences(cell.key.dataset, now, before)]
    reasons = tuple(dict.fromkeys(each.words for each in found if each.blocks))
    return Match(cell.key, reasons)


def _nearest(key: CellKey, known: Mapping[CellKey, CellOrigin]) -> Match:
    """Return the part in which the cell differs from the nearest one of the same chunker, or that there is none."""
    others = [other for other in known if other.chunker == key.chunker]
    if not others:
        return Match(None, ("the baseline has no such chunker",))
    closest = min(others, key=lambda other: (sum(a != b for a, b in zip(key, other, strict=True)), other))
    names = {"embedder": "model"}
    reasons = [
        f"{names.get(part, part)} was {old} and is {new}"
        for part, new, old in zip(CellKey._fields, key, closest, strict=True)
        if new != old
    ]
    return Match(None, tuple(reasons))


def differences(now: CellOrigin, before: CellOrigin) -> list[Difference]:
    """Return the changed inputs of a cell; the corpus, its queries and its annotations are expected to change."""
    new, old = _texts(now.stages), _texts(before.stages)
    found = []
    for path in sorted(new.keys() | old.keys()):
        if new.get(path) == old.get(path):
            continue
        for prefix, kind, blocks in _KINDS:
            if path.startswith(prefix):
                name = _name(kind, path.removeprefix(prefix).strip("."), now.key)
                found.append(Difference(kind, name, old.get(path, ""), new.get(path, ""), blocks))
                break
    return list(dict.fromkeys(found))


def _name(kind: str, rest: str, key: CellKey) -> str:
    owner = {"chunker": key.searched.chunker, "chunker code": key.searched.chunker, "model": key.embedder}
    owner |= {"retriever": key.retriever, "retriever code": key.retriever}
    owner |= {"reader": key.reader, "reader code": key.reader}
    return " ".join(filter(None, [owner.get(kind, ""), rest]))


def _dataset_differences(dataset: str, now: RunRecord, before: RunRecord) -> Iterator[Difference]:
    """Yield changes in how a dataset is made; new versions of its files do not count."""
    new, old = (_texts(run.sources.get(dataset, {}).get("loader", {})) for run in (now, before))
    for name in sorted(new.keys() | old.keys()):
        if name != "code" and new.get(name) != old.get(name):
            yield Difference("dataset", f"{dataset} {name}", old.get(name, ""), new.get(name, ""), True)


def _texts(value: object) -> dict[str, str]:
    return {path: str(each) for path, each in flat(value).items()}


def all_differences(now: RunRecord, before: RunRecord) -> list[Difference]:
    """Return every difference between two runs once: inputs of their shared cells, datasets, packages."""
    known = {cell.key: cell for cell in before.cells}
    found: list[Difference] = []
    for cell in now.cells:
        if cell.key in known:
            found += differences(cell, known[cell.key])
    for dataset in now.sources.keys() & before.sources.keys():
        found += _dataset_differences(dataset, now, before)
    for part in ("datasets", "chunkers", "embedders", "retrievers"):
        new, old = (getattr(run.config, part) for run in (now, before))
        kind = {"datasets": "dataset", "embedders": "model"}.get(part, part.removesuffix("s"))
        found += [Difference(kind, each, "", "new", False) for each in new if each not in old]
        found += [Difference(kind, each, "there", "", False) for each in old if each not in new]
    found += _package_differences(environment_json(now.environment), environment_json(before.environment))
    return list(dict.fromkeys(found))


def _package_differences(now: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[Difference]:
    new, old = _texts(now), _texts(before)
    # Those of the stages are already named with their meaning.
    told = ("tree-sitter", "tree-sitter-language-pack", "tiktoken", "faiss-cpu", "bm25s")
    for name in sorted(new.keys() | old.keys()):
        short = name.removeprefix("packages.")
        if short not in told and new.get(name) != old.get(name):
            yield Difference("package", short, old.get(name, ""), new.get(name, ""), False)
