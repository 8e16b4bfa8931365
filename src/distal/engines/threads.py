"""Threads of the host, for engines whose work releases Python's lock: jobs, and blocks of trials."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray

from distal.base.progress import tell
from distal.engines.engine import Progress

CACHE_LINE = 16  # integers: what threads write to often lies this far apart, or they slow each other down
EPISODES, TRIAL, STEPS, CUT, WRONG = range(5)  # what kernels count, and which trial they are at
_POLL = 0.05  # seconds between looks at progress and at Ctrl-C


def run_in_threads(
    jobs: Iterable[Callable[[], None]],
    threads: int,
    *,
    watch: Callable[[], None],
    stop: Callable[[], None],
    poll: float,
) -> None:
    """Do all jobs in a number of threads, which take one job after another; raise what any of them raises.

    Ctrl-C must neither hang nor lose anything. The locks of `threading` and `concurrent.futures` can
    stay locked if it comes between two of their lines, and whoever wants them next waits for ever; so
    nothing here has a lock but queues, whose are not Python's.

    `watch` is called in this thread, every `poll` seconds at the latest. When a job, `watch` or Ctrl-C raises
    something, `stop` has to make jobs end soon; it is raised when all threads have ended.
    """
    todo: SimpleQueue[Callable[[], None]] = SimpleQueue()
    for job in jobs:
        todo.put(job)
    ended: list[BaseException | None] = []  # for each thread that has ended, what it ended with
    woken: SimpleQueue[None] = SimpleQueue()

    def work() -> None:
        problem: BaseException | None = None
        try:
            with suppress(Empty):
                while True:
                    todo.get_nowait()()
        except BaseException as error:
            problem = error
        ended.append(problem)
        woken.put(None)

    def wait() -> None:
        with suppress(Empty):
            woken.get(timeout=poll)

    started = 0
    try:
        for _ in range(threads):
            start_new_thread(work, ())
            started += 1
        while len(ended) < started:
            wait()
            watch()
            for problem in ended:
                if problem is not None:
                    raise problem
    except BaseException:
        stop()
        with suppress(Empty):
            while True:
                todo.get_nowait()
        while len(ended) < started:
            wait()
        raise


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
