"""Chunkers of other projects, each mapped to exact spans of the source."""
