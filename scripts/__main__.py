"""`python -m scripts` is `chunkbench`."""

from scripts.cli import main

main()
