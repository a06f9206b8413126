"""Every reader: one line each."""

from chunkers.plugins import Entry, Registry
from indexing.readers.types import Reader

READERS: Registry[Reader] = Registry(
    kind="reader",
    group="chunkbench.readers",
    members=("version", "read"),
    builtin={
        "chunk": Entry("indexing.readers.chunk:ChunkReader", "the hit itself: the default"),
        "neighbours": Entry("indexing.readers.neighbours:NeighbourReader", "the hit and n chunks before and after it"),
        "lines": Entry("indexing.readers.lines:LineReader", "the hit and n lines above and below it"),
        "definition": Entry("indexing.readers.definition:DefinitionReader", "the definition that holds the hit"),
        "merge": Entry("indexing.readers.merge:MergeReader", "hits that touch as one; definitions mostly found"),
        "file": Entry("indexing.readers.file:FileReader", "the whole file of the hit"),
    },
)
