"""The memory and the cores of the machine, and the refusal of work that does not fit.

An estimate has parts with names. The bytes below were measured on real processes, and
tests/base/test_memory.py measures again.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from distal.base.checks import InputError, counted

try:
    import resource
except ImportError:  # not on every system
    resource = None  # type: ignore[assignment]

SETTING = "DISTAL_MEMORY"
_UNLIMITED = "unlimited"
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

# Bytes.
EP = 4  # in a curve
TRIAL = 180  # its learner, goal and seed, and above all what the seed is computed from
MEASURED = 115  # the same of a trial of which the best EP alone is kept
COLUMN = 4  # of each episode: where it is recorded
JSON_VALUE = 72  # a value of a JSON file, at most: an empty object and its place in a list
LISTED = 20  # a number of a curve on its way to JSON
LISTED_LARGE = 44  # … above 256, where Python has no objects ready
_INDIVIDUAL = 730  # the learner, and its text on disk
_GENE = 58  # of an individual, what it is drawn from, and its text
_GENERATION = 24  # best, mean and worst of one run
WEIGHT = 55  # of a network that learns: its draws, its traces and its change; measured with a million inputs
AGENT = 1200  # in an environment of many, above all its generator
PIXEL = 6  # of a film
LOADING = 640 * 2**20  # of address space: Numba and LLVM, and the code that they compile
WORKER = 128 * 2**20  # a process of a local cluster, with Dask and the compiled code of an engine
STACK = 8 * 2**20  # of address space, for a thread
_STARTING = 128 * 2**20  # of address space, to start at all
_COMMANDS = ("distal", "distal.exe", "-m")  # how the command line is started


@dataclass(frozen=True)
class Estimate:
    """How many bytes some work will need, by part, and what to ask for instead if they are too many.

    `what` is the work in words, or a function that returns them.
    """

    what: str | Callable[[], str]
    parts: Mapping[str, int]
    instead: str

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(self.parts.values())

    def check(self) -> None:
        """Refuse work that does not fit in free memory."""
        free = allowed()
        if free is None or self.total <= free:
            return
        largest = max(self.parts, key=lambda part: self.parts[part])
        what = self.what if isinstance(self.what, str) else self.what()
        need = "needs" if what.startswith("1 ") else "need"
        raise InputError(
            f"{what} {need} about {size(self.total)} of memory, most of it for {largest}, "
            f"{size(free)} are free; {self.instead}, or set {SETTING}={_UNLIMITED}"
        )


def evaluation(
    trials: int, episodes: int, *, curves: int, weights: int = 0, listed: int = 0, instead: str
) -> Estimate:
    """Estimate an evaluation that keeps `curves` curves; `listed`: bytes for each number of them as JSON."""
    cells = trials * episodes
    parts = {
        "curves": (EP * curves + 1) * cells,  # and one bit of each EP, as a byte, while they are summed up
        "trials": TRIAL * trials + COLUMN * episodes,
        "weights": EP * weights * trials,
        "JSON": listed * curves * cells,
    }

    def what() -> str:
        return f"{counted(trials, 'trial')} of {counted(episodes, 'episode')}"

    return Estimate(what, parts, instead)


def evolution(
    genes: int,
    *,
    runs: int,
    population: int,
    generations: int,
    trials: int,
    fresh: int,
    episodes: int,
    kept: int = 1,
    beside: int = 0,
) -> Estimate:
    """Estimate an evolution: genes and trials of each individual, and `fresh` trials of each run's winner.

    `kept` counts the EPs that are kept of a trial, `beside` the bytes that the search of each run
    needs in addition to its individuals.
    """
    parts = {
        "individuals": ((_INDIVIDUAL + _GENE * genes) * population + beside) * runs,
        "trials": _measured(runs * max(population * trials, fresh), episodes, kept),
        "generations": _GENERATION * runs * (generations + 1),
    }
    asked = counted(runs, "run")
    if max(parts, key=lambda part: parts[part]) == "generations":
        what = f"{asked} of {counted(generations, 'generation')}"
        return Estimate(what, parts, "ask for fewer of them")
    what = f"{asked} of {counted(population, 'individual')} with {counted(trials, 'trial')} each"
    return Estimate(what, parts, "ask for fewer runs or trials, or a smaller population")


def held_out(trials: int, episodes: int, *, kept: int = 1) -> Estimate:
    """Estimate the measurement of a champion, which keeps `kept` EPs of a trial."""
    what = f"{counted(trials, 'held-out trial')} of {counted(episodes, 'episode')}"
    return Estimate(what, {"trials": _measured(trials, episodes, kept)}, "ask for fewer held-out trials")


def _measured(trials: int, episodes: int, kept: int) -> int:
    """Return the bytes of trials that are only measured."""
    return (MEASURED + 3 * EP * (kept - 1)) * trials + COLUMN * episodes


def allowed() -> int | None:
    """Return the bytes that new work may take: the setting, or free memory; None for any number."""
    said = os.environ.get(SETTING, "").strip()
    if not said:
        return free_memory()
    if said.lower() == _UNLIMITED:
        return None
    read = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(?:i?B)?", said, re.IGNORECASE | re.ASCII)
    if read is None:
        raise InputError(f"{SETTING} is {said!r}, expected {_UNLIMITED} or a size such as 512M or 8G")
    return int(float(read[1]) * _UNITS[read[2].upper()])


def check_address_space(what: str, needed: int, workers: int | None = None) -> None:
    """Refuse a thing that a limit of address space (ulimit -v) has no room for: libraries would hang.

    Each of its workers needs a stack, too; None: a worker for each core.
    """
    needed += STACK * (available_cores() if workers is None else workers)
    free = free_address_space()
    if free is not None and free < needed:
        of = "" if workers is None else f" with {counted(workers, 'worker')}"
        raise InputError(
            f"{what}{of} needs {size(needed)} of address space, its limit leaves {size(max(0, free))}; "
            "raise it with ulimit -v"
        )


def size(count: int) -> str:
    """Return a number of bytes in words."""
    unit, power = ("GiB", 30) if count >= 2**30 else ("MiB", 20)
    return f"{count / 2**power:,.1f} {unit}"


# ---------------------------------------------------------------- what the machine has


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


def available_cores() -> int:
    """Return the number of cores this process may use, asked again at every call."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
