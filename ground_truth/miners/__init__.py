"""Queries made from a repository that has no labels."""
