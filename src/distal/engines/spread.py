"""Trials spread over the workers of an executor.

The executor is anything that follows `concurrent.futures.Executor`: a process pool,
`mpi4py.futures`, Dask's. A task is a block of trials. Results depend on the trials
alone, so neither the number of workers nor the order or the repetition of tasks
changes a byte.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base.checks import InputError, shown
from distal.base.plugins import Carried
from distal.base.progress import tell
from distal.engines.batch import Batch, Trials
from distal.engines.engine import Asked, Engine, load

TASK = 1.0  # seconds that a task should take: much longer than handing it over
SHORTEST = 0.1
_AHEAD = 2  # tasks for each worker that are handed over, the one it runs included
_LAST_SHARE = 2  # a task is at most one part in this many of what a worker still has to do
_WORKERS = 8  # where an executor does not say how many it has
_CANCELLING = 2.0  # seconds at most
_POLL = 0.2  # seconds between looks at the executor's health


class WorkError(RuntimeError):
    """Work failed for reasons outside the request: a lost cluster, a crashed worker."""


class WrongVersion(Exception):  # noqa: N818 - it travels from a worker and is told by name
    """A worker has another version of Distal."""


@dataclass(frozen=True, eq=False)
class _Block:
    """What a worker sends back."""

    trials: Trials
    seconds: float  # of computing


def run_block(
    _carried: Carried | None, batch: Batch, engine: str, keep_weights: bool, keep_ep: bool, version: str
) -> _Block:
    """Run a block of trials; this is what workers execute, once they have the modules it needs."""
    if version != __version__:
        raise WrongVersion(f"a worker has Distal {__version__}, this is {version}")
    began = time.perf_counter()
    trials = load(engine).run(batch, keep_weights=keep_weights, keep_ep=keep_ep, workers=1, progress=None)
    return _Block(trials, time.perf_counter() - began)


class Spread(Engine):
    """An engine that lets the workers of an executor run another engine."""

    def __init__(self, executor: Executor, engine: str | Engine) -> None:
        for needed in ("submit", "shutdown"):
            if isinstance(executor, type) or not callable(getattr(executor, needed, None)):
                raise InputError(
                    f"executor is {shown(executor)}, expected one that follows concurrent.futures.Executor"
                )
        self.executor, self.engine = executor, engine if isinstance(engine, Engine) else load(engine)
        self.paces: dict[tuple[object, ...], float] = {}  # episodes a second of one worker, by kind of work
        self.tasks, self.computed = 0, 0.0  # so far: how many, and their seconds on the workers

    @property
    def workers(self) -> int:
        """The number of workers, if the executor reports it."""
        own = getattr(self.executor, "workers", None)
        if own is None:
            own = getattr(self.executor, "_max_workers", None)
        return max(1, own) if isinstance(own, int) else _WORKERS

    def supports(self, batch: Batch) -> str | None:
        """Return why the workers' engine cannot run a batch; None if it can."""
        return self.engine.supports(batch)

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch on the executor's workers.

        The requested number of workers counts if the executor does not report its own. Raises a
        WorkError if a task fails, or the executor takes no more work.
        """
        keep_weights, keep_ep, workers, progress = asked
        kind = (batch.kind, batch.settings)
        pace = self.paces.get(kind, self.engine.pace * 100 / batch.settings.steps)
        wholes: list[NDArray[Any] | None] = []
        cut, steps = 0, 0
        waiting: dict[Future[_Block], tuple[int, int]] = {}
        first = 0
        try:
            while first < len(batch) or waiting:
                count = workers or self.workers
                while first < len(batch) and len(waiting) < _AHEAD * count:
                    left = (len(batch) - first) * batch.episodes / pace / count  # seconds, for each worker
                    seconds = max(SHORTEST, min(TASK, left / _LAST_SHARE))
                    last = min(len(batch), first + max(1, round(seconds * pace / batch.episodes)))
                    waiting[self._submit(batch.part(first, last), keep_weights, keep_ep)] = first, last
                    first = last
                for future in self._finished(waiting):
                    begin, end = waiting.pop(future)
                    block = self._result(future, batch, begin, end)
                    parts = _arrays(block.trials)
                    if not wholes:
                        wholes = [_room(len(batch), part) for part in parts]
                    for whole, part in zip(wholes, parts, strict=True):
                        if whole is not None:
                            whole[begin:end] = part
                    cut += block.trials.cut
                    done = (end - begin) * batch.episodes
                    # The last measurement counts for half: workers differ, and so do trials.
                    measured = done / max(block.seconds, 1e-9)
                    pace = measured if kind not in self.paces else 0.5 * (pace + measured)
                    self.paces[kind] = pace
                    self.tasks, self.computed = self.tasks + 1, self.computed + block.seconds
                    steps += block.trials.steps
                    tell(progress, done, block.trials.steps)
        except BaseException:
            _cancel(list(waiting))
            raise
        best, ep, hidden, output = wholes
        if best is None:
            raise AssertionError("an engine gives the best EP of each trial")
        return Trials(best, ep, hidden, output, cut, steps)

    def _submit(self, block: Batch, keep_weights: bool, keep_ep: bool) -> Future[_Block]:
        try:
            return self.executor.submit(
                run_block, Carried(), block, self.engine.name, keep_weights, keep_ep, __version__
            )
        except RuntimeError as error:  # a pool that is broken or shut down
            raise WorkError(f"the executor takes no more work: {error}") from error

    def _finished(self, waiting: dict[Future[_Block], tuple[int, int]]) -> Iterator[Future[_Block]]:
        """Wait until a task is done; meanwhile let the executor say if it is in trouble."""
        check = getattr(self.executor, "check", None)
        while True:
            done, _ = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
            if done:
                yield from done
                return
            if check is not None:
                check()

    def _result(self, future: Future[_Block], batch: Batch, begin: int, end: int) -> _Block:
        try:
            return future.result()
        except WrongVersion as error:
            raise InputError(f"{error}; install the same version everywhere") from None
        except CancelledError:
            check = getattr(self.executor, "check", None)
            if check is not None:
                check(lost=True)
            raise WorkError("the executor has cancelled the work") from None
        except Exception as error:
            if isinstance(error, InputError):
                raise
            where = f"trials {begin} to {end - 1}, seeds {batch.seed[begin]} to {batch.seed[end - 1]}"
            raise WorkError(f"a task failed ({where}): {type(error).__name__}: {error}") from error


def _cancel(futures: list[Future[_Block]]) -> None:
    """Cancel what is outstanding, in at most a moment: an executor in trouble may not answer."""
    cancelling = threading.Thread(target=lambda: [future.cancel() for future in futures], daemon=True)
    cancelling.start()
    cancelling.join(_CANCELLING)


def _room(trials: int, like: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return an empty array for this many trials, to copy the results of each block into."""
    return None if like is None else np.empty((trials, *like.shape[1:]), like.dtype)


def _arrays(trials: Trials) -> list[NDArray[Any] | None]:
    """Return the arrays, in their order."""
    return [trials.best, trials.ep, trials.hidden, trials.output]
