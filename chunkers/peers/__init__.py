"""Third-party chunkers, each mapped to exact spans of the source."""
