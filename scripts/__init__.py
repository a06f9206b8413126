"""The commands: each parses its arguments, calls a library and prints."""
