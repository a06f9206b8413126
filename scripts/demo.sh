#!/usr/bin/env bash
# Sets up .venv if need be, then compares the default chunkers on the embedded dataset.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh
ready ""
exec .venv/bin/chunkbench compare --out results/demo "$@"
