"""Queries mined from a repository without labels."""
