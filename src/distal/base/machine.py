"""The machine that does the work: its processor, its cores, its free memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

try:
    import resource
except ImportError:  # not on every system
    resource = None  # type: ignore[assignment]


_STARTING = 128 * 2**20  # bytes of address space
_COMMANDS = ("distal", "distal.exe", "-m")  # how the command line is started


def machine() -> dict[str, Any]:
    """Describe the machine and the versions that run on it."""
    import platform  # noqa: PLC0415

    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "numba", "jax")},
    }


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that are free for new work, where the system says; None if it does not.

    It is the least of what the machine has left, what the control groups of this process
    leave it (containers, batch systems), and its limit of address space (ulimit -v).
    """
    known = [*_available(root), *_left_by_groups(root), *_left_address_space(root)]
    return max(0, min(known)) if known else None


def free_address_space(root: Path = Path("/")) -> int | None:
    """Return the bytes of address space that a limit (ulimit -v) leaves this process; None without one."""
    return next(iter(_left_address_space(root)), None)


def check_start() -> None:
    """Refuse a limit of address space in which NumPy would hang or abort; at the command line, in one line.

    Each thread of NumPy's linear algebra takes 40 MiB of it, and none of them has work here.
    """
    free = free_address_space()
    if free is None:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if free < _STARTING:
        refusal = (
            f"distal needs {_STARTING >> 20} MiB of address space to start, its limit leaves "
            f"{max(0, free) >> 20} MiB; raise it with ulimit -v"
        )
        if Path(sys.argv[0]).name in _COMMANDS:
            sys.stderr.write(f"distal: error: {refusal}\n")
            sys.exit(2)
        raise MemoryError(refusal)


def _available(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield 1024 * int(line.split()[1])


def _left_by_groups(root: Path) -> Iterator[int]:
    """Yield the bytes that each control group above this process leaves it; cached files make room."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, name = line.split(":", 2)
        if controllers == "":  # version 2
            mount, limit, use, files = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            mount, limit = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
            use, files = "memory.usage_in_bytes", "total_inactive_file"
        else:
            continue
        group = PurePosixPath(name.lstrip("/"))
        for level in (group, *group.parents):  # in a container the names outside may not be there
            folder = root / mount / level
            most, used = (_number(folder / file) for file in (limit, use))
            if most is not None and used is not None:
                cached = [
                    int(line.split()[1]) for line in _lines(folder / "memory.stat") if line.startswith(files)
                ]
                yield most - used + sum(cached[:1])


def _left_address_space(root: Path) -> Iterator[int]:
    if resource is None:
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = next(iter(_lines(root / "proc/self/statm")), None)
    if most != resource.RLIM_INFINITY and pages is not None:
        yield most - int(pages.split()[0]) * resource.getpagesize()


def _number(path: Path) -> int | None:
    """Return the number in a file; None if there is none, as where a limit is "max"."""
    text = "".join(_lines(path))
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    """Return the lines of a file of the system, none if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def available_cores() -> int:
    """Return the number of cores this process may use, asked again at every call."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    import platform  # noqa: PLC0415

    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _version(package: str) -> str | None:
    from importlib import metadata  # noqa: PLC0415

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
