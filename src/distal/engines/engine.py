"""An engine: how many independent trials are run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from distal.base import machine
from distal.base.checks import flag, function, instance, integer
from distal.engines.batch import Batch, Trials

MAX_WORKERS = 1024

Progress = Callable[[int], None]  # told how many more episodes have been run


class Engine(ABC):
    """Runs the trials of batches. A subclass has `run`, and `supports` if there are batches it cannot run."""

    name: ClassVar[str]
    on_processors: ClassVar[bool] = True  # whether its workers are processors
    pace: ClassVar[float] = 200_000  # episodes of 100 steps a second that a worker may be expected to run

    def check(self, workers: int | None = None) -> None:  # noqa: B027 - most can always run
        """Refuse, with the remedy, if the engine cannot run here, or not with this many workers."""

    def machine(self) -> dict[str, Any]:
        """Describe the machine that the engine uses."""
        return machine.machine()

    def supports(self, batch: Batch) -> str | None:
        """Return the reason why the engine cannot run a batch, with the remedy; None if it can."""
        instance("batch", batch, Batch, "a Batch")
        return None

    def processes(self, batch: Batch, workers: int | None) -> int:
        """Return the number of processes for a batch and a requested number of workers; 1: this one."""
        return 1

    def prepare(self, batch: Batch) -> None:  # noqa: B027 - most have nothing to get ready
        """Compile what a batch needs, before several processes begin and each would do so."""

    @abstractmethod
    def run(
        self,
        batch: Batch,
        *,
        keep_weights: bool = False,
        keep_ep: bool = False,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Trials:
        """Run all trials of a batch.

        Args:
            batch: The trials.
            keep_weights: Whether to return the weights of the first episode that had the best EP.
            keep_ep: Whether to return the EP of every episode.
            workers: Threads of the cpu engine, cards of the gpu engine; all of them if None.
            progress: Called with the number of episodes run since its last call.

        Returns:
            The best EP so far of every trial, and everything else requested.

        Raises:
            InputError: If an argument is wrong, or the engine cannot run the batch.
        """

    def begin(
        self,
        batch: Batch,
        *,
        keep_weights: bool = False,
        keep_ep: bool = False,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Callable[[], Trials]:
        """Return a function that waits for the trials of a batch; start them now if the engine `overlaps`.

        Args:
            batch: As in `run`.
            keep_weights: As in `run`.
            keep_ep: As in `run`.
            workers: As in `run`.
            progress: As in `run`.

        Returns:
            A function that returns what `run` returns.

        Raises:
            InputError: If an argument is wrong, or the engine cannot run the batch.
        """
        asked: dict[str, Any] = {"keep_weights": keep_weights, "keep_ep": keep_ep, "workers": workers}
        return partial(self.run, batch, **asked, progress=progress)

    def overlaps(self, workers: int | None = None) -> bool:
        """Return whether `begin` starts a batch, so that batches can overlap."""
        return False


def checked_call(
    batch: Batch, keep_weights: bool, keep_ep: bool, workers: int | None, progress: Progress | None
) -> tuple[bool, bool, int | None]:
    """Check what any engine is asked for; return the two flags and the workers as plain values."""
    instance("batch", batch, Batch, "a Batch")
    function("progress", progress)
    return flag("keep_weights", keep_weights), flag("keep_ep", keep_ep), checked_workers(workers)


def checked_workers(workers: int | None) -> int | None:
    """Return the number of workers, or None where the engine may choose."""
    return None if workers is None else integer("workers", workers, 1, MAX_WORKERS)
