"""Splitting source files into chunks."""
