"""Runs in chunkhound's own environment: one JSON object in, one out, one line each, until the input ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from chunkhound.parsers.chunk_splitter import CASTConfig
from chunkhound.parsers.parser_factory import ParserFactory


def answer(request: dict[str, Any], factories: dict[int, Any]) -> dict[str, Any]:
    """Return chunkhound's chunks of a file, each with its reported first line."""
    size, path = request["size"], Path(request["path"])
    if size not in factories:
        factories[size] = ParserFactory(CASTConfig(max_chunk_size=size))
    try:
        chunks = factories[size].create_parser_for_file(path).parse_content(request["text"], path)
    except Exception as error:  # noqa: BLE001 - any failure inside the library is its answer
        return {"error": f"{type(error).__name__}: {error}"}
    return {"chunks": [{"text": chunk.code, "line": int(chunk.start_line)} for chunk in chunks]}


def main() -> None:
    """Answer until the input ends."""
    # Output that the library prints must not mix with the answers.
    out, sys.stdout = sys.stdout, sys.stderr
    out.write("ready\n")
    out.flush()
    factories: dict[int, Any] = {}
    for line in sys.stdin:
        out.write(json.dumps(answer(json.loads(line), factories)) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
