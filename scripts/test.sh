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
# One test process per core, with one thread each; at most four, since each may hold a model and a browser in memory.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
python -m pytest --quiet --numprocesses auto --maxprocesses 4 --dist worksteal "$@"
