"""The way trials run: on an engine, with a number of workers, in this process or on an executor's workers."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from copy import copy
from typing import TypeVar

from distal.base.checks import InputError, flag, function
from distal.engines.batch import Batch, Trials
from distal.engines.engine import (
    AUTO,
    CHOICES,
    DEFAULT,
    Asked,
    Engine,
    Progress,
    checked_workers,
    imported,
    load,
    say_instead,
)
from distal.engines.processes import process_pool, stop
from distal.engines.spread import Spread

T = TypeVar("T")


class Runner:
    """The engine, the workers and the executor that run trials.

    `learn`, `evolve` and all others take it as their engine. An engine that cannot run here is
    refused at once. One runner may serve many calls: the processes and
    the measured pace of an executor stay with it.

    Args:
        engine: "cpu", "gpu", "steps", "reference" or "auto", which takes the first of gpu, cpu, steps and
            reference that can run a batch; if left out, the first from cpu on.
        workers: Threads of engine cpu, processes of engines steps and reference, cards of engine
            gpu, or the executor's workers if it does not say how many it has.
        executor: An executor like `concurrent.futures.Executor`; its workers run the trials.

    Raises:
        InputError: If the engine cannot run here, or an argument is wrong.
    """

    def __init__(
        self, engine: str | None = None, workers: int | None = None, executor: Executor | None = None
    ) -> None:
        own = imported(DEFAULT) if engine is None else load(engine)
        self.engine = own.name
        self.auto = engine is None or engine == AUTO  # a batch that the engine refuses goes to the next one
        self.asked = engine is not None  # who has chosen an engine hears of any other that is used
        self.workers = None if workers is None else checked_workers(workers)
        self.executor = executor
        self.loaded: Engine = own if executor is None else Spread(executor, own)
        if workers is not None:
            self.loaded.check(self._workers)
        self._others: dict[str, Runner] = {}  # what batches went to instead
        self._said: set[str] = set()  # of which of them it was said
        self._pools = _Pools()  # processes for an engine that needs them, once there are any
        self._progress: Progress | None = None

    @classmethod
    def of(cls, engine: str | Runner | None) -> Runner:
        """Return the runner of an argument `engine`: a runner, a name, or None."""
        return engine if isinstance(engine, Runner) else cls(engine)

    def __repr__(self) -> str:
        given = {"workers": self.workers, "executor": self.executor}
        options = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
        return f"Runner({self.engine!r}{options})"

    def spread_over(self, executor: Executor) -> Runner:
        """Return a runner that lets the workers of an executor use the engine."""
        runner = self._copy()
        runner.loaded, runner.executor = Spread(executor, load(self.engine)), executor
        return runner

    def falling_back(self) -> Runner:
        """Return a runner that hands a batch that its engine cannot run to the next engine that can."""
        if self.auto:
            return self
        runner = self._copy()
        runner.auto = True
        return runner

    def telling(self, progress: Progress | None) -> Runner:
        """Return a runner that reports all of its work."""
        if function("progress", progress) is None:
            return self
        runner = copy(self)  # with the same processes
        runner._progress = progress
        return runner

    def _copy(self) -> Runner:
        runner = copy(self)
        runner._others, runner._pools = {}, _Pools()
        return runner

    def suited(self, batch: Batch) -> Runner:
        """Return the runner for a batch: this one, or for engine auto another; refuse it if none is."""
        reason = self.loaded.supports(batch)
        if reason is None:
            return self
        for name in CHOICES[CHOICES.index(self.engine) + 1 :] if self.auto else ():
            if name not in self._others:
                self._others[name] = Runner(name, self.workers, self.executor)
            other = self._others[name]
            refusal = other.loaded.supports(batch)
            if refusal is None:
                # Of the last one, which is slow, everybody hears.
                if name not in self._said and (self.asked or name == CHOICES[-1]):
                    say_instead(name, reason)
                    self._said.add(name)
                return other.telling(self._progress)
            reason = refusal
        raise InputError(reason)

    def run(
        self,
        batch: Batch,
        *,
        keep_weights: bool = False,
        keep_ep: bool = False,
        progress: Progress | None = None,
    ) -> Trials:
        """Run all trials of a batch.

        Args:
            batch: The trials.
            keep_weights: Whether to return the weights of the first episode that had the best EP.
            keep_ep: Whether to return the EP of every episode.
            progress: Called with the number of episodes run since its last call.

        Returns:
            The best EP so far of every trial, and everything else requested.

        Raises:
            InputError: If an argument is wrong, or the engine cannot run the batch.
        """
        asked = Asked.of(keep_weights, keep_ep, None, progress)
        return self.suited(batch).trials(batch, asked)

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch that the runner is `suited` for; the workers are its own."""
        own = self._own(asked)
        return self._engine_for(batch).trials(batch, own)

    def begin(self, batch: Batch, *, keep_ep: bool = False) -> Callable[[], Trials]:
        """Return a function that waits for the trials of a batch; start them now if the engine can."""
        suited = self.suited(batch)
        asked = suited._own(Asked(keep_ep=flag("keep_ep", keep_ep)))
        return suited._engine_for(batch).begin(batch, asked)

    @property
    def overlaps(self) -> bool:
        """Whether `begin` starts a batch before it is waited for, so that batches can overlap."""
        return self.loaded.overlaps(self._workers)

    def in_turns(self, batch: Batch, work: Sequence[T]) -> list[Sequence[T]]:
        """Divide the pieces of some work into groups, each with batches like this one, that take turns.

        Where the engine overlaps batches, there are two: the processor prepares the batches of one
        while the batches of the other run, and both fill the engine.
        """
        half = (len(work) + 1) // 2 if self.suited(batch).overlaps else len(work)
        return [group for group in (work[:half], work[half:]) if group]

    @property
    def _workers(self) -> int | None:
        """The workers of the engine; with engine auto they are processors, and no cards."""
        return self.workers if self.loaded.on_processors or not self.auto else None

    def _own(self, asked: Asked) -> Asked:
        """Return what the engine is asked for: with the workers of this runner, and its listener."""
        heard = self._progress if asked.progress is None else asked.progress
        return asked._replace(workers=self._workers, progress=heard)

    def _engine_for(self, batch: Batch) -> Engine:
        """Return the engine, or processes that use it if it wants several for a batch.

        A later batch may want more.
        """
        count = self.loaded.processes(batch, self.workers)
        if count == 1:
            return self.loaded
        self.loaded.prepare(batch)
        if not self._pools or self._pools[-1].workers < count:
            pool = process_pool(count)
            weakref.finalize(self._pools, stop, pool)
            self._pools.append(Spread(pool, self.loaded))
        return self._pools[-1]


class _Pools(list[Spread]):
    """The processes of a runner and of its copies, which end when none of these is left."""
