"""Code search tools that are asked every query: the user's own commands and functions, and ready ones."""
