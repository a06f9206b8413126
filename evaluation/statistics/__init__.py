"""Tests and intervals over per-query scores."""
