"""Nightly runs: kept as plain files, compared with an accepted one, and drawn over time."""
