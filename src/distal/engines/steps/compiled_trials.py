"""Trials of compiled tasks and of tables: threads of compiled code, which Python only watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from distal.base.memory import available_cores
from distal.engines.batch import Batch, named_in_errors
from distal.engines.engine import Progress
from distal.engines.steps.compiled_agent import Book, Plan
from distal.engines.steps.encoding import encoding_of, no_encoding
from distal.engines.steps.kernels import OUT_OF_BOUNDS, tables_for, trials_for
from distal.engines.steps.worker import Worker
from distal.engines.threads import CACHE_LINE, CUT, STEPS, TRIAL, WRONG, run_blocks
from distal.tasks.compiled_task import CompiledTask, check_reward
from distal.tasks.spaces import numbers_of
from distal.tasks.table import ARRAYS, Table

# Runs trials first … last − 1 with a worker, until it is told to stop, and counts.
Run = Callable[[Worker, int, int, NDArray[Any], NDArray[Any]], None]


def run_compiled(
    batch: Batch, plan: Plan, book: Book, workers: int | None, progress: Progress | None
) -> tuple[int, int]:
    """Run all trials of a batch in a compiled task; return the episodes that were cut off, and all steps."""
    task = cast(CompiledTask, batch.task)
    encodings = [encoding_of(task.encoder) for _ in range(_count(batch, workers))]
    # The bounds of a compiled task are floats, so that there is an encoding.
    crew = [Worker(batch, plan, book, one) for one in encodings if one is not None]
    kernel, announcement = trials_for(*crew[0].made_of, task.compiled)

    def run(worker: Worker, first: int, last: int, stop: NDArray[Any], counter: NDArray[Any]) -> None:
        kernel(
            worker.address, first, last, batch.learner, batch.goals, batch.seed, batch.settings.steps,
            np.zeros(task.draws), np.zeros(32, np.uint32), stop, counter,
        )  # fmt: skip
        if counter[WRONG]:
            with named_in_errors(batch, int(counter[TRIAL])):
                if counter[WRONG] == OUT_OF_BOUNDS:
                    numbers_of(task.space, tuple(worker.agent.encoding.values.tolist()))
                check_reward(float(worker.now["ep"][0]))

    return _run_all(batch, crew, run, announcement, progress)


def run_table(
    batch: Batch, table: Table, plan: Plan, book: Book, workers: int | None, progress: Progress | None
) -> int:
    """Run all trials of a batch in a table; return the number of steps."""
    crew = [Worker(batch, plan, book, no_encoding()) for _ in range(_count(batch, workers))]
    kernel, announcement = tables_for(*crew[0].made_of)
    arrays = (*(getattr(table, name) for name in ARRAYS), np.int64(table.step_cost))

    def run(worker: Worker, first: int, last: int, stop: NDArray[Any], counter: NDArray[Any]) -> None:
        kernel(
            worker.address, first, last, batch.learner, batch.goals, batch.seed, batch.settings.steps, arrays,
            stop, counter,
        )  # fmt: skip

    _, steps = _run_all(batch, crew, run, announcement, progress)
    return steps


def _count(batch: Batch, workers: int | None) -> int:
    """Return how many threads run a batch."""
    return min(workers or available_cores(), len(batch))


def _run_all(
    batch: Batch, crew: list[Worker], run: Run, announcement: Any, progress: Progress | None
) -> tuple[int, int]:
    """Run all trials of a batch, a worker in each thread; return the episodes cut off, and all steps."""
    stop, free = np.zeros(CACHE_LINE, np.int64), list(crew)

    def run_block(first: int, last: int, counter: NDArray[np.int64]) -> None:
        worker = free.pop()
        try:
            run(worker, first, last, stop, counter)
        finally:
            free.append(worker)

    def end() -> None:
        stop[0] = 1

    with event.install_listener("numba:compile", announcement):
        run(crew[0], 0, 0, stop, np.zeros(CACHE_LINE, np.int64))
    counted = run_blocks(run_block, len(batch), len(crew), progress, end)
    return int(counted[CUT]), int(counted[STEPS])
