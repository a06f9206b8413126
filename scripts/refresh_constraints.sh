#!/usr/bin/env bash
# Writes scripts/constraints.txt: the newest versions that pyproject.toml allows, all extras included.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet ".[dev,peers,ray,onnx]"
{
    printf '# Exact versions, so that the default numbers are the same on every machine.\n'
    printf '# Made by: bash scripts/refresh_constraints.sh\n'
    "$folder/venv/bin/python" -m pip freeze --exclude chunkbench --all |
        grep -v -E '^(pip|setuptools|wheel)==' | sed -E 's/^([A-Za-z0-9._-]+==[^+]+)\+.*$/\1/'
} >"$folder/constraints.txt"
mv "$folder/constraints.txt" scripts/constraints.txt
