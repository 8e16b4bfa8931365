"""The engine that runs step by step: network, traces and update are compiled, the task runs as it is.

It runs any task, table or not, with the learners and the network that offer compiled parts. Where the steps
are Python's, in an environment or a class of your own, its workers are processes.
"""

from __future__ import annotations

import time

import numpy as np

from distal.base.checks import instance
from distal.base.progress import tell
from distal.engines.batch import Batch, EPs, Trials
from distal.engines.engine import Asked, Engine, Progress
from distal.engines.processes import processes_for
from distal.engines.steps.compiled_agent import Book, Plan, book_of, plan_of
from distal.engines.steps.compiled_trials import run_compiled, run_table
from distal.engines.steps.kernels import kernels_for
from distal.engines.steps.walks import encoding_for, run_trial
from distal.engines.steps.worker import Worker, network_of, part_of
from distal.networks import NETWORKS
from distal.tasks.compiled_task import CompiledTask

_REPORT = 0.05  # seconds between two calls of `progress`, at least
_WORTH = 200_000  # steps that are worth the start of processes


class Steps(Engine):
    """Runs trials step by step; by default on all cores."""

    name = "steps"
    pace = 300

    def supports(self, batch: Batch) -> str | None:
        """Return the reason why the engine cannot run a batch, with the remedy; None if it can."""
        instance("batch", batch, Batch, "a Batch")
        unknown = batch.settings.unknown_to(self.name)
        if unknown is not None:
            return f"{unknown}; use engine reference"
        network = NETWORKS[batch.settings.network]
        for what, kind in (("networks", network), ("learners", batch.kind)):
            if part_of(kind) is None:
                return f"engine steps has no code for {what} of kind {kind.kind!r}; use engine reference"
        return None

    def processes(self, batch: Batch, workers: int | None) -> int:
        """Return how many processes should run a batch: as many as there are cores, if it is worth it."""
        if not batch.task.in_python:  # in threads
            return 1
        return processes_for(batch, workers, _WORTH)

    def prepare(self, batch: Batch) -> None:
        """Compile the kernels of a batch, or load the kept ones."""
        instance("batch", batch, Batch, "a Batch")
        one = batch.part(0, 1)
        network = NETWORKS[batch.settings.network]
        plan = plan_of(one, network, keep_weights=False, keep_ep=False)
        worker = Worker(one, plan, book_of(one, network_of(one), plan), encoding_for(one))
        kernels_for(*worker.made_of)

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch."""
        keep_weights, keep_ep, workers, progress = asked
        plan = plan_of(batch, NETWORKS[batch.settings.network], keep_weights, keep_ep)
        book = book_of(batch, network_of(batch), plan)
        if isinstance(batch.task, CompiledTask):
            cut, steps = run_compiled(batch, plan, book, workers, progress)
        elif batch.task.in_python or batch.table is None:
            cut, steps = _run_walks(batch, plan, book, progress)
        else:
            cut, steps = 0, run_table(batch, batch.table, plan, book, workers, progress)
        return Trials(
            best=_eps(batch, book.best),
            ep=_eps(batch, book.ep) if keep_ep else None,
            hidden=book.hidden if keep_weights else None,
            output=book.output if keep_weights else None,
            cut=cut,
            steps=steps,
        )


def _run_walks(batch: Batch, plan: Plan, book: Book, progress: Progress | None) -> tuple[int, int]:
    """Run all trials of a batch, whose steps Python takes; return the episodes cut off, and all steps."""
    worker = Worker(batch, plan, book, encoding_for(batch))
    cut, steps, report = 0, 0, _Report(progress)
    for trial in range(len(batch)):
        for cut_off in run_trial(worker, batch, trial):
            taken = int(worker.now["step"][0])
            cut, steps = cut + cut_off, steps + taken
            report.add(1, taken)
    report.tell()
    return cut, steps


class _Report:
    """Tells how many more episodes have been run, now and then."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress, self.next = progress, time.monotonic() + _REPORT
        self.episodes, self.steps = 0, 0

    def add(self, episodes: int, steps: int) -> None:
        """Note that episodes have been run, and how many steps they had."""
        self.episodes, self.steps = self.episodes + episodes, self.steps + steps
        if self.progress is not None and time.monotonic() >= self.next:
            self.tell()

    def tell(self) -> None:
        """Tell what was not told yet."""
        if self.episodes:
            tell(self.progress, self.episodes, self.steps)
        self.episodes, self.steps, self.next = 0, 0, time.monotonic() + _REPORT


def _eps(batch: Batch, eps: EPs) -> EPs:
    """Return EPs in the type of the batch's task."""
    return eps.astype(np.int32) if batch.task.whole else eps


engine = Steps()
