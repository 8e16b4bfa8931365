"""An engine and who uses it: this process, or the workers of an executor."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from distal.base.checks import InputError
from distal.engines.batch import Batch, Engine, Progress, Trials, checked_workers
from distal.engines.registry import AUTO, CHOICES, imported, resolve, say_instead
from distal.engines.spread import Spread


@dataclass(frozen=True, eq=False)
class Runner:
    """An engine and how it is to be used: by a number of workers, or by those of an executor.

    With `auto`, a batch that the engine does not support goes to the next one that does.
    """

    engine: str
    workers: int | None
    module: Engine
    executor: Executor | None = None
    auto: bool = False
    _others: dict[str, Runner] = field(default_factory=dict)  # those that batches went to instead

    def spread_over(self, executor: Executor) -> Runner:
        """Return a runner that lets the workers of an executor use the engine."""
        return replace(self, module=Spread(executor, self.engine), executor=executor, _others={})

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
        return self.suited(batch).module.run(
            batch, keep_weights=keep_weights, keep_ep=keep_ep, workers=self.workers, progress=progress
        )


def runner(engine: str | Runner, workers: int | None = None, executor: Executor | None = None) -> Runner:
    """Return what runs batches; refuse an engine or a number of workers before any work is done.

    Args:
        engine: "cpu", "gpu", "reference" or "auto"; a runner is returned as it is.
        workers: threads of the cpu engine, or the executor's workers if it does not say how many it has.
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
    name = resolve(engine)
    made = Runner(name, checked_workers(workers), imported(name), auto=engine == AUTO)
    return made if executor is None else made.spread_over(executor)
