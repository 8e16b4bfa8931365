"""Where the cpu engine's compiled code is kept: a folder for these very sources and compilers.

Numba looks at the file of a kernel alone to see whether what it kept is still right. But
a kernel is also made of the functions and constants that it takes from other files, so
the name of the folder is a checksum of them all.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import llvmlite
import numba
import numpy as np

_log = logging.getLogger("distal")

PACKAGE = Path(__file__).parents[2]
# What the kernels are compiled from.
SOURCES = (
    "engines/cpu/kernels.py",
    "engines/cpu/lanes.py",
    "tasks/tables.py",
    "model/draws.py",
    "model/network.py",
)
KEPT = 8  # folders of other sources or compilers that stay, the youngest


def fingerprint() -> str:
    """Return a checksum of all that compiled code depends on, but for the processor, which Numba looks at."""
    digest = hashlib.sha256()
    for source in SOURCES:
        digest.update((PACKAGE / source).read_bytes())
    for module in (numba, llvmlite, np):
        digest.update(f"{module.__name__} {module.__version__}\n".encode())
    return digest.hexdigest()[:20]


def folder() -> Path | None:
    """Return the folder for compiled code, made if need be; None if there is nowhere to write."""
    home = os.environ.get("NUMBA_CACHE_DIR")
    try:
        base = Path(home) if home else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        ours = base / "distal" / f"cpu-{fingerprint()}"
        if not ours.is_dir():
            ours.mkdir(parents=True, exist_ok=True)
            _forget(ours)
    except (OSError, RuntimeError):  # no home, or no right to write there
        return None
    return ours if os.access(ours, os.W_OK) else None


@contextmanager
def kept() -> Iterator[bool]:
    """Let functions that are declared meanwhile be kept in our folder; yields whether there is one."""
    ours = folder()
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(ours or "")
    try:
        yield ours is not None
    finally:
        numba.config.CACHE_DIR = before
    if ours is None:
        _log.warning("no folder can be written to: the cpu engine is compiled again in every run")


def _forget(ours: Path) -> None:
    """Remove the oldest folders of other sources or compilers."""
    others = [path for path in ours.parent.glob("cpu-*") if path != ours]
    with suppress(OSError):
        for old in sorted(others, key=lambda path: -path.stat().st_mtime)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
