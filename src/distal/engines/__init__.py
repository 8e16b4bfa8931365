"""Engines run many independent trials. All take the same arguments and give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from distal.checks import one_of
from distal.learners.hill_climbing import HillClimbing
from distal.maze import Maze
from distal.rule import Rule
from distal.settings import Settings

ENGINES = ("cpu", "reference")
DEFAULT = "cpu"

Progress = Callable[[int], None]  # told how many more episodes have been run


@dataclass(frozen=True, eq=False)
class Batch:
    """Independent trials: everything that decides their results, and nothing else.

    Trial k trains with `learners[learner[k]]` towards final position `goal[k]`,
    its random numbers keyed by `seed[k]`. All learners are of one kind.
    """

    learners: tuple[Rule | HillClimbing, ...]
    learner: NDArray[np.int32]  # (trials)
    goal: NDArray[np.int32]  # (trials)
    seed: NDArray[np.uint64]  # (trials)
    maze: Maze
    settings: Settings
    episodes: int
    resample: int | None = None

    def __len__(self) -> int:
        return len(self.seed)


@dataclass(frozen=True, eq=False)
class Trials:
    """What the trials of a batch gave.

    `best` is the lowest EP so far after each episode; `hidden` and `output` are
    the weights of the first episode that had the best EP, if they were asked for.
    """

    best: NDArray[np.int32]  # (trials, episodes)
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
        self, batch: Batch, *, keep_weights: bool, workers: int | None, progress: Progress | None
    ) -> Trials:
        """Run all trials of a batch."""


def load(name: str) -> Engine:
    """Import an engine by name."""
    return cast(Engine, import_module(f"distal.engines.{one_of('engine', name, ENGINES)}"))
