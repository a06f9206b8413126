"""Queries and what answers them."""
