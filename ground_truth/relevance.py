"""Which chunks are relevant to each query, and by which strategy.

Three strategies, in order of priority. ``qrels``: the annotations, laid over the chunks by an overlap rule. ``pack``: a
dataset's own function, for queries without annotations. ``token-fallback``: token F1 with the text of an expected
answer, if the rule ``token_f1(0.3)`` asks for it; a long chunk fails even if it holds the whole answer, so this
strategy depends on chunk size and cannot compare chunkers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from chunkers.errors import UsageError
from chunkers.splitting import chunk_file
from chunkers.types import Chunk, Chunker, SourceFile
from ground_truth.hidden import HiddenText, visible_text
from ground_truth.hidden_lines import HiddenLines
from ground_truth.line_axis import ChunkLines
from ground_truth.lines import FileLines
from ground_truth.overlap import Judgements, Strategy, make_qrels
from ground_truth.rules import Rule
from ground_truth.spans import FileKey, visible_lines
from ground_truth.token_f1 import shared_f1, tokens
from ground_truth.types import Dataset, Query


class Text(NamedTuple):
    """The part of a chunk that relevance by text needs."""

    id: str
    text: str


TextsOf = Callable[[Query], Iterable[Text]]
"""The chunks that a query searches, with their texts."""


def judge(
    rule: Rule,
    dataset: Dataset,
    chunks: Callable[[], ChunkLines],
    *,
    texts: TextsOf,
    mixed: bool = False,
) -> Judgements:
    """Return each query's relevant chunks by the first applicable strategy.

    ``chunks`` gives those of the annotated files on their lines, ``texts`` those that a query searches. Scores of
    different strategies are not comparable: mixing them is an error unless ``mixed`` allows it.
    """
    if rule.name == "token_f1":
        return _by_token_f1(rule, dataset.queries, texts)
    laid = make_qrels(rule, dataset.queries, dataset.annotations, chunks())
    if dataset.relevance is None:
        return laid
    annotated = {note.query_id for note in dataset.annotations}
    packed = {
        query.id: found
        for query in dataset.queries
        if query.id not in annotated and (found := _by_pack(dataset.relevance, query, texts(query))) is not None
    }
    strategies: dict[str, Strategy] = {query.id: "pack" if query.id in packed else "qrels" for query in dataset.queries}
    if len(set(strategies.values())) > 1 and not mixed:
        raise UsageError(
            f"{dataset.name} has annotations for some queries and its own relevance for others, whose scores do not "
            "compare: leave one kind out, or insist"
        )
    grades = {query: dict.fromkeys(found, laid.scale) for query, found in packed.items()}
    return replace(laid, qrels={**laid.qrels, **grades}, strategies=strategies)


Cut = Callable[[Chunker, SourceFile], list[Chunk]]
"""How a file is cut: `chunk_file`, or a variant that skips files on which the chunker fails."""


def judge_chunker(rule: Rule, dataset: Dataset, chunker: Chunker, *, cut: Cut = chunk_file) -> Judgements:
    """Return the qrels of the dataset for this chunker; where lines decide, only annotated files are cut.

    As in an experiment, hidden lines count as blank, and texts are those that an index shows.
    """
    repositories = {repository.name: repository for repository in dataset.repositories}
    hidden = HiddenText(dataset.hidden)

    def lines() -> ChunkLines:
        files: dict[FileKey, FileLines] = {}
        chunks: list[Chunk] = []
        for repo, path in sorted({(note.repo, note.path) for note in dataset.annotations if note.grade > 0}):
            source = repositories[repo].read(path)
            if source is not None:
                files[FileKey(repo, path)] = visible_lines(hidden, source)
                chunks += cut(chunker, source)
        return ChunkLines.of(files, chunks)

    kept: dict[str, list[Text]] = {}

    def texts(query: Query) -> list[Text]:
        wanted = [query.repo] if dataset.scope == "repository" else list(repositories)
        for name in wanted:
            if name not in kept:
                kept[name] = [
                    text
                    for source in repositories[name].files()
                    for text in _shown(cut(chunker, source), source, hidden)
                ]
        return [text for name in wanted for text in kept[name]]

    return judge(rule, dataset, lines, texts=texts, mixed=True)


def _shown(chunks: Iterable[Chunk], source: SourceFile, hidden: HiddenText) -> Iterator[Text]:
    """Yield what an index shows of a file's chunks."""
    ranges = hidden.ranges(source.repo, source.path)
    lines = HiddenLines(source.data, ranges)
    for chunk in chunks:
        text = visible_text(source.data, ranges, chunk.span.start_byte, chunk.span.end_byte)
        shown = replace(chunk, text=text.decode("utf-8", "surrogateescape"), header=lines.without(chunk.header))
        yield Text(chunk.id, shown.indexed_text)


def _by_pack(
    relevant: Callable[[Query, str], bool | None], query: Query, chunks: Iterable[Text]
) -> Mapping[str, int] | None:
    """Return the chunks relevant by the dataset's own function, or None if it does not judge the query."""
    verdicts = {chunk.id: relevant(query, chunk.text) for chunk in chunks}
    if all(verdict is None for verdict in verdicts.values()):
        return None
    return {name: 1 for name, verdict in verdicts.items() if verdict}


def _by_token_f1(rule: Rule, queries: Sequence[Query], texts: TextsOf) -> Judgements:
    words: dict[str, frozenset[str]] = {}
    qrels: dict[str, dict[str, int]] = {}
    exact = 0
    for query in queries:
        if query.expected is None:
            raise UsageError(f"query {query.id!r} has no expected answer, which the rule {rule} compares chunks with")
        wanted, literal = tokens(query.expected), query.expected.lower()
        qrels[query.id] = {}
        holds = False
        for chunk in texts(query):
            if chunk.id not in words:
                words[chunk.id] = tokens(chunk.text)
            if shared_f1(wanted, words[chunk.id]) >= rule.threshold:
                qrels[query.id][chunk.id] = 1
            holds = holds or literal in chunk.text.lower()
        exact += holds
    strategies: dict[str, Strategy] = dict.fromkeys(qrels, "token-fallback")
    return Judgements(qrels, rule, 1, strategies=strategies, exact_matches=exact)
