"""The machine on which times were measured."""

from __future__ import annotations

import functools
import os
import platform
from pathlib import Path


@functools.cache
def machine() -> str:
    """Return the processor's name and the number of cores that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{_processor()}, {usable} {'core' if usable == 1 else 'cores'}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        lines = []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return " ".join(named.split()) or platform.processor() or platform.machine()
