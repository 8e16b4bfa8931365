"""Engines run many independent trials. All take the same arguments and give the same bits."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from distal import memory
from distal.checks import InputError, integer, one_of
from distal.learners import Learner
from distal.learners.chance import Chance
from distal.machine import available_cores, machine
from distal.maze import Maze
from distal.settings import Settings

ENGINES = ("cpu", "gpu", "reference")
AUTO = "auto"  # gpu where it can run, else cpu
DEFAULT = "cpu"
MAX_WORKERS = 1024

_log = logging.getLogger("distal")

Progress = Callable[[int], None]  # told how many more episodes have been run


@dataclass(frozen=True, eq=False)
class Batch:
    """Independent trials: everything that decides their results, and nothing else.

    Trial k trains with `learners[learner[k]]` towards final position `goal[k]`,
    its random numbers keyed by `seed[k]`. All learners are of one kind.
    """

    learners: tuple[Learner, ...]
    learner: NDArray[np.int32]  # (trials)
    goal: NDArray[np.int32]  # (trials)
    seed: NDArray[np.uint64]  # (trials)
    maze: Maze
    settings: Settings
    episodes: int
    resample: int | None = None
    record: tuple[int, ...] | None = None  # the episodes, from 1 and ascending, that `best` is wanted of; all

    def __len__(self) -> int:
        return len(self.seed)

    def part(self, first: int, last: int) -> Batch:
        """Return trials first … last − 1, with no more learners than they need."""
        needed, learner = np.unique(self.learner[first:last], return_inverse=True)
        return replace(
            self,
            learners=tuple(self.learners[k] for k in needed),
            learner=learner.astype(np.int32),
            goal=self.goal[first:last],
            seed=self.seed[first:last],
        )

    @property
    def fresh_every(self) -> int | None:
        """After how many episodes weights are drawn afresh: always after one by chance; None: never."""
        return 1 if isinstance(self.learners[0], Chance) else self.resample

    @property
    def recorded(self) -> Sequence[int]:
        """The episodes, from 1, after which the best EP is recorded, in their order."""
        return range(1, self.episodes + 1) if self.record is None else self.record

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """The column of `best` that each episode is recorded in, or −1; (episodes)."""
        if self.record is None:
            return np.arange(self.episodes, dtype=np.int32)
        column = np.full(self.episodes, -1, np.int32)
        column[np.array(self.record) - 1] = np.arange(len(self.record))
        return column


@dataclass(frozen=True, eq=False)
class Trials:
    """What the trials of a batch gave.

    `best` is the lowest EP so far after each recorded episode. If they were asked for,
    `ep` is the EP of every episode, `hidden` and `output` are the weights of the first
    episode that had the best EP.
    """

    best: NDArray[np.int32]  # (trials, recorded episodes)
    ep: NDArray[np.int32] | None  # (trials, episodes)
    hidden: NDArray[np.float32] | None  # (trials, H, 4 + H + 4)
    output: NDArray[np.float32] | None  # (trials, 4, H + 1)


@contextmanager
def naming(batch: Batch, trial: int) -> Iterator[None]:
    """Let an exception say in which trial it happened."""
    try:
        yield
    except Exception as error:
        where = f"final position {batch.goal[trial]}, seed {batch.seed[trial]}"
        raise RuntimeError(f"trial {trial} ({where}) failed: {error}") from error


class Engine(Protocol):
    """What every engine module offers."""

    def run(
        self,
        batch: Batch,
        *,
        keep_weights: bool,
        keep_ep: bool,
        workers: int | None,
        progress: Progress | None,
    ) -> Trials:
        """Run all trials of a batch."""


def resolve(name: str) -> str:
    """Return the engine that a name stands for (another one for "auto" alone); refuse one that cannot run."""
    if one_of("engine", name, (*ENGINES, AUTO)) not in ("gpu", AUTO):
        return name
    from distal.engines import gpu  # noqa: PLC0415 - it imports this module

    try:
        gpu.check()
    except InputError as refusal:
        if name != AUTO:
            raise
        _log.warning("engine auto is cpu here; %s", str(refusal).partition(";")[0])
        return "cpu"
    return "gpu"


def load(name: str) -> Engine:
    """Import an engine by name."""
    module = f"distal.engines.{resolve(name)}"
    if module == "distal.engines.cpu" and module not in sys.modules:
        memory.check_address_space("engine cpu", memory.LOADING + memory.STACK * available_cores())
    return cast(Engine, import_module(module))


def machine_of(engine: str) -> dict[str, Any]:
    """Describe this machine, and its card if that is what the engine runs on."""
    if engine != "gpu":
        return machine()
    from distal.engines import gpu  # noqa: PLC0415 - it imports this module

    return {**machine(), "card": gpu.describe()["card"]}


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
    engine = resolve(engine)
    workers = None if workers is None else integer("workers", workers, 1, MAX_WORKERS)
    if executor is None:
        return Runner(engine, workers, load(engine))
    from distal.spread import Spread  # noqa: PLC0415 - it imports this module

    return Runner(engine, workers, Spread(executor, engine))
