"""An engine and who uses it: this process, or the workers of an executor."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from distal.base.checks import InputError
from distal.engines import gpu
from distal.engines.batch import Batch, Engine, Progress, Trials, checked_workers
from distal.engines.processes import process_pool, stop
from distal.engines.registry import AUTO, CHOICES, DEFAULT, imported, resolve, say_instead
from distal.engines.spread import Spread


@dataclass(frozen=True, eq=False)
class Runner:
    """An engine and how it is to be used: by a number of workers, or by those of an executor.

    With `auto`, a batch that the engine does not support goes to the next one that does. The
    reference engine has no threads; its workers are processes.
    """

    engine: str
    workers: int | None
    module: Engine
    executor: Executor | None = None
    auto: bool = False
    _others: dict[str, Runner] = field(default_factory=dict)  # those that batches went to instead
    _pools: list[Spread] = field(default_factory=list)  # the reference engine's processes, once there are any

    def spread_over(self, executor: Executor) -> Runner:
        """Return a runner that lets the workers of an executor use the engine."""
        return replace(self, module=Spread(executor, self.engine), executor=executor, _others={}, _pools=[])

    def suited(self, batch: Batch) -> Runner:
        """Return what runs a batch: this runner, or for engine auto another one; refuse it if none does."""
        reason = self.module.supports(batch)
        if reason is None:
            return self
        for name in CHOICES[CHOICES.index(self.engine) + 1 :] if self.auto else ():
            other = self._others.get(name) or runner(name, self.workers, self.executor)
            if other.module.supports(batch) is None:
                self._others[name] = other
                say_instead(name, reason)
                return other
        raise InputError(reason)

    def run(
        self,
        batch: Batch,
        *,
        keep_weights: bool = False,
        keep_ep: bool = False,
        progress: Progress | None = None,
    ) -> Trials:
        """Run all trials of a batch."""
        suited = self.suited(batch)
        return suited._module_or_processes(len(batch)).run(
            batch,
            keep_weights=keep_weights,
            keep_ep=keep_ep,
            workers=self._workers_of(suited),
            progress=progress,
        )

    def begin(self, batch: Batch, *, keep_ep: bool = False) -> Callable[[], Trials]:
        """Start a batch where the engine can; return a function that waits for its trials, or runs them."""
        suited = self.suited(batch)
        if not suited.overlaps:
            return lambda: self.run(batch, keep_ep=keep_ep)
        return gpu.begin(batch, keep_ep=keep_ep, workers=self._workers_of(suited))

    @property
    def overlaps(self) -> bool:
        """Whether `begin` returns before the trials have ended, so that batches can overlap."""
        return self.module is gpu and gpu.overlaps(self._workers_of(self))

    def _workers_of(self, suited: Runner) -> int | None:
        """Return the workers for an engine; with engine auto they are processors, and no cards."""
        return None if self.auto and suited.engine == "gpu" else self.workers

    def _module_or_processes(self, trials: int) -> Engine:
        """Return the engine, or for the reference engine with several workers their processes.

        There are no more of them than trials; a later batch may need more.
        """
        count = min(self.workers or 1, trials)
        if self.engine != "reference" or self.executor is not None or count == 1:
            return self.module
        if not self._pools or self._pools[-1].workers < count:
            pool = process_pool(count)
            weakref.finalize(self, stop, pool)
            self._pools.append(Spread(pool, self.engine))
        return self._pools[-1]


def runner(
    engine: str | Runner | None, workers: int | None = None, executor: Executor | None = None
) -> Runner:
    """Return what runs batches; refuse an engine or a number of workers before any work is done.

    Args:
        engine: "cpu", "gpu", "reference" or "auto"; None is cpu, or reference for what cpu cannot run;
            a runner is returned as it is.
        workers: threads of the cpu engine, processes of the reference engine, cards of the gpu engine,
            or the executor's workers if it does not say how many it has.
        executor: anything that follows `concurrent.futures.Executor`; its workers do the work.

    Returns:
        The runner. `learn`, `evolve` and the others take it as their engine, so that one serves for all.

    Raises:
        InputError: if the engine cannot run here, or an argument is not what it should be.
    """
    if isinstance(engine, Runner):
        if workers is not None or executor is not None:
            raise InputError("engine is a runner, which has workers and executor of its own; leave these out")
        return engine
    name = resolve(DEFAULT if engine is None else engine)
    workers = checked_workers(workers)
    if engine == "gpu" and executor is None:
        gpu.check(workers)
    made = Runner(name, workers, imported(name), auto=engine in (None, AUTO))
    return made if executor is None else made.spread_over(executor)
