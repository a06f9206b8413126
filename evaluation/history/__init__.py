"""Nightly runs: stored as plain files, compared with an accepted one, and plotted over time."""
