"""An engine runs many independent trials; and the engines by name."""

from __future__ import annotations

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, cast

from distal.base import machine, memory
from distal.base.checks import InputError, flag, function, instance, integer, one_of
from distal.engines.batch import Batch, Trials

MAX_WORKERS = 1024
ENGINES = ("cpu", "gpu", "steps", "reference")  # each a module here, with its `engine`
AUTO = "auto"  # the first of CHOICES that can run here, and can run the batch
CHOICES = ("gpu", "cpu", "steps", "reference")
DEFAULT = "cpu"

_log = logging.getLogger("distal")

Progress = Callable[[int], None]  # told how many more episodes have been run


class Asked(NamedTuple):
    """How the trials of a batch are run, and what is kept of them; the arguments of `Engine.run`."""

    keep_weights: bool = False
    keep_ep: bool = False
    workers: int | None = None
    progress: Progress | None = None

    @classmethod
    def of(
        cls, keep_weights: object, keep_ep: object, workers: int | None, progress: Progress | None
    ) -> Asked:
        """Check what a caller asks for."""
        return cls(
            keep_weights=flag("keep_weights", keep_weights), keep_ep=flag("keep_ep", keep_ep),
            progress=function("progress", progress), workers=checked_workers(workers),
        )  # fmt: skip


class Engine(ABC):
    """Runs the trials of batches. A subclass has `trials`, and `supports` if there are batches it cannot run.

    Callers use `run`, which checks what it is given; `trials` and `begin` need not check it again.
    """

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

    def prepare(self, batch: Batch) -> None:
        """Compile what a batch needs, before several processes begin and each would do so."""
        instance("batch", batch, Batch, "a Batch")

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
            workers: Threads of engine cpu, cards of engine gpu; all of them if None.
            progress: Called with the number of episodes run since its last call.

        Returns:
            The best EP so far of every trial, and everything else requested.

        Raises:
            InputError: If an argument is wrong, or the engine cannot run the batch.
        """
        asked = Asked.of(keep_weights, keep_ep, workers, progress)
        self.check()
        refused = self.supports(batch)
        if refused is not None:
            raise InputError(refused)
        return self.trials(batch, asked)

    @abstractmethod
    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch that the engine supports."""

    def begin(self, batch: Batch, asked: Asked) -> Callable[[], Trials]:
        """Return a function that waits for the trials of a batch; start them now if the engine `overlaps`."""
        return partial(self.trials, batch, asked)

    def overlaps(self, workers: int | None = None) -> bool:
        """Return whether `begin` starts a batch, so that batches can overlap."""
        return False


def checked_workers(workers: int | None) -> int | None:
    """Return the number of workers, or None where the engine may choose."""
    return None if workers is None else integer("workers", workers, 1, MAX_WORKERS)


# ---------------------------------------------------------------- by name


def load(name: str) -> Engine:
    """Return the engine of a name, any available one for "auto"; refuse one that cannot run here."""
    chosen = one_of("engine", name, (*ENGINES, AUTO))
    engine = imported(CHOICES[0] if chosen == AUTO else chosen)
    try:
        engine.check()
    except InputError as refusal:
        if chosen != AUTO:
            raise
        say_instead(CHOICES[1], str(refusal))
        return imported(CHOICES[1])
    return engine


def say_instead(engine: str, reason: str) -> None:
    """Say which engine is used where none was asked for, and why not another."""
    _log.warning("using engine %s: %s", engine, reason.partition(";")[0])


def imported(name: str) -> Engine:
    """Import an engine."""
    module = f"distal.engines.{name}"
    if name in ("cpu", "steps") and module not in sys.modules:  # the compiler needs room
        memory.check_address_space(f"engine {name}", memory.LOADING)
    try:
        return cast(Engine, import_module(module).engine)
    except InputError:
        raise
    except Exception as error:  # a package that is missing, broken, or told nonsense by its own settings
        what = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{name} is an engine that cannot be loaded: {what}") from error


def machine_of(engine: str) -> dict[str, Any]:
    """Describe this machine, and its card if that is what the engine runs on."""
    return imported(engine).machine()
