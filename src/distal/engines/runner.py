"""An engine and who uses it: this process, or the workers of an executor."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

from distal.engines.batch import Batch, Engine, Progress, Trials, checked_workers
from distal.engines.registry import load, resolve
from distal.engines.spread import Spread


@dataclass(frozen=True, eq=False)
class Runner:
    """An engine and how it is to be used: by so many workers, or by those of an executor."""

    engine: str
    workers: int | None
    module: Engine

    def run(
        self,
        batch: Batch,
        *,
        keep_weights: bool = False,
        keep_ep: bool = False,
        progress: Progress | None = None,
    ) -> Trials:
        """Run all trials of a batch."""
        return self.module.run(
            batch, keep_weights=keep_weights, keep_ep=keep_ep, workers=self.workers, progress=progress
        )


def runner(engine: str, workers: int | None = None, executor: Executor | None = None) -> Runner:
    """Return what runs batches; refuse an engine or a number of workers before any work is done."""
    engine, workers = resolve(engine), checked_workers(workers)
    if executor is None:
        return Runner(engine, workers, load(engine))
    return Runner(engine, workers, Spread(executor, engine))
