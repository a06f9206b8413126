"""The stages of a cell: chunk, retrieve, score. Each checks the store first and leaves its result there."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from chunkers.errors import UsageError
from evaluation.experiment.block_cuts import BlockCuts
from evaluation.experiment.blocks import COUNTED_SOURCE, KNOWN_SOURCE, ROWS, ROWS_HERE, Division, even_blocks, is_little
from evaluation.experiment.chunk_table import (
    ChunkPart,
    ChunkTable,
    ChunkTexts,
    join_parts,
    load_chunks,
    save_chunks,
)
from evaluation.experiment.file_chunks import cut_file
from evaluation.experiment.file_tokens import TokenCounter
from evaluation.experiment.keys import part_key
from evaluation.experiment.levels import Levels, chunk_levels, load_levels, save_levels
from evaluation.experiment.part_search import PartWords, Search, search_part
from evaluation.experiment.scoring import Scored, Scoring, load_scored, save_scored, score_ranking
from evaluation.experiment.search_cost import MOST_SECONDS
from evaluation.experiment.searched_part import SearchedPart, load_part, save_part
from evaluation.experiment.searching import Retrieved, join_searched, load_retrieved, save_retrieved
from evaluation.experiment.session import Session
from evaluation.experiment.space_words import SpaceWords, join_words, load_words, save_words
from evaluation.experiment.store import StageKey, Store
from evaluation.experiment.visible_chunks import SpacePart, space_parts
from evaluation.types import CellKey
from indexing.frequencies import Frequencies
from indexing.types import Vectors

T = TypeVar("T")
_PARTS, _SMALLEST_PART, _LARGEST_PART = 64, 512, 16_384
_FEW_ROWS = 16 * ROWS_HERE.largest
"""Chunks that one process searches by words in a few seconds."""


def chunk(session: Session, dataset: str, chunker: str) -> ChunkTable:
    """Return the chunk table: recently used, from the store, or built now."""
    key = session.chunk_key(dataset, chunker)

    def make() -> ChunkTable:
        return join_blocks(
            [chunk_block(session, block)[chunker] for block in chunk_blocks(session, dataset, (chunker,))]
        )

    kept = session.kept_table(key)
    if kept is not None:
        return kept
    return session.keep_table(key, _stored(session.store, key, make=make, save=save_chunks, load=load_chunks))


class ChunkBlock(NamedTuple):
    """Files of a dataset that one task cuts with several chunkers."""

    dataset: str
    chunkers: tuple[str, ...]
    files: range
    """In corpus order."""


def chunk_blocks(
    session: Session, dataset: str, chunkers: tuple[str, ...], *, little: bool = False
) -> list[ChunkBlock]:
    """Return the work of chunking a dataset, in blocks of about equal size; fewer if there is ``little`` to cut."""
    sizes = [known.size for known in session.dataset(dataset).files]
    blocks = even_blocks(sizes, KNOWN_SOURCE if little else None)
    return [ChunkBlock(dataset, chunkers, files) for files in blocks]


def little_to_cut(session: Session, dataset: str, chunkers: Sequence[str]) -> bool:
    """Return whether all but a few files of a dataset were cut before, by each of these chunkers."""
    names = [known.key for known in session.dataset(dataset).files]
    fewest = min(int(session.file_chunks(spec).holds(names).sum()) for spec in chunkers)
    return is_little(len(names) - fewest, len(names))


def chunk_block(session: Session, block: ChunkBlock) -> dict[str, ChunkPart | str]:
    """Return chunker → the chunks of these files, or the user error; new chunks are cached per file."""
    loaded = session.dataset(block.dataset)
    files = loaded.files[block.files.start : block.files.stop]
    cuts = {spec: BlockCuts(session.file_chunks(spec), files) for spec in block.chunkers}
    places = sorted(set().union(*(each.unfinished for each in cuts.values())))
    new = [files[place] for place in places]
    counter = TokenCounter(session.file_tokens(), [known.key for known in new])
    broken: dict[str, str] = {}
    for place, source in zip(places, loaded.sources(new), strict=True):
        missing = {
            spec: session.chunker(spec) for spec, each in cuts.items() if each.lacks_cut(place) and spec not in broken
        }
        tokens = functools.cache(functools.partial(counter.count, files[place].key, source))
        for spec, cut in cut_file(source, missing, tokens):
            if isinstance(cut, UsageError):
                broken[spec] = str(cut)
            else:
                cuts[spec].add(place, cut)
        for each in cuts.values():
            each.add_ids(place, source)
    counter.save()
    for each in cuts.values():
        each.save()
    return {spec: broken.get(spec) or each.part() for spec, each in cuts.items()}


def join_blocks(parts: Sequence[ChunkPart | str]) -> ChunkTable:
    """Return the table of all blocks in order; raise user errors."""
    for part in parts:
        if isinstance(part, str):
            raise UsageError(part)
    return join_parts([part for part in parts if not isinstance(part, str)])


def save_table(session: Session, dataset: str, chunker: str, table: ChunkTable) -> None:
    """Store a chunk table that was built in blocks."""
    key = session.chunk_key(dataset, chunker)
    session.store.put(key, lambda folder: save_chunks(table, folder))
    session.keep_table(key, table)


class EmbeddingPart(NamedTuple):
    """Texts embedded by one task: some chunks of a dataset, or its queries."""

    corpus: tuple[str, str, str]
    """Dataset, chunker, embedder."""
    rows: range | None
    """Rows of the chunk table; None for the queries."""
    texts: int


def embedding_parts(session: Session, dataset: str, chunker: str, embedder: str) -> list[EmbeddingPart]:
    """Return the work of embedding a corpus, in parts small enough to show progress and to spread over machines."""
    corpus = (dataset, chunker, embedder)
    chunks = len(chunk(session, dataset, chunker))
    # Each part queries the cache once, which scans the whole cache: parts grow with the corpus, up to a bound.
    size = min(max(chunks // _PARTS, _SMALLEST_PART), _LARGEST_PART)
    parts = [
        EmbeddingPart(corpus, range(start, stop), stop - start)
        for start in range(0, chunks, size)
        for stop in [min(start + size, chunks)]
    ]
    return [EmbeddingPart(corpus, None, len(session.dataset(dataset).dataset.queries)), *parts]


def embed(session: Session, part: EmbeddingPart) -> float:
    """Put the vectors of these texts into the embedding cache and return the seconds it took."""
    dataset, chunker, embedder = part.corpus
    loaded, encoder = session.dataset(dataset), session.encoder(embedder)
    started = time.perf_counter()
    if part.rows is None:
        session.embeddings.embed(encoder, [query.text for query in loaded.dataset.queries], kind="query")
    else:
        texts = ChunkTexts(chunk(session, dataset, chunker), part.rows, loaded)
        session.embeddings.embed(encoder, texts, kind="document")
    return time.perf_counter() - started


class WordBlock(NamedTuple):
    """Files of a dataset whose words one task counts, as one chunker cuts them."""

    dataset: str
    chunker: str
    files: range


def word_blocks(session: Session, dataset: str, chunker: str) -> list[WordBlock]:
    """Return the work of counting the words of a corpus, in blocks of about equal size."""
    sizes = [known.size for known in session.dataset(dataset).files]
    return [WordBlock(dataset, chunker, files) for files in even_blocks(sizes, COUNTED_SOURCE)]


def count_block(session: Session, block: WordBlock) -> dict[str, Frequencies]:
    """Return search space → how often these files contain its query words; new counts are cached per file."""
    loaded, chunks = session.dataset(block.dataset), chunk(session, block.dataset, block.chunker)
    asked = session.query_words(block.dataset)
    return {
        part.space: session.file_words.counted(loaded, chunks, part, asked[part.space]).asked.frequencies
        for part in space_parts(loaded, chunks, block.files)
        if part.space in asked
    }


def words(session: Session, dataset: str, chunker: str) -> Mapping[str, SpaceWords]:
    """Return the word statistics of each search space."""

    def make() -> Mapping[str, SpaceWords]:
        # The blocks that this process will search, so that their words are in memory by then.
        blocks = (WordBlock(dataset, chunker, files) for files in row_blocks(session, dataset, chunker, ROWS_HERE))
        counted = [count_block(session, block) for block in blocks]
        session.file_words.packs.merge()
        return join_words(counted, session.query_words(dataset))

    key = session.words_key(dataset, chunker)
    return _stored(session.store, key, make=make, save=save_words, load=load_words)


def save_counted(session: Session, dataset: str, chunker: str, counted: Sequence[Mapping[str, Frequencies]]) -> None:
    """Store the frequencies of a corpus that was counted in blocks."""
    made = join_words(counted, session.query_words(dataset))
    session.store.put(session.words_key(dataset, chunker), lambda folder: save_words(made, folder))


def reads_words(session: Session, cell: CellKey) -> bool:
    """Return whether a cell's search needs the words of its chunks."""
    return _search(session, cell).reads("words")


class SearchBlock(NamedTuple):
    """Files that one task searches for a cell."""

    cell: CellKey
    files: range
    of: int
    """Number of blocks of the cell."""


def search_blocks(session: Session, cell: CellKey, *, here: bool = False) -> list[SearchBlock]:
    """Return the work of searching a cell, in blocks of about equal size; one if the retriever cannot be split.

    Blocks that this process searches itself, ``here``, are larger.
    """
    if _search(session, cell).searches:
        blocks = row_blocks(session, cell.dataset, cell.chunker, ROWS_HERE if here else ROWS)
    else:
        blocks = [range(len(chunk(session, cell.dataset, cell.chunker).files))]
    return [SearchBlock(cell, files, len(blocks)) for files in blocks]


def little_to_search(session: Session, cell: CellKey) -> bool:
    """Return whether a cell has few chunks, and the words of all but a few files were counted before."""
    loaded, chunks = session.dataset(cell.dataset), chunk(session, cell.dataset, cell.chunker)
    if len(chunks) > _FEW_ROWS or session.retriever(cell.retriever).uses_vectors:
        return False
    parts = space_parts(loaded, chunks, range(len(chunks.files)))
    new = sum(session.file_words.uncounted(loaded, chunks, part) for part in parts)
    return is_little(new, sum(known.size for known in loaded.files))


def row_blocks(session: Session, dataset: str, chunker: str, division: Division) -> list[range]:
    """Return the files of a corpus in blocks of about equal numbers of chunks."""
    chunks = chunk(session, dataset, chunker)
    rows = np.bincount(chunks.columns["file"], minlength=len(chunks.files)).tolist()
    return even_blocks(rows, division) if rows else [range(0)]


def search_block(session: Session, block: SearchBlock) -> SearchedPart:
    """Return the results in these files; one of several blocks is stored until they are joined."""
    cell = block.cell
    loaded, chunks = session.dataset(cell.dataset), chunk(session, cell.dataset, cell.chunker)

    def part_words(part: SpacePart) -> PartWords:
        known = words(session, cell.dataset, cell.chunker)[part.space].frequencies
        session.file_words.packs.reopen()  # others may have counted them
        return PartWords(session.file_words.counted(loaded, chunks, part, known.words), known)

    def make() -> SearchedPart:
        parts = space_parts(loaded, chunks, block.files)
        most = MOST_SECONDS / block.of
        return search_part(_search(session, cell), loaded, chunks, parts, words=part_words, most_seconds=most)

    if block.of == 1:
        return make()
    key = part_key(session.retrieve_key(cell), block.files)
    made = _stored(session.store, key, make=make, save=save_part, load=load_part, lasting=False)
    # Results stay on disk, so that all parts together take no memory.
    return session.store.get(key, load_part) or made


def retrieve(session: Session, cell: CellKey, *, blocks: Sequence[SearchBlock] = ()) -> Retrieved:
    """Return every query's ranking; ``blocks`` are those in which a run has already searched the cell."""
    key = session.retrieve_key(cell)
    found = session.store.get(key, load_retrieved)
    if found is not None:
        return found
    how = _search(session, cell)
    loaded, chunks = session.dataset(cell.dataset), chunk(session, cell.dataset, cell.chunker)
    known = words(session, cell.dataset, cell.chunker) if how.reads("words") else {}
    sizes = {space: each.nbytes for space, each in known.items()}
    blocks = blocks or search_blocks(session, cell, here=True)
    made = join_searched(how, loaded, chunks, [search_block(session, block) for block in blocks], words=sizes)
    session.store.put(key, lambda folder: save_retrieved(made, folder))
    for block in blocks:
        session.store.drop(part_key(key, block.files))  # the results of the parts are in the whole now
    return made


def _search(session: Session, cell: CellKey) -> Search:
    return Search(
        retriever=session.retriever(cell.retriever),
        encoder=session.encoder(cell.embedder),
        embeddings=session.embeddings,
        depth=session.config.depth,
        budgets=session.budgets_read,
    )


class CellScores(NamedTuple):
    """A cell's scores, and the seconds of each stage when it was computed."""

    scored: Scored
    seconds: Mapping[str, float]


def score(session: Session, cell: CellKey, *, embedded: float = 0.0, blocks: Sequence[SearchBlock] = ()) -> CellScores:
    """Return the per-query scores and the facts beside them.

    ``embedded`` are the seconds spent on embedding before, ``blocks`` those in which the cell was searched.
    """

    def make() -> CellScores:
        chunks = chunk(session, cell.dataset, cell.chunker)
        retrieved = retrieve(session, cell, blocks=blocks)
        started = time.perf_counter()
        scored = score_ranking(
            _scoring(session, cell.embedder), session.dataset(cell.dataset), chunks, retrieved.ranking
        )
        seconds = {"chunk": chunks.seconds, **retrieved.seconds, "score": time.perf_counter() - started}
        seconds["embed"] += embedded
        return CellScores(scored, seconds)

    return _stored(session.store, session.score_key(cell), make=make, save=_save_scores, load=_load_scores)


def levels(session: Session, dataset: str, chunker: str) -> Levels:
    """Return the chance and ceiling levels of these chunks, whatever searches them."""

    def make() -> Levels:
        how = _scoring(session, session.config.embedders[0])
        chunks = chunk(session, dataset, chunker)
        return chunk_levels(how, session.dataset(dataset), chunks, weight=session.config.weight)

    key = session.levels_key(dataset, chunker)
    return _stored(session.store, key, make=make, save=save_levels, load=load_levels)


def _scoring(session: Session, embedder: str) -> Scoring:
    encoder = session.encoder(embedder)

    def embed_documents(texts: Sequence[str]) -> Vectors:
        return session.embeddings.embed(encoder, texts, kind="document")

    config = session.config
    return Scoring(
        measures=session.measures,
        rule=session.rule,
        insist=config.insist,
        budgets=config.budgets,
        depth=config.depth,
        embed=embed_documents,
    )


def _save_scores(made: CellScores, folder: Path) -> None:
    save_scored(made.scored, folder)
    (folder / "seconds.json").write_text(json.dumps(dict(made.seconds), indent=1), "utf-8")


def _load_scores(folder: Path) -> CellScores:
    return CellScores(load_scored(folder), json.loads((folder / "seconds.json").read_text("utf-8")))


def _stored(
    store: Store,
    key: StageKey,
    *,
    make: Callable[[], T],
    save: Callable[[T, Path], None],
    load: Callable[[Path], T],
    lasting: bool = True,
) -> T:
    found = store.get(key, load)
    if found is not None:
        return found
    made = make()
    store.put(key, lambda folder: save(made, folder), lasting=lasting)
    return made
