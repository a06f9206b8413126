"""Readers: the text shown around a hit. What is searched need not be what is read."""
