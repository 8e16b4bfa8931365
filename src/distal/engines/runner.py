"""An engine and who uses it: this process, or the workers of an executor."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field

from distal.base.checks import InputError
from distal.engines.batch import Batch, Engine, Progress, Trials, checked_workers
from distal.engines.registry import AUTO, CHOICES, load, resolve, say_instead
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

    def suited(self, batch: Batch) -> Runner:
        """Return what runs a batch: this runner, or for engine auto another one; refuse it if none does."""
        reason = self.module.supports(batch)
        if reason is None:
            return self
        for name in CHOICES[CHOICES.index(self.engine) + 1 :] if self.auto else ():
            other = self._others.get(name) or _runner(name, self.workers, self.executor)
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


def runner(engine: str, workers: int | None = None, executor: Executor | None = None) -> Runner:
    """Return what runs batches; refuse an engine or a number of workers before any work is done."""
    return _runner(resolve(engine), checked_workers(workers), executor, auto=engine == AUTO)


def _runner(engine: str, workers: int | None, executor: Executor | None, auto: bool = False) -> Runner:
    module = load(engine) if executor is None else Spread(executor, engine)
    return Runner(engine, workers, module, executor, auto)
