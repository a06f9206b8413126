"""Embedding, indexing and searching chunks."""
