"""Published tables, computed by the ordinary pipeline."""
