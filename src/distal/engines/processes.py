"""Processes on this machine that run trials, for what has no threads: the reference engine."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_all_start_methods, get_context

from distal.base import interrupts

WATCH = 1.0  # seconds between looks at whether the parent is still there
_pools: list[ProcessPoolExecutor] = []  # those that have not been stopped


def process_pool(workers: int) -> ProcessPoolExecutor:
    """Start processes that end with this one, however it ends. Ctrl-C is for this one alone.

    They are forked where that is possible, so that they know whatever classes a program or a
    notebook has defined.
    """
    context = get_context("fork" if "fork" in get_all_start_methods() else None)
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(os.getpid(),))
    _pools.append(pool)
    if _stop_all not in interrupts.last_acts:
        interrupts.last_acts.append(_stop_all)
    return pool


def _stop_all() -> None:
    for pool in list(_pools):
        stop(pool)


def stop(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once; what they are at is not wanted any more."""
    if pool in _pools:
        _pools.remove(pool)
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.kill()


def _begin(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts.last_acts.clear()
    _pools.clear()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)
