"""Trials of compiled tasks: threads of compiled code, which Python only watches."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from distal.base.memory import available_cores
from distal.engines.batch import Batch, named_in_errors
from distal.engines.blocks import CACHE_LINE, CUT, STEPS, TRIAL, WRONG, run_blocks
from distal.engines.engine import Progress
from distal.engines.steps.agent import Book, Plan
from distal.engines.steps.encoding import encoding_of, no_encoding
from distal.engines.steps.kernels import OUT_OF_BOUNDS, tables_for, trials_for
from distal.engines.steps.worker import Worker
from distal.tasks.compiled_task import CompiledTask, check_reward
from distal.tasks.spaces import numbers_of
from distal.tasks.table import ARRAYS, Table


def run_compiled(
    batch: Batch, plan: Plan, book: Book, workers: int | None, progress: Progress | None
) -> tuple[int, int]:
    """Run all trials of a batch in a compiled task; return the episodes that were cut off, and all steps."""
    task = cast(CompiledTask, batch.task)
    crew = [_Hand(batch, plan, book) for _ in range(_count(batch, workers))]
    kernel, announcement = trials_for(*crew[0].worker.made_of, task.compiled)
    return _run_all(batch, crew, kernel, announcement, progress)


def run_table(
    batch: Batch, table: Table, plan: Plan, book: Book, workers: int | None, progress: Progress | None
) -> int:
    """Run all trials of a batch in a table; return the number of steps."""
    crew = [_Reader(batch, table, plan, book) for _ in range(_count(batch, workers))]
    kernel, announcement = tables_for(*crew[0].worker.made_of)
    _, steps = _run_all(batch, crew, kernel, announcement, progress)
    return steps


def _count(batch: Batch, workers: int | None) -> int:
    """Return how many threads run a batch."""
    return min(workers or available_cores(), len(batch))


def _run_all(
    batch: Batch,
    crew: list[Any],
    kernel: Any,
    announcement: Any,
    progress: Progress | None,
) -> tuple[int, int]:
    """Run all trials of a batch; return the number of episodes that were cut off, and of steps."""
    stop, free = np.zeros(CACHE_LINE, np.int64), list(crew)

    def run(first: int, last: int, counter: NDArray[np.int64]) -> None:
        hand = free.pop()
        try:
            hand.run(kernel, first, last, stop, counter)
        finally:
            free.append(hand)

    def end() -> None:
        stop[0] = 1

    with event.install_listener("numba:compile", announcement):
        crew[0].run(kernel, 0, 0, stop, np.zeros(CACHE_LINE, np.int64))
    counted = run_blocks(run, len(batch), len(crew), progress, end)
    return int(counted[CUT]), int(counted[STEPS])


class _Hand:
    """What one thread works with."""

    def __init__(self, batch: Batch, plan: Plan, book: Book) -> None:
        encoding = encoding_of(batch.task.encoder)
        assert encoding is not None  # noqa: S101 - the bounds of a compiled task are floats
        self.batch, self.worker = batch, Worker(batch, plan, book, encoding)
        self.task = cast(CompiledTask, batch.task)
        self.random, self.words = np.zeros(self.task.draws), np.zeros(32, np.uint32)

    def run(self, kernel: Any, first: int, last: int, stop: NDArray[Any], counter: NDArray[Any]) -> None:
        """Run trials first … last − 1."""
        batch, worker = self.batch, self.worker
        kernel(
            worker.address, first, last, batch.learner, batch.goals, batch.seed, batch.settings.steps,
            self.random, self.words, stop, counter,
        )  # fmt: skip
        if counter[WRONG]:
            with named_in_errors(batch, int(counter[TRIAL])):
                if counter[WRONG] == OUT_OF_BOUNDS:
                    numbers_of(self.task.space, tuple(worker.agent.encoding.values.tolist()))
                check_reward(float(worker.now["ep"][0]))


class _Reader:
    """What one thread works with, in a table."""

    def __init__(self, batch: Batch, table: Table, plan: Plan, book: Book) -> None:
        self.batch, self.worker = batch, Worker(batch, plan, book, no_encoding())
        self.table = (*(getattr(table, name) for name in ARRAYS), np.int64(table.step_cost))

    def run(self, kernel: Any, first: int, last: int, stop: NDArray[Any], counter: NDArray[Any]) -> None:
        """Run trials first … last − 1."""
        batch = self.batch
        kernel(
            self.worker.address, first, last, batch.learner, batch.goals, batch.seed, batch.settings.steps,
            self.table, stop, counter,
        )  # fmt: skip
