"""Code search tools that are given every query: the user's own commands and functions, and built-in ones."""
