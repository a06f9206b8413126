#!/usr/bin/env bash
# Sets up .venv with the development tools if need be, then runs lint, types, imports and the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh
ready "dev"
export PATH=$PWD/.venv/bin:$PATH
ruff check .
ruff format --check --quiet .
mypy
lint-imports --no-logo
python -m pytest --quiet "$@"
