"""Blocks of trials, which threads of compiled code take one after another, and what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from distal.base.progress import tell
from distal.engines.engine import Progress
from distal.engines.threads import run_in_threads

CACHE_LINE = 16  # integers: what threads write to often lies this far apart, or they slow each other down
EPISODES, TRIAL, STEPS, CUT, WRONG = range(5)  # what kernels count, and which trial they are at
_POLL = 0.05  # seconds between looks at progress and at Ctrl-C


def shares(trials: int, workers: int) -> Iterator[tuple[int, int]]:
    """Divide trials into blocks (first, last + 1).

    Large ones come first, to cost little, small ones last, so that all workers end together.
    """
    first = 0
    while first < trials:
        last = first + -(-(trials - first) // (2 * workers))
        yield first, last
        first = last


def run_blocks(
    run: Callable[[int, int, NDArray[np.int64]], None],
    trials: int,
    workers: int,
    progress: Progress | None,
    end: Callable[[], None],
) -> NDArray[np.int64]:
    """Run all trials; return what was counted in all blocks.

    `run` takes the first trial of a block, the last + 1, and a counter; `end` makes it return soon.
    """
    blocks = list(shares(trials, workers))
    counters = np.zeros((len(blocks), CACHE_LINE), np.int64)
    told = np.zeros(2, np.int64)

    def report() -> None:
        nonlocal told
        total = counters[:, [EPISODES, STEPS]].sum(axis=0)
        if total[0] > told[0]:
            tell(progress, *(total - told).tolist())
            told = total

    jobs = [partial(run, *block, counter) for block, counter in zip(blocks, counters, strict=True)]
    run_in_threads(jobs, workers, watch=report, stop=end, poll=_POLL)
    report()
    counted: NDArray[np.int64] = counters.sum(axis=0)
    return counted
