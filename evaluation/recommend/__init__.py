"""Which chunker and size for this code: a race of candidates, and what is risked by taking the one it recommends."""
