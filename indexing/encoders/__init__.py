"""Embedders: each turns texts into unit vectors."""
