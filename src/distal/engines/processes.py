"""Processes on this machine that run trials, where Python takes the steps and holds its lock."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_all_start_methods, get_context
from typing import Any

from distal.base import ctrl_c
from distal.base.memory import available_cores
from distal.engines.batch import Batch
from distal.tasks.gym import EnvTask

_WORTH = 2.0  # seconds of an environment's own steps that are worth the start of processes
_WATCH = 1.0  # seconds between looks at whether the parent is still there
_CLOSING = 2.0  # seconds at most
_pools: list[ProcessPoolExecutor] = []  # those that have not been stopped


def processes_for(batch: Batch, workers: int | None, worth: int) -> int:
    """Return how many processes should run a batch: by default one per core, where that is worth it.

    `worth` is how many steps are worth the start of processes, unless those of an environment take long.
    """
    work = len(batch) * batch.episodes * batch.settings.steps
    slow = isinstance(batch.task, EnvTask) and work * batch.task.step_seconds > _WORTH
    if workers is None and ((work < worth and not slow) or len(batch) == 1 or not _travels(batch)):
        return 1
    return min(workers or available_cores(), len(batch))


def _travels(batch: Batch) -> bool:
    """Whether a batch can be sent to another process; a function of a notebook cannot."""
    try:
        pickle.dumps((batch.task, batch.learners))
    except Exception:  # what cannot be pickled raises anything
        return False
    return True


def process_pool(workers: int) -> ProcessPoolExecutor:
    """Start processes that end with this one, however it ends. Ctrl-C is for this one alone.

    They are forked where that is possible, so that they know whatever classes a program or a
    notebook has defined.
    """
    context = get_context("fork" if "fork" in get_all_start_methods() else None)
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(os.getpid(),))
    _pools.append(pool)
    if _stop_all not in ctrl_c.last_acts:
        ctrl_c.last_acts.append(_stop_all)
    with _no_interrupt(), warnings.catch_warnings():
        # From Python 3.12 on, of forks beside threads, as engine cpu has them. No thread that a
        # process needs stays behind: the reference engine has none.
        warnings.simplefilter("ignore", DeprecationWarning)
        pool.submit(int)  # starts them all
    return pool


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep Ctrl-C waiting: one that has just been forked would take it for its own."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop_all() -> None:
    for pool in list(_pools):
        stop(pool)


def stop(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once; what they are at is not wanted any more."""
    if pool in _pools:
        _pools.remove(pool)
    processes = list((pool._processes or {}).values())
    manager: Any = pool._executor_manager_thread
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.kill()
    if manager is not None and manager is not threading.current_thread():
        # It closes the pool's pipes, and Python's own end writes to them if it comes in between.
        manager.join(_CLOSING)


def _begin(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for name in ("stdout", "stderr"):
        if type(getattr(sys, name)).__module__.startswith("rich."):  # the parent shows its progress there
            setattr(sys, name, getattr(sys, f"__{name}__"))
    ctrl_c.last_acts.clear()
    _pools.clear()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)
