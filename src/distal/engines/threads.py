"""Threads of the host for engines whose work releases Python's lock."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue


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
